# What rules read and make, as functions of the configuration: narrow params, files, and code that depends on wildcards.

from zipfile import BadZipFile, ZipFile


def dataset_settings(wildcards):
    """What a data set's graph depends on: not its title, nor whether it is enabled."""
    return CONFIG.datasets[wildcards.dataset].model_dump(include={"task", "source", "options"})


def whose_splits(wildcards):
    """The data set whose splits a data set has: its own, or another one's."""
    return CONFIG.datasets[wildcards.dataset].splits_of or wildcards.dataset


def local_files(wildcards):
    """The user's own files that the data set is made of."""
    files = fairgat.data.datasets.files_of(wildcards.dataset, CONFIG.datasets[wildcards.dataset])
    return [str(file.local) for file in files if file.local]


def megabytes(paths):
    """The size of those of the files that exist."""
    return sum(os.path.getsize(path) for path in paths if os.path.exists(path)) // 10**6


def debiasing_memory(wildcards, input, attempt):
    """Two float32 matrices of all pairs of nodes, and 2,000 MB; it grows with every attempt."""
    nodes = 0
    with suppress(BadZipFile, KeyError):  # the job that reads the damaged file says it
        with ZipFile(input.graph) as arrays:
            nodes = arrays.getinfo("labels.npy").file_size // 8  # int64
    return (2000 + 8 * nodes**2 // 10**6) * attempt


def task_of(wildcards):
    """The task of a data set."""
    return CONFIG.datasets[wildcards.dataset].task


def training_of(wildcards):
    """The protocol of a data set's task."""
    return CONFIG.training.of(task_of(wildcards)).model_dump()


def split_shares(wildcards):
    """What the splits of a data set depend on: not how many there are."""
    return CONFIG.splits.shares(TASKS[task_of(wildcards)].divides)


def method_runs(wildcards):
    """The cell and the split of every run of a method on a data set, in the order of `PLAN.outputs`."""
    return [(run.cell, run.split) for run in PLAN.runs(task_of(wildcards), wildcards.dataset, wildcards.method)]


def shards(pairs):
    """What the shards of data sets and methods hold: both, the method's cells there, and the splits' numbers."""
    return [
        (dataset, method, CONFIG.cells(method, dataset), CONFIG.split_numbers(dataset)) for dataset, method in pairs
    ]


def shown():
    """Everything that a run makes for people to read."""
    tables = expand(results("tables/{name}.{format}"), name=PLAN.tables(), format=["md", "tex", "html", "csv"])
    figures = expand(results("figures/{name}.{format}"), name=PLAN.figures(), format=["pdf", "png", "svg"])
    document = rules.all_tables.output if tables else []
    return [*tables, *document, *figures, *rules.audit.output]
