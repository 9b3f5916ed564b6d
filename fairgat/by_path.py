"""Modules of one's own, given by the path of their file.

Such as a method, a source, measures, a table, a figure.

The folder of such a file is a package: `from .losses import penalty` imports losses.py
beside it.
"""

import hashlib
import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

from fairgat.errors import ConfigError

_PACKAGE = "fairgat_own_"
"""How the name begins of the package that a folder is; nobody has to know it."""
_INVENTED = re.compile(rf"{_PACKAGE}[0-9a-f]+\.")
# What 0.4 had by a short name, and the files of the repository that have it now: for
# one release, whoever still gives the name is told the path.
_METHODS = (
    "a_fame",
    "bemap",
    "common_threshold",
    "fairgat_variants",
    "fairgb",
    "fairsin",
    "noise",
)
_SOURCES = {
    "blocks": ("blocks", "syn-1", "syn-2"),
    "facebook100": ("facebook100", "reed98", "amherst41", "johns-hopkins55"),
    "pokec_structural": (
        "pokec_structural",
        "pokec-z-structural",
        "pokec-n-structural",
    ),
}


def check_class(module: ModuleType, name: str, base: type, origin: str) -> None:
    """Refuse what a module has under a name if it is no class that derives from `base`.

    Raises:
        ConfigError: naming the base and the module that it is imported from, `origin`.
    """
    value = getattr(module, name)
    if not (isinstance(value, type) and issubclass(value, base)):
        raise ConfigError(
            f"{place_of(module.__name__)}: write `class {name}({base.__name__}):`, "
            f"with {base.__name__} from {origin}"
        )


def moved_method(name: str) -> str:
    """Say where to find a method's module that left the package; empty for others."""
    if name not in _METHODS:
        return ""
    return _moved(name, "module", f"beyond/methods/{name}.py")


def moved_source(name: str) -> str:
    """Say where to find a source that left the package; empty for others.

    Also that of a data set, by its name.
    """
    if name == "networkx":
        return (
            "networkx has left the package: docs/extending.md has ten lines that write "
            "a graph's nodes and edges as CSV files, which `source: tables` reads"
        )
    for source, names in _SOURCES.items():
        if name in names:
            return _moved(name, "source", f"beyond/sources/{source}.py")
    return ""


def _moved(name: str, key: str, path: str) -> str:
    """Say what to write in place of a name that has left the package."""
    return (
        f"{name} has left the package: write `{key}: {path}`, relative to the file "
        "that says it"
    )


def is_path(name: str) -> bool:
    """Say whether a module is given by its file's path, and not by a name."""
    return name.endswith(".py")


def name_of(module: str) -> str:
    """Give the name of a module; that of a file has no folder and no ending."""
    return Path(module).stem if is_path(module) else module


def module_of(name: str, package: str) -> ModuleType:
    """Import a module of a package of ours by its name, or one's own by its path."""
    if is_path(name):
        return imported(name)
    return importlib.import_module(f"{package}.{name}")


def imported(path: str | Path) -> ModuleType:
    """Import a file as a module of the package that its folder is.

    Raises:
        ConfigError: there is no such file, or importing it fails.
    """
    file = Path(path).resolve()
    if not file.is_file():
        raise ConfigError(f"there is no file {path}")
    try:
        return importlib.import_module(f"{_package_of(file.parent)}.{file.stem}")
    except Exception as error:  # of whatever runs at the import
        said = plain(str(error))
        problem = f"{path} cannot be imported: {type(error).__name__}: {said}"
        raise ConfigError(problem + _advice(error, file.parent)) from None


def place_of(module: str) -> str:
    """Say where an imported module is, for people: one's own by its file's path."""
    if not module.startswith(_PACKAGE):
        return module
    file = Path(str(sys.modules[module].__file__))
    if file.is_relative_to(Path.cwd()):
        file = file.relative_to(Path.cwd())
    return str(file)


def plain(text: str) -> str:
    """Take the names of packages that are invented here out of an error's text."""
    return _INVENTED.sub("", text)


def _package_of(folder: Path) -> str:
    """Make a package of a folder, once, and give its name.

    Folders with equal files are two packages.
    """
    digest = hashlib.sha256(str(folder).encode()).hexdigest()
    name = f"{_PACKAGE}{digest[:12]}"
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return name


def _advice(error: Exception, folder: Path) -> str:
    """Say how a file is imported that lies beside the one that failed; or nothing."""
    name = getattr(error, "name", None) or ""
    if isinstance(error, ModuleNotFoundError) and (folder / f"{name}.py").exists():
        return f"; write `from .{name} import ...`, as it is a file beside it"
    return ""
