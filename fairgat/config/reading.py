"""Read a configuration, and explain what is wrong with one."""

import argparse
import copy
import itertools
import os
import re
import shlex
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ValidationError

from fairgat.by_path import is_path
from fairgat.config import names
from fairgat.config.models import Config
from fairgat.config.protocol import NAME
from fairgat.errors import NOTHING_ALLOWED, ConfigError, nearest
from fairgat.files import irregular

DEFAULTS = Path(__file__).parent / "default.yaml"
"""The paper's experiment: config.yaml of the repository, wherever the package is."""
LARGEST = 1 << 20  # bytes of a config file; the largest of ours has 30,000
MOST_NODES = 100_000
DEEPEST = 50
_OCTAL = re.compile(r"[+-]?0\d")
_KINDS = {  # of values, by the beginning of what pydantic calls a wrong one
    "int_": "a whole number",
    "float_": "a number",
    "bool_": "true or false",
    "string_type": "a text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "keys with values",
    "model_type": "keys with values",
}
_SCRIPT = re.compile("<(/?script|!--)", re.IGNORECASE)


def load(mapping: Mapping[str, Any], origin: str = "the configuration") -> Config:
    """Validate a mapping read from config.yaml.

    Raises:
        ConfigError: naming every wrong key by its path, what was expected and the
            nearest valid name.
    """
    try:
        loaded = Config.model_validate(mapping)
    except ValidationError as error:
        raise _not_valid(origin, explain(error, "", Config)) from None
    problems = [*names.problems(loaded), *_scripts(mapping)]
    if problems:
        raise _not_valid(origin, problems)
    return loaded


def _not_valid(origin: str, problems: Sequence[str]) -> ConfigError:
    lines = "".join(f"\n  {problem}" for problem in problems)
    return ConfigError(f"{origin} is not valid:{lines}")


def _scripts(content: Any, path: str = "") -> Iterator[str]:
    """Name the keys and texts that would run in report.html.

    Snakemake writes the params of its rules, which hold all of the configuration, into
    a script there as they are; what ends that script, or begins another one, is no
    text.
    """
    if isinstance(content, Mapping):
        for key, value in content.items():
            where = f"{path}.{key}" if path else str(key)
            yield from _scripts(str(key), where)
            yield from _scripts(value, where)
    elif isinstance(content, list | tuple):
        for value in content:
            yield from _scripts(value, path)
    elif isinstance(content, str):
        found = _SCRIPT.search(content)
        if found:
            what = f"{found[0]!r} would run as a script in report.html"
            yield f"{path}: {what}; leave it out"


def explain(
    error: ValidationError,
    prefix: str,
    model: type[BaseModel],
    other: Mapping[str, str] | None = None,
    no_keys: str = NOTHING_ALLOWED,
) -> list[str]:
    """Write one line per problem that pydantic found in `model`, with the key's path.

    Args:
        prefix: what comes before the path.
        other: what comes before that of keys that stand elsewhere.
        no_keys: what is said of a key where the model has none.
    """
    elsewhere = other or {}
    lines = []
    for item in error.errors():
        key = str(item["loc"][0]) if item["loc"] else ""
        before = elsewhere.get(key, prefix)
        lines.append(_explain(item, model, before, no_keys))
    return lines


def load_files(*paths: str | Path) -> Config:
    """Read config files, later ones over earlier ones, and validate the whole.

    They are laid over each other key by key, as Snakemake's --configfile.

    Raises:
        ConfigError: a file is missing, cannot be read, is not YAML, or the whole is not
            valid.
    """
    merged: dict[str, Any] = {}
    for path in paths:
        merge(merged, read_file(path))
    return load(merged, " + ".join(map(str, paths)))


MODULES = ("module", "source", "figures", "measures")
"""Keys whose value may be the path of a module, relative to the file that says it."""


def locate(into: dict[str, Any], said: Mapping[str, Any], folder: Path) -> None:
    """Find modules given by their path, which is relative to the file that says it.

    Args:
        into: a configuration that the file is a part of; only what it still has of the
            file changes.
        said: the file's content.
        folder: that of the file.
    """
    for key, value in said.items():
        there = into.get(key)
        if isinstance(value, Mapping) and isinstance(there, dict):
            locate(there, value, folder)
        elif key in MODULES and there == value:
            into[key] = _located(value, folder)


def _located(value: Any, folder: Path) -> Any:
    """Resolve the paths of modules in a value, which are relative to a folder."""
    if isinstance(value, list):
        return [_located(each, folder) for each in value]
    if isinstance(value, str) and is_path(value):
        return os.path.normpath(folder / os.path.expanduser(value))
    return value


