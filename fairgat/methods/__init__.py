"""The methods: one module per row of the paper's tables.

A module has `Settings`, the pydantic model of what it reads from config.yaml's `settings` and `grid`, and for each
task it takes part in a class, `NodeClassification` or `LinkPrediction`; docs/extending.md shows how to add one.
"""

import importlib
import pkgutil
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from fairgat import cells
from fairgat.config import Config, Model, Task, explain
from fairgat.errors import ConfigError, nearest

CLASSES = {"node_classification": "NodeClassification", "link_prediction": "LinkPrediction"}
_HELPERS = ("base",)


def names() -> list[str]:
    """Every module here that is a method."""
    return [item.name for item in pkgutil.iter_modules(__path__) if item.name not in _HELPERS]


def module(name: str) -> ModuleType:
    """The module of a method.

    Raises:
        ConfigError: there is none of that name, or it lacks `Settings`.
    """
    if name not in names():
        raise ConfigError(f"there is no method module fairgat/methods/{name}.py; {nearest(name, names())}")
    found = importlib.import_module(f"{__name__}.{name}")
    if not hasattr(found, "Settings"):
        raise ConfigError(f"fairgat/methods/{name}.py has no class Settings; see docs/extending.md")
    return found


def implementation(name: str, task: Task) -> type:
    """The class of a method's module for a task.

    Raises:
        ConfigError: the method does not do this task.
    """
    found = getattr(module(name), CLASSES[task], None)
    if found is None:
        raise ConfigError(f"fairgat/methods/{name}.py has no class {CLASSES[task]}: it does not do {task}")
    return found


def settings(name: str, values: dict[str, Any], path: str = "settings") -> Model:
    """A method's validated settings, one cell's hyperparameters included.

    Raises:
        ConfigError: naming every wrong key under `path`.
    """
    model = module(name).Settings
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(explain(error, path, model))) from None


def check(config: Config) -> None:
    """Check every method's module, tasks, settings and each cell of its grids.

    Raises:
        ConfigError: naming every problem by its path in config.yaml.
    """
    problems = []
    for name, entry in config.methods.items():
        try:
            for task in entry.tasks:
                implementation(config.module(name), task)
        except ConfigError as error:
            problems.append(f"methods.{name}: {error}")
            continue
        grids = {f"methods.{name}.grid": entry.grid}
        grids |= {f"methods.{name}.grids.{dataset}": grid for dataset, grid in entry.grids.items()}
        grids |= {
            f"methods.{name}.published.{dataset}": {key: [value] for key, value in cell.items()}
            for dataset, cell in entry.published.items()
        }
        found = {}  # a dict, to say each problem once and in order
        for path, grid in grids.items():
            for cell in cells.expand(grid):
                try:
                    settings(config.module(name), entry.settings | cell, path)
                except ConfigError as error:
                    found |= dict.fromkeys(str(error).splitlines())
        epochs_of = {} if found else entry.settings.get("debias", {}).get("epochs_of", {})
        problems += found
        problems += [
            f"methods.{name}.settings.debias.epochs_of: {key!r} is not a data set; {nearest(key, config.datasets)}"
            for key in epochs_of
            if key not in config.datasets
        ]
    if problems:
        raise ConfigError("the configuration is not valid:\n" + "\n".join(f"  {line}" for line in problems))
