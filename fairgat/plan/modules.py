"""The repository's modules as the rules see them, parsed and never imported.

They are found by name, and by following imports.
"""

import ast
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from fairgat.by_path import is_path, moved_method
from fairgat.config import SCORES, TASKS, Task
from fairgat.errors import ConfigError, nearest
from fairgat.files import sha256_of, stays_inside

KINDS = (
    "runs",
    "cells",
    "winners",
    "selection",
    "perfect",
    "histories",
    "debiasing",
    "runtime",
    "stats",
    "theory",
    "account",
    "audit",
)
ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "fairgat"


@dataclass(frozen=True)
class Declared:
    """What the module of a table or a figure says of itself."""

    module: str
    """Its name."""
    reads: tuple[str, ...]
    """Kinds of files, of `KINDS`."""
    task: Task | None
    """The task whose files it reads; all where None."""
    about: str
    """Its docstring, for the report."""


@cache
def declared(folder: str, name: str) -> Declared:
    """Read what the module of a table or a figure declares as READS and TASK.

    It is not imported.

    Args:
        folder: `tables` or `figures`.
        name: of a module in fairgat/report/{folder}, or the path of a file.

    Raises:
        ConfigError: there is no such module, or it has no READS.
    """
    where = _file_of(folder, name)
    reads, task = _constant(where, "READS"), _constant(where, "TASK")
    if not _are_kinds(reads):
        raise ConfigError(
            f"{_shown(where)}: READS must be a tuple of kinds of files, of "
            f"{', '.join(KINDS)}; it is {reads!r}"
        )
    if task not in (None, *TASKS):
        raise ConfigError(
            f"{_shown(where)}: TASK must be one of {', '.join(TASKS)} or None; it is "
            f"{task!r}"
        )
    about = ast.get_docstring(_parsed(where)) or ""
    return Declared(name, reads, task, about)


def _are_kinds(reads: Any) -> bool:
    """Say whether what a module reads is one or several of KINDS."""
    if not isinstance(reads, tuple) or not reads:
        return False
    return all(kind in KINDS for kind in reads)


def _file_of(folder: str, name: str) -> Path:
    """Find the file of a table's or a figure's module."""
    if is_path(name):
        return _existing(name)
    place = PACKAGE / "report" / folder
    known = [path.stem for path in place.glob("*.py") if not path.stem.startswith("_")]
    if name not in known:
        what = f"{folder}: {name!r} is not a module in fairgat/report/{folder}"
        what += f"; {nearest(name, [*known, *SCORES])}"
        if folder == "tables":
            what += ". A table of rows and measures has `kind: scores`"
        raise ConfigError(what)
    return place / f"{name}.py"


def _existing(path: str) -> Path:
    """Check that a file that a configuration names is there."""
    if not Path(path).is_file():
        raise ConfigError(f"there is no file {path}")
    return Path(path).resolve()


def _shown(file: Path) -> str:
    """Name a file as people know it: in the repository from its root on."""
    if file.is_relative_to(ROOT):
        file = file.relative_to(ROOT)
    return str(file)


def _constant(file: Path, name: str) -> Any:
    """Give what a module assigns to a name; None where it does not.

    Raises:
        ConfigError: that is computed, and a module is read and not run.
    """
    for node in _parsed(file).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=assigned), *_], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=assigned), value=ast.expr() as value):
                pass
            case _:
                continue
        if assigned != name:
            continue
        try:
            return ast.literal_eval(value)
        except ValueError:
            raise ConfigError(
                f"{_shown(file)}: {name} must be written out, as the file is read and "
                f"not run; it is {ast.unparse(value)}"
            ) from None
    return None


_SHARED = ("__init__", "base", "membership")  # in methods/, and none


@cache
def method_modules() -> dict[str, str]:
    """List every method module and its file, for `closure`.

    It is `methods/gat` or, of a folder, `methods/edits/method`.
    """
    files = [*PACKAGE.glob("methods/*.py"), *PACKAGE.glob("methods/*/method.py")]
    modules = {}
    for file in sorted(files):
        path = file.relative_to(PACKAGE).with_suffix("")
        _, name, *_ = path.parts
        if name not in _SHARED:
            modules[name] = path.as_posix()
    return modules


def method_path(module: str) -> str:
    """Name the file of a method's module, for `closure`.

    It is a name in the package, or the path that was given.

    Raises:
        ConfigError: there is none.
    """
    if is_path(module):
        _existing(module)
        return module
    known = method_modules()
    if module not in known:
        none = f"there is no method module fairgat/methods/{module}.py"
        raise ConfigError(moved_method(module) or f"{none}; {nearest(module, known)}")
    return known[module]


