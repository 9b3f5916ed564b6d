"""The rows of a study that are run: each method as it is, then its variants, on each data set."""

from collections.abc import Iterator
from dataclasses import dataclass

from fairgat.config.models import Config
from fairgat.config.protocol import TASKS, EpochRuleName, Task
from fairgat.config.study import Row, Study
from fairgat.errors import ConfigError


@dataclass(frozen=True)
class StudyRow:
    """A method as it is, or a variant: another method, or the same one on another form of the data set."""

    task: Task
    dataset: str
    """Where it is compared."""
    run_on: str
    """The data set of its runs; another one where this is another form of the data set."""
    of: str
    """The method that it is compared with."""
    method: str
    title: str
    changes: str
    """In words; empty for a method as it is."""
    epochs: EpochRuleName
    """The rule that chooses its epochs."""
    of_epochs: EpochRuleName
    """The rule that chooses those of the method that it is compared with."""
    rules: str
    """Both rules in words, where a study has several."""


def rows(config: Config) -> list[StudyRow]:
    """List what the study compares.

    Raises:
        ConfigError: there is no study, or no variant of it is run.
    """
    study = config.study
    if study is None:
        raise ConfigError("there is no study to make: give one with --configfile configs/sensitivity.yaml")
    found: list[StudyRow] = []
    for dataset in config.datasets_run:
        mine = list(_on(config, study, dataset))
        found += mine if any(row.changes for row in mine) else []
    if not found:
        raise ConfigError(f"nothing of the study {study.name} is run: see only_datasets, only_methods and skip")
    return found


def _on(config: Config, study: Study, dataset: str) -> Iterator[StudyRow]:
    """List the rows of a data set; none of one that is another form. A variant that has variants stands above them."""
    variants = {row.method or row.dataset for row in study.rows}
    run = [] if dataset in variants else config.methods_on(dataset)
    # In the order of only_methods: Snakemake puts an overlay's entries before config.yaml's.
    for of in [name for name in config.only if name in run] or run:
        varied = [row for row in study.rows if _varies(config, row, dataset, of, run)]
        if of not in variants or any(row.method for row in varied):
            yield from _by_rule(config, study, dataset, of)
            for row in varied:
                yield from _by_rule(config, study, dataset, of, row)


def _varies(config: Config, row: Row, dataset: str, of: str, run: list[str]) -> bool:
    """Whether a row is about this method on this data set, and is run."""
    if row.method:
        return row.method in run and row.of == of
    return row.of == dataset and of in row.methods and not config.not_run(row.dataset or "")


def _by_rule(config: Config, study: Study, dataset: str, of: str, row: Row | None = None) -> Iterator[StudyRow]:
    """Make a variant's row for each pair of rules that choose epochs; without `row` that of the method as it is."""
    task, method, several = config.datasets[dataset].task, (row and row.method) or of, False
    pairs: list[tuple[EpochRuleName, EpochRuleName]] = [("accuracy", "accuracy")]
    if TASKS[task].epoch_rules:
        pairs, several = study.epochs, len(study.epochs) > 1
    if row is None:
        pairs = [(rule, rule) for rule in dict.fromkeys(rule for _, rule in pairs)]
    for epochs, of_epochs in pairs:
        rules = " / ".join(dict.fromkeys([epochs, of_epochs])).replace("_", " ")
        yield StudyRow(
            task=task,
            dataset=dataset,
            run_on=(row and row.dataset) or dataset,
            of=of,
            method=method,
            title=row.title if row else config.methods[method].title,
            changes=row.changes if row else "",
            epochs=epochs,
            of_epochs=of_epochs,
            rules=f" ({rules})" if several else "",
        )
