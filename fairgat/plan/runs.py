"""The runs of a configuration, what they need, and the files that come of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from fairgat.by_path import is_path
from fairgat.config import TASKS, Config, Task
from fairgat.config.models import settings_on
from fairgat.errors import ConfigError, nearest
from fairgat.plan.judged import check_judged, recorded
from fairgat.plan.modules import KINDS, Declared, declared, method_path

TAKEN = ("data/", "runtime/", "theory/", "account/", "perfect/")
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
        cell = cell_folder(self.task, self.dataset, self.method, self.cell)
        return f"{cell}/split-{self.split}"


def cell_folder(task: Task, dataset: str, method: str, cell: str) -> str:
    """Name the folder of a cell's runs, which has one for each split.

    It is under `results_dir`.
    """
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
                f"{word}: a run has no metrics.json any more. Ask for run.json or, for "
                "scores, the method's runs.csv"
            )


class Plan:
    """The runs of a configuration and the files that come of them.

    Raises:
        ConfigError: a method, a table or a figure has no module, a module does not say
            what it reads, or a table names a method that has no place in it; or
            `results_dir` is a file.
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
        """Check that each method of a table has its task.

        One without tasks may be timed.
        """
        if not table.task:
            return
        times = "runtime" in table.reads
        for method in self.config.rows_of(name):
            tasks = self.config.methods[method].tasks
            only_timed = times and not tasks
            if table.task not in tasks and not only_timed:
                title = TASKS[table.task].title.lower()
                raise ConfigError(
                    f"tables.{name}: {method} is no method of {title} (see its `tasks`)"
                )

    def table(self, name: str) -> Declared:
        """Read what a table's module declares, with its entry's task and title.

        Raises:
            ConfigError: it has no module, or is one of scores without a task.
        """
        entry = self.config.table(name)
        page = declared("tables", entry.module or entry.kind or name)
        if entry.kind == "scores" and not entry.task:
            raise ConfigError(
                f"tables.{name}: a table of scores needs a `task`, of "
                f"{', '.join(TASKS)}"
            )
        task, about = entry.task or page.task, entry.title or page.about
        return replace(page, task=task, about=about)

    def figure(self, name: str) -> Declared:
        """Read what a figure's module declares.

        That is the file of its path, the module of its name, `scores` for a table of
        scores, or the module of its name before that of a task.

        Raises:
            ConfigError: it has no module.
        """
        module = self.config.figure_modules.get(name, name)
        if is_path(module):
            return declared("figures", module)
        table = self.config.table(name)
        if table.kind == "scores":
            page, about = declared("figures", "scores"), table.title or name
            return replace(page, task=table.task, about=f"{about} As points.")
        for task in TASKS:
            if name.endswith(f"_{task}"):
                page = declared("figures", name.removesuffix(f"_{task}"))
                return replace(page, task=task)
        return declared("figures", name)

    def check_not_empty(self) -> None:
        """Refuse a configuration of which nothing is run.

        Raises:
            ConfigError: no method is trained or timed on any data set.
        """
        if any(map(self.pairs, TASKS)) or self.files("runtime"):
            return
        why = "no data set is left"
        if self.config.datasets_run:
            why = f"no method is run on {', '.join(self.config.datasets_run)}"
        raise ConfigError(
            f"nothing is run, as {why}: see only_datasets, skip, only_methods and the "
            "methods' `tasks` and `without`"
        )

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
            dataset, method = filter(None, found.groups())  # of one alternative
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

    def trained_settings(self, method: str, dataset: str) -> dict[str, Any] | None:
        """Give a method's settings in `judge_from`, on a data set.

        None where that does not say: it has no provenance.json, or not the method.
        """
        entry = recorded(self.config).get("methods", {}).get(method)
        return settings_on(dataset, entry["settings"]) if entry else None

    @property
    def judges_scores(self) -> bool:
        """Say whether `judge_from` has scores, and lacks predictions of some runs."""
        if not self.config.judge_from:
            return False
        for task in TASKS:
            for path in self.outputs("predictions.npz", task):
                if not Path(path).exists():
                    return True
        return False

    def scores(self, task: Task) -> str:
        """Name the file with the scores of a task's runs in `judge_from`."""
        return self.trained(f"summary/{task}/runs.csv")

    def pairs(self, task: Task) -> list[tuple[str, str]]:
        """List every data set of the task that is run, with every method run on it."""
        pairs = []
        for dataset in self.config.datasets_of(task):
            pairs += [(dataset, method) for method in self.config.methods_on(dataset)]
        return pairs

    def runs(
        self, task: Task, dataset: str | None = None, method: str | None = None
    ) -> list[Run]:
        """List the runs of a task, in config order.

        Of one data set or one method where given.
        """
        runs = []
        for pair in self.pairs(task):
            if dataset not in (None, pair[0]) or method not in (None, pair[1]):
                continue
            splits = self.config.split_numbers(pair[0])
            for cell in self.config.cells(pair[1], pair[0]):
                runs += [Run(task, *pair, cell, split) for split in splits]
        return runs

    def outputs(
        self,
        name: str,
        task: Task,
        dataset: str | None = None,
        method: str | None = None,
    ) -> list[str]:
        """List a file of every run, such as `run.json`."""
        runs = self.runs(task, dataset, method)
        return [self.trained(f"{run.folder}/{name}") for run in runs]

    def split(self, task: Task, dataset: str, split: int) -> str:
        return self.trained(f"data/splits/{task}/{dataset}/split-{split}.npz")

    def splits(self, task: Task, dataset: str) -> list[str]:
        numbers = self.config.split_numbers(dataset)
        return [self.split(task, dataset, number) for number in numbers]

    def debiased(
        self, dataset: str, method: str, split: int | None = None
    ) -> list[str]:
        """List the debiased graph of each split, or of one.

        There is none for a method that trains on the graph as it is.
        """
        if not self.config.methods[method].debiased:
            return []
        splits = self.config.split_numbers(dataset) if split is None else [split]
        folder = f"data/debiased/{dataset}/{method}"
        return [self.trained(f"{folder}/split-{number}.npz") for number in splits]

    def files(self, kind: str, task: Task | None = None) -> list[str]:
        """List the files of one of `KINDS`, of one task where given."""
        if kind not in KINDS:
            raise ConfigError(
                f"there are no files of the kind {kind!r}; {nearest(kind, KINDS)}"
            )
        optional = any(kind in training.measured for training in TASKS.values())
        files: dict[str, None] = {}  # each once, in order
        for each, training in TASKS.items():
            measured = kind in training.measured or not optional
            if measured and task in (None, each):
                files |= dict.fromkeys(self._files(kind, each))
        return list(files)

    def _files(self, kind: str, task: Task) -> list[str]:
        """List the files of a kind for one task."""
        datasets = self.config.datasets_of(task)
        match kind:
            case "runs" | "cells" | "winners":
                return [self.path(f"summary/{task}/{kind}.csv")]
            case "stats":
                return [
                    self.path(f"data/graphs/{name}.stats.json") for name in datasets
                ]
            case "perfect":
                files = [self.path(f"perfect/{task}/{each}.csv") for each in datasets]
                return list(filter(self._at_hand, files))
            case "runtime":
                timed = filter(self.timed, datasets)
                files = [self.path(f"runtime/{name}.json") for name in timed]
                return list(filter(self._at_hand, files))
            case "histories":
                return self.outputs("history.csv", task)
            case "audit":
                compared = self.pairs(task) and self.config.compares_with_paper
                return [self.path("audit/paper_vs_reproduced.csv")] if compared else []
        files = []
        for dataset, method in self.pairs(task):
            files += self._files_of(kind, task, dataset, method)
        return files

    def _files_of(self, kind: str, task: Task, dataset: str, method: str) -> list[str]:
        """List the files of a kind for one method on one data set."""
        match kind:
            case "selection":
                return [self.selection(task, dataset, method)]
            case "debiasing":  # what it took, beside each debiased graph
                graphs = [Path(path) for path in self.debiased(dataset, method)]
                return [str(path.with_suffix(".timing.json")) for path in graphs]
        # The theory or the account.
        if method not in self._rows_reading(kind):
            return []
        return [self.path(f"{kind}/{dataset}/{method}.csv")]

    def shards(self, task: Task) -> list[str]:
        """List the files of scores, one for each data set and method."""
        folders = ["/".join(pair) for pair in self.pairs(task)]
        return [self.path(f"runs/{task}/{folder}/runs.csv") for folder in folders]

    def selection(self, task: Task, dataset: str, method: str) -> str:
        return self.path(f"runs/{task}/{dataset}/{method}/selection.json")

    def timed(self, dataset: str) -> list[str]:
        """List the methods whose epochs are timed on a data set.

        These are the methods that are run on it, and those without tasks.
        """
        asked = self.config.only or self.config.methods
        known = [name for name in asked if not self.config.methods[name].tasks]
        known += self.config.methods_on(dataset)
        listed = self._rows_reading("runtime")
        return [method for method in listed if method in known]

    def _rows_reading(self, kind: str) -> list[str]:
        """List the methods that are rows of a table which reads files of a kind."""
        rows: dict[str, None] = {}  # each once, in order
        for name in self.config.tables:
            if kind in self.table(name).reads:
                rows |= dict.fromkeys(self.config.rows_of(name))
        return list(rows)

    def timed_debiased(self, dataset: str) -> dict[str, str]:
        """Give the debiased graph of each timed method that needs one."""
        graphs = {}
        for method in self.timed(dataset):
            for path in self.debiased(dataset, method, 0):
                graphs[method] = path
        return graphs

    def tables(self) -> list[str]:
        """List the tables that this run has files for, in their order.

        A table of scores without methods has none.
        """
        shown = []
        for name in self.config.tables:
            page = self.table(name)
            empty = page.module == "scores" and not self.config.rows_of(name)
            if not empty and self._readable(page):
                shown.append(name)
        return shown

    def figures(self) -> list[str]:
        """List the figures that this run has files and methods for."""
        names = [name for name in self.config.figure_modules if self._drawn(name)]
        return [name for name in names if self._readable(self.figure(name))]

    def _drawn(self, name: str) -> bool:
        """Say whether a method of a figure is run."""
        task = self.figure(name).task
        known = self.config.methods_of(task) if task else list(self.config.methods)
        rows = known
        if name in self.config.tables:
            rows = self.config.rows_of(name)
        return not set(rows).isdisjoint(known)

    def sources(self, page: Declared) -> dict[str, list[str]]:
        """List the files that a table or a figure reads, by kind."""
        return {kind: self.files(kind, page.task) for kind in page.reads}

    def _readable(self, page: Declared) -> bool:
        """Say whether the files that a page reads are made, or at hand.

        Its task must have a data set that is run, and files of the first kind it reads.
        """
        if page.task and not self.config.datasets_of(page.task):
            return False
        sources = list(self.sources(page).values())
        if not sources or not sources[0]:
            return False
        return all(map(self._at_hand, chain(*sources)))

    def _at_hand(self, path: str) -> bool:
        """Say whether a file can be had: `judge_from` may lack some of training."""
        earlier, results = self.config.judge_from, self.config.results_dir
        if not earlier:
            return True
        # One of the folders may be within the other: the inner one has the file.
        folders = sorted([earlier, results], key=len, reverse=True)
        inner = next(each for each in folders if path.startswith(f"{each}/"))
        if inner == earlier:
            return Path(path).exists()
        relative = path.removeprefix(f"{results}/")
        if not self._taken(relative):
            return True
        return Path(earlier, relative).exists()

    def _taken(self, relative: str) -> bool:
        """Say whether a file is copied from `judge_from` and not made again."""
        made = relative.startswith("perfect/") and not self.judges_scores
        return relative.startswith(TAKEN) and not made
