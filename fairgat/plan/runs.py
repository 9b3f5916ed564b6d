"""The runs of a configuration, what they need, and the files that come of them."""

from dataclasses import dataclass

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
    """Where the runs of a cell are, a folder for each split, under `results_dir`."""
    return f"runs/{task}/{dataset}/{method}/{cell}"


class Plan:
    """The runs of a configuration and the files that come of them.

    Raises:
        ConfigError: a method, a table or a figure has no module, or a module does not say what it reads.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        for folder, names in (("tables", config.tables), ("figures", config.figures)):
            for name in names:
                declared(folder, name)
        check_modules({name: config.module(name) for name in config.methods})

    def path(self, relative: str) -> str:
        return f"{self.config.results_dir}/{relative}"

    def pairs(self, task: Task) -> list[tuple[str, str]]:
        """Every data set of the task that is run, with every method that is run on it."""
        return [(d, m) for d in self.config.datasets_of(task) for m in self.config.methods_on(d)]

    def runs(self, task: Task, dataset: str | None = None, method: str | None = None) -> list[Run]:
        """The runs of a task, of one data set or one method where given, in config order."""
        return [
            Run(task, d, m, cell, split)
            for d, m in self.pairs(task)
            if dataset in (None, d) and method in (None, m)
            for cell in self.config.cells(m, d)
            for split in range(self.config.split_count(d))
        ]

    def outputs(self, name: str, task: Task, dataset: str | None = None, method: str | None = None) -> list[str]:
        """A file of every run, such as `metrics.json`."""
        return [self.path(f"{run.folder}/{name}") for run in self.runs(task, dataset, method)]

    def split(self, task: Task, dataset: str, split: int) -> str:
        return self.path(f"data/splits/{task}/{dataset}/split-{split}.npz")

    def splits(self, task: Task, dataset: str) -> list[str]:
        return [self.split(task, dataset, k) for k in range(self.config.split_count(dataset))]

    def debiased(self, dataset: str, method: str, split: int | None = None) -> list[str]:
        """The debiased graph of each split, or of one; none for a method that trains on the graph as it is."""
        if not self.config.methods[method].debiased:
            return []
        splits = range(self.config.split_count(dataset)) if split is None else [split]
        return [self.path(f"data/debiased/{dataset}/{method}/split-{k}.npz") for k in splits]

    def files(self, kind: str, task: Task | None = None) -> list[str]:
        """The files of one of `KINDS`, of one task where given."""
        tasks = list(TASKS) if task is None else [task]
        if kind in ("runs", "cells", "winners"):
            return [self.path(f"summary/{each}/{kind}.csv") for each in tasks]
        if kind == "selection":
            return [path for each in tasks for path in self.selections(each)]
        if kind == "histories":
            return [path for each in tasks for path in self.outputs("history.csv", each)]
        if kind == "stats":
            return [path for each in tasks for path in self.stats(each)]
        measured = {
            "bias": self.bias,
            "runtime": self.runtimes,
            "theory": self.theory,
            "account": self.account,
            "decisions": self.decisions,
        }
        if kind in measured:
            return [path for each in tasks if kind in TASKS[each].measured for path in measured[kind](each)]
        if kind == "audit":
            return [self.path("audit/paper_vs_reproduced.csv")]
        raise ConfigError(f"there are no files of the kind {kind!r}; {nearest(kind, KINDS)}")

    def shards(self, task: Task) -> list[str]:
        """The scores of every method on every data set."""
        return [self.path(f"runs/{task}/{dataset}/{method}/runs.csv") for dataset, method in self.pairs(task)]

    def selections(self, task: Task) -> list[str]:
        """Which cell stands for every method on every data set."""
        return [self.selection(task, dataset, method) for dataset, method in self.pairs(task)]

    def selection(self, task: Task, dataset: str, method: str) -> str:
        return self.path(f"runs/{task}/{dataset}/{method}/selection.json")

    def decisions(self, task: Task) -> list[str]:
        """The test decisions of every method's selected cell on every data set."""
        return [path.replace("selection.json", "decisions.npz") for path in self.selections(task)]

    def stats(self, task: Task) -> list[str]:
        return [self.path(f"data/graphs/{dataset}.stats.json") for dataset in self.config.datasets_of(task)]

    def bias(self, task: Task) -> list[str]:
        """The report on every debiased graph."""
        return [path.replace(".npz", ".json") for pair in self.pairs(task) for path in self.debiased(*pair)]

    def timed(self, dataset: str) -> list[str]:
        """The methods whose epochs are timed on a data set: those that are run on it, and those that are not run."""
        known = [*self.config.methods_on(dataset), *self.config.only_timed()]
        return [method for method in self.config.tables.get("runtime", []) if method in known]

    def timed_debiased(self, dataset: str) -> dict[str, str]:
        """The debiased graph of each timed method that needs one."""
        return {method: path for method in self.timed(dataset) for path in self.debiased(dataset, method, 0)}

    def runtimes(self, task: Task) -> list[str]:
        """The seconds per epoch on every data set."""
        return [
            self.path(f"runtime/{dataset}.json") for dataset in self.config.datasets_of(task) if self.timed(dataset)
        ]

    def theory(self, task: Task) -> list[str]:
        """The theory's terms of every method of its table on every data set."""
        rows = self.config.tables.get("theory", [])
        return [self.path(f"theory/{d}/{m}.csv") for d, m in self.pairs(task) if m in rows]

    def account(self, task: Task) -> list[str]:
        """The account of every method of its table on every data set."""
        rows = self.config.tables.get("account", [])
        return [self.path(f"account/{d}/{m}.csv") for d, m in self.pairs(task) if m in rows]

    def tables(self) -> list[str]:
        """The tables that this run has files for, in their order."""
        return [name for name in self.config.tables if self._readable("tables", name)]

    def figures(self) -> list[str]:
        """The figures that this run has files for and, where one is named after a table, a method of that table."""

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
        """The files that a table (in the folder `tables`) or a figure (in `figures`) reads, by kind."""
        declaration = declared(folder, name)
        return {kind: self.files(kind, declaration.task) for kind in declaration.reads}

    def _readable(self, folder: str, name: str) -> bool:
        """Whether there are files of the first kind that a table or a figure reads: of what it shows."""
        return bool(next(iter(self.sources(folder, name).values()), []))
