# What the rules share: the configuration, the plan, and the code that they run through.

import base64
import hashlib
import os
import re
import sys
import time
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

# The checkout, also where another workflow uses this one as a module; None where Snakemake reads the rules out of a
# repository: it fetches single files then, and the package must be installed.
BASE = Path(workflow.current_basedir).parent if hasattr(workflow.current_basedir, "__fspath__") else None
if BASE:
    # Scripts and the Snakefile use the package beside them, whether or not (another copy of) it is installed.
    sys.path.insert(0, str(BASE))
    os.environ.update(PYTHONPATH=os.pathsep.join([str(BASE), *filter(None, [os.environ.get("PYTHONPATH")])]))
elif not find_spec("fairgat"):
    raise WorkflowError("Install the package of the same version first: pip install 'fairgat @ git+REPOSITORY@TAG'")

import fairgat.cells
import fairgat.config.shown
import fairgat.config.study_rows
import fairgat.data.datasets
import fairgat.errors
import fairgat.files
import fairgat.plan
import fairgat.measures.checks
import fairgat.processes
import fairgat.progress
from fairgat.by_path import is_path

# What is read later, in a file or by a program, need not fit a terminal.
if not sys.stderr.isatty():
    os.environ.setdefault("COLUMNS", "200")


def names_its_log(record):
    """Leave out where in the rules a job failed: the failed job names its log, which says why."""
    said = str(record.msg)
    return not (said.startswith("RuleException:\nCalledProcessError") and said.endswith("exit status 1."))


logger.addFilter(names_its_log)
if workflow.is_main_process:
    fairgat.progress.listen(logger)


def source(path):
    """A file of the repository; where Snakemake fetches single files, a copy of it."""
    return BASE / path if BASE else Path(workflow.source_path(f"../{path}"))


try:
    if workflow.is_main_process:
        fairgat.config.check_command(sys.argv[1:])
        fairgat.plan.check_targets(sys.argv[1:])
    # Not by `configfile:`, which looks in the working directory, and nowhere when a module is given a config.
    DEFAULTS = fairgat.config.read_file(source("config.yaml"))
    fairgat.config.lay_over(DEFAULTS, config, workflow.configfiles)
    config.update(DEFAULTS)
    CONFIG = fairgat.config.load(config)
    config["data_mirror"] = CONFIG.data_mirror  # with ~ and $NAME expanded, for workflow_scripts/download.py
    config["measures"] = CONFIG.measures  # for the scripts, from wherever they are run
    fairgat.measures.adopt(CONFIG.measures)
    PLAN = fairgat.plan.Plan(CONFIG)
    if workflow.is_main_process:
        PLAN.check_not_empty()
        PLAN.check_targets(sys.argv[1:])
        fairgat.plan.check_known(CONFIG.results_dir, sys.argv[1:])
    # Who asks for a study without giving one is told here: errors of a rule's functions come with a traceback.
    try:
        STUDY = fairgat.config.study_rows.rows(CONFIG) if CONFIG.study or "study" in sys.argv else []
    except fairgat.errors.ConfigError as error:
        if "study" in sys.argv:
            raise
        STUDY = []
        if workflow.is_main_process:
            print(f"Left out: {error}", file=sys.stderr)
    fairgat.data.datasets.check(CONFIG)
    fairgat.measures.checks.check(CONFIG)
except fairgat.errors.ConfigError as error:
    raise WorkflowError(str(error)) from None


def ran():
    """What is run, in a sentence or two."""
    datasets = [CONFIG.datasets[name].title for name in CONFIG.datasets_run]
    names = dict.fromkeys(name for task in fairgat.config.TASKS for name in CONFIG.methods_of(task))
    methods = [CONFIG.methods[name].title for name in names]
    counts = {len(CONFIG.split_numbers(name)) for name in CONFIG.datasets_run}
    splits = " or ".join(map(str, sorted(counts)))
    splits += " random split" if counts == {1} else " random splits"
    return (
        f"{', '.join(methods)} on {', '.join(datasets)}, over {splits}. "
        "Hyperparameters are chosen on validation; every score is of the test sets."
    )


# For the report's first page, rules/report/workflow.rst. In lines, because docutils refuses long ones.
config["heading"] = CONFIG.heading
config["note"] = CONFIG.note
config["ran"] = ran()
# The picture is of the paper's experiment.
config["picture"] = ""
if CONFIG.compares_with_paper:
    config["picture"] = base64.encodebytes(source("docs/workflow.svg").read_bytes()).decode()

TASKS = fairgat.config.TASKS
ENV = "../envs/fairgat.yaml"
STARTED = time.time()
fairgat.processes.begin()
# A job that computes on a GPU has it to itself where Snakemake is told how many there are: the profiles say one.
GPU = int(
    CONFIG.training.device == "cuda"
    or (CONFIG.training.device == "auto" and any(map(which, ("nvidia-smi", "rocm-smi"))))
)


wildcard_constraints:
    task="|".join(TASKS),
    dataset="|".join(map(re.escape, CONFIG.datasets)),
    method="|".join(map(re.escape, CONFIG.methods)),
    cell=fairgat.cells.PATTERN,
    split=r"\d+",
    table="|".join(map(re.escape, CONFIG.tables)) or "(?!)",
    figure="|".join(map(re.escape, CONFIG.figure_modules)) or "(?!)",


def results(path):
    """A path under the results directory."""
    return PLAN.path(path)


def reported(path, caption, category, labels, subcategory=None):
    """A result that is part of the report. With a table or a figure, `labels` may be `title_of`."""
    if not callable(labels):
        labels = labels | {"format": path.rpartition(".")[2].upper()}
    caption = f"report/{caption}.rst"
    return report(results(path), caption=caption, category=category, subcategory=subcategory, labels=labels)


