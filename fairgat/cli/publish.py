"""`fairgat publish`: copy a finished run to its folder reference, and render what README.md and docs/ quote of it."""

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
        help="leave README.md and docs/ of this folder as they are",
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
    from fairgat.files import record_published, recording, write_text
    from fairgat.publish import pages, reference

    published = arguments.results_dir / "reference"
    if arguments.pages_only:
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
        pages.update(
            [*Path().glob("README.md"), *sorted(Path().glob("docs/*.md"))], published
        )
