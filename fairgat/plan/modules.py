"""The package's modules as the rules see them: found by name, and by following imports. Parsed, never imported."""

import ast
import hashlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fairgat.config import SCORES, TASKS, Task
from fairgat.errors import ConfigError, nearest
from fairgat.files import sha256_of

KINDS = (
    "runs", "cells", "winners", "selection", "histories", "bias", "runtime", "stats", "theory", "account", "audit",
)  # fmt: skip
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
    """Read what fairgat/report/{folder}/{name}.py declares as READS and TASK, without importing it.

    Args:
        folder: `tables` or `figures`.

    Raises:
        ConfigError: there is no such module, or it has no READS.
    """
    place = PACKAGE / "report" / folder
    known = [path.stem for path in place.glob("*.py") if not path.stem.startswith("_")]
    if name not in known:
        close = nearest(name, [*known, *SCORES])
        raise ConfigError(f"{folder}: {name!r} is not a module in fairgat/report/{folder}; {close}")
    tree, where = _parsed(place / f"{name}.py"), f"fairgat/report/{folder}/{name}.py"
    reads, task = _constant(tree, "READS"), _constant(tree, "TASK")
    if not isinstance(reads, tuple) or not set(reads) <= set(KINDS):
        raise ConfigError(f"{where}: READS must be a tuple of kinds of files, of {', '.join(KINDS)}; it is {reads!r}")
    if task not in (None, *TASKS):
        raise ConfigError(f"{where}: TASK must be one of {', '.join(TASKS)} or None; it is {task!r}")
    return Declared(name, reads, task, ast.get_docstring(tree) or "")


def _constant(tree: ast.Module, name: str) -> Any:
    """Give what a module assigns to a name; None where it does not."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return ast.literal_eval(node.value)
    return None


def method_path(module: str) -> str:
    """Name the file of a method's module, for `closure`: `methods/gat`, or with a folder `methods/edits/method`."""
    return f"methods/{module}/method" if (PACKAGE / "methods" / module).is_dir() else f"methods/{module}"


def check_modules(methods: Mapping[str, str]) -> None:
    """Check that the module of every method is there.

    Args:
        methods: name → module.

    Raises:
        ConfigError: one has none.
    """
    folder = PACKAGE / "methods"
    known = [p.stem for p in folder.iterdir() if p.suffix == ".py" or (p / "method.py").is_file()]
    problems = [
        f"  methods.{name}: there is no method module fairgat/methods/{module}.py; {nearest(module, known)}"
        for name, module in methods.items()
        if module not in known
    ]
    if problems:
        raise ConfigError("\n".join(["the configuration is not valid:", *problems]))


# Imported everywhere, and what they decide reaches a job through its params and inputs.
_LEFT_OUT = (
    "fairgat.cells",
    "fairgat.config",
    "fairgat.environment",
    "fairgat.errors",
    "fairgat.files",
    "fairgat.job_log",
    "fairgat.plan",
)


def closure(script: Path, *more: str, without: Sequence[str] = ()) -> list[str]:
    """List the package's files that a script runs through, relative to the repository.

    Follows import statements, those within functions too, and files that a module names beside itself, such as
    `paper.yaml`; imports nothing. Left out are modules that only hold a docstring, and those that all others import.

    Args:
        script: the file to begin with.
        more: modules, files or folders of the package that are found by name at run time, such as `methods/gat`.
        without: modules or folders not to follow.

    Raises:
        ConfigError: one of them is missing, or cannot be parsed.
    """
    pruned = tuple(f"{name}." for name in (*_LEFT_OUT, *(f"fairgat.{name.replace('/', '.')}" for name in without)))
    seen: set[Path] = set()
    todo = [script, *(path for name in more for path in _located(name))]
    while todo:
        path = todo.pop()
        if path not in seen and _name_of(path) != "fairgat" and not f"{_name_of(path)}.".startswith(pruned):
            seen.add(path)
            todo += _followed(path)
    return sorted(str(path.relative_to(ROOT)) for path in seen if _is_code(path))


def digest(script: Path, *more: str, without: Sequence[str] = ()) -> str:
    """Compute a digest of the content of a script and of the files of its `closure`, with their names."""
    files = [(script.name, script), *((name, ROOT / name) for name in closure(script, *more, without=without))]
    text = "".join(f"{name} {_sha256(path)}\n" for name, path in files)
    return hashlib.sha256(text.encode()).hexdigest()


def _located(name: str) -> list[Path]:
    """Find the files of a module with the folders around it, of another file or of a folder."""
    for path in (PACKAGE / f"{name}.py", PACKAGE / name / "__init__.py", PACKAGE / name):
        if path.is_file():
            folders = [folder for folder in path.parents if folder.is_relative_to(PACKAGE)]
            return [path, *(folder / "__init__.py" for folder in folders if (folder / "__init__.py").is_file())]
    if (PACKAGE / name).is_dir():
        return sorted(path for path in (PACKAGE / name).iterdir() if path.is_file())
    raise ConfigError(f"there is no fairgat/{name}")


def _name_of(path: Path) -> str:
    """Give the dotted name of a module of the package; of another file its path."""
    if path.suffix != ".py" or not path.is_relative_to(PACKAGE):
        return str(path)
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _sha256(path: Path) -> str:
    return sha256_of(path)


@cache
def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise ConfigError(f"{path}, line {error.lineno}: {error.msg}") from None
    except (OSError, ValueError) as error:  # no permission; a file of null bytes
        raise ConfigError(f"{path} cannot be read: {error}") from None


def _is_code(path: Path) -> bool:
    """Say whether a file is the package's, and no module with a docstring at most."""
    if path.suffix != ".py" or not path.is_relative_to(PACKAGE):
        return path.is_relative_to(PACKAGE)
    return any(
        not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant) for node in _parsed(path).body
    )


@cache
def _followed(path: Path) -> tuple[Path, ...]:
    """List the package's files that a file imports or names."""
    if path.suffix != ".py":
        return ()
    files: dict[Path, None] = {}
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            files |= dict.fromkeys(_imported(node, path))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith((".yaml", ".j2")):
            beside = path.parent / node.value
            if beside.is_file():
                files[beside] = None
    return tuple(files)


def _imported(node: ast.Import | ast.ImportFrom, path: Path) -> Iterator[Path]:
    """Find the files of the package that an import statement runs, each folder's __init__.py included."""
    for name in _imported_names(node, path):
        parts = name.split(".")
        if parts[0] != "fairgat":
            continue
        bases = [ROOT.joinpath(*parts[:end]) for end in range(1, len(parts) + 1)]
        # The last part of `from` may be a name in the module before it.
        for base in bases if isinstance(node, ast.Import) else bases[:-1]:
            if not (base.is_dir() or base.with_suffix(".py").is_file()):
                raise ConfigError(f"{path}, line {node.lineno}: there is no {base.relative_to(ROOT)}.py")
        files = [file for base in bases for file in (base.with_suffix(".py"), base / "__init__.py")]
        yield from filter(Path.is_file, files)


def _imported_names(node: ast.Import | ast.ImportFrom, path: Path) -> list[str]:
    """List the dotted names of an import statement; after `from` each with the module it is in."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    package = _name_of(path) if path.name == "__init__.py" else _name_of(path).rpartition(".")[0]
    origin = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
    return [f"{origin}.{alias.name}" for alias in node.names]
