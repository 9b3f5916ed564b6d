"""`fairgat audit`: what the audit of a finished run found, in a few lines."""

import argparse
from pathlib import Path

from fairgat import frames
from fairgat.errors import DataError
from fairgat.files import read_text

TITLES = {"numbers": "Published numbers", "claims": "Claims"}


def declare(parser: argparse.ArgumentParser) -> None:
    parser.description = "Print what the audit of a finished run found."
    parser.add_argument(
        "--results-dir", type=Path, default=Path("results"), help="default: results"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the headline, and counts of verdicts and claims by selection rule."""
    folder = arguments.results_dir / "audit"
    headline, numbers = folder / "headline.txt", folder / "counts.csv"
    for path in (headline, numbers):
        if not path.exists():
            raise DataError(
                f"{arguments.results_dir} holds no audit ({path} does not exist). A "
                "whole run of the paper's data sets makes it: snakemake --cores 2; "
                "for results elsewhere: --results-dir DIR"
            )
    counts = frames.read(
        numbers, columns=("about", "rule", "outcome", "count"), numbers=("count",)
    )

    print(read_text(headline))
    for about, title in TITLES.items():
        counted = counts[counts["about"] == about]
        table = counted.pivot_table(
            "count", "outcome", "rule", aggfunc="sum", sort=False
        )
        print(f"{title}, by the rule that chooses cells")
        print(table.rename_axis(index=None, columns=None))
        print()
    print(f"Number by number: {folder / 'paper_vs_reproduced.md'}")
    print(f"Claim by claim:   {folder / 'claims.md'}")
