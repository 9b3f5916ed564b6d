"""Paired differences: the numbers against SciPy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairgat.scores import paired, runs

GAT = [0.90, 0.93, 0.95, 0.91, 0.94]
BETTER = [0.91, 0.95, 0.96, 0.93, 0.95]
NOISY = [0.80, 0.99, 0.90, 0.97, 0.95]


def scores(method, cell, values, part="test"):
    rows = [("recidivism", method, cell, k, part, "", "accuracy", value, "") for k, value in enumerate(values)]
    return pd.DataFrame(rows, columns=list(runs.COLUMNS))


def compare(frames, *winners):
    chosen = pd.DataFrame(winners, columns=["rule", "dataset", "method", "cell"])
    return paired.against_reference(pd.concat(frames), chosen, "fair", ["validation"])


def test_differences_are_those_of_a_paired_t_test():
    frames = [scores("gat", "default", GAT), scores("gat", "default", NOISY, "validation")]
    frames += [scores("fairgat", "eta~0.75", BETTER), scores("fairgat", "eta~1.0", NOISY[:4])]
    first, second = compare(
        frames,
        ("fair", "recidivism", "gat", "default"),
        ("fair", "recidivism", "fairgat", "eta~0.75"),
        ("accuracy", "recidivism", "fairgat", "eta~1.0"),
    ).itertuples()
    expected = stats.ttest_rel(BETTER, GAT).confidence_interval()
    assert (first.low, first.high) == pytest.approx((expected.low, expected.high))
    assert first.difference == pytest.approx(np.mean(BETTER) - np.mean(GAT))
    assert (first.selected, second.selected) == (True, False)
    expected = stats.ttest_rel(NOISY[:4], GAT[:4]).confidence_interval()  # the split that is missing is left out
    assert (second.n_splits, second.low) == (4, pytest.approx(expected.low))


def test_a_split_that_lacks_a_score_is_compared_with_nothing():
    frames = [scores("gat", "default", [*GAT[:2], None]), scores("fairgat", "eta~1.0", [None, *BETTER[1:3]])]
    chosen = [("fair", "recidivism", name, cell) for name, cell in (("gat", "default"), ("fairgat", "eta~1.0"))]
    (row,) = compare(frames, *chosen).itertuples()
    assert (row.n_splits, row.difference) == (1, pytest.approx(BETTER[1] - GAT[1]))


def test_without_the_reference_nothing_is_compared():
    found = compare([scores("fairgat", "eta~1.0", GAT)], ("fair", "recidivism", "fairgat", "eta~1.0"))
    assert found.empty and list(found.columns) == list(paired.COLUMNS)


@pytest.mark.parametrize("ratio", [0, 0.75])
def test_the_interval_of_few_splits(ratio):
    few = pd.DataFrame({"n_splits": [0, 1, 2, 2], "spread": [math.nan, 1.0, 0.0, 0.0]})
    few["difference"] = [math.nan, 0.1, 0.0, 0.1]  # twice by the same amount is chance
    assert paired.half_width(few, ratio).tolist() == pytest.approx([math.nan, math.nan, 0, math.nan], nan_ok=True)


@pytest.mark.parametrize(("difference", "spread"), [(0.01, 0.01), (-0.01, 0.02), (0.02, 0.008), (5, 0.6)])
def test_the_splits_needed_find_four_differences_in_five(difference, spread):
    n = int(paired.splits_needed(difference, spread))
    draws = np.random.default_rng(0).normal(difference, spread, size=(20_000, n))
    found = {count: (stats.ttest_1samp(draws[:, :count], 0, axis=1).pvalue < 0.05).mean() for count in (n - 1, n)}
    assert found[n - 1] < 0.81 and found[n] > 0.79


def test_too_small_a_difference_takes_no_number_of_splits():
    assert paired.splits_needed(0.0001, 1.0) == math.inf


def test_for_other_people_the_interval_of_random_splits_is_wider():
    """Means over splits of samples drawn anew: the corrected interval covers the truth, that of the splits does not."""
    random, splits, covered = np.random.default_rng(0), 20, {"corrected": 0, "splits": 0}
    for _ in range(300):
        people = random.normal(size=200)
        tests = np.array([people[random.permutation(200)[:60]].mean() for _ in range(splits)])
        frame = pd.DataFrame({"difference": [tests.mean()], "spread": [tests.std(ddof=1)], "n_splits": splits})
        for name, ratio in (("corrected", 0.3 / 0.4), ("splits", 0)):
            covered[name] += abs(tests.mean()) < paired.half_width(frame, ratio)[0]
    assert covered["corrected"] >= 0.95 * 300 and covered["splits"] < 0.6 * 300


def test_the_interval_for_other_people_covers_what_training_on_them_changes():
    """Two fits, with the group and without, whose gaps differ by who is trained on as well as by who is tested."""
    random, n, splits = np.random.default_rng(1), 300, 10

    def gap_of(features, labels, groups, train, test):
        weights = np.linalg.lstsq(features[train], labels[train])[0]
        positive = features[test] @ weights > 0
        return positive[groups[test] == 1].mean() - positive[groups[test] == 0].mean()

    def differences():
        groups = random.integers(2, size=n)
        plain = np.column_stack([np.ones(n), random.normal(size=(n, 3)) + 0.3 * groups[:, None]])
        labels = np.sign(plain[:, 1:].sum(1) + random.normal(scale=2, size=n))
        for _ in range(splits):
            train, test, _ = np.split(random.permutation(n), [int(0.4 * n), int(0.7 * n)])
            whole, without = np.column_stack([plain, groups]), plain
            yield gap_of(whole, labels, groups, train, test) - gap_of(without, labels, groups, train, test)

    drawn = np.array([[*differences()] for _ in range(200)])
    mean, spread = drawn.mean(axis=1), drawn.std(axis=1, ddof=1)
    frame = pd.DataFrame({"difference": mean, "spread": spread, "n_splits": splits})
    off = abs(drawn.mean(axis=1) - drawn.mean())
    assert (off < paired.half_width(frame, 0.3 / 0.4)).mean() >= 0.93
    assert (off < paired.half_width(frame)).mean() < 0.75
