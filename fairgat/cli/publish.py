"""`fairgat publish`: copy a finished run into the folder that is published."""

import argparse
from pathlib import Path


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--results-dir", type=Path, default=Path("results"), help="default: results"
    )
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--trained",
        type=Path,
        metavar="FOLDER",
        help="of a run with judge_from: that folder, whose predictions are published",
    )
    either.add_argument(
        "--pages-only",
        action="store_true",
        help="render README.md of what is published already",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Copy and render, and say where."""
    from fairgat.publish import reference

    if arguments.pages_only:
        reference.render_again(arguments.results_dir / "reference")
        return
    published = reference.publish(arguments.results_dir, arguments.trained)
    print(f"published in {published}")
