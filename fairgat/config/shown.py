"""What a page shows: its rule's params, so that no other change makes it again.

Rules pass `model_dump(mode="json", exclude_unset=True)`, and scripts validate it again.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from fairgat.config import study_rows
from fairgat.config.models import Config
from fairgat.config.pages import Look, TableEntry
from fairgat.config.protocol import TASKS, Margins, Model, Name, Task
from fairgat.config.study import Study
from fairgat.config.study_rows import StudyRow


class ShownDataset(Model):
    """A data set on a page."""

    name: Name
    title: str
    task: Task
    reason: str | None
    """Why it is not run; None where it is."""
    stands_for: Name | None
    """The data set of the paper in whose place it is run."""


class ShownMethod(Model):
    """A method on a page."""

    name: Name
    title: str
    tasks: list[Task]
    same_as: Name | None
    """The method that it is, and whose scores it has."""
    look: Look | None
    """How figures draw it."""
    note: str | None
    note_of_more_groups: str | None
    without: list[Name]
    """Data sets of the page that it is not run on."""


class Shown(Model):
    """What a page shows."""

    name: Name = "page"
    """Its own: that of its entry under `tables`, if there is one."""
    task: Task | None = None
    """The task that it shows; None where it shows all."""
    note: str | None
    """Stands below it."""
    datasets: list[ShownDataset]
    """The data sets that it shows, in this order."""
    methods: list[ShownMethod]
    """The methods that it shows, in this order."""
    left_out: list[str] = []
    """The titles of the methods that are run and that no table of scores has."""
    table: TableEntry
    """The entry of its name under `tables`, with what it leaves out."""
    rule: str
    """The selection rule whose winners are shown."""
    tolerance: float
    """Accuracy that the rule `fair` may give up, as a fraction."""
    protocols: list[str]
    """Those whose scores are shown."""
    ddof: int
    """Of standard deviations."""
    compares_with_paper: bool
    """Whether it shows what was published, too."""

    @property
    def rows(self) -> list[str]:
        """The names of the methods."""
        return [method.name for method in self.methods]

    @property
    def dataset_titles(self) -> dict[str, str]:
        return {entry.name: entry.title for entry in self.datasets}

    @property
    def method_titles(self) -> dict[str, str]:
        return {entry.name: entry.title for entry in self.methods}

    @property
    def same(self) -> dict[str, str]:
        """For each method that is another one, the method whose scores it has."""
        return {entry.name: entry.same_as for entry in self.methods if entry.same_as}


class StudySettings(Shown):
    """What a study shows."""

    study: Study
    comparisons: list[StudyRow]
    """Each method as it is, and its variants."""
    ratios: dict[Task, float]
    """Test examples for each one that is trained on."""


class Decision(Model):
    """What the paper leaves open, and how it is settled here."""

    setting: str | None
    """The key in config.yaml where it can be changed (<name>: any); None where it is
    built in."""
    decision: str
    value: str | None = None
    """Its current value."""


class AuditSettings(Shown):
    """What the audit compares."""

    margins: Margins
    decisions: list[Decision]
    ratios: dict[Task, float]
    """Test examples for each one that is trained on."""


def table_settings(config: Config, name: str, task: Task | None) -> Shown:
    """Say what a table shows: data sets (blocks) and methods (rows).

    Also those that were asked for and cannot be run. A table that lists no methods
    shows all.
    """
    methods = config.rows_of(name) or config.distinct
    datasets = [each for each in config.datasets if _has_task(config, each, task)]
    asked = [each for each in datasets if each in config.only_datasets]
    run = _that_run(config, methods)
    page = _page(config, asked or datasets, run or methods, name)

    left_out = []
    if task and config.table(name).kind == "scores":
        left_out = [config.methods[each].title for each in config.left_out(task)]
    return Shown(**page, task=task, left_out=left_out)


def figure_settings(config: Config, name: str, task: Task | None) -> Shown:
    """Say what a figure shows of what is run.

    These are the methods of the table with the figure's name, or all.
    """
    methods = config.distinct if task else list(config.methods)
    rows = config.rows_of(name) if name in config.tables else []
    if task:
        methods = [each for each in methods if task in config.methods[each].tasks]
        rows = [each for each in rows if _may_show(config, each, task)]
    methods = rows or methods
    datasets = config.datasets_of(task) if task else config.datasets_run
    return Shown(**_page(config, datasets, _that_run(config, methods), name), task=task)


def study_settings(config: Config) -> StudySettings:
    """Say what a study compares.

    Raises:
        ConfigError: there is no study, or no variant of it is run.
    """
    rows = study_rows.rows(config)
    methods: dict[str, None] = {}  # each once, in order
    for row in rows:
        methods |= dict.fromkeys([row.of, row.method])
    datasets = dict.fromkeys(row.dataset for row in rows)
    return StudySettings(
        **_page(config, datasets, methods),
        comparisons=rows,
        study=config.study,
        ratios=_ratios(config),
    )


def audit_settings(config: Config) -> AuditSettings:
    """Say what the audit compares, and what the paper leaves open."""
    path = Path(__file__).parent / "decisions.yaml"
    decisions = []
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
        value = _lookup(config, entry["setting"])
        decisions.append(Decision(**entry, value=value))
    return AuditSettings(
        **_page(config, config.datasets, config.methods),
        margins=config.audit.margins,
        decisions=decisions,
        ratios=_ratios(config),
    )


def _has_task(config: Config, dataset: str, task: Task | None) -> bool:
    return task is None or config.datasets[dataset].task == task


def _may_show(config: Config, method: str, task: Task) -> bool:
    """Say whether a method is of a task, or of none, as it is timed and not trained."""
    tasks = config.methods[method].tasks
    return task in tasks or not tasks


def _that_run(config: Config, methods: Iterable[str]) -> list[str]:
    """Keep the methods that are run, or stand for (`same_as`) one that is."""
    if not config.only:
        return list(methods)
    run = []
    for name in methods:
        trained = config.methods[name].same_as or name
        if trained in config.only:
            run.append(name)
    return run


def _page(
    config: Config, datasets: Iterable[str], methods: Iterable[str], name: str = "page"
) -> dict[str, Any]:
    """Take what every page shows, of these data sets and methods."""
    return {
        "name": name,
        "note": config.note,
        "datasets": [_dataset(config, each) for each in datasets],
        "methods": [_method(config, each, datasets) for each in methods],
        "table": config.table(name),
        "rule": config.selection.rule,
        "tolerance": config.selection.tolerance,
        "protocols": config.training.protocols,
        "ddof": config.aggregation.ddof,
        "compares_with_paper": config.compares_with_paper,
    }


def _dataset(config: Config, name: str) -> ShownDataset:
    entry = config.datasets[name]
    return ShownDataset(
        name=name,
        title=entry.title,
        task=entry.task,
        reason=config.not_run(name),
        stands_for=entry.stands_for,
    )


def _method(config: Config, name: str, datasets: Iterable[str]) -> ShownMethod:
    entry = config.methods[name]
    return ShownMethod(
        name=name,
        title=entry.title,
        tasks=entry.tasks,
        same_as=entry.same_as,
        look=entry.look,
        note=entry.note,
        note_of_more_groups=entry.note_of_more_groups,
        without=[each for each in entry.without if each in datasets],
    )


def _ratios(config: Config) -> dict[Task, float]:
    return {task: config.splits.test_ratio(TASKS[task].divides) for task in TASKS}


def _lookup(config: Config, path: str | None) -> str | None:
    """Look up a setting such as `selection.rule`, as text; None where there is none."""
    if path is None:
        return None
    value: Any = config
    for key in path.split("."):
        is_mapping = isinstance(value, dict)
        value = value.get(key) if is_mapping else getattr(value, key, None)
    return None if value is None else str(value)
