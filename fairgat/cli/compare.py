"""`fairgat compare A B`: how far two results folders are from each other."""

import argparse
from pathlib import Path

from fairgat.errors import FairGATError
from fairgat.files import write_text


def declare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compare two results folders. Exit status: 0 where what both ran is the same within the tolerance, 1 where "
        "something differs, 2 where they cannot be compared."
    )
    parser.add_argument(
        "a", type=Path, metavar="A", help="a results folder, such as results/reference"
    )
    parser.add_argument(
        "b", type=Path, metavar="B", help="another one; differences are B less A"
    )
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the whole comparison here"
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1e-9,
        help="on scores as fractions (default: 1e-9)",
    )
    parser.set_defaults(run=run, status_of_errors=2)


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison, cut short, and write it in full where asked."""
    from fairgat.publish import compare
    from fairgat.report.render import render

    if not arguments.tolerance >= 0:
        raise FairGATError(
            f"--tolerance must be 0 or more, got {arguments.tolerance:g}"
        )
    table, differs = compare.compare(arguments.a, arguments.b, arguments.tolerance)
    print(render(compare.shortened(table, rows=12), "md"))
    if arguments.markdown:
        write_text(arguments.markdown, render(table, "md"))
        print(f"In full: {arguments.markdown}")
    return int(differs)
