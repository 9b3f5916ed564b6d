"""Check, before anything runs, what a configuration asks of the registry, and the registry itself.

Not imported by `fairgat.measures`: what judges runs would depend on the rows of a study.
"""

from collections.abc import Iterable
from typing import get_args

from fairgat.config import TASKS, Config, Task, study_rows
from fairgat.errors import ConfigError, nearest
from fairgat.measures.registry import MEASURES, Measure, Role, find, names


def check(config: Config) -> None:
    """Check that the metrics of a study, and the columns of tables of scores, are measures of the task shown.

    Raises:
        ConfigError: one is not, or an entry of the registry cannot be used.
    """
    for task, entries in MEASURES.items():
        _check_entries(task, entries)
    for name in config.tables:
        entry = config.table(name)
        _check_names(
            f"tables.{name}.measures",
            entry.measures or (),
            *([entry.task] if entry.task else TASKS),
        )
    if config.study and config.study.metrics:
        tasks = dict.fromkeys(row.task for row in study_rows.rows(config))
        _check_names("study.metrics", config.study.metrics, *tasks)
        kept = [name for task in tasks for name in names(task, "shown")]
        if config.study.other_rules and (lost := set(config.study.metrics) - set(kept)):
            only = ", ".join(kept)
            raise ConfigError(
                f"study.metrics: with `epochs` there are only {only}, not {', '.join(sorted(lost))}"
            )


def _check_entries(task: Task, entries: tuple[Measure, ...]) -> None:
    where, names = (
        "fairgat/measures/registry.py",
        [(entry.name, entry.by) for entry in entries],
    )
    for entry in entries:
        if names.count((entry.name, entry.by)) > 1:
            raise ConfigError(
                f"{where}: two measures of {task} are called {entry.name!r}"
            )
        if entry.better not in (None, "higher", "lower"):
            raise ConfigError(
                f"{where}: {entry.name}: better is 'higher', 'lower' or None, not {entry.better!r}"
            )
        if unknown := set(entry.roles) - set(get_args(Role)):
            raise ConfigError(
                f"{where}: {entry.name} has an unknown role; {nearest(unknown.pop(), get_args(Role))}"
            )


def _check_names(key: str, asked: Iterable[str], *tasks: Task) -> None:
    known = [measure for task in tasks for measure in MEASURES[task]]
    for name in asked:
        if not any(find(name).of is measure.of for measure in known):
            close = nearest(name, {measure.name for measure in known if not measure.by})
            raise ConfigError(
                f"{key}: {name!r} is not a measure of {' or '.join(tasks)}; {close}"
            )
