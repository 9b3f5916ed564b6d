"""Our metrics against fairlearn's and scikit-learn's, and the parts of ΔSP."""

import numpy as np
import pytest
import torch
from dense import LINK, judged, make
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    equalized_odds_difference,
    selection_rate,
    true_positive_rate,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from fairgat import measures
from fairgat.data.graph import Graph, symmetrise
from fairgat.measures.metrics import Decisions, node_metrics
from fairgat.measures.parity import parity_parts
from fairgat.tasks.rates import counted


@pytest.mark.parametrize("groups", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_node_metrics_equal_fairlearn(seed, groups):
    rng = np.random.default_rng(seed)
    predicted, labels = rng.integers(2, size=(2, 60))
    sensitive = rng.integers(groups, size=60)
    ours = node_metrics(predicted, labels, sensitive)
    frame = MetricFrame(
        metrics=true_positive_rate,
        y_true=labels,
        y_pred=predicted,
        sensitive_features=sensitive,
    )
    assert ours["accuracy"] == accuracy_score(labels, predicted)
    assert ours["f1"] == pytest.approx(f1_score(labels, predicted))
    parity = demographic_parity_difference(
        labels, predicted, sensitive_features=sensitive
    )
    assert ours["statistical_parity"] == pytest.approx(parity)
    assert ours["equal_opportunity"] == pytest.approx(frame.difference())
    rates = MetricFrame(
        metrics={
            "accuracy": accuracy_score,
            "positive_rate": selection_rate,
            "true_positive_rate": true_positive_rate,
        },
        y_true=labels,
        y_pred=predicted,
        sensitive_features=sensitive,
    ).by_group
    found = of_nodes(predicted, labels, sensitive, groups)
    for name in rates:
        of_groups = {group: found[f"{name}_{group}"] for group in range(groups)}
        assert of_groups == pytest.approx(dict(rates[name]))


def of_nodes(predicted, labels, sensitive, groups, **attributes):
    decided, true = predicted == 1, labels == 1
    decisions = Decisions(
        predicted, 0.5, decided, true, sensitive, groups, attributes=attributes
    )
    return measures.compute("node_classification", decisions)


def of_links(predicted, labels, edges, sensitive, nobody=np.nan):
    decided, true = predicted == 1, labels == 1
    ends, count = sensitive[edges], sensitive.max() + 1
    decisions = Decisions(predicted, 0.5, decided, true, ends, count, nobody)
    return measures.compute("link_prediction", decisions)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(5, 40))
def test_link_metrics_equal_fairlearn(seed, groups, links):
    """As in FairDrop's notebook, a rate over nobody is 0; small samples have such."""
    rng = np.random.default_rng(seed)
    sensitive = rng.integers(groups, size=20)
    edges = rng.integers(20, size=(2, links))
    predicted, labels = rng.integers(2, size=(2, links))
    ours = of_links(predicted, labels, edges, sensitive, nobody=0)
    u, v = sensitive[edges]
    pairs = np.array([f"{min(a, b)}-{max(a, b)}" for a, b in zip(u, v, strict=True)])
    cases = {
        "mixed": (labels, predicted, u != v),
        "group": (np.tile(labels, 2), np.tile(predicted, 2), np.concatenate([u, v])),
        "subgroup": (labels, predicted, pairs),
    }
    for name, (truth, decision, features) in cases.items():
        parity = demographic_parity_difference(
            truth, decision, sensitive_features=features
        )
        odds = equalized_odds_difference(truth, decision, sensitive_features=features)
        assert ours[f"dp_{name}"] == pytest.approx(parity)
        assert ours[f"eo_{name}"] == pytest.approx(odds)


def gap_of(decision, members, among):
    """The largest less the smallest share of positive decisions, of groups with one."""
    shares = []
    for group in np.unique(members[among]):
        own = among & (members == group)
        shares.append(decision[own].mean())
    if len(shares) < 2:
        return np.nan
    return max(shares) - min(shares)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 12))
