"""The command line: `fairgat COMMAND`.

Each of `COMMANDS` is a module beside this one, which declares its arguments.
"""

import argparse
import importlib
import os
import sys

from fairgat import __version__
from fairgat.errors import FairGATError
from fairgat.texts import visible

COMMANDS = {
    "train": "train one cell on one split",
    "evaluate": "compute a finished run's metrics again, or those of scores in a CSV "
    "file",
    "check-method": "check a method of your own: shapes, gradients, seeds, what it "
    "reads",
    "predict": "score new people with a finished run",
    "explain": "say in a few lines where a finished run's gap comes from, and what "
    "fair attention can do about it",
    "audit": "print what the audit of a finished run found, on the published numbers "
    "and claims",
    "compare": "compare two results folders: another machine's, an earlier run's, the "
    "published one",
    "verify": "check that every file of a run, or of what is published, is as it was "
    "written",
    "publish": "copy a finished run to its folder reference, with a page about it",
    "data": "list the raw data files, supply them by hand, or say what was made of "
    "them",
}

_ABOUT = "Fair graph attention: train, judge, check and publish."


def main(arguments: list[str] | None = None) -> int:
    """Run one command; give the exit status.

    Errors for people are printed without a traceback.
    """
    if arguments is None:
        arguments = sys.argv[1:]
    parser = argparse.ArgumentParser(prog="fairgat", description=_ABOUT)
    parser.add_argument("--version", action="version", version=f"fairgat {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers = {}
    for name, text in COMMANDS.items():
        about = f"{text[0].upper()}{text[1:]}."  # unless `declare` says more
        parsers[name] = subparsers.add_parser(
            name, help=text, description=about, allow_abbrev=False
        )

    # Only the command that is called is imported: `fairgat train` must not wait for
    # what the audit needs.
    words = [each for each in arguments if not each.startswith("-")]
    if words and words[0] in COMMANDS:
        command = words[0]
        module_name = command.replace("-", "_")
        try:
            module = importlib.import_module(f"fairgat.cli.{module_name}")
        except ModuleNotFoundError as error:
            return _name_missing_package(error)
        module.declare(parsers[command])

    parsed, rest = parser.parse_known_args(arguments)
    if rest and not getattr(parsed, "takes_rest", False):
        parser.error(f"unknown arguments: {' '.join(rest)}")
    return _run(parsed, rest)


def _run(parsed: argparse.Namespace, rest: list[str]) -> int:
    """Run a command; give its exit status, also that of an error for people."""
    try:
        status = parsed.run(parsed, rest) if rest else parsed.run(parsed)
        return status or 0
    except FairGATError as error:
        lines = [visible(line) for line in str(error).split("\n")]
        print(f"fairgat {parsed.command}:", "\n".join(lines), file=sys.stderr)
        return getattr(parsed, "status_of_errors", 1)
    except ModuleNotFoundError as error:
        return _name_missing_package(error)
    except KeyboardInterrupt:
        print("interrupted; nothing half-written is left behind", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, `head` for instance, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _name_missing_package(error: ModuleNotFoundError) -> int:
    """Say which package is missing: the layer needs fewer than the workflow."""
    package, _, _ = (error.name or "").partition(".")
    if package == "fairgat":
        raise error
    advice = '`pip install ".[workflow]"` in the checkout brings it'
    print(f"fairgat: {error.name} is not installed; {advice}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
