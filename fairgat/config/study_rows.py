"""What a study compares: its rule's params, the rows that are run."""

from typing import Any, Literal

from fairgat.config.models import Config
from fairgat.config.protocol import TASKS, EpochRuleName, Model, Name, Task
from fairgat.config.study import Row
from fairgat.errors import ConfigError


class ScoreSettings(Model):
    """Whose scores are shown, and how they are summed up."""

    protocols: list[str]
    """Those whose scores are shown."""
    ddof: int
    """How deviations are computed."""
    ratios: dict[Task, float]
    """Test examples for each one that is trained on."""


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
    """The settings of a study: those of `fairgat.config.study.Study`, with the rows that are run."""

    name: Name
    title: str
    part: Literal["validation", "test"]
    metrics: list[str] | None
    figure_metrics: list[str] | None
    accounts: bool
    measured_by: dict[str, str]
    asked: list[str]
    """The titles of all variants."""
    blocks: list[StudyBlock]

    @property
    def rows(self) -> list[StudyRow]:
        return [row for block in self.blocks for row in block.rows]

    @property
    def left_out(self) -> list[str]:
        """Titles of variants that are not run."""
        run = {row.title for row in self.rows}
        return [title for title in self.asked if title not in run]


def study_settings(config: Config) -> StudySettings:
    """Say what the study compares.

    Raises:
        ConfigError: there is no study, or no variant of it is run.
    """
    study = config.study
    if study is None:
        raise ConfigError("there is no study to make: give one with --configfile configs/sensitivity.yaml")
    blocks = _study_blocks(config, {row.method or row.dataset for row in study.rows})
    if not blocks:
        raise ConfigError(f"nothing of the study {study.name} is run: see only_datasets, only_methods and skip")
    asked = study.model_dump(include={"name", "title", "part", "metrics", "figure_metrics", "accounts", "measured_by"})
    return StudySettings(**asked, **_scores(config), asked=[row.title for row in study.rows], blocks=blocks)


def _study_blocks(config: Config, others: set[str | None]) -> list[StudyBlock]:
    """Make a block for each data set on which some variant is run; `others` are the variants."""
    blocks = []
    for dataset, entry in config.datasets.items():
        rows = [] if dataset in others or config.not_run(dataset) else _study_rows(config, dataset, others)
        if any(row.changes for row in rows):
            blocks.append(StudyBlock(name=dataset, title=entry.title or dataset, task=entry.task, rows=rows))
    return blocks


def _study_rows(config: Config, dataset: str, others: set[str | None]) -> list[StudyRow]:
    """Make the rows of a data set; `others` are the variants, methods and data sets.

    A variant that has variants stands above them as a method does.
    """
    known, variants = config.methods_on(dataset), config.study.rows if config.study else []
    # In the order of only_methods: Snakemake puts an overlay's entries before config.yaml's.
    known = [name for name in config.only if name in known] or known
    rows = []
    for of in known:
        varied = [row for row in variants if _varies(config, row, dataset, of, known)]
        if of not in others or any(row.method for row in varied):
            rows += _by_rule(_study_row(config, dataset, of, of), config, as_it_is=True)
            for row in varied:
                rows += _by_rule(_study_row(config, dataset, of, row.method or of, row), config)
    return rows


def _varies(config: Config, row: Row, dataset: str, of: str, known: list[str]) -> bool:
    """Whether a row is about this method on this data set, and is run."""
    if row.method:
        return row.method in known and row.of == of
    return row.of == dataset and of in row.methods and not config.not_run(row.dataset or "")


def _study_row(config: Config, dataset: str, of: str, method: str, row: Row | None = None) -> StudyRow:
    """Make the row of a method as it is, or of a variant."""
    known = {"dataset": dataset, "of": of, "method": method, "title": config.methods[method].title or method}
    if row:
        known |= row.model_dump(include={"title", "changes", "as_good_as"}) | {"dataset": row.dataset or dataset}
    return StudyRow.model_validate(known | {"note_of_more_groups": config.methods[method].note_of_more_groups})


def _by_rule(row: StudyRow, config: Config, as_it_is: bool = False) -> list[StudyRow]:
    """Repeat a row for each pair of rules that choose epochs; that of a method as it is for each rule of its own."""
    study, task = config.study, TASKS[config.datasets[row.dataset].task]
    pairs: list[Rules] = study.epochs if study and task.epoch_rules else [(row.epochs, row.of_epochs)]
    several = len(pairs) > 1
    if as_it_is:
        pairs = [(rule, rule) for rule in dict.fromkeys(rule for _, rule in pairs)]
    rows = []
    for epochs, of_epochs in pairs:
        rules = " / ".join(dict.fromkeys([epochs, of_epochs])).replace("_", " ")
        given = {"epochs": epochs, "of_epochs": of_epochs, "rules": f" ({rules})" if several else ""}
        rows.append(row.model_copy(update=given))
    return rows


def _scores(config: Config) -> dict[str, Any]:
    ratios = {task: config.splits.test_ratio(training.divides) for task, training in TASKS.items()}
    return {"protocols": config.training.protocols, "ddof": config.aggregation.ddof, "ratios": ratios}
