# Helpers and constants for every rule file; the rules themselves hold no logic.

import os
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

BASE = Path(workflow.basedir)
# Scripts and the Snakefile use the package beside them, whether or not (another copy of) it is installed.
sys.path.insert(0, str(BASE))
os.environ.update(PYTHONPATH=os.pathsep.join([str(BASE), *filter(None, [os.environ.get("PYTHONPATH")])]))
# With several threads to a job, OpenMP's must not spin while the kernels run; `fairgat` does the same.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import fairgat.calm
import fairgat.cells
import fairgat.config
import fairgat.data.sources
import fairgat.errors
import fairgat.methods
import fairgat.reporting.settings
import fairgat.watch

try:
    CONFIG = fairgat.config.load(config)
    fairgat.data.sources.check(CONFIG)
    if workflow.is_main_process:  # imports torch: once per run, not once per cluster job
        fairgat.methods.check(CONFIG)
except fairgat.errors.ConfigError as error:
    raise WorkflowError(str(error)) from None

RESULTS = CONFIG.results_dir
ENV = "../envs/fairgat.yaml"
TASKS = ["node_classification", "link_prediction"]
TABLES = ["comparison", "ablation", "runtime", "link_prediction", "dataset_statistics", "hyperparameters"]


wildcard_constraints:
    task="|".join(TASKS),
    dataset="|".join(map(re.escape, CONFIG.datasets)),
    method="|".join(map(re.escape, CONFIG.methods)),
    cell=fairgat.cells.PATTERN,
    split=r"\d+",
    table="|".join(TABLES),
    figure="|".join(fairgat.reporting.settings.FIGURES),


def results(path):
    """A path under the results directory."""
    return f"{RESULTS}/{path}"


def timing_threads(wildcards):
    """Of the job that measures: all cores, so that nothing runs beside it; on a cluster, where it has its node to
    itself, those it uses. Asked for a job and not while reading the rules, where --unlock comes without --cores."""
    on_cluster = workflow.non_local_exec or workflow.remote_exec
    if on_cluster and workflow.cores and CONFIG.runtime.threads > workflow.cores:
        raise WorkflowError(
            f"runtime: threads: is {CONFIG.runtime.threads}, of which a job gets --cores {workflow.cores}"
        )
    return CONFIG.runtime.threads if on_cluster else workflow.cores


def growing(amount):
    """A resource that grows with every attempt: what died for want of it gets twice as much, then three times."""
    return lambda wildcards, attempt: amount * attempt


# Relative to the working directory where it is the checkout or around it: moved with it, inputs are still the same.
PACKAGE = BASE.resolve() / "fairgat"
if PACKAGE.is_relative_to(Path.cwd()):
    PACKAGE = PACKAGE.relative_to(Path.cwd())


def package(*paths):
    """Files of the package, as inputs: editing them re-runs the rules that read them, and no others."""
    return [str(PACKAGE / path) for path in dict.fromkeys(paths)]


def module_of(wildcards):
    """The file of the method's module, and of those it builds on."""
    return package(*modules_of(wildcards.method))


def modules_of(method):
    name = CONFIG.module(method)
    return [fairgat.methods.path_of(module) for module in (name, *fairgat.methods.built_on(name))]


# The modules that every training job runs through; a method's own module is `module_of`.
TRAINING_PATH = [
    "nn/attention.py",
    "nn/conv.py",
    "nn/csr.py",
    "nn/kernels.py",
    "nn/linear.py",
    "nn/models.py",
    "nn/normalise.py",
    "data/graph.py",
    "training/memory.py",
    "tasks/metrics.py",
    "tasks/__init__.py",
    "training/job.py",
    "methods/base.py",
]

THEORY = ["theory/bounds.py", "theory/layers.py", "theory/network.py"]

# What turns a table into text; each rule adds the templates of its formats.
RENDERING = ["reporting/escape.py", "reporting/model.py", "reporting/render.py"]

