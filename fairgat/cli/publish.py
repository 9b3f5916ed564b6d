"""`fairgat publish`: copy a finished run to its folder reference, and render what README.md and docs/ quote of it."""

import argparse
from pathlib import Path


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results-dir", type=Path, default=Path("results"), help="default: results")
    parser.add_argument("--copy-only", action="store_true", help="leave README.md and docs/ of this folder as they are")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Copy, render, and say where."""
    from fairgat.publish import quotes, reference

    published = reference.publish(arguments.results_dir)
    print(f"published in {published}")
    if not arguments.copy_only:
        quotes.update([*Path().glob("README.md"), *sorted(Path().glob("docs/*.md"))], published)
