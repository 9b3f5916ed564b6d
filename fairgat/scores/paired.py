"""Paired differences: runs against other runs on the same splits.

Splits differ from each other more than methods do on one of them; a paired difference is free of that part.
"""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import stdtrit

from fairgat.scores.runs import under

REFERENCE = "gat"
CONFIDENCE = 0.95
ROUNDING = 1e-12  # what equal differences of fractions may differ by
COLUMNS = (
    "dataset",
    "method",
    "cell",
    "selected",
    "metric",
    "n_splits",
    "difference",
    "spread",
    "low",
    "high",
)


def half_width(frame: pd.DataFrame, ratios: pd.Series | float = 0.0) -> pd.Series:
    """Half the width of each mean difference's confidence interval by Student's t, for other splits of these people.

    With `ratios` it is for other data sets like this one. Random splits share their people: the variance of the mean is
    that of a split times 1/J + n_test/n_train instead of 1/J (Nadeau and Bengio, Inference for the Generalization
    Error, Machine Learning 52, 2003).

    Args:
        frame: has `difference`, `spread`, the standard deviation of the differences between splits, and `n_splits`, J.
        ratios: test examples for each one that is trained on.

    Returns:
        NaN for fewer than two splits, and where all splits differ by one amount other than 0, as two may by chance.
    """
    by_chance = (frame["spread"] < ROUNDING) & (frame["difference"].abs() > ROUNDING)
    several = frame["n_splits"].where((frame["n_splits"] > 1) & ~by_chance)
    return (
        stdtrit(several - 1, (1 + CONFIDENCE) / 2)
        * frame["spread"]
        * np.sqrt(1 / several + ratios)
    )


def differences(pairs: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Mean differences with their 95 % intervals by the paired t.

    Args:
        pairs: a row per split, with `value` and the `base` that it is compared with; the caller leaves out the others.
        keys: the columns that say what belongs together.

    Returns:
        One row per group, in order of appearance: `keys`, `n_splits`, `difference`, and `spread` (the standard
        deviation of the differences), `low` and `high`, which are NaN for a single split.
    """
    gaps = pairs.assign(gap=pairs["value"] - pairs["base"]).groupby(
        list(keys), sort=False
    )["gap"]
    means = gaps.agg(n_splits="size", difference=fmean, spread="std").astype(
        {"difference": float, "spread": float}
    )
    half = half_width(means)
    return means.assign(
        low=means["difference"] - half, high=means["difference"] + half
    ).reset_index()


def against(
    scores: pd.DataFrame, base: pd.DataFrame, on: Sequence[str], keys: Sequence[str]
) -> pd.DataFrame:
    """`differences` of scores to those of `base` with the same values in `on`; what is missing is left out."""
    base = base.dropna(subset="value").rename(columns={"value": "base"})[[*on, "base"]]
    return differences(scores.dropna(subset="value").merge(base, on=list(on)), keys)


def for_other_people(frame: pd.DataFrame) -> pd.DataFrame:
    """The differences with `low` and `high` for other people: `corrected` is half the interval."""
    return frame.assign(
        low=frame["difference"] - frame["corrected"],
        high=frame["difference"] + frame["corrected"],
    )


def leave_out_0(frame: pd.DataFrame) -> str:
    """Count the differences that have an interval, and those whose interval leaves out 0."""
    known = frame.dropna(subset=["low"])
    return f"{((known['low'] > 0) | (known['high'] < 0)).sum()} of {len(known)}"


def splits_needed(difference: float, spread: float) -> float:
    """Splits with which the paired t-test at 5 % finds a difference of this size with a probability of 80 %.

    Exact, by the noncentral t; infinite where a thousand splits are too few.

    Args:
        difference: the true mean of the differences.
        spread: their standard deviation.
    """
    n = np.arange(2, 1001)
    bound, shift = (
        stdtrit(n - 1, (1 + CONFIDENCE) / 2),
        abs(difference) * np.sqrt(n) / spread,
    )
    other = np.nan_to_num(
        stats.nct.cdf(-bound, n - 1, shift)
    )  # the wrong sign; SciPy has NaN for the least of these
    enough = n[stats.nct.sf(bound, n - 1, shift) + other >= 0.8]
    return float(enough[0]) if len(enough) else math.inf


def against_reference(
    runs: pd.DataFrame, winners: pd.DataFrame, rule: str, protocols: Iterable[str]
) -> pd.DataFrame:
    """Test scores of every cell less those of GAT's selected cell, with the columns COLUMNS.

    Args:
        runs: as `fairgat.scores.runs.read` gives them.
        winners: as `fairgat.scores.summary.winners` gives them.
        rule: the selection rule by which cells count as `selected`.
        protocols: those whose scores are compared.

    Returns:
        Fractions, in the order of `runs`. Splits on which either side lacks a score are left out, as are data sets
        without a result of GAT.
    """
    identity = ["dataset", "method", "cell"]
    chosen = winners.loc[winners["rule"] == rule, identity].drop_duplicates()
    test = (
        under(runs, *protocols)
        .query("part == 'test'")[[*identity, "split", "metric", "value"]]
        .dropna()
    )
    base = test.merge(chosen[chosen["method"] == REFERENCE])
    others = test[test["method"] != REFERENCE]
    gaps = against(others, base, ["dataset", "split", "metric"], [*identity, "metric"])
    gaps = gaps.merge(chosen.assign(selected=True), how="left", on=identity)
    return gaps.assign(selected=gaps["selected"].notna())[list(COLUMNS)]
