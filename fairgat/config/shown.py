"""What tables, figures, the audit, a study and the explorer read of the configuration: their rules' params.

Rules pass `model_dump(mode="json")`, and scripts validate it again.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml

from fairgat.config.models import Config
from fairgat.config.protocol import TASKS, EpochRuleName, Margins, Model, Name, Task, Value
from fairgat.config.study import Row
from fairgat.errors import ConfigError


class Entry(Model):
    """A data set or a method of a table."""

    name: Name
    title: str
    reason: str | None
    """Why it is not run."""


class ShownDataset(Entry):
    """A data set of a table."""

    task: Task


class ShownMethod(Entry):
    """A row of a table."""

    same_as: Name | None = None
    """The method whose scores it has."""
    note: str | None = None
    note_of_more_groups: str | None = None


_Entry = TypeVar("_Entry", bound=Entry)


class SearchedMethod(ShownMethod):
    """A method with what was searched, of which the paper published one cell."""

    tasks: list[Task]
    grids: dict[str, dict[str, list[Value]]]
    """By data set."""
    published: dict[str, dict[str, Value]]
    """By data set."""


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


class FigureSettings(ScoreSettings):
    """The settings of a figure, or of explore.html."""

    task: Task | None
    """The task that it shows; None where it shows all."""
    datasets: list[ShownDataset]
    """In config order."""
    methods: list[ShownMethod]
    rule: str
    """The selection rule whose winners are shown."""

    @property
    def dataset_titles(self) -> dict[str, str]:
        return self.titles_of(None)

    @property
    def method_titles(self) -> dict[str, str]:
        return {method.name: method.title for method in self.methods}

    def titles_of(self, task: Task | None) -> dict[str, str]:
        """Give the titles of the data sets of a task; of all where None."""
        return {dataset.name: dataset.title for dataset in self.datasets if task in (None, dataset.task)}

    @property
    def same(self) -> dict[str, str]:
        """For each method that is another one (`same_as`): the method whose scores it has."""
        return {method.name: method.same_as for method in self.methods if method.same_as}


class TableSettings(FigureSettings):
    """The settings of a table."""

    searched: list[SearchedMethod]
    """All methods, whether or not they are rows."""


class Decision(Model):
    """What the paper leaves open, and how it is settled here."""

    setting: str | None
    """The key in config.yaml where it can be changed (<name>: any); None where it is built in."""
    decision: str
    value: str | None = None
    """Its current value."""


class AuditSettings(FigureSettings):
    """The settings of the audit."""

    margins: Margins
    decisions: list[Decision]


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


def figure_settings(config: Config, name: str, task: Task | None) -> FigureSettings:
    """Say what a figure shows: data sets (panels) and methods (colours) that are run.

    A figure that is named after a table has that table's methods, another one of a task all that are trained for it;
    one of both tasks also has those that are another one (`same_as`).
    """
    methods = _distinct(config) if task else list(config.methods)
    return _run(_shown(config, task, config.tables.get(name, methods)))


def explorer_settings(config: Config) -> FigureSettings:
    """Say what explore.html shows: all that is run, in the order of only_methods."""
    return _run(_shown(config, None, config.only or list(config.methods)))


def _distinct(config: Config) -> list[str]:
    """List the methods that are not another one (`same_as`)."""
    return [name for name, entry in config.methods.items() if not entry.same_as]


def _run(shown: FigureSettings) -> FigureSettings:
    run = {key: [entry for entry in getattr(shown, key) if not entry.reason] for key in ("datasets", "methods")}
    return shown.model_copy(update=run)


def table_settings(config: Config, name: str, task: Task | None) -> TableSettings:
    """Say what a table shows: data sets (blocks) and its methods (rows), also those that were asked for and not run."""
    searched = [
        SearchedMethod(
            **dict(_method(config, method, None)),
            tasks=config.methods[method].tasks,
            grids={dataset: config.grid(method, dataset) for dataset in config.datasets},
            published=config.methods[method].published,
        )
        for method in _distinct(config)
    ]
    shown = _shown(config, task, config.tables.get(name, []))
    return TableSettings(
        **dict(shown)
        | {
            "datasets": _asked(shown.datasets, config.only_datasets),
            "methods": _asked(shown.methods, [*config.only_methods, *config.only]),
            "searched": _asked(searched, config.only),
        }
    )


def _asked(entries: Sequence[_Entry], only: list[str]) -> list[_Entry]:
    """Keep those that `only` names; all where it names none, so that an empty table that was asked for says why."""
    return [entry for entry in entries if entry.name in only] or list(entries)


def audit_settings(config: Config) -> AuditSettings:
    """Say what the audit compares, and what the paper leaves open."""
    entries = yaml.safe_load((Path(__file__).parent / "decisions.yaml").read_text(encoding="utf-8"))
    decisions = [Decision(**entry, value=_lookup(config, entry["setting"])) for entry in entries]
    shown = _shown(config, None, config.methods)
    return AuditSettings(**dict(shown), margins=config.audit.margins, decisions=decisions)


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
    pairs: list[Rules] = study.epochs if TASKS[config.datasets[dataset].task].epoch_rules else [("accuracy", "accuracy")]

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


def titles(config: Config) -> dict[str, str]:
    """Give the title of each data set and method, by name."""
    datasets = {name: entry.title or name for name, entry in config.datasets.items()}
    return datasets | {name: entry.title or name for name, entry in config.methods.items()}


def _shown(config: Config, task: Task | None, methods: Iterable[str]) -> FigureSettings:
    return FigureSettings(
        task=task,
        datasets=[
            ShownDataset(name=name, title=entry.title or name, task=entry.task, reason=config.not_run(name))
            for name, entry in config.datasets.items()
            if task in (None, entry.task)
        ],
        methods=[_method(config, name, task) for name in methods],
        rule=config.selection.rule,
        **_scores(config),
    )


def _scores(config: Config) -> dict[str, Any]:
    ratios = {task: config.splits.test_ratio(training.divides) for task, training in TASKS.items()}
    tested = {task: config.splits.tested(training.divides) for task, training in TASKS.items()}
    return {
        "protocols": config.training.protocols, "ddof": config.aggregation.ddof, "ratios": ratios, "tested": tested,
    }  # fmt: skip


def _method(config: Config, name: str, task: Task | None) -> ShownMethod:
    entry = config.methods[name]
    reason = None
    if config.only and (entry.same_as or name) not in config.only:
        reason = "left out with only_methods"
    elif task and task not in entry.tasks:
        reason = f"not a method for {TASKS[task].title.lower()}"
    notes = entry.model_dump(include={"note", "note_of_more_groups"})
    return ShownMethod(name=name, title=entry.title or name, reason=reason, same_as=entry.same_as, **notes)


def _lookup(config: Config, path: str | None) -> str | None:
    """Look up a setting such as `selection.rule`, as text; None where the configuration lacks it."""
    if path is None:
        return None
    value: object = config
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else getattr(value, key, None)
    return None if value is None else str(value)
