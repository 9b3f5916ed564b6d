"""Tables and figures, found by the names of their modules."""

import ast
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

from fairgat.errors import ConfigError, nearest


def names(kind: str) -> list[str]:
    """The modules of `tables` or `figures`."""
    package = importlib.import_module(f"fairgat.reporting.{kind}")
    return sorted(entry.name for entry in pkgutil.iter_modules(package.__path__) if not entry.name.startswith("_"))


def module(kind: str, name: str) -> ModuleType:
    """The module of a table or a figure.

    Raises:
        ConfigError: there is none of this name.
    """
    if name not in names(kind):
        raise ConfigError(f"there is no {kind.removesuffix('s')} {name!r}; {nearest(name, names(kind))}")
    return importlib.import_module(f"fairgat.reporting.{kind}.{name}")


def about(kind: str, name: str) -> str:
    """What the docstring of its module says, for the report; read, not imported."""
    path = Path(__file__).parent / kind / f"{name}.py"
    return ast.get_docstring(ast.parse(path.read_bytes())) or ""
