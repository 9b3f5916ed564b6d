"""The rows of a study that are run, on each data set: a method, then its variants."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fairgat.config.models import Config
from fairgat.config.protocol import TASKS, EpochRuleName, Task
from fairgat.config.study import Row, Study
from fairgat.errors import ConfigError


@dataclass(frozen=True)
class StudyRow:
    """A method as it is, or a variant.

    That is another method, or the same one on another form of the data set.
    """

    task: Task
    dataset: str
    """Where it is compared."""
    run_on: str
    """The data set of its runs; another one where this is another form of the data
    set."""
    of: str
    """The method that it is compared with."""
    method: str
    title: str
    changes: str = ""
    """In words; empty for a method as it is."""
    epochs: EpochRuleName = "accuracy"
    """The rule that chooses its epochs."""
    of_epochs: EpochRuleName = "accuracy"
    """The rule that chooses those of the method that it is compared with."""
    rules: str = ""
    """Both rules in words, where a study has several."""


def rows(config: Config) -> list[StudyRow]:
    """List what the study compares.

    Raises:
        ConfigError: there is no study, or no variant of it is run.
    """
    study = config.study
    if study is None:
        raise ConfigError(
            "there is no study to make: give one with --configfile, a file with `study`"
        )
    found: list[StudyRow] = []
    for dataset in config.datasets_run:
        mine = list(_on(config, study, dataset))
        if any(row.changes for row in mine):
            found += mine
    if not found:
        raise ConfigError(
            f"nothing of the study {study.name} is run: see only_datasets, "
            "only_methods and skip"
        )
    return found


def _on(config: Config, study: Study, dataset: str) -> Iterator[StudyRow]:
    """List the rows of a data set; none of one that is another form.

    A variant that has variants, or other forms of the data set, stands above them.
    """
    variants = {row.method or row.dataset for row in study.rows}
    if dataset in variants:
        return
    for of in _in_order(config, dataset):
        varied = [row for row in study.rows if _varies(config, row, dataset, of)]
        if varied or of not in variants:
            task, title = config.datasets[dataset].task, config.methods[of].title
            as_it_is = StudyRow(task, dataset, dataset, of, of, title)
            yield from _with_variants(study, as_it_is, varied)


def _with_variants(
    study: Study, as_it_is: StudyRow, varied: list[Row]
) -> Iterator[StudyRow]:
    """List a method as it is and its variants, once for each rule of the epochs."""
    yield from _by_rule(study, as_it_is)
    for row in varied:
        where, method = row.dataset or as_it_is.dataset, row.method or as_it_is.of
        variant = replace(
            as_it_is, run_on=where, method=method, title=row.title, changes=row.changes
        )
        yield from _by_rule(study, variant)


def _in_order(config: Config, dataset: str) -> list[str]:
    """List the methods that are run, in the order of only_methods where it is given.

    In the configuration Snakemake puts an overlay's entries before config.yaml's.
    """
    run = config.methods_on(dataset)
    return [name for name in config.only if name in run] or run


def _varies(config: Config, row: Row, dataset: str, of: str) -> bool:
    """Whether a row is about this method on this data set, and is run."""
    if row.method:
        return row.of == of and row.method in config.methods_on(dataset)
    if row.of != dataset or of not in row.methods:
        return False
    return row.dataset in config.datasets_run


def _by_rule(study: Study, row: StudyRow) -> Iterator[StudyRow]:
    """Repeat a row for each pair of rules that choose epochs.

    That of a method as it is is repeated for each rule of its own.
    """
    if not TASKS[row.task].epoch_rules:
        yield row
        return
    pairs = study.epochs
    if not row.changes:
        own = dict.fromkeys(rule for _, rule in pairs)
        pairs = [(rule, rule) for rule in own]
    for epochs, of_epochs in pairs:
        rules = ""
        if len(study.epochs) > 1:
            names = " / ".join(dict.fromkeys([epochs, of_epochs]))
            rules = f" ({names.replace('_', ' ')})"
        yield replace(row, epochs=epochs, of_epochs=of_epochs, rules=rules)
