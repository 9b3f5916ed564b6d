"""The methods: one module per row of the paper's tables.

A module has `Settings`, the pydantic model of what it reads from config.yaml's
`settings` and `grid`, and for each task it takes part in a class, `NodeClassification`
or `LinkPrediction`. One's own come by their path (docs/extending.md). What is wrong
with a module or with its settings is a ConfigError that names every problem by its path
in config.yaml.
"""

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from fairgat import by_path, cells
from fairgat.config import Config, Model, Task, explain
from fairgat.config import Method as Entry
from fairgat.errors import ConfigError
from fairgat.plan import method_path

# What a task's class derives from, in fairgat/methods/base.py.
_KINDS: Mapping[Task, str] = {
    "node_classification": "NodeMethod",
    "link_prediction": "LinkMethod",
}


def module(name: str) -> ModuleType:
    """Import a method's module: one of ours by its name, one's own by its path.

    Raises:
        ConfigError: it cannot be imported, or has no Settings that are a `Model`:
            others may pass over a misspelt key.
    """
    imported = by_path.module_of(_dotted(name), "fairgat")
    if not hasattr(imported, "Settings"):
        raise ConfigError(
            f"{file_of(name)} has no class Settings; see docs/extending.md"
        )
    by_path.check_class(imported, "Settings", Model, "fairgat.config")
    return imported


def _dotted(name: str) -> str:
    """Name a method's module as it is imported; a path stays one."""
    path = method_path(name)
    if by_path.is_path(path):
        return path
    return path.replace("/", ".")


def file_of(name: str) -> str:
    """Name the file of a method's module, for people."""
    path = method_path(name)
    if by_path.is_path(path):
        return path
    return f"fairgat/{path}.py"


def implementation(name: str, task: Task) -> type:
    """Find the class of a method for a task.

    It is `NodeClassification` for node_classification, and so on.

    Raises:
        ConfigError: there is none, or it is no method for this task.
    """
    from fairgat.methods import base  # here, as it imports torch

    title, found = class_name(task), module(name)
    if not hasattr(found, title):
        raise ConfigError(
            f"{file_of(name)} has no class {title}: it does not do {task}"
        )
    kind = getattr(base, _KINDS[task])
    by_path.check_class(found, title, kind, "fairgat.methods.base")
    return getattr(found, title)


def class_name(task: Task) -> str:
    """Name a method's class for a task, such as `NodeClassification`."""
    return task.title().replace("_", "")


def settings(
    name: str,
    values: dict[str, Any],
    path: str = "settings",
    paths: Mapping[str, str] | None = None,
) -> Model:
    """Validate a method's settings, with one cell's hyperparameters.

    Args:
        name: the method's module.
        values: the settings.
        path: where they stand in config.yaml, for errors.
        paths: of single keys that stand elsewhere.

    Raises:
        ConfigError: naming each wrong key, in a line of its own.
    """
    model = module(name).Settings
    try:
        return model.model_validate(values)
    except ValidationError as error:
        none = "that method has no settings"
        problems = explain(error, path, model, paths, no_keys=none)
        raise ConfigError("\n".join(problems)) from None


def check(config: Config) -> None:
    """Check the module, tasks, settings and grids of every method that is run.

    Imports torch.

    Raises:
        ConfigError: naming every problem by its path in config.yaml.
    """
    problems = {}  # each once, in order
    for name in config.only or config.methods:
        problems |= dict.fromkeys(_problems(name, config))
    if problems:
        lines = "".join(f"\n  {problem}" for problem in problems)
        raise ConfigError(f"the configuration is not valid:{lines}")


def _problems(name: str, config: Config) -> Iterator[str]:
    """Say what is wrong with a method's entry."""
    entry = config.methods[name]
    try:
        _check_tasks(config.module(name), name, entry)
    except ConfigError as error:
        yield f"methods.{name}: {error}"
        return
    for path, grid in _grids(name, entry).items():
        yield from _problems_of_grid(name, path, grid, config)
    grid_keys = set(entry.grid).union(*entry.grids.values())
    for key in sorted(grid_keys.intersection(entry.settings)):
        path = f"methods.{name}.settings.{key}"
        yield f"{path}: a grid has it, too, and would win; keep one"


def _check_tasks(module: str, name: str, entry: Entry) -> None:
    """Check that the module does the entry's tasks, with the graph that they need."""
    for task in entry.tasks:
        method = implementation(module, task)
        if method.needs_debiased and not entry.debiased:
            raise ConfigError(
                f"it trains on a debiased graph: set methods.{name}.debiased to true"
            )


def _grids(name: str, entry: Entry) -> dict[str, dict[str, list]]:
    """List a method's grids by their path in config.yaml.

    Its published cells are grids of one.
    """
    grids = {f"methods.{name}.grid": entry.grid}
    for dataset, grid in entry.grids.items():
        grids[f"methods.{name}.grids.{dataset}"] = grid
    for dataset, cell in entry.published.items():
        grid = {key: [value] for key, value in cell.items()}
        grids[f"methods.{name}.published.{dataset}"] = grid
    return grids


def _problems_of_grid(
    name: str, path: str, grid: dict[str, list], config: Config
) -> Iterator[str]:
    """Say what is wrong with a grid's cells, beside the method's fixed settings."""
    fixed = config.methods[name].settings
    paths = dict.fromkeys(fixed.keys() - grid.keys(), f"methods.{name}.settings")
    for cell in cells.expand(grid):
        try:
            settings(config.module(name), fixed | cell, path, paths)
        except ConfigError as error:
            yield from str(error).splitlines()
