"""Paired differences: the numbers against SciPy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairgat.scores import paired


@pytest.mark.parametrize(
    ("n_splits", "difference", "spread", "expected"),
    [
        pytest.param(0, math.nan, math.nan, math.nan, id="no split"),
        pytest.param(1, 0.1, 1.0, math.nan, id="one split"),
        pytest.param(2, 0.0, 0.0, 0.0, id="two that are equal"),
        pytest.param(2, 0.1, 0.0, math.nan, id="two that differ alike, by chance"),
    ],
)
@pytest.mark.parametrize("ratio", [0, 0.75])
def test_few_splits_have_no_interval(n_splits, difference, spread, expected, ratio):
    row = {"n_splits": n_splits, "difference": difference, "spread": spread}

    half = paired.half_width(pd.DataFrame([row]), ratio).item()

    assert half == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("ratio", [0, 0.75])
def test_for_other_people_the_interval_is_wider(ratio):
    """By Nadeau and Bengio: a split's variance times 1/J + n_test/n_train."""
    frame = pd.DataFrame({"difference": [0.1], "spread": [0.02], "n_splits": [5]})

    half = paired.half_width(frame, ratio).item()

    variance_factor = 1 / 5 + ratio
    expected = stats.t.ppf(0.975, 4) * 0.02 * math.sqrt(variance_factor)
    assert half == pytest.approx(expected)


def test_bounds_for_other_people_are_half_the_wider_interval_away():
    frame = pd.DataFrame({"difference": [0.1], "corrected": [0.08]})

    (line,) = paired.for_other_people(frame).itertuples()

    assert (line.low, line.high) == pytest.approx((0.02, 0.18))


def test_scores_are_compared_with_those_of_the_same_split():
    keys = {"method": "m", "metric": "accuracy"}
    scores = pd.DataFrame({"split": [0, 1, 2, 3], "value": [0.5, 0.6, None, 0.8]})
    base = pd.DataFrame({"split": [1, 0, 2, 3], "value": [0.4, 0.2, 0.1, None]})

    found = paired.against(scores.assign(**keys), base, ["split"], list(keys))

    (line,) = found.itertuples()
    assert (line.method, line.metric, line.n_splits) == ("m", "accuracy", 2)
    assert line.difference == pytest.approx(0.25)  # of 0.5 - 0.2 and 0.6 - 0.4
    expected = stats.ttest_rel([0.5, 0.6], [0.2, 0.4]).confidence_interval()
    assert (line.low, line.high) == pytest.approx((expected.low, expected.high))


INTERVALS = [
    (0.02, 0.18),
    (-0.1, 0.1),
    (-0.2, -0.1),
    (None, None),
    (0.0, 0.1),
    (-0.1, 0.0),
]


@pytest.mark.parametrize(("n_splits", "count"), [(5, "2 of 5"), (4, "0 of 5")])
def test_intervals_that_leave_out_0_are_counted_from_five_splits_on(n_splits, count):
    frame = pd.DataFrame(INTERVALS, columns=["low", "high"]).assign(pairs=n_splits)

    assert paired.leave_out_0(frame) == count


@pytest.mark.parametrize(
    ("low", "high", "n_splits", "expected"),
    [
        (0.02, 0.18, 5, True),
        (-0.2, -0.1, 5, True),
        (0.02, 0.18, 4, False),
        (0.0, 0.1, 5, False),
        (-0.1, 0.0, 5, False),
        (math.nan, math.nan, 5, False),
    ],
)
def test_an_interval_that_leaves_out_0(low, high, n_splits, expected):
    assert paired.leaves_out_0(low, high, n_splits) is expected


@pytest.mark.parametrize(
    ("difference", "spread"), [(0.01, 0.01), (-0.01, 0.02), (0.02, 0.008), (5, 0.6)]
)
def test_the_splits_needed_find_four_differences_in_five(difference, spread):
    n = int(paired.splits_needed(difference, spread))

    draws = np.random.default_rng(0).normal(difference, spread, size=(20_000, n))
    share_found = {}
    for count in (n - 1, n):
        test = stats.ttest_1samp(draws[:, :count], 0, axis=1)
        share_found[count] = (test.pvalue < 0.05).mean()
    assert share_found[n - 1] < 0.81
    assert share_found[n] > 0.79


def test_too_small_a_difference_takes_no_number_of_splits():
    assert paired.splits_needed(0.0001, 1.0) == math.inf
