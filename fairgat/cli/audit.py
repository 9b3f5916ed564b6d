"""`fairgat audit`: what the audit of a finished run found, in a few lines."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgat import frames
from fairgat.errors import DataError
from fairgat.files import read_json, read_text, write_json, write_text

if TYPE_CHECKING:
    from fairgat.config import Config

TITLES = {"numbers": "Published numbers", "claims": "Claims"}
SAME = ("seed", "splits", "aggregation", "only_datasets", "only_methods", "skip")  # settings that decide what was run


def declare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print what the audit of a finished run found. With --again, judge the run by this version first, from its "
        "scores in summary/, without training anything; explore.html keeps the verdicts of before."
    )
    parser.add_argument("--results-dir", type=Path, default=Path("results"), help="default: results")
    parser.add_argument(
        "--again",
        nargs="+",
        action="extend",
        metavar="FILE",
        help="judge again, with the configuration files of the run",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the headline, and the verdicts and claims counted under each selection rule."""
    if arguments.again:
        _again(arguments.results_dir, arguments.again)
    folder = arguments.results_dir / "audit"
    headline, numbers = folder / "headline.txt", folder / "counts.csv"
    for path in (headline, numbers):
        if not path.exists():
            raise DataError(
                f"{arguments.results_dir} holds no audit ({path} does not exist). A whole run of the paper's data sets "
                "makes it: snakemake --cores 2; for results elsewhere: --results-dir DIR"
            )
    counts = frames.read(numbers, columns=("about", "rule", "outcome", "count"), numbers=("count",))
    print(read_text(headline))
    for about, title in TITLES.items():
        table = counts[counts["about"] == about].pivot_table("count", "outcome", "rule", aggfunc="sum", sort=False)
        print(f"{title}, by the rule that chooses cells\n{table.rename_axis(index=None, columns=None)}\n")
    print(f"Number by number: {folder / 'paper_vs_reproduced.md'}\nClaim by claim:   {folder / 'claims.md'}")


def _again(results: Path, configuration: list[str]) -> None:
    """Make the audit and its figure again, and record in provenance.json which code did."""
    from fairgat import audit, config
    from fairgat.config.shown import audit_settings, figure_settings
    from fairgat.environment import revision
    from fairgat.plan import ROOT, Plan
    from fairgat.publish.provenance import DECIDES
    from fairgat.report import style
    from fairgat.report.figures import published

    settings, provenance = config.load_files(*configuration), read_json(results / "provenance.json")
    _check_same(results, provenance.get("config", {}), settings, " and ".join(configuration))
    plan, more = Plan(settings.model_copy(update={"results_dir": str(results)})), settings.audit.more_splits
    files = {kind: plan.files(kind) for kind in ("winners", "runs", "runtime")} | {
        "more_splits": [more] if more else []
    }
    for name, text in audit.make(audit_settings(settings), files).items():
        if (results / "audit" / name).exists() or not name.endswith(".html"):  # .md shows the same
            write_text(results / "audit" / name, text)
    pictures = {form: results / f"figures/published.{form}" for form in style.FORMATS}
    figure = published.draw(figure_settings(settings, "published", published.TASK), {"audit": plan.files("audit")})
    style.save(figure, {form: path for form, path in pictures.items() if path.exists()})
    write_json(results / "provenance.json", provenance | {"audited_at": revision(ROOT, DECIDES)})


def _check_same(results: Path, recorded: Mapping[str, Any], settings: "Config", files: str) -> None:
    """Refuse to judge a run with a configuration that would not run it, or judge it by less.

    `recorded` is the run's own configuration, as provenance.json has it; `settings` are from `files`.
    """
    now = settings.model_dump(mode="json")
    for kind in ("datasets", "methods"):
        for name in recorded.get(kind, {}):
            if name not in now[kind]:
                raise DataError(f"{results} has {name}, which {files} lacks: give the configuration files of the run")
    for key in SAME:
        if recorded.get(key, now[key]) != now[key]:
            raise DataError(f"{results} was made with {key}: {recorded[key]}, and {files} has another")
    if (recorded.get("audit") or {}).get("more_splits") and not settings.audit.more_splits:
        raise DataError(f"{results} was judged with `audit.more_splits`, which {files} lacks")
    if not settings.compares_with_paper:
        raise DataError(f"{results} has none of the paper's data sets, so there is nothing to judge")
