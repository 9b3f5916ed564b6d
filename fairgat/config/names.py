"""What is wrong with the names in a configuration, and with the rows of its study.

Names that nothing has, chains, titles and files that two entries share, and rows that
would stay empty or be counted twice.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import yaml

from fairgat.by_path import name_of
from fairgat.config.models import Config
from fairgat.config.protocol import Task
from fairgat.config.study import Row
from fairgat.errors import nearest

ALL_TABLES = "all_tables"
"""The document with every table, which the rule of this name makes beside them."""
Section = Literal["datasets", "methods"]
_KINDS: dict[Section, str] = {"datasets": "data set", "methods": "method"}
# Of a file that is not finished.
_NO_OVERLAY = (
    OSError,
    UnicodeError,
    yaml.YAMLError,
    AttributeError,
    LookupError,
    TypeError,
)


def problems(config: Config) -> list[str]:
    """List the problems, each with its key."""
    return [
        *_unknown(config),
        *_chains(config),
        *_alike_data_sets(config),
        *_alike_methods(config),
        *_alike_pages(config),
        *_idle_rows(config),
    ]


def _references(
    config: Config,
) -> Iterator[tuple[str, Section, Iterable[str | None]]]:
    """List the keys that name data sets or methods, which of both, and the names.

    Names that are None are none.
    """
    yield "only_datasets", "datasets", config.only_datasets
    yield "skip", "datasets", config.skip
    yield "only_methods", "methods", config.only_methods
    for name, table in config.tables.items():
        yield f"tables.{name}", "methods", table.methods or ()
    for name, dataset in config.datasets.items():
        yield f"datasets.{name}.splits_of", "datasets", [dataset.splits_of]
    for name, method in config.methods.items():
        for key in ("grids", "without", "published"):
            yield f"methods.{name}.{key}", "datasets", getattr(method, key)
        for key, datasets in _by_data_set(method.settings, f"methods.{name}.settings"):
            yield key, "datasets", datasets
        yield f"methods.{name}.same_as", "methods", [method.same_as]
    if not config.study:
        return
    for row in config.study.rows:
        yield "study.rows.of", "methods" if row.method else "datasets", [row.of]
        yield "study.rows.method", "methods", [row.method, *row.methods]
        yield "study.rows.dataset", "datasets", [row.dataset]
    for pair in config.study.measured_by.items():
        yield "study.measured_by", "datasets", pair


def _by_data_set(
    settings: Mapping[str, Any], path: str
) -> Iterator[tuple[str, list[str]]]:
    """List the settings that differ between data sets (`x_of`), and these data sets."""
    for key, value in settings.items():
        if not isinstance(value, Mapping):
            continue
        if key.endswith("_of"):
            yield f"{path}.{key}", list(map(str, value))
        else:
            yield from _by_data_set(value, f"{path}.{key}")


def _unknown(config: Config) -> Iterator[str]:
    """Name what no entry has, with the overlay that declares it or the nearest name."""
    for key, section, names in _references(config):
        known = getattr(config, section)
        for name in names:
            if name is None or name in known:
                continue
            advice = declared_elsewhere(name, section) or nearest(name, known)
            yield f"{key}: {name!r} is not a {_KINDS[section]}; {advice}"


def declared_elsewhere(name: str, section: Section) -> str:
    """Say which of the checkout's overlays declares an entry; empty where none does."""
    root = Path(__file__).parents[2]
    overlays = [*root.glob("configs/*.yaml"), *root.glob("*/studies/*.yaml")]
    found = []
    for path in sorted(overlays):
        with suppress(*_NO_OVERLAY):
            overlay = yaml.safe_load(path.read_text(encoding="utf-8"))
            keys = overlay[section][name].keys()
            if "task" in keys or "tasks" in keys:
                found.append(path.relative_to(root).as_posix())
    if not found:
        return ""
    verb = "declares" if len(found) == 1 else "declare"
    return f"{' and '.join(found)} {verb} it"


def _chains(config: Config) -> Iterator[str]:
    """Name entries that stand for one that stands for another."""
    same_as = {name: entry.same_as for name, entry in config.methods.items()}
    yield from _chained(same_as, "methods.{}.same_as")
    splits_of = {name: entry.splits_of for name, entry in config.datasets.items()}
    yield from _chained(splits_of, "datasets.{}.splits_of")


def _chained(stands_for: Mapping[str, str | None], key: str) -> Iterator[str]:
    """Name entries that stand for one that stands for another; `key` is its path."""
    for name, other in stands_for.items():
        further = stands_for.get(other or "")
        if further:
            path = key.format(name)
            yield f"{path}: {other} stands for {further} itself; name that"


def _alike_data_sets(config: Config) -> Iterator[str]:
    """Name data sets that have the same title: tables tell them apart by it."""
    first: dict[str, str] = {}
    for name in config.datasets_run:
        title = config.datasets[name].title
        other = first.setdefault(title, name)
        if other != name:
            yield _alike("datasets", name, title, other)


def _alike_methods(config: Config) -> Iterator[str]:
    """Name methods of one task that have the same title: tables tell rows by it."""
    first: dict[tuple[Task, str], str] = {}
    for name in config.only or config.methods:
        if name not in config.methods:
            continue  # said already
        entry = config.methods[name]
        others = [first.setdefault((task, entry.title), name) for task in entry.tasks]
        for other in dict.fromkeys(others):
            if other != name:
                yield _alike("methods", name, entry.title, other)


def _alike_pages(config: Config) -> Iterator[str]:
    """Name tables and figures whose files would be those of another one."""
    if ALL_TABLES in config.tables:
        yield (
            f"tables.{ALL_TABLES}: tables/{ALL_TABLES}.tex is the document with all "
            "tables; give the table another name"
        )
    for module in config.figures:
        name = name_of(module)
        other = config.figure_modules[name]
        if other != module:
            yield (
                f"figures: {module} and {other} would both be figures/{name}.svg; "
                "rename one of the files"
            )


def _alike(section: Section, name: str, title: str, other: str) -> str:
    path = f"{section}.{name}.title"
    return f"{path}: {title!r} is that of {other}, too; give it another one"


def _idle_rows(config: Config) -> Iterator[str]:
    """Name rows of the study that would stay empty, or be counted twice."""
    if not config.study:
        return
    seen = set()
    for row in config.study.rows:
        for name in row.methods or [row.method or ""]:
            comparison = (row.dataset, row.of, name)
            problem = _idle(config, row, name)
            if comparison in seen:
                problem = f"{name} is there twice"
            seen.add(comparison)
            if problem:
                yield f"study.rows: {row.dataset or row.method} of {row.of}: {problem}"


def _idle(config: Config, row: Row, name: str) -> str | None:
    """Say why a comparison would be empty.

    `name` is the variant, or a method on another form of a data set.
    """
    base_name = name if row.dataset else row.of
    if row.of == (row.dataset or name):
        return "it is compared with itself"
    if name not in config.methods or base_name not in config.methods:
        return None  # said already
    method, base = config.methods[name], config.methods[base_name]
    other = method.same_as or base.same_as
    if other:
        return f"one of the methods is {other} (`same_as`); name that"
    if not set(method.tasks) & set(base.tasks):
        return "the methods have no task in common; see their `tasks`"
    if row.dataset in method.without or row.of in method.without:
        return f"{name} is run `without` one of them"
    return None
