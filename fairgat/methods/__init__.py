"""The methods: one module per row of the paper's tables.

A module has `Settings`, the pydantic model of what it reads from config.yaml's `settings` and `grid`, and for each
task it takes part in a class, `NodeClassification` or `LinkPrediction`; docs/extending.md shows how to add one. What is
wrong with a module or with its settings is a ConfigError that names every problem by its path in config.yaml.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from fairgat import cells
from fairgat.config import Config, Model, Task, explain
from fairgat.config import Method as Entry
from fairgat.errors import ConfigError, nearest

_HELPERS = ("base", "groups")


def names() -> dict[str, str]:
    """List every method, and the module that implements it: a file here, or `method` in a folder."""
    modules = (item for item in pkgutil.iter_modules(__path__) if item.name not in _HELPERS)
    return {item.name: f"{__name__}.{item.name}" + ".method" * item.ispkg for item in modules}


def module(name: str) -> ModuleType:
    """Import the module of a method."""
    if name not in names():
        raise ConfigError(f"there is no method module fairgat/methods/{name}.py; {nearest(name, names())}")
    try:
        imported = importlib.import_module(names()[name])
    except SyntaxError as error:
        raise ConfigError(f"{error.filename}, line {error.lineno}: {error.msg}") from None
    except ImportError as error:
        raise ConfigError(f"fairgat/methods/{name}.py cannot be imported: {error}") from None
    if not hasattr(imported, "Settings"):
        raise ConfigError(f"fairgat/methods/{name}.py has no class Settings; see docs/extending.md")
    return imported


def implementation(name: str, task: Task) -> type:
    """Find the class of a method for a task: `NodeClassification` for node_classification, and so on."""
    title = task.title().replace("_", "")
    cls = getattr(module(name), title, None)
    if cls is None:
        raise ConfigError(f"fairgat/methods/{name}.py has no class {title}: it does not do {task}")
    return cls


def settings(
    name: str, values: dict[str, Any], path: str = "settings", paths: Mapping[str, str] | None = None
) -> Model:
    """Validate a method's settings, with one cell's hyperparameters; `paths` are of keys that stand elsewhere."""
    model = module(name).Settings
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(explain(error, path, model, paths))) from None


def check(config: Config) -> None:
    """Check the module, tasks, settings and each cell of the grids of every method that is run. Imports torch."""
    run = [name for name in config.methods if not config.only or name in config.only]
    problems = dict.fromkeys(problem for name in run for problem in _problems(name, config))  # each once, in order
    if problems:
        raise ConfigError("the configuration is not valid:\n" + "\n".join(f"  {line}" for line in problems))


def _problems(name: str, config: Config) -> Iterator[str]:
    entry = config.methods[name]
    try:
        _check_tasks(name, entry, config)
    except ConfigError as error:
        yield f"methods.{name}: {error}"
        return
    for path, grid in _grids(name, entry).items():
        for cell in cells.expand(grid):
            yield from _problems_of_cell(name, cell, path, config)
    yield from _unknown_data_sets(name, entry, config)
    searched = {key for grid in (entry.grid, *entry.grids.values()) for key in grid}
    for key in entry.settings:
        if key in searched:
            yield f"methods.{name}.settings.{key}: a grid has it, too, and would win; keep one"


def _check_tasks(name: str, entry: Entry, config: Config) -> None:
    for task in entry.tasks:
        if implementation(config.module(name), task).needs_debiased and not entry.debiased:
            raise ConfigError(f"it trains on a debiased graph: set methods.{name}.debiased to true")


def _problems_of_cell(name: str, cell: dict[str, Any], path: str, config: Config) -> list[str]:
    given = config.methods[name].settings
    fixed = dict.fromkeys(given.keys() - cell.keys(), f"methods.{name}.settings")
    try:
        settings(config.module(name), given | cell, path, fixed)
    except ConfigError as error:
        return str(error).splitlines()
    return []


def _grids(name: str, entry: Entry) -> dict[str, dict[str, list]]:
    """List a method's grids, and its published cells as grids of one, by their path in config.yaml."""
    grids = {f"methods.{name}.grid": entry.grid}
    grids |= {f"methods.{name}.grids.{dataset}": grid for dataset, grid in entry.grids.items()}
    return grids | {
        f"methods.{name}.published.{dataset}": {key: [value] for key, value in cell.items()}
        for dataset, cell in entry.published.items()
    }


def _unknown_data_sets(name: str, entry: Entry, config: Config) -> list[str]:
    debias = entry.settings.get("debias")
    epochs_of = debias.get("epochs_of", {}) if isinstance(debias, dict) else {}
    return [
        f"methods.{name}.settings.debias.epochs_of: {key!r} is not a data set; {nearest(key, config.datasets)}"
        for key in (epochs_of if isinstance(epochs_of, dict) else ())
        if key not in config.datasets
    ]