def read_file(path: str | Path) -> dict[str, Any]:
    """Read a config file; modules given by their path are relative to it.

    Raises:
        ConfigError: as `read_yaml`.
    """
    content = read_yaml(path)
    locate(content, copy.deepcopy(content), Path(path).parent)
    return content


def read_yaml(path: str | Path) -> dict[str, Any]:
    """Read a config file as it stands.

    Raises:
        ConfigError: it is missing, no regular file, too large or too deep, is not YAML,
            has no keys, has one twice, or holds a number that YAML reads as another.
    """
    try:
        content = yaml.load(_text(Path(path)), _Loader)
    except FileNotFoundError:
        raise ConfigError(f"{path} does not exist") from None
    except OSError as error:  # no permission
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}; give a file like config.yaml"
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start})"
        ) from None
    except (yaml.YAMLError, ValueError) as error:  # the latter for the 30th of February
        raise ConfigError(f"{path} is not YAML: {error}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path} must hold keys and values, as config.yaml does")
    return content


def _text(path: Path) -> str:
    """Read a config file's text; refuse one that never ends, or is none."""
    what = irregular(path)
    if what:
        raise ConfigError(f"it is {what}; give a file like config.yaml")
    if path.stat().st_size > LARGEST:
        raise ConfigError(f"it has more than {LARGEST} bytes")
    return path.read_text(encoding="utf-8")


def read_value(text: str, where: str) -> Any:
    """Read one value as a config file would.

    Raises:
        ConfigError: it is not YAML, or YAML reads it as another number or as a flag
            that does not look like one.
    """
    try:
        value = yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError):  # the latter for the 30th of February
        raise ConfigError(f"{where} takes a single value, got {text!r}") from None
    except ConfigError as error:
        _, _, what = str(error).partition(": ")  # without the line's number
        raise ConfigError(f"{where}: {what}") from None
    if isinstance(value, bool) and text.lower() not in ("true", "false"):
        raise ConfigError(
            f"{where}: YAML reads {text} as {str(value).lower()}; write that if it is "
            "meant"
        )
    return value


_REPEATED: dict[str, Any] = {"nargs": "*", "action": "append", "default": []}


def check_command(words: Sequence[str]) -> None:
    """Refuse a command line of Snakemake that it would take for another one.

    Such as one with a flag twice, of which it takes the last, or with a wrong --config.

    Raises:
        ConfigError: with both in one, or the form that Snakemake takes.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--config", "-C", **_REPEATED)
    parser.add_argument("--configfile", "--configfiles", **_REPEATED)
    parser.add_argument("--forcerun", "-R", **_REPEATED)
    known, _ = parser.parse_known_args(words)
    for name, given in vars(known).items():
        if len(given) > 1:
            joined = shlex.join([f"--{name}", *itertools.chain(*given)])
            raise ConfigError(
                f"--{name} is given {len(given)} times, and Snakemake takes the last. "
                f"Write: {joined}"
            )
    for entry in itertools.chain(*known.config):
        _check_entry(entry)


def _check_entry(entry: str) -> None:
    """Refuse what Snakemake refuses as `--config`, in other words."""
    name, equals, value = entry.partition("=")
    if equals and re.fullmatch(r"[a-zA-Z_][\w-]*\w", name):
        return
    what = (
        f"--config {entry}: Snakemake takes NAME=VALUE, with a key of the first level"
    )
    first, dot, rest = name.partition(".")
    if equals and dot:
        inner = ": {".join(rest.split("."))
        closing = "}" * (rest.count(".") + 1)
        what += f'. Write: --config "{first}={{{inner}: {value}{closing}"'
    raise ConfigError(what)


def merge(into: dict, new: Mapping, path: str = "") -> None:
    """Lay one mapping over another, key by key, as Snakemake does with --configfile.

    Raises:
        ConfigError: an empty mapping is laid over keys, which changes none of them.
    """
    for key, value in new.items():
        where = f"{path}{key}"
        there = into.get(key)
        if isinstance(value, Mapping) and isinstance(there, dict):
            if there and not value:
                raise ConfigError(
                    f"{where}: {{}} changes nothing, because settings are laid over "
                    f"each other key by key. To take all keys of {where} away, write "
                    f"`{key}: null`, if it may be empty."
                )
            merge(there, value, f"{where}.")
        else:
            into[key] = value


class _Loader(yaml.SafeLoader):
    """Refuses what YAML reads otherwise than it stands there, and what has no end."""

    depth = 0

    def get_single_node(self) -> yaml.Node | None:
        """Refuse aliases that expand to more than `MOST_NODES`, or hold themselves."""
        root = super().get_single_node()
        if root is not None:
            _expanded(root, {})
        return root

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Refuse what is nested more deeply than a reader of YAML can follow."""
        self.depth += 1
        if self.depth > DEEPEST:
            line = self.peek_event().start_mark.line + 1
            raise ConfigError(f"line {line}: nested more than {DEEPEST} deep")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
        """Refuse a key that is there twice: YAML takes the last."""
        node = super().compose_mapping_node(anchor)
        lines: dict[tuple[str, str], int] = {}
        for key in (
            key
            for key, _ in node.value
            if isinstance(key, yaml.ScalarNode) and key.value != "<<"
        ):
            line, first = key.start_mark.line + 1, lines.get((key.tag, key.value))
            if first:
                raise ConfigError(
                    f"{key.value} stands on line {first} and again on line {line}; "
                    "keep one of them"
                )
            lines[key.tag, key.value] = line
        return node

    def compose_scalar_node(self, anchor: str | None) -> yaml.ScalarNode:
        """Refuse numbers that YAML 1.1 reads as others: 010 as 8, and 12:30 as 750."""
        node = super().compose_scalar_node(anchor)
        if not node.tag.endswith((":int", ":float")):
            return node
        number, base = yaml.safe_load(node.value), 10
        if ":" in node.value:
            base = 60
        elif _OCTAL.match(node.value) and number != float(node.value):
            base = 8
        if base != 10:
            raise ConfigError(
                f"line {node.start_mark.line + 1}: YAML reads {node.value} as "
                f"{number}, in base {base}; write the number that is meant or, for a "
                f"text, '{node.value}' in quotes"
            )
        return node