def plain(settings):
    """What is shown, as a rule's params."""
    return settings.model_dump(mode="json", exclude_unset=True)


def title_of(wildcards):
    """What the report calls a table or a figure."""
    return {kind: name.replace("_", " ").capitalize() for kind, name in wildcards.items()}


def growing(amount, per_mb=0):
    """A resource that grows with every attempt: what died for want of it gets twice as much, then three times.

    `per_mb` is added for each megabyte of input.
    """
    if not per_mb:  # in a batch, inputs may not be there yet
        return lambda wildcards, attempt: amount * attempt
    return lambda wildcards, input, attempt: int(amount + per_mb * input.size_mb) * attempt


# ------------------------------------------------------------------- what a rule depends on beside its inputs
# As params: Snakemake runs a job again where one has another value. Inputs it asks for their times first, which an
# older file copied into place does not change, and a checkout does.


# Scripts to which measures of one's own make a difference: what trains knows none.
MEASURING = ("collect", "perfect", "choose", "aggregate", "table", "figure", "study", "audit")


@cache
def code(script, *more, without=()):
    """The digest of a script and of the files that it runs through. See `fairgat.plan.closure`."""
    own = CONFIG.measures if script in MEASURING else []
    try:
        return fairgat.plan.digest(source(f"workflow_scripts/{script}.py"), *more, *own, without=without)
    except fairgat.errors.ConfigError as error:
        raise WorkflowError(str(error)) from None


@cache
def content(path):
    """The digest of a file that the configuration names. Its job says it where there is none."""
    return f"{path} {fairgat.files.sha256_of(path) if os.path.isfile(path) else 'is missing'}"


def contents(paths):
    """The digest of each of these files."""
    return [content(str(path)) for path in paths]


def method_code(name):
    """The digest of a method's training."""
    return code("train", fairgat.plan.method_path(CONFIG.module(name)))


def method_module(wildcards):
    """The module of a method, for `code`."""
    return fairgat.plan.method_path(CONFIG.module(wildcards.method))


def settings_of(wildcards):
    """The settings of a method in a cell. Files that they name are a part of what its runs depend on."""
    return CONFIG.training_settings(wildcards.method, wildcards.dataset) | fairgat.cells.from_path(wildcards.cell)


def source_module(dataset):
    """The module of a data set's source, for `code`."""
    entry = CONFIG.datasets[dataset]
    if entry.source and is_path(entry.source):
        return entry.source
    found = fairgat.data.datasets.source_of(dataset, entry)
    return f"data/sources/{found.__name__.rpartition('.')[-1]}"


def page_module(folder, page):
    """The module of a table or a figure, for `code`."""
    return page.module if is_path(page.module) else f"report/{folder}/{page.module}"


if workflow.is_main_process:
    # Now, so that an error in a file is said before anything else; in an input function it would read as nothing to do.
    for name in CONFIG.methods:
        method_code(name)
    for name in CONFIG.datasets:
        code("preprocess", source_module(name))
    for name in CONFIG.tables:
        code("table", page_module("tables", PLAN.table(name)))
    for name in CONFIG.figure_modules:
        code("figure", page_module("figures", PLAN.figure(name)))


# --------------------------------------------------------------------------------- at the start and at the end


# The digest of the configuration and of the methods that were found right last.
CHECKED = Path(".snakemake/methods-checked")


def methods_digest():
    """The digest of all that `check_methods` depends on."""
    parts = [CONFIG.model_dump_json(), *map(method_code, CONFIG.methods)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def check_methods():
    """Refuse wrong settings and grids of methods. This imports torch, four seconds of work."""
    import fairgat.methods

    try:
        fairgat.methods.check(CONFIG)
    except fairgat.errors.ConfigError as error:
        raise WorkflowError(str(error)) from None
    with suppress(OSError, fairgat.errors.DataError):
        fairgat.files.write_text(CHECKED, methods_digest())


def leave_key():
    """Leave in the results what tells that this folder's .snakemake/ knows them."""
    with suppress(OSError, fairgat.errors.DataError):  # a disk that refuses stops the jobs
        fairgat.plan.leave_key(CONFIG.results_dir)


def say_what_stands_in():
    """Say which methods are run in place of one that is the same."""
    rows = CONFIG.study.rows if CONFIG.study else []
    for name in dict.fromkeys([*CONFIG.only_methods, *(row.method for row in rows if row.method)]):
        if other := CONFIG.methods[name].same_as:
            print(f"{name} is {other}, which is run in its place. {CONFIG.methods[name].note or ''}", file=sys.stderr)


def is_dry_run(words):
    """Whether a command of Snakemake runs nothing, in any of its spellings, as `-n`, `-np`, `--dry-run`."""
    return any(re.fullmatch(r"--dry-?run|-[a-zA-Z]*n[a-zA-Z]*", word) for word in words)


# A dry run checks them where no run has: then a misspelt key is found before anything is begun.
if workflow.is_main_process and is_dry_run(sys.argv[1:]):
    if not (CHECKED.is_file() and CHECKED.read_text() == methods_digest()):
        check_methods()


def say_what_happened():
    """Say where the tables are and what failed, told from the files."""
    from fairgat.publish import outcome

    given = dict(zip(sys.argv, sys.argv[1:]))
    page = given.get("--report")
    page = "report.html" if page and page.startswith("-") else page  # Snakemake's default
    if text := outcome.describe(PLAN, since=STARTED, report=page):
        print(text, file=sys.stderr)
