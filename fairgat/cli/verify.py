"""`fairgat verify`: every file of a run, or of a published one, and its checksum."""

import argparse
from pathlib import Path

from fairgat import checksums
from fairgat.errors import DataError

_SHOWN = 5  # files without a checksum


def declare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compare every file under a folder with the checksum that was recorded when it "
        "was written, and name those that are changed, missing or unreadable. Exit "
        "status: 0 where there is none, otherwise 1."
    )
    parser.add_argument(
        "results",
        type=Path,
        metavar="RESULTS",
        help="a results folder, such as results/reference, or a part of one",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a line for each bad file, and how many are whole."""
    results = arguments.results
    if not results.is_dir():
        raise DataError(f"{results} is not a folder of results")
    verified = checksums.verify(results)
    if not verified.whole and not verified.problems:
        raise DataError(
            f"{results} has no checksums: nothing can be verified. Jobs record them "
            "since version 0.5"
        )
    for problem in verified.problems:
        print(problem)
    text = f"{verified.whole} files are as they were written"
    if verified.problems:
        text += (
            f", {len(verified.problems)} are not. Delete these and run again; what is "
        )
        text += "published comes back by `git checkout`"
    print(f"{text}.")
    if verified.unrecorded:
        _print_unrecorded(verified.unrecorded)
    return int(bool(verified.problems))


def _print_unrecorded(unrecorded: list[Path]) -> None:
    """Say which files could not be verified."""
    names = ", ".join(str(path) for path in unrecorded[:_SHOWN])
    if len(unrecorded) > _SHOWN:
        names += f" and {len(unrecorded) - _SHOWN} more"
    print(f"Files without a recorded checksum: {len(unrecorded)} ({names}).")
