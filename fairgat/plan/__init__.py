"""What is to be run.

These are the runs and their files (`runs.py`), the code that each rule runs through
(`modules.py`), and whether results may be gone on with (`records.py`). In: a `Config`
and the package's own source. Out: paths as Snakemake knows them, under `results_dir`.
Nothing heavy is imported, because every Snakemake process on every node reads the
rules.
"""

from fairgat.plan.modules import (
    KINDS,
    ROOT,
    Declared,
    closure,
    declared,
    digest,
    method_modules,
    method_path,
)
from fairgat.plan.records import check_known, leave_key
from fairgat.plan.runs import TAKEN, Plan, Run, cell_folder, check_targets
