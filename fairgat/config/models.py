"""The experiment of config.yaml: its data sets, methods, tables, figures and study."""

import os
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator, model_validator

from fairgat import cells
from fairgat.by_path import name_of
from fairgat.config.entries import Dataset, Method
from fairgat.config.pages import PUBLISHED, SCORES, TableEntry
from fairgat.config.protocol import (
    TASKS,
    Aggregation,
    Audit,
    Model,
    Name,
    Names,
    Paths,
    PathText,
    Runtime,
    Selection,
    Splits,
    Task,
    Tasks,
    Value,
    normal_path,
)
from fairgat.config.study import Study
from fairgat.config.texts import Line


class Config(Model):
    """The whole experiment."""

    title: Line | None = None
    """What its report is called."""
    note: Line | None = None
    """Stands below every table, such as that the numbers mean nothing."""
    results_dir: Annotated[str, Field(min_length=1), BeforeValidator(normal_path)] = (
        "results"
    )
    """Where everything is written."""
    data_mirror: PathText | None = None
    """A folder with the original data files, tried before any download; laid out as
    docs/data.md says."""
    judge_from: PathText | None = None
    """Results of an earlier run: its training is taken from there, and none is done;
    what comes after is made anew in `results_dir`, by this version."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Every random number follows from it."""
    only_datasets: Names = []
    """Run only these data sets."""
    only_methods: Names = []
    """Run only these methods."""
    skip: Names = []
    """Leave these data sets out; the tables show them as not run."""
    datasets: dict[Name, Dataset]
    """The data sets."""
    splits: Splits = Splits()
    """The splits."""
    training: Tasks = Tasks()
    """The protocol."""
    methods: dict[Name, Method]
    """The methods."""
    selection: Selection = Selection()
    """Choice of cells."""
    aggregation: Aggregation = Aggregation()
    """Mean and deviation."""
    audit: Audit = Audit()
    """Comparison with the paper."""
    runtime: Runtime = Runtime()
    """Timing."""
    tables: dict[Name, TableEntry] = {}
    """The tables, each a module in fairgat/report/tables or of the kind `scores`, and
    the methods that are its rows."""
    figures: Paths = []
    """The figures, each a module in fairgat/report/figures, such a module's name
    followed by that of a task (`curves_link_prediction`), a table of scores, or the
    path of a file of your own."""
    measures: Paths = []
    """Files of your own with more measures: each has a mapping MEASURES from a task to
    a list of `fairgat.measures.Measure`."""
    study: Study | None = None
    """What is compared by the target `study`."""

    @field_validator("datasets", "methods", mode="before")
    @classmethod
    def _titled(cls, entries: Any) -> Any:
        """Title by its key an entry that has no title."""
        if not isinstance(entries, Mapping):
            return entries  # refused by its type
        titled = dict(entries)
        for name, entry in entries.items():
            if not isinstance(entry, Mapping):
                continue  # refused by its type
            title = entry.get("title")
            is_blank = isinstance(title, str) and not title.strip()
            if title is None or is_blank:
                titled[name] = {**entry, "title": name}
        return titled

    @model_validator(mode="after")
    def _named(self) -> "Config":
        for entries in (self.datasets, self.methods):
            for name, entry in entries.items():
                entry._name = name
        return self

    def table(self, name: str) -> TableEntry:
        """Give the entry of a table, with what it leaves out.

        It has no rows where there is no such table.
        """
        entry = self.tables.get(name, TableEntry())
        known = {"kind": name}
        if name in SCORES:
            known = {"kind": "scores", **SCORES[name]}
        lacking = {key: known[key] for key in known if getattr(entry, key) is None}
        return entry.model_copy(update=lacking)

    @property
    def compares_with_paper(self) -> bool:
        """Say whether the run is about the paper.

        Otherwise its pages show nothing that was published.
        """
        run = self.datasets_run
        stand_ins = [name for name in run if self.datasets[name].stands_for]
        return bool(stand_ins) or not set(PUBLISHED).isdisjoint(run)

    @property
    def heading(self) -> str:
        """Give the title of its pages."""
        if self.title:
            return self.title
        if self.compares_with_paper:
            return "FairGAT, reproduced"
        return ", ".join(self.datasets[name].title for name in self.datasets_run)

    @property
    def figure_modules(self) -> dict[str, str]:
        """Give each figure's module by the figure's name, a file's being its stem."""
        return {name_of(figure): figure for figure in self.figures}

    def module(self, method: str) -> str:
        return self.methods[method].module or method

    def grid(self, method: str, dataset: str) -> dict[str, list[Value]]:
        """List the values searched for each hyperparameter of `method` on `dataset`."""
        entry = self.methods[method]
        return entry.grids.get(dataset, entry.grid)

    def training_seed(self, method: str) -> int:
        """Give the seed that the seeds of a method's runs follow from."""
        own = self.methods[method].seed
        return self.seed if own is None else own

    def cells(self, method: str, dataset: str) -> list[str]:
        """List every cell of `method` on `dataset`, as paths."""
        grid = self.grid(method, dataset)
        return [cells.to_path(cell) for cell in cells.expand(grid)]

    def split_numbers(self, dataset: str) -> list[int]:
        """List the numbers of the random splits of `dataset`."""
        first = self.splits.first
        count = self.datasets[dataset].split_count or self.splits.count
        return list(range(first, first + count))

    def training_settings(self, method: str, dataset: str) -> dict[str, Any]:
        """Give the settings of `method` on `dataset`, less those of other data sets."""
        return settings_on(dataset, self.methods[method].settings)

    def cells_to_time(self, method: str, dataset: str) -> dict[str, Any]:
        """Give the `module` of a timed method, and its `cells`, path to settings.

        They are in the order to try: the published one first, and the others where a
        cell may be called off.
        """
        entry, settings = self.methods[method], self.training_settings(method, dataset)
        grid = cells.expand(self.grid(method, dataset))
        published = entry.published.get(dataset)
        if published is not None:
            grid.sort(key=lambda cell: not cells.agrees(cell, published))
        if not entry.may_call_off:
            grid = grid[:1]
        return {
            "module": self.module(method),
            "cells": {cells.to_path(cell): settings | cell for cell in grid},
        }

    def theory_every(self, task: Task) -> int:
        """Give the epochs between two measurements of the theory's terms.

        It is 0 where they are not measured.
        """
        if "theory" not in TASKS[task].measured:
            return 0
        return self.training.theory_every

    def not_run(self, dataset: str) -> str | None:
        """Say why `dataset` is left out of this run; None when it runs."""
        entry = self.datasets[dataset]
        if not entry.enabled:
            return entry.reason
        if dataset in self.skip:
            return "left out with skip"
        if self.only_datasets and dataset not in self.only_datasets:
            return "left out with only_datasets"
        return None

    @property
    def datasets_run(self) -> list[str]:
        """List the data sets that are run, in config order."""
        return [name for name in self.datasets if not self.not_run(name)]

    def datasets_of(self, task: Task) -> list[str]:
        """List the data sets of `task` that are run, in config order."""
        return [name for name in self.datasets_run if self.datasets[name].task == task]

    @property
    def only(self) -> list[str]:
        """List `only_methods`, with the method that is run in place of an equal one.

        It is empty where all methods are run.
        """
        run: dict[str, None] = {}  # each once, in order
        for name in self.only_methods:
            entry = self.methods.get(name)
            same_as = entry.same_as if entry else None
            run[same_as or name] = None
        return list(run)

    @property
    def distinct(self) -> list[str]:
        """List the methods that are not another one (`same_as`)."""
        return [name for name, entry in self.methods.items() if not entry.same_as]

    def methods_of(self, task: Task) -> list[str]:
        """List the methods of `task` that are run, in config order."""
        run = self.only or self.distinct
        known = [name for name in self.methods if name in run]
        return [name for name in known if task in self.methods[name].tasks]

    def rows_of(self, table: str) -> list[str]:
        """List the methods that are the rows of a table."""
        entry = self.table(table)
        rows = entry.methods or []
        if entry.task is None:
            return rows
        if entry.methods is None and entry.kind == "scores":
            return self._as_asked(entry.task)
        if entry.others:
            return rows + self.unlisted(entry.task)
        return rows

    def unlisted(self, task: Task) -> list[str]:
        """List the methods of `task` that are run and that no table of scores names."""
        named: set[str] = set()
        for entry in self._tables_of_scores(task):
            named.update(entry.methods or ())
        return [name for name in self._as_asked(task) if name not in named]

    def left_out(self, task: Task) -> list[str]:
        """List the methods of `task` that are run and are in no table of scores."""
        for entry in self._tables_of_scores(task):
            if entry.others or entry.methods is None:
                return []
        return self.unlisted(task)

    def _tables_of_scores(self, task: Task) -> list[TableEntry]:
        entries = [self.table(name) for name in self.tables]
        return [each for each in entries if (each.kind, each.task) == ("scores", task)]

    def _as_asked(self, task: Task) -> list[str]:
        """List the methods of `task` that are run, in the order of `only_methods`."""
        run = self.methods_of(task)
        return [name for name in self.only or run if name in run]

    def methods_on(self, dataset: str) -> list[str]:
        """List the methods that are run on `dataset`, in config order."""
        known = self.methods_of(self.datasets[dataset].task)
        return [name for name in known if dataset not in self.methods[name].without]


def settings_on(dataset: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve settings on a data set: `x_of: {dataset: value}` is `x: value` there."""
    common, own = {}, {}
    for key, value in settings.items():
        if not isinstance(value, Mapping):
            common[key] = value
        elif not key.endswith("_of"):
            common[key] = settings_on(dataset, value)
        elif dataset in value:
            own[key.removesuffix("_of")] = value[dataset]
    return common | own


def named_files(settings: Any) -> list[str]:
    """List the files that a method's settings name, in mappings and lists too."""
    if isinstance(settings, str):
        return [settings] if os.path.isfile(settings) else []
    if isinstance(settings, Mapping):
        settings = settings.values()
    elif not isinstance(settings, list | tuple):
        return []
    files = []
    for value in settings:
        files += named_files(value)
    return files
