"""Refuse a command line of Snakemake that it would take for another one."""

import argparse
import itertools
import re
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Any

from fairgat.errors import ConfigError

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
    parser.add_argument("--until", "-U", **_REPEATED)
    parser.add_argument("--omit-from", "-O", **_REPEATED)
    known, _ = parser.parse_known_args(words)
    for name, given in vars(known).items():
        if len(given) > 1:
            flag = f"--{name.replace('_', '-')}"
            joined = shlex.join([flag, *itertools.chain(*given)])
            raise ConfigError(
                f"{flag} is given {len(given)} times, and Snakemake takes the last. "
                f"Write: {joined}"
            )
    entries = [*itertools.chain(*known.config)]
    for entry in entries:
        _check_entry(entry)
    counts = Counter(entry.partition("=")[0] for entry in entries)
    for name, count in counts.items():
        if count > 1:
            raise ConfigError(
                f"--config {name}= is given {count} times, and Snakemake takes the "
                "last: leave out the others, or write their keys into one"
            )


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