# What tables and figures of results have in common.
RESULTS_SHOWN = ["failures.py", "scores/runs.py", "reporting/labels.py", "reporting/model.py", "reporting/results.py"]

# What the paper's tables are built with, which figures and the audit read from as well.
REPORTING = [
    *RESULTS_SHOWN,
    "reporting/hyperparameters.py",
    "reporting/paper.py",
    "reporting/paper.yaml",
    "reporting/runtime.py",
    "reporting/statistics.py",
    "reporting/tables.py",
]


def selection_rule(wildcards):
    """As a function: `snakemake --lint` takes the word `fair` for the beginning of fairgat/..."""
    return CONFIG.selection.rule


def cell_settings(wildcards):
    """The method's settings with the cell's hyperparameters."""
    return CONFIG.training_settings(wildcards.method, wildcards.dataset) | fairgat.cells.from_path(wildcards.cell)


def made_with(datasets, methods, tasks):
    """What their runs must say of themselves; see `fairgat.scores.runs.read`."""
    return {
        "settings": {
            dataset: {method: CONFIG.training_settings(method, dataset) for method in methods} for dataset in datasets
        },
        "training": {task: getattr(CONFIG.training, task).model_dump() for task in tasks},
        "experiment": {"seed": CONFIG.seed, "threads": CONFIG.training.threads},
    }


def theory_every(wildcards):
    """Epochs between two measurements of the theory's terms; 0 where it does not apply."""
    return CONFIG.training.theory_every if wildcards.task == "node_classification" else 0


def theory_in_training(wildcards):
    """What measures the terms, where training jobs do: editing it must not train anew otherwise."""
    return package(*THEORY) if theory_every(wildcards) else []


def debiases(method):
    """Whether a method trains on a debiased graph."""
    return fairgat.methods.debiases(CONFIG.module(method))


def debiased_of(wildcards):
    """The debiased graph of a training job, for a method that needs one."""
    if not debiases(wildcards.method):
        return []
    return results(f"data/debiased/{wildcards.dataset}/{wildcards.method}/split-{wildcards.split}.npz")


def debias_settings(wildcards):
    """What the debiasing of a data set depends on."""
    return CONFIG.training_settings(wildcards.method, wildcards.dataset).get("debias", {})


def debiased_cells(wildcards):
    """The settings of every cell that a debiased graph serves, without the debiasing's own."""
    settings = {key: value for key, value in CONFIG.methods[wildcards.method].settings.items() if key != "debias"}
    return [settings | fairgat.cells.from_path(cell) for cell in CONFIG.cells(wildcards.method, wildcards.dataset)]


def bias_reports():
    """The report on every debiased graph."""
    return [
        results(f"data/debiased/{dataset}/{method}/split-{k}.json")
        for dataset in CONFIG.datasets_of("node_classification")
        for method in filter(debiases, CONFIG.methods_of("node_classification"))
        for k in range(CONFIG.splits.count)
    ]


def debias_timings():
    """How long each debiasing took."""
    return [path.replace(".json", ".timing.json") for path in bias_reports()]


def splits_of(task, dataset):
    return expand(
        results("data/splits/{task}/{dataset}/split-{k}.npz"), task=task, dataset=dataset, k=range(CONFIG.splits.count)
    )


def metrics_of(task, dataset, method):
    """metrics.json of every cell and split of a method on a data set."""
    return expand(
        results("runs/{task}/{dataset}/{method}/{cell}/split-{k}/metrics.json"),
        task=task,
        dataset=dataset,
        method=method,
        cell=CONFIG.cells(method, dataset),
        k=range(CONFIG.splits.count),
    )


def selections_of(task):
    """selection.json of every method on every data set of a task."""
    return [
        results(f"selection/{task}/{dataset}/{method}.json")
        for dataset in CONFIG.datasets_of(task)
        for method in CONFIG.methods_of(task)
    ]


