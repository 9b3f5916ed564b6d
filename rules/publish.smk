# Where the results come from.

import re
import shlex

# In the environment and not in params: the same results from another command are still the same results. Without folders
# of this machine: they decide nothing, and provenance is published.
TYPED = [re.sub(r"(data_mirror|judge_from)=.*", r"\1=FOLDER", word) for word in sys.argv[1:]]
os.environ.setdefault("FAIRGAT_COMMAND", shlex.join([Path(sys.argv[0]).name, *TYPED]))


# Last, so that the other rules' costs are known.
rule provenance:
    input:
        results=shown(),
        summaries=[path for kind in ("runs", "cells", "winners", "perfect", "runtime") for path in PLAN.files(kind)],
        selections=PLAN.files("selection"),
        study=rules.study.output if STUDY else [],
    output:
        json=reported("provenance.json", "provenance", "Provenance", {"provenance": "Where the results come from"}),
        html=reported("provenance.html", "provenance", "Provenance", {"provenance": "Where the results come from"}),
        crate=results("ro-crate-metadata.json"),
        workflow=results("workflow/Snakefile"),
    log:
        results("logs/provenance.log"),
    benchmark:
        results("benchmarks/provenance.tsv")
    localrule: True
    conda:
        ENV
    params:
        code=code("provenance"),
        manifests=[results(f"data/raw/{name}/manifest.json") for name in CONFIG.datasets_run],
        snakefile=lambda w: source("Snakefile").read_text(encoding="utf-8"),
        config=CONFIG.model_dump(mode="json", exclude={"results_dir", "data_mirror", "judge_from"}),
        judged_from=CONFIG.judge_from,
    message:
        "Record where the results come from"
    script:
        "../workflow_scripts/provenance.py"
