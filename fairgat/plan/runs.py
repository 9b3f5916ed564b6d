"""The runs of a configuration, what they need, and the files that come of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairgat.config import TASKS, Config, Task
from fairgat.errors import ConfigError, nearest
from fairgat.plan.modules import KINDS, Declared, check_modules, declared


@dataclass(frozen=True)
class Run:
    """A cell of a method on one split of a data set: one training job."""

    task: Task
    dataset: str
    method: str
    cell: str
    split: int

    @property
    def folder(self) -> str:
        """Where its files are, under `results_dir`."""
        return f"{cell_folder(self.task, self.dataset, self.method, self.cell)}/split-{self.split}"


def cell_folder(task: Task, dataset: str, method: str, cell: str) -> str:
    """Name the folder of a cell's runs, which has a folder for each split, under `results_dir`."""
    return f"runs/{task}/{dataset}/{method}/{cell}"


class Plan:
    """The runs of a configuration and the files that come of them.

    Raises:
        ConfigError: a method, a table or a figure has no module, a module does not say what it reads, or a table names
            a method that has no place in it; or `results_dir` is a file.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        if Path(config.results_dir).is_file():
            raise ConfigError(f"results_dir: {config.results_dir} is a file; give a folder")
        for folder, names in (("tables", config.tables), ("figures", config.figures)):
            for name in names:
                declared(folder, name)
        check_modules({name: config.module(name) for name in config.methods})
        for table, rows in config.tables.items():
            self._check_rows(declared("tables", table), rows)

    def _check_rows(self, table: Declared, rows: Sequence[str]) -> None:
        """Check that each method of a table has its task; one without tasks may be timed."""
        for method in rows:
            tasks = self.config.methods[method].tasks
            if table.task and table.task not in tasks and (tasks or "runtime" not in table.reads):
                title = TASKS[table.task].title.lower()
                raise ConfigError(f"tables.{table.name}: {method} is no method of {title} (see its `tasks`)")

    def path(self, relative: str) -> str:
        return f"{self.config.results_dir}/{relative}"

    def pairs(self, task: Task) -> list[tuple[str, str]]:
        """List every data set of the task that is run, with every method that is run on it."""
        return [(d, m) for d in self.config.datasets_of(task) for m in self.config.methods_on(d)]

    def runs(self, task: Task, dataset: str | None = None, method: str | None = None) -> list[Run]:
        """List the runs of a task, of one data set or one method where given, in config order."""
        return [
            Run(task, d, m, cell, split)
            for d, m in self.pairs(task)
            if dataset in (None, d) and method in (None, m)
            for cell in self.config.cells(m, d)
            for split in range(self.config.split_count(d))
        ]

    def outputs(self, name: str, task: Task, dataset: str | None = None, method: str | None = None) -> list[str]:
        """List a file of every run, such as `metrics.json`."""
        return [self.path(f"{run.folder}/{name}") for run in self.runs(task, dataset, method)]

    def split(self, task: Task, dataset: str, split: int) -> str:
        return self.path(f"data/splits/{task}/{dataset}/split-{split}.npz")

    def splits(self, task: Task, dataset: str) -> list[str]:
        return [self.split(task, dataset, k) for k in range(self.config.split_count(dataset))]

    def debiased(self, dataset: str, method: str, split: int | None = None) -> list[str]:
        """List the debiased graph of each split, or of one; none for a method that trains on the graph as it is."""
        if not self.config.methods[method].debiased:
            return []
        splits = range(self.config.split_count(dataset)) if split is None else [split]
        return [self.path(f"data/debiased/{dataset}/{method}/split-{k}.npz") for k in splits]

    def files(self, kind: str, task: Task | None = None) -> list[str]:
        """List the files of one of `KINDS`, of one task where given."""
        if kind not in KINDS:
            raise ConfigError(f"there are no files of the kind {kind!r}; {nearest(kind, KINDS)}")
        optional = {each for training in TASKS.values() for each in training.measured}
        tasks = [
            each
            for each, training in TASKS.items()
            if task in (None, each) and (kind in training.measured or kind not in optional)
        ]
        return list(dict.fromkeys(path for each in tasks for path in self._files(kind, each)))

    def _files(self, kind: str, task: Task) -> list[str]:
        """List them for one task."""
        datasets, pairs = self.config.datasets_of(task), self.pairs(task)
        match kind:
            case "stats":
                return [self.path(f"data/graphs/{dataset}.stats.json") for dataset in datasets]
            case "runtime":
                return [self.path(f"runtime/{dataset}.json") for dataset in datasets if self.timed(dataset)]
            case "selection":
                return [self.selection(task, dataset, method) for dataset, method in pairs]
            case "theory" | "account":
                rows = self.config.tables.get(kind, [])
                return [self.path(f"{kind}/{dataset}/{method}.csv") for dataset, method in pairs if method in rows]
            case "bias":  # beside each debiased graph
                return [f"{graph.removesuffix('.npz')}.json" for pair in pairs for graph in self.debiased(*pair)]
            case "histories":
                return self.outputs("history.csv", task)
            case "audit":
                return [self.path("audit/paper_vs_reproduced.csv")]
        return [self.path(f"summary/{task}/{kind}.csv")]

    def shards(self, task: Task) -> list[str]:
        """List the scores of every method on every data set."""
        return [self.path(f"runs/{task}/{dataset}/{method}/runs.csv") for dataset, method in self.pairs(task)]

    def selection(self, task: Task, dataset: str, method: str) -> str:
        return self.path(f"runs/{task}/{dataset}/{method}/selection.json")

    def timed(self, dataset: str) -> list[str]:
        """List the methods whose epochs are timed on a data set: those that are run on it, and those without tasks."""
        known = [*self.config.methods_on(dataset), *self.config.only_timed()]
        return [method for method in self.config.tables.get("runtime", []) if method in known]

    def timed_debiased(self, dataset: str) -> dict[str, str]:
        """Give the debiased graph of each timed method that needs one."""
        return {method: path for method in self.timed(dataset) for path in self.debiased(dataset, method, 0)}

    def tables(self) -> list[str]:
        """List the tables that this run has files for, in their order."""
        return [name for name in self.config.tables if self._readable("tables", name)]

    def figures(self) -> list[str]:
        """List the figures that this run has files for and, where one is named after a table, a method of it."""

        def drawn(figure: Declared) -> bool:
            if figure.task is None:
                return True
            known = self.config.methods_of(figure.task)
            rows = self.config.tables.get(figure.name, known)
            return bool(self.config.datasets_of(figure.task)) and any(method in known for method in rows)

        return [
            name for name in self.config.figures if drawn(declared("figures", name)) and self._readable("figures", name)
        ]

    def sources(self, folder: str, name: str) -> dict[str, list[str]]:
        """List the files that a table (in the folder `tables`) or a figure (in `figures`) reads, by kind."""
        declaration = declared(folder, name)
        return {kind: self.files(kind, declaration.task) for kind in declaration.reads}

    def _readable(self, folder: str, name: str) -> bool:
        """Say whether there are files of the first kind that a table or a figure reads: of what it shows."""
        return bool(next(iter(self.sources(folder, name).values()), []))
