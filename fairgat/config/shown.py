"""What a page reads of the configuration: its rule's params, so that a change of anything else makes nothing again.

Rules pass `model_dump(mode="json", exclude_unset=True)`, and scripts validate it again.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml

from fairgat.config.models import Config, Dataset, Method
from fairgat.config.protocol import TASKS, EpochRuleName, Margins, Model, Name, Task
from fairgat.config.study import Row
from fairgat.errors import ConfigError

_READ: Mapping[str, Any] = {
    "note": True,
    "only_methods": True,
    "datasets": {"__all__": {"title", "task", "enabled", "reason", "stands_for"}},
    "methods": {"__all__": {"title", "tasks", "same_as", "note", "note_of_more_groups"}},
    "selection": {"rule"},
    "aggregation": {"ddof"},
    "training": {"link_prediction": {"protocol"}},
    "tables": True,
}
_SHARES = {"train", "validation", "edge_validation", "edge_test"}


class Shown(Model):
    """What a page shows."""

    config: Config
    """The part of the configuration that it reads. A data set that is not run is disabled there, with the reason."""
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
        return {entry.name: str(entry.title) for entry in self.datasets}

    @property
    def method_titles(self) -> dict[str, str]:
        return {entry.name: str(entry.title) for entry in self.methods}

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
        return {task: self.config.splits.test_ratio(training.divides) for task, training in TASKS.items()}


class Decision(Model):
    """What the paper leaves open, and how it is settled here."""

    setting: str | None
    """The key in config.yaml where it can be changed (<name>: any); None where it is built in."""
    decision: str
    value: str | None = None
    """Its current value."""


class AuditSettings(Shown):
    """The settings of the audit."""

    margins: Margins
    decisions: list[Decision]


def table_settings(config: Config, name: str, task: Task | None, trained: bool = False) -> Shown:
    """Say what a table shows: data sets (blocks) and methods (rows), also those that were asked for and cannot be run.

    Args:
        trained: whether a table that lists no methods shows all that are trained.
    """
    rows = config.table(name).methods or (_distinct(config) if trained else [])
    datasets = [each for each, entry in config.datasets.items() if task in (None, entry.task)]
    asked = [each for each in datasets if each in config.only_datasets]
    return Shown(**_shown(config, name, task, asked or datasets, _run(config, rows) or rows))


def figure_settings(config: Config, name: str, task: Task | None) -> Shown:
    """Say what a figure shows of what is run: the methods of the table of its name, or all, in colours of their own."""
    named = config.tables.get(name)
    methods = named.methods if named else _distinct(config) if task else [*config.methods]
    rows = [each for each in _run(config, methods) if task is None or task in config.methods[each].tasks]
    datasets = [each for kind in TASKS if task in (None, kind) for each in config.datasets_of(kind)]
    return Shown(**_shown(config, name, task, datasets, rows))


def explorer_settings(config: Config) -> Shown:
    """Say what explore.html shows: all that is run, in the order of only_methods."""
    datasets = [each for each in config.datasets if not config.not_run(each)]
    rows = config.only or _distinct(config)
    return Shown(**_shown(config, "explorer", None, datasets, rows, {"title": True}))


def audit_settings(config: Config) -> AuditSettings:
    """Say what the audit compares, and what the paper leaves open."""
    entries = yaml.safe_load((Path(__file__).parent / "decisions.yaml").read_text(encoding="utf-8"))
    decisions = [Decision(**entry, value=_lookup(config, entry["setting"])) for entry in entries]
    shown = _shown(config, "audit", None, config.datasets, config.methods, {"splits": _SHARES})
    return AuditSettings(**shown, margins=config.audit.margins, decisions=decisions)


def _distinct(config: Config) -> list[str]:
    """List the methods that are not another one (`same_as`)."""
    return [name for name, entry in config.methods.items() if not entry.same_as]


def _run(config: Config, methods: Iterable[str]) -> list[str]:
    """Keep the methods that are run, or are another one that is."""
    return [name for name in methods if not config.only or (config.methods[name].same_as or name) in config.only]


def _shown(
    config: Config,
    name: str,
    task: Task | None,
    datasets: Iterable[str],
    rows: Iterable[str],
    more: Mapping[str, Any] = {},
) -> dict[str, Any]:
    """Give the fields of `Shown`; `more` are further keys of the configuration that are read."""
    rows = list(rows)
    methods = dict.fromkeys([*rows, *(config.methods[row].same_as or row for row in rows)])
    entries = {}
    for each in datasets:
        reason = config.not_run(each)
        entries[each] = config.datasets[each].model_copy(update={"enabled": not reason, "reason": reason})
    part = {
        "datasets": entries,
        "methods": {method: config.methods[method] for method in methods},
        "only_methods": [method for method in config.only_methods if method in methods],
        "tables": {name: config.table(name).model_copy(update={"methods": []})},
    }
    read = config.model_copy(update=part).model_dump(include={**_READ, **more})
    return {"config": Config.model_validate(read), "name": name, "task": task, "rows": rows}


def _lookup(config: Config, path: str | None) -> str | None:
    """Look up a setting such as `selection.rule`, as text; None where the configuration lacks it."""
    if path is None:
        return None
    value: object = config
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else getattr(value, key, None)
    return None if value is None else str(value)


class ScoreSettings(Model):
    """Whose scores are shown, and how they are summed up."""

    protocols: list[str]
    """Those whose scores are shown."""
    ddof: int
    """How deviations are computed."""
    ratios: dict[Task, float]
    """Test examples for each one that is trained on."""
    tested: dict[Task, float]
    """The share of the examples that are tested."""


class StudyRow(Model):
    """A method as it is, or a variant: another method, or the same one on another form of the data set."""

    dataset: Name
    """Of its runs."""
    method: Name
    """Of its runs."""
    of: Name
    """The method that it is compared with."""
    title: str
    changes: str | None = None
    """In words; None for a method as it is."""
    as_good_as: Name | None = None
    """The method whose AUC chooses its cell."""
    epochs: EpochRuleName = "accuracy"
    """The rule that chooses its epochs."""
    of_epochs: EpochRuleName = "accuracy"
    """The rule that chooses those of the method that it is compared with."""
    rules: str = ""
    """Both rules in words, where a study has several."""
    note_of_more_groups: str | None = None


Rules = tuple[EpochRuleName, EpochRuleName]
"""Those that choose the epochs of a variant, and of what it is compared with."""


class StudyBlock(Model):
    """A data set on which some variant is run."""

    name: Name
    title: str
    task: Task
    rows: list[StudyRow]
    """Each method as it is, then its variants."""


class StudySettings(ScoreSettings):
    """The settings of a study: those of `fairgat.config.Study`, with the rows that are run."""

    name: Name
    title: str
    part: Literal["validation", "test"]
    metrics: list[str] | None
    figure_metrics: list[str] | None
    accounts: bool
    measured_by: dict[str, str]
    left_out: list[str]
    """Titles of variants that are not run."""
    blocks: list[StudyBlock]

    @property
    def rows(self) -> list[StudyRow]:
        return [row for block in self.blocks for row in block.rows]


def study_settings(config: Config) -> StudySettings:
    """Say what the study compares.

    Raises:
        ConfigError: there is no study, or no variant of it is run.
    """
    study = config.study
    if study is None:
        raise ConfigError("there is no study to make: give one with --configfile configs/sensitivity.yaml")
    others = {row.method or row.dataset for row in study.rows}
    blocks = []
    for dataset in (name for name in config.datasets if name not in others and not config.not_run(name)):
        entry = config.datasets[dataset]
        rows = _study_rows(config, dataset, others)
        if any(row.changes for row in rows):
            blocks.append(StudyBlock(name=dataset, title=entry.title or dataset, task=entry.task, rows=rows))
    if not blocks:
        raise ConfigError(f"nothing of the study {study.name} is run: see only_datasets, only_methods and skip")
    drawn, titles = {block.name for block in blocks}, {row.title for block in blocks for row in block.rows}
    asked = study.model_dump(include={"name", "title", "part", "metrics", "figure_metrics", "accounts"})
    return StudySettings(
        **asked,
        measured_by={name: by for name, by in study.measured_by.items() if {name, by} <= drawn},
        **_scores(config),
        left_out=[row.title for row in study.rows if row.title not in titles],
        blocks=blocks,
    )


def _study_rows(config: Config, dataset: str, others: set[str | None]) -> list[StudyRow]:
    """Make the rows of a data set; `others` are the variants, methods and data sets.

    A variant that has variants stands above them as a method does.
    """
    study, methods = config.study, config.methods_on(dataset)
    assert study is not None
    # In the order of only_methods: Snakemake puts an overlay's entries before config.yaml's.
    methods = [name for name in config.only if name in methods] or methods
    bases = {row.of for row in study.rows if row.method in methods}
    pairs: list[Rules] = (
        study.epochs if TASKS[config.datasets[dataset].task].epoch_rules else [("accuracy", "accuracy")]
    )

    def varies(row: Row, method: str) -> bool:
        if row.method:
            return row.method in methods and row.of == method
        return row.of == dataset and method in row.methods and not config.not_run(row.dataset or "")

    rows = []
    for of in (name for name in methods if name in bases or name not in others):
        as_it_is = StudyRow(
            dataset=dataset,
            method=of,
            of=of,
            title=config.methods[of].title or of,
            note_of_more_groups=config.methods[of].note_of_more_groups,
        )
        rules: list[Rules] = [(rule, rule) for rule in dict.fromkeys(rule for _, rule in pairs)]
        rows += _by_rule(as_it_is, rules, len(pairs) > 1)
        for row in (row for row in study.rows if varies(row, of)):
            given = row.model_dump(include={"title", "changes", "as_good_as"})
            where = {"dataset": row.dataset or dataset, "method": row.method or of}
            note = config.methods[where["method"]].note_of_more_groups
            variant = as_it_is.model_copy(update=given | where | {"note_of_more_groups": note})
            rows += _by_rule(variant, pairs, len(pairs) > 1)
    return rows


def _by_rule(row: StudyRow, pairs: Iterable[Rules], named: bool) -> list[StudyRow]:
    """Repeat a row for each pair of rules that choose epochs, with both in words if `named`."""
    rows = []
    for epochs, of_epochs in pairs:
        rules = " / ".join(dict.fromkeys([epochs, of_epochs])).replace("_", " ")
        given = {"epochs": epochs, "of_epochs": of_epochs, "rules": f" ({rules})" if named else ""}
        rows.append(row.model_copy(update=given))
    return rows


def _scores(config: Config) -> dict[str, Any]:
    ratios = {task: config.splits.test_ratio(training.divides) for task, training in TASKS.items()}
    tested = {task: config.splits.tested(training.divides) for task, training in TASKS.items()}
    return {
        "protocols": config.training.protocols, "ddof": config.aggregation.ddof, "ratios": ratios, "tested": tested,
    }  # fmt: skip