# Imported everywhere; what they decide reaches a job through its params and inputs.
# What a page computes of its settings is in other files of config.
_LEFT_OUT = (
    "__init__",
    "cells",
    "checksums",
    "config/__init__",
    "config/command_line",
    "config/entries",
    "config/messages",
    "config/models",
    "config/names",
    "config/pages",
    "config/reading",
    "config/strict_yaml",
    "environment",
    "errors",
    "files",
    "job_log",
    "plan",
)


def closure(script: Path, *more: str, without: Sequence[str] = ()) -> list[str]:
    """List the repository's files that a script runs through.

    Such as a method and what it imports. Follows import statements, those within
    functions too (but none for type checkers only), and files that a module names
    beside itself, such as `paper.yaml`; imports nothing.

    Args:
        script: the file to begin with.
        more: modules that are found by name at run time, such as `methods/gat`, or by
            their path.
        without: modules or folders not to follow.

    Raises:
        ConfigError: one of them cannot be parsed, or has a relative import.
    """
    left_out = tuple(f"{PACKAGE / name}/" for name in (*_LEFT_OUT, *without))
    todo = list(_followed(script))
    for name in more:
        todo += _files_of(name)
    seen: set[Path] = set()
    while todo:
        path = todo.pop()
        place = (
            f"{path.with_suffix('')}/"  # a folder that is left out begins its files'
        )
        if path in seen or place.startswith(left_out):
            continue
        seen.add(path)
        todo += _followed(path)
    return sorted(map(_shown, seen))


def digest(script: Path, *more: str, without: Sequence[str] = ()) -> str:
    """Compute a digest of a script and the files of its `closure`, with their names."""
    text = f"{script.name} {_sha256(script)}\n"
    for name in closure(script, *more, without=without):
        path = ROOT / name  # or what is outside of it, by its absolute path
        shown = name if path.is_relative_to(ROOT) else path.name  # wherever it lies
        text += f"{shown} {_sha256(path)}\n"
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _sha256(path: Path) -> str:
    return sha256_of(path)


@cache
def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise ConfigError(f"{path}, line {error.lineno}: {error.msg}") from None


@cache
def _followed(path: Path) -> tuple[Path, ...]:
    """List the repository's files that a file imports or names."""
    if path.suffix != ".py":
        return ()
    files = []
    for node in _executed(_parsed(path)):
        files += _needed(node, path)
    return tuple(files)


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk a module's tree, without imports that only a type checker reads."""
    children = ast.iter_child_nodes(tree)
    match tree:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            children = iter(tree.orelse)
    yield tree
    for child in children:
        yield from _executed(child)


def _needed(node: ast.AST, path: Path) -> list[Path]:
    """List the repository's files that a node of a module's tree imports or names."""
    match node:
        case ast.Import():
            return _run_by(*(alias.name for alias in node.names))
        case ast.ImportFrom(level=0):
            return _run_by(*_imported(node))
        case ast.ImportFrom(level=level) if not path.is_relative_to(PACKAGE):
            return _along(path.parents[level - 1], _imported(node))
        case ast.ImportFrom():
            raise ConfigError(
                f"{path}, line {node.lineno}: write this import in full, as `from "
                "fairgat...`"
            )
        case ast.Constant(value=str(text)) if stays_inside(text):
            first, *_ = PurePath(text).parts
            named = path.parent / text
            if first in _entries(path.parent) and os.path.isfile(named):
                return [named]
    return []


@cache
def _entries(folder: Path) -> frozenset[str]:
    """List a folder once: asking for each text of a module is slow on a network."""
    return frozenset(os.listdir(folder))


def _imported(node: ast.ImportFrom) -> list[str]:
    """List the dotted names that an import asks for.

    The last part may be a name in the module before it.
    """
    names = [alias.name for alias in node.names]
    if not node.module:  # from . import ...
        return names
    return [f"{node.module}.{name}" for name in names]


def _files_of(name: str) -> list[Path]:
    """Find the files to begin with of a module that is given by name or by path."""
    if is_path(name):
        return [_existing(name)]
    return _run_by(f"fairgat.{name.replace('/', '.')}")


def _run_by(*names: str) -> list[Path]:
    """Find the files of the repository that importing dotted names runs."""
    installed = not (ROOT / "Snakefile").exists()  # beside all other packages
    if installed:
        names = tuple(name for name in names if name.split(".")[0] == "fairgat")
    return _along(ROOT, names)


def _along(folder: Path, names: Iterable[str]) -> list[Path]:
    """Find the files in a folder that importing dotted names runs.

    Each inner folder's __init__.py is one of them.
    """
    files = []
    for name in names:
        base = folder
        for part in name.split("."):
            base /= part
            files += [base.with_suffix(".py"), base / "__init__.py"]
    return [file for file in files if file.is_file()]
