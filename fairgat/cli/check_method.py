"""`fairgat check-method`: whether a method of one's own keeps to what training asks."""

import argparse
from typing import Any

from fairgat import config
from fairgat.errors import ConfigError
from fairgat.texts import visible
from fairgat.training.check_method import check


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", help="the method's file, or the name of a module in fairgat/methods"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one of its settings, in place of its default; may be repeated",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a line for each check; the status is 1 where one failed."""
    failed = 0
    for title, problem in check(arguments.file, _settings(arguments.set)):
        if problem:
            failed += 1
            print(f"wrong  {title}:")
            print(f"       {visible(problem)}")
        else:
            print(f"right  {title}")
    return min(failed, 1)


def _settings(texts: list[str]) -> dict[str, Any]:
    """Read settings NAME=VALUE as a configuration file would."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"--set takes NAME=VALUE, got {text!r}")
        if name in settings:
            raise ConfigError(f"--set {name} is given twice")
        settings[name] = config.read_value(value, f"--set {name}")
    return settings
