"""What is wrong with the names in a configuration: some that nothing has, chains, and titles that two entries share."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import yaml

from fairgat.config.study import Study
from fairgat.errors import nearest

if TYPE_CHECKING:
    from fairgat.config.models import Config

Section = Literal["datasets", "methods"]
_KINDS = {"datasets": "data set", "methods": "method"}
_NO_OVERLAY = (OSError, UnicodeError, yaml.YAMLError, AttributeError, LookupError, TypeError)  # an unfinished file


@dataclass(frozen=True)
class Reference:
    """Names of entries of a section, and the key under which they stand; None are none."""

    key: str
    section: Section
    names: Iterable[str | None]


def problems(config: "Config") -> list[str]:
    """List them, each with its key."""
    return [*_unknown(config), *_chains(config), *_alike(config, "datasets"), *_alike(config, "methods")]


def _references(config: "Config") -> Iterator[Reference]:
    yield Reference("only_datasets", "datasets", config.only_datasets)
    yield Reference("skip", "datasets", config.skip)
    yield Reference("only_methods", "methods", config.only_methods)
    for name, table in config.tables.items():
        yield Reference(f"tables.{name}", "methods", table.methods)
    for name, dataset in config.datasets.items():
        yield Reference(f"datasets.{name}.splits_of", "datasets", [dataset.splits_of])
    if config.study:
        yield from _of_study(config.study)
    for name, method in config.methods.items():
        yield Reference(f"methods.{name}.grids", "datasets", method.grids)
        yield Reference(f"methods.{name}.without", "datasets", method.without)
        yield Reference(f"methods.{name}.published", "datasets", method.published)
        yield Reference(f"methods.{name}.same_as", "methods", [method.same_as])


def _of_study(study: Study) -> Iterator[Reference]:
    for row in study.rows:
        yield Reference("study.rows.of", "methods" if row.method else "datasets", [row.of])
        yield Reference("study.rows.method", "methods", [row.method])
        yield Reference("study.rows.dataset", "datasets", [row.dataset])
        yield Reference("study.rows.methods", "methods", row.methods)
        yield Reference("study.rows.as_good_as", "methods", [row.as_good_as])
    for pair in study.measured_by.items():
        yield Reference("study.measured_by", "datasets", pair)


def _unknown(config: "Config") -> Iterator[str]:
    """Name what no entry has, with the overlay that declares it or the nearest name."""
    for reference in _references(config):
        known = getattr(config, reference.section)
        for name in reference.names:
            if name is not None and name not in known:
                advice = _declared_elsewhere(name, reference.section) or nearest(name, known)
                yield f"{reference.key}: {name!r} is not a {_KINDS[reference.section]}; {advice}"


def _declared_elsewhere(name: str, section: Section) -> str:
    """Say which of the checkout's overlays declares an entry; empty where none does."""
    found = []
    for path in sorted((Path(__file__).parents[2] / "configs").glob("*.yaml")):
        with suppress(*_NO_OVERLAY):
            if {"task", "tasks"} & yaml.safe_load(path.read_text(encoding="utf-8"))[section][name].keys():
                found.append(f"configs/{path.name}")
    return f"{' and '.join(found)} {'declares' if len(found) == 1 else 'declare'} it" if found else ""


def _chains(config: "Config") -> Iterator[str]:
    """Name entries that stand for one that stands for another."""
    for name, method in config.methods.items():
        other = config.methods.get(method.same_as or "")
        if other and other.same_as:
            yield f"methods.{name}.same_as: {method.same_as} is another method itself, or this one"
    for name, dataset in config.datasets.items():
        whose = config.datasets.get(dataset.splits_of or "")
        if whose and whose.splits_of:
            yield f"datasets.{name}.splits_of: {dataset.splits_of} has the splits of another one; name that"


def _alike(config: "Config", section: Section) -> Iterator[str]:
    """Name data sets, and methods of one task, that have the same title: tables tell rows by it."""
    entries, first = getattr(config, section), dict[str, str]()
    for name in _run(config, section):
        title = entries[name].title or name
        other = first.setdefault(title, name)
        if other != name and (section == "datasets" or set(entries[name].tasks) & set(entries[other].tasks)):
            yield f"{section}.{name}.title: {title!r} is that of {other}, too; give it another one"


def _run(config: "Config", section: Section) -> list[str]:
    """List what is run; of methods all where none is asked for."""
    if section == "datasets":
        return [name for name in config.datasets if not config.not_run(name)]
    return [name for name in config.only if name in config.methods] or list(config.methods)
