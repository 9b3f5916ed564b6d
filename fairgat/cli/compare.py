"""`fairgat compare A B`: whether two results folders have the same scores."""

import argparse
from pathlib import Path

from fairgat.errors import FairGATError
from fairgat.files import write_text


def declare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compare the scores of two results folders. Exit status: 0 where the runs that "
        "both have are the same within the tolerance, 1 where a score differs or a run "
        "failed in one, 2 where they cannot be compared."
    )
    parser.add_argument(
        "a", type=Path, metavar="A", help="a results folder, such as results/reference"
    )
    parser.add_argument("b", type=Path, metavar="B", help="another one")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write all that differs here"
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
    a, b = arguments.a, arguments.b
    compared = compare.compare(a, b, arguments.tolerance)
    print(render(compare.table(compared, a, b, most=12), "md"))
    if arguments.markdown:
        write_text(arguments.markdown, render(compare.table(compared, a, b), "md"))
        print(f"In full: {arguments.markdown}")
    return int(len(compared.differing) > 0)
