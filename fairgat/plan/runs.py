"""The runs of a configuration, what they need, and the files that come of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fairgat.by_path import is_path
from fairgat.config import TASKS, Config, Task
from fairgat.errors import ConfigError, nearest
from fairgat.plan.judged import check_judged
from fairgat.plan.modules import KINDS, Declared, declared, method_path

TAKEN = ("data/", "runtime/", "theory/", "account/")
"""Folders of results whose files are copied from `judge_from` and not made again."""


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


# What is made of all runs of a method on a data set.
_OF_ALL_RUNS = re.compile(
    r"(?:theory|account)/([^/]+)/([^/]+)\.csv"
    r"|runs/[^/]+/([^/]+)/([^/]+)/(?:runs\.csv|selection\.json)"
)


def check_targets(words: Sequence[str]) -> None:
    """Refuse to be asked for files of earlier versions.

    Raises:
        ConfigError: with the name of what is there in their place.
    """
    for word in words:
        if word.endswith("/metrics.json"):
            raise ConfigError(
                f"{word}: a run has no metrics.json any more. Ask for run.json or, for scores, the method's runs.csv"
            )


class Plan:
    """The runs of a configuration and the files that come of them.

    Raises:
        ConfigError: a method, a table or a figure has no module, a module does not say what it reads, or a table names
            a method that has no place in it; or `results_dir` is a file.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        if Path(config.results_dir).is_file():
            raise ConfigError(
                f"results_dir: {config.results_dir} is a file; give a folder"
            )
        if config.judge_from:
            check_judged(config)
        for name in config.figure_modules:
            self.figure(name)
        for name in config.methods:
            try:
                method_path(config.module(name))
            except ConfigError as error:
                raise ConfigError(f"methods.{name}: {error}") from None
        for name in config.tables:
            self._check_rows(name, self.table(name))

    def _check_rows(self, name: str, table: Declared) -> None:
        """Check that each method of a table has its task; one without tasks may be timed."""
        for method in self.config.table(name).methods:
            tasks = self.config.methods[method].tasks
            if (
                table.task
                and table.task not in tasks
                and (tasks or "runtime" not in table.reads)
            ):
                title = TASKS[table.task].title.lower()
                raise ConfigError(
                    f"tables.{name}: {method} is no method of {title} (see its `tasks`)"
                )

    def table(self, name: str) -> Declared:
        """Read what a table's module declares, with the task and the title of its entry.

        Raises:
            ConfigError: it has no module, or is one of scores without a task.
        """
        entry = self.config.table(name)
        page = declared("tables", entry.module or entry.kind or name)
        if entry.kind == "scores" and not entry.task:
            raise ConfigError(
                f"tables.{name}: a table of scores needs a `task`, of {', '.join(TASKS)}"
            )
        return replace(
            page, task=entry.task or page.task, about=entry.title or page.about
        )

    def figure(self, name: str) -> Declared:
        """Read what a figure's module declares.

        That is the file of its path, the module of its name, `scores` for a table of scores,
        or the module of its name before that of a task.

        Raises:
            ConfigError: it has no module.
        """
        module = self.config.figure_modules.get(name, name)
        if is_path(module):
            return declared("figures", module)
        table = self.config.table(name)
        if table.kind == "scores":
            return replace(
                declared("figures", "scores"),
                task=table.task,
                about=f"{table.title or name} As points.",
            )
        for task in TASKS:
            if name.endswith(f"_{task}"):
                return replace(
                    declared("figures", name.removesuffix(f"_{task}")), task=task
                )
        return declared("figures", name)

    def check_targets(self, words: Sequence[str]) -> None:
        """Refuse to be asked for what is made of runs where there are none.

        Raises:
            ConfigError: a data set or a method is not run, and why.
        """
        for word in words:
            within = word.removeprefix(self.path(""))
            found = _OF_ALL_RUNS.fullmatch(within)
            if not found or within == word:
                continue
            dataset, method = filter(None, found.groups())
            if dataset not in self.config.datasets:
                continue  # Snakemake says that no rule makes it
            reason = self.config.not_run(dataset)
            if reason:
                raise ConfigError(f"{word}: {dataset} is not run: {reason}")
            if method not in self.config.methods_on(dataset):
                raise ConfigError(f"{word}: {method} is not run on {dataset}")

    def path(self, relative: str) -> str:
        return f"{self.config.results_dir}/{relative}"

    def trained(self, relative: str) -> str:
        """Name a file of training: `judge_from` has it, or else this run makes it."""
        return f"{self.config.judge_from or self.config.results_dir}/{relative}"

    @property
    def judges_scores(self) -> bool:
        """Say whether `judge_from` has the scores of its runs and not all of their predictions."""
        if not self.config.judge_from:
            return False
        predictions = [
            path for task in TASKS for path in self.outputs("predictions.npz", task)
        ]
        return not all(Path(path).exists() for path in predictions)

    def scores(self, task: Task) -> str:
        """Name the file with the scores of a task's runs in `judge_from`."""
        return self.trained(f"summary/{task}/runs.csv")

    def pairs(self, task: Task) -> list[tuple[str, str]]:
        """List every data set of the task that is run, with every method that is run on it."""
        return [
            (d, m)
            for d in self.config.datasets_of(task)
            for m in self.config.methods_on(d)
        ]

    def runs(
        self, task: Task, dataset: str | None = None, method: str | None = None
    ) -> list[Run]:
        """List the runs of a task, of one data set or one method where given, in config order."""
        return [
            Run(task, d, m, cell, split)
            for d, m in self.pairs(task)
            if dataset in (None, d) and method in (None, m)
            for cell in self.config.cells(m, d)
            for split in self.config.split_numbers(d)
        ]

    def outputs(
        self,
        name: str,
        task: Task,
        dataset: str | None = None,
        method: str | None = None,
    ) -> list[str]:
        """List a file of every run, such as `run.json`."""
        return [
            self.trained(f"{run.folder}/{name}")
            for run in self.runs(task, dataset, method)
        ]

    def split(self, task: Task, dataset: str, split: int) -> str:
        return self.trained(f"data/splits/{task}/{dataset}/split-{split}.npz")

    def splits(self, task: Task, dataset: str) -> list[str]:
        return [
            self.split(task, dataset, k) for k in self.config.split_numbers(dataset)
        ]

    def debiased(
        self, dataset: str, method: str, split: int | None = None
    ) -> list[str]:
        """List the debiased graph of each split, or of one; none for a method that trains on the graph as it is."""
        if not self.config.methods[method].debiased:
            return []
        splits = self.config.split_numbers(dataset) if split is None else [split]
        return [
            self.trained(f"data/debiased/{dataset}/{method}/split-{k}.npz")
            for k in splits
        ]

    def files(self, kind: str, task: Task | None = None) -> list[str]:
        """List the files of one of `KINDS`, of one task where given."""
        if kind not in KINDS:
            raise ConfigError(
                f"there are no files of the kind {kind!r}; {nearest(kind, KINDS)}"
            )
        optional = {each for training in TASKS.values() for each in training.measured}
        tasks = [
            each
            for each, training in TASKS.items()
            if task in (None, each)
            and (kind in training.measured or kind not in optional)
        ]
        return list(
            dict.fromkeys(path for each in tasks for path in self._files(kind, each))
        )

    def _files(self, kind: str, task: Task) -> list[str]:
        """List them for one task."""
        datasets = self.config.datasets_of(task)
        match kind:
            case "runs" | "cells" | "winners":
                return [self.path(f"summary/{task}/{kind}.csv")]
            case "stats":
                return [
                    self.path(f"data/graphs/{dataset}.stats.json")
                    for dataset in datasets
                ]
            case "runtime":
                return [
                    self.path(f"runtime/{dataset}.json")
                    for dataset in filter(self.timed, datasets)
                ]
            case "histories":
                return self.outputs("history.csv", task)
        return [
            path
            for pair in self.pairs(task)
            for path in self._files_of(kind, task, *pair)
        ]

    def _files_of(self, kind: str, task: Task, dataset: str, method: str) -> list[str]:
        """List them for one method on one data set."""
        match kind:
            case "selection":
                return [self.selection(task, dataset, method)]
            case "audit":
                return (
                    [self.path("audit/paper_vs_reproduced.csv")]
                    if self.config.compares_with_paper
                    else []
                )
            case "debiasing":  # what it took, beside each debiased graph
                return [
                    f"{graph.removesuffix('.npz')}.timing.json"
                    for graph in self.debiased(dataset, method)
                ]
        listed = (
            method in self.config.table(kind).methods
        )  # of the theory or the account
        return [self.path(f"{kind}/{dataset}/{method}.csv")] if listed else []

    def shards(self, task: Task) -> list[str]:
        """List the scores of every method on every data set."""
        return [
            self.path(f"runs/{task}/{dataset}/{method}/runs.csv")
            for dataset, method in self.pairs(task)
        ]

    def selection(self, task: Task, dataset: str, method: str) -> str:
        return self.path(f"runs/{task}/{dataset}/{method}/selection.json")

    def timed(self, dataset: str) -> list[str]:
        """List the methods whose epochs are timed on a data set: those that are run on it, and those without tasks."""
        asked = self.config.only or self.config.methods
        known = {
            *self.config.methods_on(dataset),
            *(name for name in asked if not self.config.methods[name].tasks),
        }
        return [
            method for method in self.config.table("runtime").methods if method in known
        ]

    def timed_debiased(self, dataset: str) -> dict[str, str]:
        """Give the debiased graph of each timed method that needs one."""
        return {
            method: path
            for method in self.timed(dataset)
            for path in self.debiased(dataset, method, 0)
        }

    def tables(self) -> list[str]:
        """List the tables that this run has files for, in their order; of scores, those that list methods."""
        pages = {name: self.table(name) for name in self.config.tables}
        empty = [
            name
            for name, page in pages.items()
            if page.module == "scores" and not self.config.tables[name].methods
        ]
        return [
            name
            for name, page in pages.items()
            if self._readable(page) and name not in empty
        ]

    def figures(self) -> list[str]:
        """List the figures that this run has files and methods for."""
        return [
            name
            for name in self.config.figure_modules
            if self._readable(self.figure(name)) and self._drawn(name)
        ]

    def _drawn(self, name: str) -> bool:
        """Say whether a method of a figure is run."""
        task = self.figure(name).task
        known = self.config.methods_of(task) if task else [*self.config.methods]
        rows = self.config.tables[name].methods if name in self.config.tables else known
        return any(method in known for method in rows)

    def sources(self, page: Declared) -> dict[str, list[str]]:
        """List the files that a table or a figure reads, by kind."""
        return {kind: self.files(kind, page.task) for kind in page.reads}

    def _readable(self, page: Declared) -> bool:
        """Say whether a data set of the task that a page shows is run, and leaves the first of its files."""
        if page.task and not self.config.datasets_of(page.task):
            return False
        sources = self.sources(page)
        if not next(iter(sources.values()), []):
            return False
        return all(self._at_hand(path) for paths in sources.values() for path in paths)

    def _at_hand(self, path: str) -> bool:
        """Say whether a file can be had: `judge_from` may lack some that are not made again."""
        earlier = self.config.judge_from
        if not earlier:
            return True
        if path.startswith(f"{earlier}/"):
            return Path(path).exists()
        relative = path.removeprefix(f"{self.config.results_dir}/")
        return not relative.startswith(TAKEN) or Path(earlier, relative).exists()
