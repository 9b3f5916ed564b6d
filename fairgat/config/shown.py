"""What a page reads of the configuration: its rule's params, so that a change of anything else makes nothing again.

Rules pass `model_dump(mode="json", exclude_unset=True)`, and scripts validate it again.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from fairgat.config.models import Config, Dataset, Method
from fairgat.config.protocol import TASKS, Margins, Model, Name, Task

_READ: Mapping[str, Any] = {
    "note": True,
    "only_methods": True,
    "datasets": {"__all__": {"title", "task", "enabled", "reason", "stands_for"}},
    "methods": {
        "__all__": {
            "title",
            "tasks",
            "same_as",
            "note",
            "note_of_more_groups",
            "without",
        }
    },
    "selection": {"rule"},
    "aggregation": {"ddof"},
    "training": {"link_prediction": {"protocol"}},
    "tables": True,
}
_SHARES = {"train", "validation", "edge_validation", "edge_test"}


class Shown(Model):
    """What a page shows."""

    config: Config
    """The part of the configuration that it reads. A data set that is not run is
    disabled there, with the reason."""
    name: Name = "page"
    """Its own: that of its entry under `tables`, if there is one."""
    task: Task | None = None
    """The task that it shows; None where it shows all."""
    rows: list[Name] = []
    """The methods that it shows, in this order."""

    @property
    def datasets(self) -> list[Dataset]:
        return list(self.config.datasets.values())

    @property
    def methods(self) -> list[Method]:
        return [self.config.methods[name] for name in self.rows]

    @property
    def dataset_titles(self) -> dict[str, str]:
        return {entry.name: entry.title for entry in self.datasets}

    @property
    def method_titles(self) -> dict[str, str]:
        return {entry.name: entry.title for entry in self.methods}

    @property
    def same(self) -> dict[str, str]:
        """For each method that is another one (`same_as`): the method whose scores it has."""
        return {entry.name: entry.same_as for entry in self.methods if entry.same_as}

    @property
    def rule(self) -> str:
        """The selection rule whose winners are shown."""
        return self.config.selection.rule

    @property
    def ddof(self) -> int:
        return self.config.aggregation.ddof

    @property
    def protocols(self) -> list[str]:
        """Those whose scores are shown."""
        return self.config.training.protocols

    @property
    def ratios(self) -> dict[Task, float]:
        """Test examples for each one that is trained on, where `splits` is read."""
        return {
            task: self.config.splits.test_ratio(training.divides)
            for task, training in TASKS.items()
        }


class Decision(Model):
    """What the paper leaves open, and how it is settled here."""

    setting: str | None
    """The key in config.yaml where it can be changed (<name>: any); None where it is
    built in."""
    decision: str
    value: str | None = None
    """Its current value."""


class AuditSettings(Shown):
    """The settings of the audit."""

    margins: Margins
    decisions: list[Decision]


def table_settings(config: Config, name: str, task: Task | None) -> Shown:
    """Say what a table shows: data sets (blocks) and methods (rows), also those that were asked for and cannot be run.

    One that lists no methods shows all.
    """
    rows = config.table(name).methods or _distinct(config)
    datasets = [
        each for each, entry in config.datasets.items() if task in (None, entry.task)
    ]
    asked = [each for each in datasets if each in config.only_datasets]
    return Shown(
        name=name,
        task=task,
        rows=_run(config, rows) or rows,
        config=_part(config, asked or datasets, name),
    )


def figure_settings(config: Config, name: str, task: Task | None) -> Shown:
    """Say what a figure shows of what is run: the methods of the table of its name, or all, in colours of their own."""
    named = config.tables.get(name)
    methods = (named and named.methods) or (
        _distinct(config) if task else [*config.methods]
    )
    rows = [
        each
        for each in _run(config, methods)
        if task is None or task in config.methods[each].tasks
    ]
    datasets = config.datasets_of(task) if task else config.datasets_run
    return Shown(name=name, task=task, rows=rows, config=_part(config, datasets, name))


def study_settings(config: Config) -> Shown:
    """Say what a study reads."""
    return Shown(config=_part(config, config.datasets, study=True, splits=_SHARES))


def audit_settings(config: Config) -> AuditSettings:
    """Say what the audit compares, and what the paper leaves open."""
    entries = yaml.safe_load(
        (Path(__file__).parent / "decisions.yaml").read_text(encoding="utf-8")
    )
    return AuditSettings(
        rows=[*config.methods],
        config=_part(config, config.datasets, splits=_SHARES),
        margins=config.audit.margins,
        decisions=[
            Decision(**entry, value=_lookup(config, entry["setting"]))
            for entry in entries
        ],
    )


def _distinct(config: Config) -> list[str]:
    """List the methods that are not another one (`same_as`)."""
    return [name for name, entry in config.methods.items() if not entry.same_as]


def _run(config: Config, methods: Iterable[str]) -> list[str]:
    """Keep the methods that are run, or are another one that is."""
    return [
        name
        for name in methods
        if not config.only or (config.methods[name].same_as or name) in config.only
    ]


def _part(
    config: Config, datasets: Iterable[str], table: str | None = None, **more: Any
) -> Config:
    """Keep what pages read, of these data sets, and the entry of one table; `more` are further keys that are read."""
    entries = {}
    for name in datasets:
        reason = config.not_run(name)
        entries[name] = config.datasets[name].model_copy(
            update={"enabled": not reason, "reason": reason}
        )
    methods = {
        name: entry.model_copy(
            update={
                "without": [dataset for dataset in entry.without if dataset in entries]
            }
        )
        for name, entry in config.methods.items()
    }
    tables = {table: config.table(table)} if table else {}
    part = config.model_copy(
        update={"datasets": entries, "methods": methods, "tables": tables}
    )
    return Config.model_validate(part.model_dump(include={**_READ, **more}))


def _lookup(config: Config, path: str | None) -> str | None:
    """Look up a setting such as `selection.rule`, as text; None where the configuration lacks it."""
    value: object = config if path else None
    for key in (path or "").split("."):
        value = value.get(key) if isinstance(value, dict) else getattr(value, key, None)
    return None if value is None else str(value)
