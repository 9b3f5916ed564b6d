"""What is wrong with the names in a configuration: some that nothing has, chains, and titles that two entries share."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import yaml

from fairgat.errors import nearest

if TYPE_CHECKING:
    from fairgat.config.models import Config

Section = Literal["datasets", "methods"]
_KINDS: dict[Section, str] = {"datasets": "data set", "methods": "method"}
_NO_OVERLAY = (
    OSError,
    UnicodeError,
    yaml.YAMLError,
    AttributeError,
    LookupError,
    TypeError,
)  # an unfinished file


def problems(config: "Config") -> list[str]:
    """List them, each with its key."""
    return [
        *_unknown(config),
        *_chains(config),
        *_alike(config, "datasets"),
        *_alike(config, "methods"),
    ]


def _references(
    config: "Config",
) -> Iterator[tuple[str, Section, Iterable[str | None]]]:
    """List the keys that name data sets or methods, which of both, and the names there; None are none."""
    yield "only_datasets", "datasets", config.only_datasets
    yield "skip", "datasets", config.skip
    yield "only_methods", "methods", config.only_methods
    for name, table in config.tables.items():
        yield f"tables.{name}", "methods", table.methods
    for name, dataset in config.datasets.items():
        yield f"datasets.{name}.splits_of", "datasets", [dataset.splits_of]
    for name, method in config.methods.items():
        for key in ("grids", "without", "published"):
            yield f"methods.{name}.{key}", "datasets", getattr(method, key)
        yield f"methods.{name}.same_as", "methods", [method.same_as]
    for row in config.study.rows if config.study else ():
        yield "study.rows.of", "methods" if row.method else "datasets", [row.of]
        yield "study.rows.method", "methods", [row.method, *row.methods]
        yield "study.rows.dataset", "datasets", [row.dataset]
    for pair in config.study.measured_by.items() if config.study else ():
        yield "study.measured_by", "datasets", pair


def _unknown(config: "Config") -> Iterator[str]:
    """Name what no entry has, with the overlay that declares it or the nearest name."""
    for key, section, names in _references(config):
        known = getattr(config, section)
        for name in names:
            if name is not None and name not in known:
                advice = _declared_elsewhere(name, section) or nearest(name, known)
                yield f"{key}: {name!r} is not a {_KINDS[section]}; {advice}"


def _declared_elsewhere(name: str, section: Section) -> str:
    """Say which of the checkout's overlays declares an entry; empty where none does."""
    root = Path(__file__).parents[2]
    found = []
    for path in sorted([*root.glob("configs/*.yaml"), *root.glob("*/studies/*.yaml")]):
        with suppress(*_NO_OVERLAY):
            overlay = yaml.safe_load(path.read_text(encoding="utf-8"))
            if {"task", "tasks"} & overlay[section][name].keys():
                found.append(path.relative_to(root).as_posix())
    if not found:
        return ""
    verb = "declares" if len(found) == 1 else "declare"
    return f"{' and '.join(found)} {verb} it"


def _chains(config: "Config") -> Iterator[str]:
    """Name entries that stand for one that stands for another."""
    for section, key in (("methods", "same_as"), ("datasets", "splits_of")):
        other_of = {
            name: getattr(entry, key)
            for name, entry in getattr(config, section).items()
        }
        for name, other in other_of.items():
            if other_of.get(other):
                yield f"{section}.{name}.{key}: {other} stands for {other_of[other]} itself; name that"


def _alike(config: "Config", section: Section) -> Iterator[str]:
    """Name data sets, and methods of one task, that have the same title: tables tell rows by it."""
    entries, first = getattr(config, section), dict[str, str]()
    for name in (
        config.datasets_run if section == "datasets" else config.only or entries
    ):
        if name not in entries:
            continue  # said already
        title = entries[name].title
        other = first.setdefault(title, name)
        if other != name and (
            section == "datasets"
            or set(entries[name].tasks) & set(entries[other].tasks)
        ):
            yield f"{section}.{name}.title: {title!r} is that of {other}, too; give it another one"
