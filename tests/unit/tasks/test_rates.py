"""The rates that choose an epoch, against scikit-learn's and their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from fairgat.tasks import rates


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 12))
def test_rates_and_gaps_by_their_definitions(seed, groups, count):
    """With few rows a group often has nobody with label 1, or nobody at all."""
    rng = np.random.default_rng(seed)
    positive, labels = rng.integers(2, size=(2, count)).astype(bool)
    group = rng.integers(groups, size=count)
    counts = rates.counted(positive, labels, group, groups)
    cases = (
        (rates.positive_rates, np.ones(count, bool)),
        (rates.true_positive_rates, labels),
    )
    for function, among in cases:
        members = [among & (group == k) for k in range(groups)]
        expected = [positive[each].mean() if each.any() else np.nan for each in members]
        found = function(counts)
        assert found == pytest.approx(expected, nan_ok=True)
        known = [rate for rate in expected if not np.isnan(rate)]
        gap = np.ptp(known) if len(known) > 1 else np.nan
        assert rates.gap(found) == pytest.approx(gap, nan_ok=True)
        for k in range(groups):
            if np.isnan(expected[k]) and (group == k).any():
                expected[k] = 0.0
        assert function(counts, 0.0) == pytest.approx(expected, nan_ok=True)
    assert rates.accuracy(positive, labels) == accuracy_score(labels, positive)
    f1 = rates.f1(positive, labels)
    if labels.any():
        assert f1 == pytest.approx(f1_score(labels, positive, zero_division=0))
    else:
        assert np.isnan(f1)


def test_nobody_has_no_accuracy_and_one_rate_no_gap():
    nobody = np.zeros(0, bool)
    assert np.isnan(rates.accuracy(nobody, nobody))
    assert rates.gap(np.array([0.5, np.nan]), 0.0) == 0


@pytest.mark.parametrize("decimals", [1, 8], ids=["ties", "no-ties"])
def test_area_under_roc_equals_scikit_learn(decimals):
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=200)
    scores = (rng.random(200) + 0.3 * labels).round(decimals)
    area = roc_auc_score(labels, scores)
    assert rates.area_under_roc(scores, labels) == pytest.approx(area)


def test_an_area_that_is_not_there():
    scores = np.array([0.1, 0.2])
    for labels in ([1, 1], [0, 0]):
        assert np.isnan(rates.area_under_roc(scores, np.array(labels)))
    lacking = np.array([np.nan, 0.3])
    assert np.isnan(rates.area_under_roc(lacking, np.array([0, 1])))
    with pytest.raises(ValueError, match="labels must be 0 or 1; found -1"):
        rates.area_under_roc(scores, np.array([-1, 1]))
