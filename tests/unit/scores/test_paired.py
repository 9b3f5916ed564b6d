"""Paired differences: the numbers against SciPy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairgat.scores import paired


@pytest.mark.parametrize("ratio", [0, 0.75])
def test_the_interval_of_few_splits(ratio):
    few = pd.DataFrame({"n_splits": [0, 1, 2, 2], "spread": [math.nan, 1.0, 0.0, 0.0]})
    few["difference"] = [math.nan, 0.1, 0.0, 0.1]  # twice by the same amount is chance
    assert paired.half_width(few, ratio).tolist() == pytest.approx(
        [math.nan, math.nan, 0, math.nan], nan_ok=True
    )


@pytest.mark.parametrize(
    ("difference", "spread"), [(0.01, 0.01), (-0.01, 0.02), (0.02, 0.008), (5, 0.6)]
)
def test_the_splits_needed_find_four_differences_in_five(difference, spread):
    n = int(paired.splits_needed(difference, spread))
    draws = np.random.default_rng(0).normal(difference, spread, size=(20_000, n))
    found = {
        count: (stats.ttest_1samp(draws[:, :count], 0, axis=1).pvalue < 0.05).mean()
        for count in (n - 1, n)
    }
    assert found[n - 1] < 0.81 and found[n] > 0.79


def test_too_small_a_difference_takes_no_number_of_splits():
    assert paired.splits_needed(0.0001, 1.0) == math.inf


@pytest.mark.parametrize("ratio", [0, 0.75])
def test_for_other_people_the_interval_is_wider(ratio):
    """By Nadeau and Bengio's correction: the variance of the mean is a split's times 1/J + n_test/n_train."""
    frame = pd.DataFrame({"difference": [0.1], "spread": [0.02], "n_splits": [5]})
    expected = stats.t.ppf(0.975, 4) * 0.02 * math.sqrt(1 / 5 + ratio)
    assert paired.half_width(frame, ratio).item() == pytest.approx(expected)
    low, high = paired.for_other_people(frame.assign(corrected=0.08)).loc[
        0, ["low", "high"]
    ]
    assert (low, high) == pytest.approx((0.02, 0.18))
    several = pd.DataFrame(
        {
            "low": [0.02, -0.1, -0.2, None, 0.0, -0.1],
            "high": [0.18, 0.1, -0.1, None, 0.1, 0.0],
            "pairs": 5,
        }
    )
    assert paired.leave_out_0(several) == "2 of 5"
    assert paired.leave_out_0(several.assign(pairs=4)) == "0 of 5"
