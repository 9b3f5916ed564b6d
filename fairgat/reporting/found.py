"""Tables and figures, found by the names of their modules."""

import importlib
import pkgutil
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
