"""Check, before anything runs, the registry and what a configuration asks of it.

Not imported by `fairgat.measures`: what judges runs would depend on the rows of a
study.
"""

from collections.abc import Iterable, Sequence
from typing import get_args

from fairgat.config import TASKS, Config, Task, study_rows
from fairgat.config.study import Study
from fairgat.errors import ConfigError, nearest
from fairgat.measures.measure import Measure, Role
from fairgat.measures.registry import MEASURES, find, names


def check(config: Config) -> None:
    """Check that what a study and tables of scores show are measures of the task.

    Raises:
        ConfigError: one is not, or an entry of the registry cannot be used.
    """
    for task, entries in MEASURES.items():
        _check_entries(task, entries)
    for name in config.tables:
        entry = config.table(name)
        tasks = [entry.task] if entry.task else [*TASKS]
        _check_names(f"tables.{name}.measures", entry.measures or (), tasks)
    if config.study and config.study.metrics:
        _check_study(config, config.study)


def _check_study(config: Config, study: Study) -> None:
    """Check the metrics of a study; with other rules for the epoch few are kept."""
    tasks = {row.task: None for row in study_rows.rows(config)}
    asked = study.metrics or []
    _check_names("study.metrics", asked, [*tasks])

    kept = [name for task in tasks for name in names(task, "shown")]
    lost = set(asked) - set(kept)
    if study.other_rules and lost:
        raise ConfigError(
            f"study.metrics: with `epochs` there are only {', '.join(kept)}, "
            f"not {', '.join(sorted(lost))}"
        )


def _check_entries(task: Task, entries: Sequence[Measure]) -> None:
    """Check what an entry's type leaves open."""
    where = "fairgat/measures/registry.py"
    roles = get_args(Role)
    seen = set()
    for entry in entries:
        if (entry.name, entry.by) in seen:
            raise ConfigError(
                f"{where}: two measures of {task} are called {entry.name!r}"
            )
        seen.add((entry.name, entry.by))
        if entry.better not in (None, "higher", "lower"):
            raise ConfigError(
                f"{where}: {entry.name}: better is 'higher', 'lower' or None, not "
                f"{entry.better!r}"
            )
        if entry.by not in (None, "group", "attribute"):
            raise ConfigError(
                f"{where}: {entry.name}: by is 'group', 'attribute' or None, not "
                f"{entry.by!r}"
            )
        for role in entry.roles:
            if role not in roles:
                raise ConfigError(
                    f"{where}: {entry.name} has an unknown role; {nearest(role, roles)}"
                )


def _check_names(key: str, asked: Iterable[str], tasks: Sequence[Task]) -> None:
    """Check that each name is a measure of one of the tasks."""
    known = [measure for task in tasks for measure in MEASURES[task]]
    for name in asked:
        found = find(name)
        if any(found.of is measure.of for measure in known):
            continue
        close = nearest(name, {measure.name for measure in known if not measure.by})
        raise ConfigError(
            f"{key}: {name!r} is not a measure of {' or '.join(tasks)}; {close}"
        )