def _expanded(
    node: yaml.Node, known: dict[int, tuple[int, int] | None]
) -> tuple[int, int]:
    """Count a node and all below it, each as often as aliases name it, and the levels.

    Raises:
        ConfigError: there are too many of either, or a node is below itself.
    """
    if isinstance(node, yaml.ScalarNode):
        return 1, 1
    where = f"line {node.start_mark.line + 1}"
    if id(node) in known:
        size = known[id(node)]
        if size is None:
            raise ConfigError(f"{where}: an alias names what it is a part of")
        return size
    known[id(node)] = None
    count, below = 1, 0
    for part in node.value:
        pair = part if isinstance(part, tuple) else (part,)
        for each in pair:
            more, levels = _expanded(each, known)
            count += more
            below = max(below, levels)
    if count > MOST_NODES:
        raise ConfigError(
            f"{where}: it has, with its aliases, more than {MOST_NODES} values"
        )
    if below >= DEEPEST:
        raise ConfigError(f"{where}: aliases nest it more than {DEEPEST} deep")
    known[id(node)] = count, below + 1
    return count, below + 1


def _explain(
    item: Mapping[str, Any], model: type[BaseModel], prefix: str, no_keys: str
) -> str:
    """Say in a line what pydantic found, with the path of the key."""
    location = [part for part in item["loc"] if part != "[key]"]
    parts = [prefix, *location] if prefix else location
    path = ".".join(map(str, parts)) or "(top level)"
    context = item.get("ctx", {})
    match item["type"]:
        case "extra_forbidden":
            *above, key = location
            advice = nearest(str(key), _fields(model, above), none_known=no_keys)
            what = f"unknown key; {advice}"
        case "missing":
            what = "this key is missing"
        case "value_error" if not parts:  # its text says where
            return str(context["error"])
        case "value_error":
            what = str(context["error"])
        case "string_pattern_mismatch" if context["pattern"] == NAME:
            what = (
                "a name has letters, digits, dots, _ and -, and begins with a letter "
                "or digit"
            )
        case _:
            what = f"expected {_expected(item)}, got {item['input']!r}"
    return f"{path}: {what}"


def _expected(item: Mapping[str, Any]) -> str:
    """Say in a few words what pydantic expected."""
    for beginning, words in _KINDS.items():
        if item["type"].startswith(beginning):
            return words
    return re.sub(r"^\w+ should (be|have) ", "", item["msg"])


def _fields(model: type[BaseModel], location: list) -> list[str]:
    """List the names that the model at `location` knows."""
    kind: Any = model
    for part in location:
        if _is_model(kind):
            kind = kind.model_fields[part].annotation
        else:  # a mapping or a list
            *_, kind = typing.get_args(kind)
        while typing.get_origin(kind) in (Annotated, typing.Union, types.UnionType):
            kind = typing.get_args(kind)[0]
    if not _is_model(kind):
        return []
    return list(kind.model_fields)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