def test_a_rate_over_nobody_is_missing(seed, groups, count):
    """A gap needs two groups of pairs with a rate; few rows make that rare."""
    rng = np.random.default_rng(seed)
    predicted, labels = rng.integers(2, size=(2, count))
    sensitive, edges = rng.integers(groups, size=9), rng.integers(9, size=(2, count))
    u, v = sensitive[edges]
    dyads = {
        "mixed": (u != v, 1),
        "group": (np.concatenate([u, v]), 2),
        "subgroup": (u * v + 100 * (u + v), 1),
    }
    links, expected = of_links(predicted, labels, edges, sensitive), {}
    for name, (members, times) in dyads.items():
        decision, truth = np.tile(predicted, times), np.tile(labels, times)
        odds = [gap_of(decision, members, truth == label) for label in (0, 1)]
        expected[f"dp_{name}"] = gap_of(decision, members, truth >= 0)
        expected[f"eo_{name}"] = np.max(odds)
    found = {name: links[name] for name in expected}
    assert found == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("predicted", "labels", "sensitive", "message"),
    [
        ([1, 0], [-1, 1], [0, 1], "labels must be 0 or 1; found -1"),
        ([0.2, 1.0], [0, 1], [0, 1], "predictions must be 0 or 1; found 0"),
        ([1], [0, 1], [0, 1], "one shape"),
        (
            np.ma.masked_array([1, 0], [False, True]),
            [0, 1],
            [0, 1],
            "some predictions are masked",
        ),
        (
            [1, 0],
            np.ma.masked_array([1, 0], [False, True]),
            [0, 1],
            "some labels are masked",
        ),
    ],
)
def test_what_has_no_metrics_is_refused(predicted, labels, sensitive, message):
    with pytest.raises(ValueError, match=message):
        node_metrics(predicted, labels, sensitive)


def test_an_attribute_without_two_rates_has_no_gap():
    labels = np.array([1, 1, 0, 0])
    found = of_nodes(labels, labels, np.arange(4), 4, a=np.array([0, 0, 1, 1]))
    assert found["statistical_parity_a"] == 1
    assert np.isnan(found["equal_opportunity_a"])


def test_probabilities_of_1_in_float32_are_ranked_but_tie_where_the_epoch_is_chosen():
    n = 30
    place = np.arange(n)
    edges = symmetrise(np.array([place, (place + 1) % n]), n)
    graph = Graph(np.ones((n, 1)), np.zeros(n, int), place % 2, edges)
    method = make("gat", graph, LINK)
    task = method.task
    # Edges are the nearest, and all logits are above 10000.
    angle = 2 * np.pi * place / n
    on_a_circle = 100 * np.stack([np.cos(angle), np.sin(angle), np.full(n, 1.5)], 1)
    near = torch.tensor(on_a_circle, dtype=torch.float32)[task.order]

    found = judged(method, graph, near, "validation")["test"]

    assert found["auc"] == 1.0
    # No cut-off of the probability can tell them apart.
    assert task.validate(near)["auc"] == 0.5


def split(predicted, labels, side):
    given = [np.asarray(each).astype(bool) for each in (predicted, labels, side)]
    return parity_parts(counted(*given, 2))


def test_what_each_part_of_parity_is_about():
    side, place = np.repeat([0, 1], 10), np.tile(np.arange(10), 2)
    labels = place < np.where(side == 1, 8, 3)
    assert split(labels, labels, side) == pytest.approx((0.5, 0))  # no errors
    # As many labels in both, predictions of side 1 alone.
    assert split(side, place < 5, side) == pytest.approx((0, 1))
    # By hand: p(1|s) = 0.3, 0.8; q_s1 = 1, 0.5, and q_s0 = 0, 0.
    missed = (side == 1) & (place < 4)
    predicted = labels & ~missed
    assert split(predicted, labels, side) == pytest.approx((0.5 * 0.75, 0.55 * -0.5))


@pytest.mark.parametrize("groups", [2, 4])
def test_the_parts_of_parity_as_measures_add_up_to_the_gap(groups):
    rng = np.random.default_rng(1)
    predicted = rng.integers(2, size=300)
    labels = rng.random(300) < 0.4
    sensitive = rng.integers(groups, size=300)
    found = of_nodes(predicted, labels, sensitive, groups)
    whole = found["parity_labels"] + found["parity_errors"]
    assert whole == pytest.approx(found["statistical_parity"], abs=1e-12)

    found = of_nodes(predicted, labels & (sensitive > 0), sensitive, groups)
    rates = [found[f"positive_rate_{group}"] for group in range(groups)]
    extremes = np.argmin(rates), np.argmax(rates)
    assert np.isnan(found["parity_labels"]) == (0 in extremes)
    found = of_nodes(predicted, labels, 0 * sensitive, 2)
    assert np.isnan(found["parity_errors"])
