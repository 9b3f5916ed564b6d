"""`fairgat audit`: what the audit of a finished run found, in a few lines."""

import argparse
from pathlib import Path

from fairgat import frames
from fairgat.errors import DataError

TITLES = {"numbers": "Published numbers", "claims": "Claims"}


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results-dir", type=Path, default=Path("results"), help="default: results")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the headline, and the verdicts and claims counted under each selection rule."""
    folder = arguments.results_dir / "audit"
    try:
        headline = (folder / "headline.txt").read_text(encoding="utf-8")
        counts = frames.read(folder / "counts.csv", columns=("about", "rule", "outcome", "count")).set_index("about")
        tables = [counts.loc[about].pivot(columns="rule", index="outcome", values="count") for about in TITLES]
    except FileNotFoundError as error:
        raise DataError(
            f"{arguments.results_dir} holds no audit ({error.filename} does not exist). A whole run makes it: "
            "snakemake --cores 2; for results elsewhere: --results-dir DIR"
        ) from None
    except OSError as error:
        raise DataError(f"the audit in {arguments.results_dir} cannot be read: {error.strerror}") from None
    except (KeyError, ValueError) as error:
        raise DataError(f"{folder / 'counts.csv'} is damaged ({error}); delete it and run again") from None
    print(headline)
    for (about, title), table in zip(TITLES.items(), tables, strict=True):
        ordered = table.loc[counts.loc[about, "outcome"].unique(), counts["rule"].unique()]
        print(f"{title}, by the rule that chooses cells\n{ordered.rename_axis(index=None, columns=None)}\n")
    print(f"Number by number: {folder / 'paper_vs_reproduced.md'}\nClaim by claim:   {folder / 'claims.md'}")
