# What every rule file uses: the configuration, the plan, and the code that a rule runs through.

import os
import re
import sys
import time
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError

BASE = Path(workflow.basedir)
# Scripts and the Snakefile use the package beside them, whether or not (another copy of) it is installed.
sys.path.insert(0, str(BASE))
os.environ.update(PYTHONPATH=os.pathsep.join([str(BASE), *filter(None, [os.environ.get("PYTHONPATH")])]))
# With several threads to a job, OpenMP's must not spin while the kernels run; `fairgat` does the same.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import fairgat.cells
import fairgat.config
import fairgat.data.datasets
import fairgat.errors
import fairgat.plan

try:
    CONFIG = fairgat.config.load(config)
    PLAN = fairgat.plan.Plan(CONFIG)
    fairgat.data.datasets.check(CONFIG)
except fairgat.errors.ConfigError as error:
    raise WorkflowError(str(error)) from None

RESULTS = CONFIG.results_dir
TASKS = fairgat.plan.TASKS
ENV = "../envs/fairgat.yaml"
STARTED = time.time()


wildcard_constraints:
    task="|".join(TASKS),
    dataset="|".join(map(re.escape, CONFIG.datasets)),
    method="|".join(map(re.escape, CONFIG.methods)),
    cell=fairgat.cells.PATTERN,
    split=r"\d+",
    table="|".join(map(re.escape, CONFIG.tables)) or "(?!)",
    figure="|".join(map(re.escape, CONFIG.figures)) or "(?!)",


# Relative to the working directory where it is the checkout or around it: moved with it, inputs are still the same.
ROOT = BASE.resolve().relative_to(Path.cwd()) if BASE.resolve().is_relative_to(Path.cwd()) else BASE.resolve()


def results(path):
    """A path under the results directory."""
    return PLAN.path(path)


@cache
def code(script, *more, without=()):
    """The package's files that a script runs through, as inputs: editing them re-runs the rule. See `plan.closure`."""
    return [str(ROOT / path) for path in fairgat.plan.closure(script, *more, without=without)]


def growing(amount):
    """A resource that grows with every attempt: what died for want of it gets twice as much, then three times."""
    return lambda wildcards, attempt: amount * attempt


def method_module(wildcards):
    """The module of a method, for `code`."""
    return fairgat.plan.method_path(CONFIG.module(wildcards.method))


def source_module(wildcards):
    """The module of a data set's source, for `code`."""
    source = fairgat.data.datasets.source_of(wildcards.dataset, CONFIG.datasets[wildcards.dataset])
    return f"data/sources/{source.__name__.rpartition('.')[-1]}"


def dataset_settings(wildcards):
    """What a data set's graph depends on: not its title, nor whether it is enabled."""
    return CONFIG.datasets[wildcards.dataset].model_dump(include={"task", "source", "options"})


def split_shares(task):
    """What the splits of a task depend on: not how many there are."""
    keys = {"node_classification": {"train", "validation"}, "link_prediction": {"edge_validation", "edge_test"}}
    return CONFIG.splits.model_dump(include=keys[task])


def check_methods():
    """Refuse wrong settings of methods before the first job. Imports torch: not while the rules are read."""
    import fairgat.methods

    try:
        fairgat.methods.check(CONFIG)
    except fairgat.errors.ConfigError as error:
        raise WorkflowError(str(error)) from None


def say_what_happened():
    """Say where the tables are and what failed, told from the files."""
    from fairgat.reporting import outcome

    print(outcome.describe(PLAN, since=STARTED), file=sys.stderr)
