"""Lay config files over each other, and check the whole."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fairgat.by_path import is_path
from fairgat.config import names
from fairgat.config.messages import explain
from fairgat.config.models import Config
from fairgat.config.strict_yaml import read_yaml
from fairgat.errors import ConfigError

DEFAULTS = Path(__file__).parent / "default.yaml"
"""The paper's experiment: config.yaml of the repository, wherever the package is."""
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
        path = os.path.expandvars(os.path.expanduser(value))
        return os.path.normpath(folder / path)
    return value


def read_file(path: str | Path) -> dict[str, Any]:
    """Read a config file; modules given by their path are relative to it.

    Raises:
        ConfigError: as `read_yaml`.
    """
    said = read_yaml(path)
    content: dict[str, Any] = {}
    merge(content, said)
    locate(content, said, Path(path).parent)
    return content


def lay_over(
    defaults: dict[str, Any], merged: dict[str, Any], files: Sequence[str | Path]
) -> None:
    """Lay what Snakemake has merged of config files over the defaults, in place.

    That is as `load_files` lays the files over them. They are read once more, as
    Snakemake passes over a key that is there twice, and does not say which file names a
    module.

    Args:
        merged: of the files, a command line, and a workflow that this one is a part of.
        files: the first at the bottom.

    Raises:
        ConfigError: as `read_yaml` and `merge`.
    """
    # The last comes first, as what it says was laid over the others.
    for path in reversed(files):
        said = read_yaml(path)
        locate(merged, said, Path(path).parent)
        _take_away(defaults, said, merged)
    merge(defaults, merged)


def _take_away(
    defaults: dict[str, Any], said: Mapping[str, Any], merged: Mapping[str, Any]
) -> None:
    """Take away the keys of the defaults over which a file lays null, or a list.

    What another file lays there again would else be laid over these keys.
    """
    for key, value in said.items():
        there = defaults.get(key)
        now = merged.get(key)
        if not isinstance(there, dict) or not isinstance(now, Mapping):
            continue
        if isinstance(value, Mapping):
            _take_away(there, value, now)
        else:
            defaults[key] = {}


def merge(into: dict, new: Mapping, path: str = "") -> None:
    """Lay one mapping over another, key by key, as Snakemake does with --configfile.

    Mappings are copied, as YAML's aliases make one of several.

    Raises:
        ConfigError: an empty mapping is laid over keys, which changes none of them.
    """
    for key, value in new.items():
        where = f"{path}{key}"
        there = into.get(key)
        if not isinstance(value, Mapping):
            into[key] = value
            continue
        if not isinstance(there, dict):
            there = into[key] = {}
        if there and not value:
            raise ConfigError(
                f"{where}: {{}} changes nothing, because settings are laid over "
                f"each other key by key. To take all keys of {where} away, write "
                f"`{key}: null`, if it may be empty."
            )
        merge(there, value, f"{where}.")