def datasets_run():
    return [dataset for task in TASKS for dataset in CONFIG.datasets_of(task)]


def dataset_settings(wildcards):
    """What the data set's source depends on: not its title, nor whether it is enabled."""
    return CONFIG.datasets[wildcards.dataset].model_dump(include={"task", "source", "options"})


def dataset_module(wildcards):
    """The file of the data set's source."""
    name = fairgat.data.sources.source_of(wildcards.dataset, CONFIG.datasets[wildcards.dataset]).__name__
    return package(f"data/sources/{name.rpartition('.')[-1]}.py")


def local_files(wildcards):
    """The user's own files that the data set is made of."""
    files = fairgat.data.sources.files_of(wildcards.dataset, CONFIG.datasets[wildcards.dataset])
    return [str(file.local) for file in files if file.local]


def split_shares(task):
    """The settings that the splits of a task depend on: not how many there are."""
    keys = {"node_classification": {"train", "validation"}, "link_prediction": {"edge_validation", "edge_test"}}
    return CONFIG.splits.model_dump(include=keys[task])


def all_metrics_of(task):
    """metrics.json of every method on every data set of a task."""
    return [
        path
        for dataset in CONFIG.datasets_of(task)
        for method in CONFIG.methods_of(task)
        for path in metrics_of(task, dataset, method)
    ]


def table_sources(wildcards):
    """The files that a table is built from, by kind."""
    if wildcards.table == "runtime":
        return {"runtimes": runtimes()}
    if wildcards.table == "dataset_statistics":
        return {"stats": expand(results("data/graphs/{dataset}.stats.json"), dataset=datasets_run())}
    if wildcards.table == "hyperparameters":
        return {"selections": [path for task in TASKS for path in selections_of(task)]}
    task = fairgat.reporting.settings.TASK_OF_TABLE[wildcards.table]
    return {"summary": [results(f"summary/{task}.csv")], "selections": selections_of(task)}


def table_settings(wildcards):
    """What a table reads from the configuration."""
    return fairgat.reporting.settings.table_settings(CONFIG, wildcards.table)


def title_of(wildcards):
    """What the report calls a table or a figure."""
    return {kind: name.replace("_", " ").capitalize() for kind, name in wildcards.items()}


def tables():
    """All tables, in every format, and the document that holds them all."""
    return [
        *expand(results("tables/{table}.{format}"), table=TABLES, format=["md", "tex", "html", "csv"]),
        results("tables/all_tables.tex"),
    ]


def timed_methods(wildcards):
    """Module and cells of each method in the runtime table; the first cell that trains is timed, and most methods call
    none off."""
    return {
        method: CONFIG.cells_to_time(
            method, wildcards.dataset, all_cells=fairgat.methods.may_call_off(CONFIG.module(method))
        )
        for method in methods_timed()
    }


def timed_modules(wildcards):
    names = {name for method in methods_timed() for name in modules_of(method)}
    return sorted(path for name in names for path in package(name))


def timed_debiased(wildcards):
    """The debiased graph of each timed method that needs one; its folder is the method's name."""
    return [
        results(f"data/debiased/{wildcards.dataset}/{method}/split-0.npz")
        for method in filter(debiases, methods_timed())
    ]


def timed_debiasing(wildcards):
    """How long making these took."""
    return [path.replace(".npz", ".timing.json") for path in timed_debiased(wildcards)]


def methods_timed():
    return [name for name in CONFIG.tables.runtime if name in CONFIG.methods_of("node_classification")]


def runtimes():
    """What was timed, where there is something to time."""
    datasets = CONFIG.datasets_of("node_classification") if methods_timed() else []
    return expand(results("runtime/{dataset}.json"), dataset=datasets)


