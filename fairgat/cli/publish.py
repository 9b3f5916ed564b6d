"""`fairgat publish`: copy a finished run, and render what docs/ quotes of it."""

import argparse
from pathlib import Path


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--results-dir", type=Path, default=Path("results"), help="default: results"
    )
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--copy-only",
        action="store_true",
        help="leave docs/ of this folder as it is",
    )
    only.add_argument(
        "--pages-only",
        action="store_true",
        help="render the pages from what is published already",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Copy, render, and say where."""
    from fairgat import checksums
    from fairgat.errors import DataError
    from fairgat.files import record_published, recording, write_text
    from fairgat.publish import pages, reference

    published = arguments.results_dir / "reference"
    if arguments.pages_only:
        if not (published / "provenance.json").exists():
            raise DataError(
                f"{published} is not a published run, which has provenance.json: give "
                "the folder that it is in by --results-dir"
            )
        page = published / "README.md"
        text = pages.rendered("reference", published, ".") + "\n"
        if not (published / checksums.PUBLISHED).exists():  # of an earlier version
            record_published(published)
        with recording([page]):
            write_text(page, text)
    else:
        reference.publish(arguments.results_dir)
        print(f"published in {published}")
    if not arguments.copy_only:
        pages.update(sorted(Path().glob("docs/*.md")), published)
