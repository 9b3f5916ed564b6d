"""The methods: one module per row of the paper's tables.

A module has `Settings`, the pydantic model of what it reads from config.yaml's `settings`
and `grid`, and for each task it takes part in a class, `NodeClassification` or
`LinkPrediction`. One's own come by their path (docs/extending.md). What is wrong with a
module or with its settings is a ConfigError that names every problem by its path in
config.yaml.
"""

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from fairgat import by_path, cells
from fairgat.config import Config, Model, Task, explain
from fairgat.config import Method as Entry
from fairgat.errors import ConfigError, nearest
from fairgat.plan import method_path


def module(name: str) -> ModuleType:
    """Import the module of a method: one of the package by its name, one's own by its path.

    Raises:
        ConfigError: it cannot be imported, or has no Settings.
    """
    imported = by_path.module_of(_dotted(name), "fairgat")
    if not hasattr(imported, "Settings"):
        raise ConfigError(
            f"{file_of(name)} has no class Settings; see docs/extending.md"
        )
    return imported


def _dotted(name: str) -> str:
    """Name a method's module as it is imported; a path stays one."""
    path = method_path(name)
    return path if by_path.is_path(path) else path.replace("/", ".")


def file_of(name: str) -> str:
    """Name the file of a method's module, for people."""
    path = method_path(name)
    return path if by_path.is_path(path) else f"fairgat/{path}.py"


def implementation(name: str, task: Task) -> type:
    """Find the class of a method for a task: `NodeClassification` for node_classification, and so on."""
    title = task.title().replace("_", "")
    cls = getattr(module(name), title, None)
    if cls is None:
        raise ConfigError(
            f"{file_of(name)} has no class {title}: it does not do {task}"
        )
    return cls


def settings(
    name: str,
    values: dict[str, Any],
    path: str = "settings",
    paths: Mapping[str, str] | None = None,
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
    problems = dict.fromkeys(
        problem for name in run for problem in _problems(name, config)
    )  # each once, in order
    if problems:
        raise ConfigError(
            "the configuration is not valid:\n"
            + "\n".join(f"  {line}" for line in problems)
        )


def _problems(name: str, config: Config) -> Iterator[str]:
    entry = config.methods[name]
    try:
        for task in entry.tasks:
            if (
                implementation(config.module(name), task).needs_debiased
                and not entry.debiased
            ):
                raise ConfigError(
                    f"it trains on a debiased graph: set methods.{name}.debiased to true"
                )
    except ConfigError as error:
        yield f"methods.{name}: {error}"
        return
    invalid = [
        problem
        for path, grid in _grids(name, entry).items()
        for problem in _invalid(name, path, grid, config)
    ]
    yield from invalid or _unknown_data_sets(name, entry, config)
    for key in entry.settings.keys() & {*entry.grid}.union(*entry.grids.values()):
        yield f"methods.{name}.settings.{key}: a grid has it, too, and would win; keep one"


def _unknown_data_sets(name: str, entry: Entry, config: Config) -> Iterator[str]:
    debias = entry.settings.get("debias")  # of EDITS; another method's may be a number
    for key in debias.get("epochs_of", {}) if isinstance(debias, dict) else ():
        if key not in config.datasets:
            unknown = f"{key!r} is not a data set; {nearest(key, config.datasets)}"
            yield f"methods.{name}.settings.debias.epochs_of: {unknown}"


def _grids(name: str, entry: Entry) -> dict[str, dict[str, list]]:
    """List a method's grids, and its published cells as grids of one, by their path in config.yaml."""
    grids = {f"methods.{name}.grid": entry.grid}
    grids |= {
        f"methods.{name}.grids.{dataset}": grid for dataset, grid in entry.grids.items()
    }
    return grids | {
        f"methods.{name}.published.{dataset}": {
            key: [value] for key, value in cell.items()
        }
        for dataset, cell in entry.published.items()
    }


def _invalid(
    name: str, path: str, grid: dict[str, list], config: Config
) -> Iterator[str]:
    """Say what is wrong with the cells of a grid, beside the method's fixed settings."""
    given = config.methods[name].settings
    fixed = dict.fromkeys(given.keys() - grid.keys(), f"methods.{name}.settings")
    for cell in cells.expand(grid):
        try:
            settings(config.module(name), given | cell, path, fixed)
        except ConfigError as error:
            yield from str(error).splitlines()
