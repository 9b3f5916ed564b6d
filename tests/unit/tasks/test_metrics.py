"""Our metrics against fairlearn's and scikit-learn's."""

import numpy as np
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    equalized_odds_difference,
    selection_rate,
    true_positive_rate,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from fairgat.tasks.metrics import area_under_roc, group_rates, link_metrics, node_metrics


@pytest.mark.parametrize("groups", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_node_metrics_equal_fairlearn(seed, groups):
    rng = np.random.default_rng(seed)
    predicted, labels = rng.integers(2, size=(2, 60))
    sensitive = rng.integers(groups, size=60)
    ours = node_metrics(predicted, labels, sensitive)
    frame = MetricFrame(metrics=true_positive_rate, y_true=labels, y_pred=predicted, sensitive_features=sensitive)
    assert ours["accuracy"] == accuracy_score(labels, predicted)
    assert ours["f1"] == pytest.approx(f1_score(labels, predicted))
    assert ours["statistical_parity"] == pytest.approx(
        demographic_parity_difference(labels, predicted, sensitive_features=sensitive)
    )
    assert ours["equal_opportunity"] == pytest.approx(frame.difference())
    rates = MetricFrame(
        metrics={"accuracy": accuracy_score, "positive_rate": selection_rate, "true_positive_rate": true_positive_rate},
        y_true=labels, y_pred=predicted, sensitive_features=sensitive,
    ).by_group  # fmt: skip
    assert group_rates(predicted, labels, sensitive) == pytest.approx(
        {f"{name}_{group}": rate for name in rates for group, rate in rates[name].items()}
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(5, 40))
def test_link_metrics_equal_fairlearn(seed, groups, links):
    """Small samples of many groups: groups without positives or negatives occur."""
    rng = np.random.default_rng(seed)
    sensitive = rng.integers(groups, size=20)
    edges = rng.integers(20, size=(2, links))
    predicted, labels = rng.integers(2, size=(2, links))
    ours = link_metrics(predicted, labels, edges, sensitive)
    u, v = sensitive[edges]
    pairs = np.array([f"{min(a, b)}-{max(a, b)}" for a, b in zip(u, v, strict=True)])
    cases = {
        "mixed": (labels, predicted, u != v),
        "group": (np.tile(labels, 2), np.tile(predicted, 2), np.concatenate([u, v])),
        "subgroup": (labels, predicted, pairs),
    }
    for name, (truth, decision, features) in cases.items():
        parity = demographic_parity_difference(truth, decision, sensitive_features=features)
        odds = equalized_odds_difference(truth, decision, sensitive_features=features)
        assert ours[f"dp_{name}"] == pytest.approx(parity)
        assert ours[f"eo_{name}"] == pytest.approx(odds)


@pytest.mark.parametrize("decimals", [1, 8], ids=["ties", "no-ties"])
def test_area_under_roc_equals_scikit_learn(decimals):
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=200)
    scores = (rng.random(200) + 0.3 * labels).round(decimals)
    assert area_under_roc(scores, labels) == pytest.approx(roc_auc_score(labels, scores))


def test_area_under_roc_with_a_nan_is_nan():
    assert np.isnan(area_under_roc(np.array([0.1, np.nan, 0.3]), np.array([0, 1, 1])))
