"""Compare two results folders, A and B: merge the scores in their runs.csv."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fairgat import frames
from fairgat.data.splits import HELD_OUT
from fairgat.errors import DataError
from fairgat.report.failures import in_words
from fairgat.report.model import DASH, Block, Cell, Panel, Table, row
from fairgat.scores.runs import FAILURE

FILES = "summary/*/runs.csv"
RUN = ["dataset", "method", "cell", "split"]
SCORE = [*RUN, "part", "protocol", "metric"]


@dataclass(frozen=True)
class Compared:
    """What two runs of the workflow have in common."""

    runs: dict[str, int]
    """How many (a cell on a split) are in `both`, `left_only` (A), `right_only` (B)."""
    scores: int
    """How many scores of runs in both were compared."""
    differing: pd.DataFrame
    """Those that differ, the largest difference first.

    The columns SCORE, `a` and `b`, NaN where one has none.
    """
    unknown: list[str]
    """Metrics that only one of them knows, which are no difference."""


def compare(a: Path, b: Path, tolerance: float) -> Compared:
    """Compare the scores of the runs that two results folders share.

    Those on validation and test.

    Args:
        a, b: each the results of a run, or `results/reference`.
        tolerance: up to which two scores (fractions) are the same. A run that failed in
            one of them differs.

    Raises:
        DataError: a folder holds no scores, one of its files is damaged, or no run is
            in both.
    """
    first, second = _scores(a), _scores(b)
    sides = [frame[RUN].drop_duplicates() for frame in (first, second)]
    runs = pd.merge(*sides, how="outer", indicator="where")
    both = runs.loc[runs["where"] == "both", RUN]
    if both.empty:
        what = "no run (a cell of a method on a split of a data set)"
        raise DataError(f"{what} is both in {a} and in {b}")

    first, second = first.merge(both), second.merge(both)
    unknown = {*first["metric"]} ^ {*second["metric"]}
    unknown.discard(FAILURE)
    scores = first.merge(second, on=SCORE, how="outer", suffixes=("_a", "_b"))
    scores = scores.rename(columns={"value_a": "a", "value_b": "b"})
    scores = scores[~scores["metric"].isin(unknown)]

    gaps = (scores["b"] - scores["a"]).abs()
    missing = scores[["a", "b"]].isna().all(axis=1)
    same = missing | (gaps <= tolerance)
    largest_first = gaps[~same].sort_values(
        ascending=False, kind="stable", na_position="first"
    )
    differing = scores.loc[largest_first.index]
    counts = runs["where"].value_counts().to_dict()
    return Compared(counts, len(scores), differing, sorted(unknown))


def _scores(folder: Path) -> pd.DataFrame:
    """Read SCORE and `value` of what was held out; a `failure` has the value 1."""
    columns = [*SCORE, "value"]
    paths = sorted(folder.glob(FILES))
    frame = frames.read(*paths, columns=columns, numbers=["value"])[columns]
    if frame.empty:
        raise DataError(
            f"{folder} holds no scores ({FILES}). A whole run makes them: snakemake "
            "--cores 2"
        )
    failed = frame["metric"] == FAILURE
    frame["value"] = frame["value"].mask(failed, 1.0)
    return frame[failed | frame["part"].isin(HELD_OUT)]


def table(compared: Compared, a: Path, b: Path, most: int | None = None) -> Table:
    """Show what differs, at most so many scores, below a sentence that counts."""
    runs, differing = compared.runs, compared.differing
    text = f"{runs['both']} runs (a cell on a split) are in both, "
    text += f"{runs['left_only']} in A only, {runs['right_only']} in B only. "
    text += (
        f"Of the {compared.scores} scores of those in both, {len(differing)} differ."
    )
    if compared.unknown:
        unknown = ", ".join(compared.unknown)
        text += f" Not compared, as only one of them knows it: {unknown}."

    rows = []
    for score in differing.head(most).itertuples():
        what = [score.dataset, score.method, in_words(score.cell)]
        what += [f"split {score.split}", score.part, score.protocol, score.metric]
        name = ", ".join(filter(None, what))
        rows.append(row(name, _number(score.a), _number(score.b)))
    if most and len(differing) > most:
        rows.append(row(f"and {len(differing) - most} more", "", ""))
    panels = []
    if rows:
        blocks = [Block("Differs", rows)]
        panels = [Panel("stacked", ["", "A", "B"], blocks, align="lrr")]
    return Table("comparison", f"{a} (A) and {b} (B)", panels, [], text)


def _number(score: float) -> Cell:
    return Cell(DASH if pd.isna(score) else f"{score:.10g}")
