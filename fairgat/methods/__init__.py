"""The methods: one module per row of the paper's tables.

A module has `Settings`, the pydantic model of what it reads from config.yaml's `settings` and `grid`, and for each
task it takes part in a class, `NodeClassification` or `LinkPrediction`; docs/extending.md shows how to add one.
"""

import ast
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from fairgat import cells
from fairgat.config import Config, Model, Task, explain
from fairgat.errors import ConfigError, nearest

CLASSES = {"node_classification": "NodeClassification", "link_prediction": "LinkPrediction"}
_HELPERS = ("base",)
_FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Every module here that is a method."""
    return [item.name for item in pkgutil.iter_modules(__path__) if item.name not in _HELPERS]


def module(name: str) -> ModuleType:
    """The module of a method.

    Raises:
        ConfigError: there is none of that name, it cannot be imported, or it lacks `Settings`.
    """
    if name not in names():
        raise ConfigError(f"there is no method module fairgat/methods/{name}.py; {nearest(name, names())}")
    try:
        found = importlib.import_module(f"{__name__}.{name}" + ".method" * (_FOLDER / name).is_dir())
    except SyntaxError as error:
        raise ConfigError(f"{error.filename}, line {error.lineno}: {error.msg}") from None
    except ImportError as error:
        raise ConfigError(f"fairgat/methods/{name}.py cannot be imported: {error}") from None
    if not hasattr(found, "Settings"):
        raise ConfigError(f"fairgat/methods/{name}.py has no class Settings; see docs/extending.md")
    return found


@cache
def built_on(name: str) -> tuple[str, ...]:
    """The modules here that a method's module imports, and those that they import, but for `base`, as all do.

    Read from the source: importing them would cost as much as PyTorch, in every job that reads the workflow.
    """
    found: dict[str, None] = {}
    todo = [name]
    while todo:
        for other in _imports(todo.pop()):
            if other not in found and other not in (name, *_HELPERS):
                found[other] = None
                todo.append(other)
    return tuple(found)


def debiases(name: str) -> bool:
    """Whether a method trains on a debiased graph: EDITS, and what is built on it (`check` sees to that)."""
    return "edits" in (name, *built_on(name))


def may_call_off(name: str) -> bool:
    """Whether a cell may turn out not to be worth training: the method has a `prepare` of its own, or inherits one."""
    nodes = (node for each in (name, *built_on(name)) for node in _nodes(each))
    return any(isinstance(node, ast.FunctionDef) and node.name == "prepare" for node in nodes)


def path_of(name: str) -> str:
    """The file of a method's module, relative to the package."""
    return f"methods/{name}/method.py" if (_FOLDER / name).is_dir() else f"methods/{name}.py"


def _nodes(name: str) -> Iterator[ast.AST]:
    return ast.walk(ast.parse((_FOLDER.parent / path_of(name)).read_bytes()))


def _imports(name: str) -> list[str]:
    found = []
    for node in _nodes(name):
        if isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = importlib.util.resolve_name("." * node.level + (node.module or ""), __name__)
            paths = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        here = f"{__name__}."
        within = [path.removeprefix(here).partition(".")[0] for path in paths if path.startswith(here)]
        found += [other for other in within if (_FOLDER.parent / path_of(other)).is_file()]
    return found


def _debiasing_problem(name: str) -> str | None:
    """Why the workflow could not make the debiased graphs of a method for node classification; None where it can."""
    if implementation(name, "node_classification").needs_debiased != debiases(name):
        return "needs_debiased goes with importing edits, whose debiased graphs there are, and is set with it alone"
    own, edits = (module(each).Settings for each in (name, "edits"))
    fields = [model.model_fields.get("debias") for model in (own, edits)]
    if debiases(name) and not (issubclass(own, edits) and fields[0].default == fields[1].default):
        return "its Settings must extend those of edits and leave the default of `debias`, which one rule reads for all"
    return None


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
            problem = _debiasing_problem(config.module(name)) if "node_classification" in entry.tasks else None
            if problem:
                raise ConfigError(f"fairgat/methods/{config.module(name)}.py: {problem}")
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
        problems += found
        if found or not debiases(config.module(name)):
            continue
        epochs_of = entry.settings.get("debias", {}).get("epochs_of", {})
        problems += [
            f"methods.{name}.settings.debias.epochs_of: {key!r} is not a data set; {nearest(key, config.datasets)}"
            for key in epochs_of
            if key not in config.datasets
        ]
    if problems:
        raise ConfigError("the configuration is not valid:\n" + "\n".join(f"  {line}" for line in problems))
