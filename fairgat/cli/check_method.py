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
    for what, wrong in check(arguments.file, _settings(arguments.set)):
        if wrong:
            failed += 1
            print(f"wrong  {what}:")
            print(f"       {visible(wrong)}")
        else:
            print(f"right  {what}")
    return min(failed, 1)


def _settings(given: list[str]) -> dict[str, Any]:
    """Read settings as a configuration file would."""
    settings = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"--set takes NAME=VALUE, got {text!r}")
        settings[name] = config.read_value(value, f"--set {name}")
    return settings
