"""Averages over the splits, and differences on the same splits: for every page.

A row names a run and the run that it is compared with, in one measure. `compare` is the
only place where such rows get their numbers: tables, studies, the audit and forest
plots are lists of rows. Fractions throughout.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from statistics import fmean, pstdev, stdev

import pandas as pd

from fairgat import measures
from fairgat.scores.paired import ROUNDING, differences, half_width, splits_needed

RUN = ["run_on", "method", "cell", "epochs"]
"""What names a run, whatever its split: `epochs` is the rule that chose the epoch."""
BASE = {"run_on": "dataset", "method": "of", "cell": "of_cell", "epochs": "of_epochs"}
"""For each of RUN, the column of a row that names the run that it is compared with."""
SCORES = ["dataset", "method", "cell", "part", "epochs", "metric", "split", "value"]
"""The columns of a study's scores.csv."""
OURS = "accuracy"  # the rule that chooses epochs, unless a study has others, too
ALIKE = 0.99  # of every group: with one answer for nearly everyone, a gap says little


def by_run(runs: pd.DataFrame, protocols: Iterable[str]) -> pd.DataFrame:
    """Name the runs of scores by RUN.

    Args:
        runs: as `fairgat.scores.runs.read` gives them.
        protocols: those that are ours; others are rules that choose the epoch.
    """
    ours = runs["protocol"].isin(["", *protocols])
    epochs = runs["protocol"].mask(ours, OURS)
    return runs.assign(epochs=epochs).rename(columns={"dataset": "run_on"})


def compare(rows: pd.DataFrame, scores: pd.DataFrame, ddof: int = 1) -> pd.DataFrame:
    """Give each row its mean, and its difference to what it is compared with.

    Args:
        rows: one for each run (RUN) and `metric`, with the run that it is compared with
            (BASE), and `ratio`, test examples for each one that is trained on. `cell`
            and `of_cell` are empty where there is no such run.
        scores: RUN, `metric`, `split` and `value`, of one part.
        ddof: of the deviations beside the means.

    Returns:
        The rows, in their order, with `n_splits`, `mean` and `std`; `pairs`, the splits
        that both runs have, `difference`, its `spread` over them, and its 95 % interval
        for other splits of these people, `low` to `high`, and for other people, ±
        `corrected`; `ran`, the splits that the run finished, and `constant`, those on
        which nearly everyone in each group has one answer. NaN where there is none.
    """
    rows = rows.reset_index(drop=True)
    known = scores.dropna(subset="value")
    own = _scores_of(rows, known)
    base = _scores_of(_named_as_runs(rows), known)
    base = base.rename(columns={"value": "base"})
    pairs = own.merge(base, on=["line", "split"])  # a row's splits that both runs have

    means = averages(own, ["line"], ddof)
    gaps = differences(pairs, ["line"]).set_index("line")
    gaps["corrected"] = half_width(gaps, rows.loc[gaps.index, "ratio"])
    lines = rows.join(means).join(gaps.rename(columns={"n_splits": "pairs"}))
    lines["n_splits"] = lines["n_splits"].fillna(0).astype(int)

    cell = RUN[:3]  # which is trained once, whatever rule chooses the epoch
    lines = lines.merge(_ran(scores), how="left", on=cell)
    return lines.merge(_constant(known), how="left", on=RUN)


def with_splits_needed(lines: pd.DataFrame) -> pd.DataFrame:
    """Add how many splits it takes to find `paper_difference`, given our spread."""
    has_spread = lines["spread"] > ROUNDING
    known = lines[lines["paper_difference"].notna() & has_spread]
    counts = [
        splits_needed(line.paper_difference, line.spread) for line in known.itertuples()
    ]
    return lines.assign(splits_needed=pd.Series(counts, known.index, dtype=float))


def _named_as_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """Give the runs that rows are compared with, with RUN as their columns."""
    run_column = {of: own for own, of in BASE.items()}
    return rows[[*BASE.values(), "metric"]].rename(columns=run_column)


def _scores_of(rows: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Give the `split` and `value` of each score of a row; `line` is its place."""
    key = [*RUN, "metric"]
    lines = rows[key].rename_axis("line").reset_index()
    return lines.merge(known, on=key)[["line", "split", "value"]]


def averages(scores: pd.DataFrame, keys: Sequence[str], ddof: int) -> pd.DataFrame:
    """Average the scores that agree in `keys`, in order of appearance.

    Returns:
        `mean`, `std` and the number of scores, `n_splits`.
    """
    values = scores.groupby(list(keys), sort=False)["value"]
    std = partial(deviation, ddof=ddof)
    means = values.agg(mean=fmean, std=std, n_splits="size")
    return means.astype({"mean": float, "std": float})


def deviation(values: Iterable[float], ddof: int) -> float:
    """Compute the standard deviation with n - ddof in the denominator.

    NaN where that is not positive.
    """
    values = list(values)
    if len(values) <= ddof:
        return float("nan")
    return stdev(values) if ddof else pstdev(values)


def _ran(scores: pd.DataFrame) -> pd.DataFrame:
    """Count the splits on which each cell finished."""
    splits = scores.groupby(RUN[:3])["split"].nunique()
    return splits.rename("ran").reset_index()


def _constant(known: pd.DataFrame) -> pd.DataFrame:
    """Count the splits on which a run gives nearly everyone in a group one answer."""
    names = [name for name in known["metric"].unique() if _is_positive_rate(name)]
    rates = known[known["metric"].isin(names)].groupby([*RUN, "split"])["value"]
    all_no = rates.max() <= 1 - ALIKE
    all_yes = rates.min() >= ALIKE
    splits = (all_no | all_yes).groupby(RUN).sum()
    return splits.rename("constant").reset_index()


def _is_positive_rate(metric: str) -> bool:
    return measures.find(metric).one_of == measures.POSITIVE_RATE.name