def audit():
    """The audit's files."""
    names = [
        "counts.csv",
        "headline.txt",
        "protocols.csv",
        "paper_vs_reproduced.csv",
        "paper_vs_reproduced.md",
        "paper_vs_reproduced.html",
        "claims.md",
        "claims.html",
        "paired.csv",
        "paired.md",
        "paired.html",
    ]
    return [results(f"audit/{name}") for name in names]


def histories_of(task):
    """history.csv of every cell and split of a task."""
    return [path.replace("metrics.json", "history.csv") for path in all_metrics_of(task)]


def figure_sources(wildcards):
    """The files that a figure is drawn from, by kind."""
    kind, task = fairgat.reporting.settings.FIGURES[wildcards.figure]
    if kind == "published":
        return {"audit": [results("audit/paper_vs_reproduced.csv")]}
    if kind == "runtime":
        return {"runtimes": runtimes()}
    if kind == "tradeoff":
        return {"metrics": all_metrics_of(task), "selections": selections_of(task)}
    if kind == "curves":
        return {"histories": histories_of(task), "selections": selections_of(task)}
    return {"summary": [results(f"summary/{task}.csv")]}


def figure_settings(wildcards):
    """What a figure reads from the configuration."""
    return fairgat.reporting.settings.figure_settings(CONFIG, wildcards.figure)


def figures():
    """All figures that this run has data for, in every format."""
    return expand(
        results("figures/{figure}.{format}"),
        figure=fairgat.reporting.settings.figures(CONFIG),
        format=["pdf", "png", "svg"],
    )


def models_of(wildcards):
    """model.npz of every cell and split of a method on a data set."""
    paths = metrics_of("node_classification", wildcards.dataset, wildcards.method)
    return [path.replace("metrics.json", "model.npz") for path in paths]


def theory_debiased(wildcards):
    """The debiased graphs of a method that needs them."""
    if not debiases(wildcards.method):
        return []
    folder = results(f"data/debiased/{wildcards.dataset}/{wildcards.method}")
    return [f"{folder}/split-{k}.npz" for k in range(CONFIG.splits.count)]


def theory_measures():
    """The measures of every method in the table."""
    known = CONFIG.methods_of("node_classification")
    return [
        results(f"theory/{dataset}/{method}.csv")
        for dataset in CONFIG.datasets_of("node_classification")
        for method in CONFIG.tables.theory
        if method in known
    ]


def theory():
    """The table and the figure of the theory, where there is something to measure."""
    if not theory_measures():
        return []
    tables = expand(results("tables/theory.{format}"), format=["md", "tex", "html", "csv"])
    return [*tables, *expand(results("figures/theory.{format}"), format=["pdf", "png", "svg"])]


def benchmarks():
    """The benchmark file of every job of this run, in the folder of all benchmarks and named after what it makes."""
    made = {
        "tables/": [*tables(), *theory()],
        "figures/": [*figures(), *theory()],
        "theory/": theory_measures(),
        "runs/": [str(Path(path).parent) for task in TASKS for path in all_metrics_of(task)],
        "selection/": [path for task in TASKS for path in selections_of(task)],
        "data/debiased/": bias_reports(),
        "data/splits/": [p for task in TASKS for name in CONFIG.datasets_of(task) for p in splits_of(task, name)],
    }
    folders = {
        "runs/": ["train/"],
        "selection/": ["select/"],
        "data/debiased/": ["debias/", "bias/"],
        "data/splits/": ["split/"],
    }
    names = {"audit", "all_tables", "costs", *(f"aggregate/{task}" for task in TASKS), "aggregate/protocols"}
    names |= {f"{rule}/{name}" for rule in ("download", "preprocess", "statistics") for name in datasets_run()}
    names |= {f"runtime/{Path(path).stem}" for path in runtimes()}
    for prefix, paths in made.items():
        within = [path.removeprefix(results(prefix)) for path in paths if path.startswith(results(prefix))]
        within = [re.sub(r"[.](csv|html|json|md|npz|pdf|png|svg|tex)$", "", path) for path in within]
        names |= {folder + path for folder in folders.get(prefix, [prefix]) for path in within}
    return sorted(f"{name}.tsv" for name in names)


