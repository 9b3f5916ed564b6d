"""Paired differences: runs against other runs on the same splits.

Splits differ from each other more than methods do on one of them; a paired difference
is free of that part.
"""

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np
import pandas as pd
from scipy.special import stdtrit

REFERENCE = "gat"
CONFIDENCE = 0.95
ROUNDING = 1e-12  # what equal differences of fractions may differ by
FEWEST = 5  # splits that an interval is read from: that of two or three says little
_POWER = 0.8


def half_width(frame: pd.DataFrame, ratios: pd.Series | float = 0.0) -> pd.Series:
    """Compute half of each mean difference's confidence interval by Student's t.

    It is for other splits of these people, and with `ratios` for other data sets like
    this one. Random splits share their people: the variance of the mean is that of a
    split times 1/J + n_test/n_train instead of 1/J (Nadeau and Bengio, Inference for
    the Generalization Error, Machine Learning 52, 2003).

    Args:
        frame: has `difference`, `spread`, the standard deviation of the differences
            between splits, and `n_splits`, J.
        ratios: test examples for each one that is trained on.

    Returns:
        NaN for fewer than two splits, and where all splits differ by one amount other
        than 0, as two may by chance.
    """
    no_spread = frame["spread"] < ROUNDING
    some_difference = frame["difference"].abs() > ROUNDING
    by_chance = no_spread & some_difference
    several = frame["n_splits"] > 1

    n_splits = frame["n_splits"].where(several & ~by_chance)
    variance_factor = 1 / n_splits + ratios
    return _critical_t(n_splits) * frame["spread"] * np.sqrt(variance_factor)


def _critical_t(n_splits: pd.Series | np.ndarray) -> pd.Series | np.ndarray:
    """Give the t beyond which the two-sided paired test finds a difference."""
    return stdtrit(n_splits - 1, (1 + CONFIDENCE) / 2)


def differences(pairs: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Compute mean differences with their 95 % intervals by the paired t.

    Args:
        pairs: a row per split, with `value` and the `base` that it is compared with;
            the caller leaves out the others.
        keys: the columns that say what belongs together.

    Returns:
        One row per group, in order of appearance: `keys`, `n_splits`, `difference`, and
        `spread` (the standard deviation of the differences), `low` and `high`, which
        are NaN for a single split.
    """
    pairs = pairs.assign(gap=pairs["value"] - pairs["base"])
    gaps = pairs.groupby(list(keys), sort=False)["gap"]
    means = gaps.agg(n_splits="size", difference=fmean, spread="std")
    means = means.astype({"difference": float, "spread": float})

    half = half_width(means)
    means["low"] = means["difference"] - half
    means["high"] = means["difference"] + half
    return means.reset_index()


def against(
    scores: pd.DataFrame, base: pd.DataFrame, on: Sequence[str], keys: Sequence[str]
) -> pd.DataFrame:
    """Compute the `differences` of scores to those of `base` that agree in `on`.

    What is missing is left out.
    """
    on = list(on)
    known = scores.dropna(subset="value")
    known_base = base.dropna(subset="value").rename(columns={"value": "base"})
    pairs = known.merge(known_base[[*on, "base"]], on=on)
    return differences(pairs, keys)


def for_other_people(frame: pd.DataFrame) -> pd.DataFrame:
    """Set `low` and `high` for other people, those of data sets like this one.

    `corrected` is half of that interval.
    """
    low = frame["difference"] - frame["corrected"]
    high = frame["difference"] + frame["corrected"]
    return frame.assign(low=low, high=high)


def leaves_out_0(low: float, high: float, n_splits: float) -> bool:
    """Say whether an interval leaves out 0, and is of enough splits to say so."""
    return bool(n_splits >= FEWEST and (low > 0 or high < 0))


def leave_out_0(frame: pd.DataFrame) -> str:
    """Count the differences with an interval, and those whose interval leaves out 0.

    Args:
        frame: has `low`, `high` and `pairs`, the splits that both runs have.
    """
    known = frame.dropna(subset=["low"])
    above = known["low"] > 0
    below = known["high"] < 0
    enough = known["pairs"] >= FEWEST
    count = ((above | below) & enough).sum()
    return f"{count} of {len(known)}"


def splits_needed(difference: float, spread: float) -> float:
    """Count the splits with which the paired t-test at 5 % finds a difference.

    It finds it with a probability of 80 %. Exact, by the noncentral t; infinite where a
    thousand splits are too few.

    Args:
        difference: the true mean of the differences.
        spread: their standard deviation.
    """
    from scipy import stats  # which most jobs that compare need not wait for

    n_splits = np.arange(2, 1001)
    freedom = n_splits - 1
    critical = _critical_t(n_splits)
    shift = abs(difference) * np.sqrt(n_splits) / spread

    right_sign = stats.nct.sf(critical, freedom, shift)
    wrong_sign = stats.nct.cdf(-critical, freedom, shift)
    wrong_sign = np.nan_to_num(wrong_sign)  # SciPy has NaN for the least of these
    enough = n_splits[right_sign + wrong_sign >= _POWER]
    if not len(enough):
        return math.inf
    return float(enough[0])