def costs():
    """What the training cost, per data set and method."""
    return expand(results("costs/costs.{format}"), format=["csv", "md", "html"])


def titles():
    """What tables call each data set and method."""
    return {name: entry.title or name for part in (CONFIG.datasets, CONFIG.methods) for name, entry in part.items()}


# Forms of a data set that share another one's splits.
SAME_SPLITS = fairgat.reporting.settings.same_splits(CONFIG)


def split_of_other_form(wildcards):
    return results(f"data/splits/{wildcards.task}/{SAME_SPLITS[wildcards.dataset]}/split-{wildcards.split}.npz")


def sensitivity_blocks(wildcards):
    """What the sensitivity study compares, by data set."""
    try:
        blocks = fairgat.reporting.settings.sensitivity_settings(CONFIG)
    except fairgat.errors.ConfigError as error:
        raise WorkflowError(str(error)) from None
    if not blocks:
        raise WorkflowError("There is no variant to compare: run it with --configfile config.sensitivity.yaml.")
    return blocks


def sensitivity_metrics(wildcards):
    """metrics.json of every row of the sensitivity study."""
    return [
        path
        for block in sensitivity_blocks(wildcards)
        for row in block["rows"]
        for path in metrics_of(block["task"], row["dataset"], row["method"])
    ]


def sensitivity(wildcards):
    """The sensitivity study's table and, for each task, its figure."""
    names = ["differences.csv", *(f"sensitivity.{form}" for form in ["md", "tex", "html", "csv"])]
    tasks = dict.fromkeys(block["task"] for block in sensitivity_blocks(wildcards))
    names += [f"{task}.{form}" for task in tasks for form in ["pdf", "png", "svg"]]
    return [results(f"sensitivity/{name}") for name in names]


def provenance():
    """The record of where the results come from."""
    return [results("provenance.json"), results("provenance.html")]


def reference_files():
    """What is published of a run: everything small that a reader may want to see or compare with."""
    summaries = [*expand(results("summary/{task}{kind}.csv"), task=TASKS, kind=["", "_by_rule", "_cells", "_splits"])]
    summaries += [results("summary/link_prediction_by_protocol.csv"), results("provenance.json")]
    return published([*tables(), *audit(), *figures(), *theory(), *costs(), *summaries, *bias_reports()])


def published(paths):
    """Without .html and .png: .md and .svg show the same."""
    return [path for path in paths if not path.endswith((".html", ".png"))]


def published_study(wildcards):
    """The sensitivity study's files, where it was made. No inputs: its rules have no variants under the configuration
    that publishes."""
    return published(sorted(map(str, Path(results("sensitivity")).glob("*.*"))))


def jobs_of(*rules):
    """The jobs of these rules that this run was asked for, done or not."""
    return [job for job in workflow.dag.jobs if job.rule.name in rules]


def follow_progress():
    """Say from time to time how far the long jobs are; and leave the cores to them."""
    fairgat.calm.start()
    fairgat.watch.follow(
        [
            fairgat.watch.Job(
                dataset=job.wildcards.dataset,
                method=f"{job.rule.name} {job.wildcards.method}",
                benchmark=Path(job.benchmark),
                pending=workflow.dag.needrun(job),
            )
            for job in jobs_of("train", "debias")
        ]
    )


def say_what_was_made():
    """The tables' paths, and everything that failed."""
    text = fairgat.watch.summary(
        tables=sorted(job.output.md for job in jobs_of("table", "theory_table", "sensitivity_table")),
        runs=sorted(job.output.metrics for job in jobs_of("train")),
        failed=fairgat.watch.failures(workflow.scheduler.failed),
        skipped=CONFIG.skip,
    )
    print(text, file=sys.stderr)
