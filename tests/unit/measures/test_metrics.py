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


def of_nodes(predicted, labels, sensitive, groups, **attributes):
    decided, true = predicted == 1, labels == 1
    decisions = Decisions(
        predicted, 0.5, decided, true, sensitive, groups, attributes=attributes
    )
    return measures.compute("node_classification", decisions)


def of_links(predicted, labels, groups, nobody=np.nan):
    """Measures of pairs whose ends are in these groups, (2, n)."""
    decided, true, count = predicted == 1, labels == 1, groups.max() + 1
    decisions = Decisions(predicted, 0.5, decided, true, groups, count, nobody)
    return measures.compute("link_prediction", decisions)


RANDOM_NODES = pytest.mark.parametrize(
    ("seed", "groups"), [(seed, groups) for seed in range(4) for groups in (2, 3, 5)]
)


def random_nodes(seed, groups):
    """Decisions, labels and groups of 60 nodes."""
    rng = np.random.default_rng(seed)
    decisions, labels = rng.integers(2, size=(2, 60))
    return decisions, labels, rng.integers(groups, size=60)


@RANDOM_NODES
def test_metrics_of_nodes_are_those_of_scikit_learn_and_fairlearn(seed, groups):
    predicted, labels, sensitive = random_nodes(seed, groups)

    ours = node_metrics(predicted, labels, sensitive)

    given = {"y_true": labels, "y_pred": predicted, "sensitive_features": sensitive}
    opportunity = MetricFrame(metrics=true_positive_rate, **given).difference()
    assert ours["accuracy"] == accuracy_score(labels, predicted)
    assert ours["f1"] == pytest.approx(f1_score(labels, predicted))
    parity = demographic_parity_difference(**given)
    assert ours["statistical_parity"] == pytest.approx(parity)
    assert ours["equal_opportunity"] == pytest.approx(opportunity)


@RANDOM_NODES
@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("accuracy", accuracy_score),
        ("positive_rate", selection_rate),
        ("true_positive_rate", true_positive_rate),
    ],
)
def test_rates_of_each_group_are_fairlearns(seed, groups, name, metric):
    predicted, labels, sensitive = random_nodes(seed, groups)

    found = of_nodes(predicted, labels, sensitive, groups)

    given = {"y_true": labels, "y_pred": predicted, "sensitive_features": sensitive}
    by_group = MetricFrame(metrics=metric, **given).by_group
    for group in range(groups):
        assert found[f"{name}_{group}"] == pytest.approx(by_group[group])


def groupings(groups):
    """By FairDrop's name: what each pair, or each of its ends, belongs to."""
    u, v = groups
    pairs = [f"{min(ends)}-{max(ends)}" for ends in groups.T]
    return {"mixed": u != v, "group": groups.ravel(), "subgroup": np.array(pairs)}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(5, 40))
def test_metrics_of_links_are_fairlearns(seed, groups, links):
    """As in FairDrop's notebook, a rate over nobody is 0; small samples have such."""
    rng = np.random.default_rng(seed)
    predicted, labels = rng.integers(2, size=(2, links))
    ends = rng.integers(groups, size=(2, links))

    ours = of_links(predicted, labels, ends, nobody=0)

    for name, members in groupings(ends).items():
        times = len(members) // links  # once, or for each end
        truth, decision = np.tile(labels, times), np.tile(predicted, times)
        given = truth, decision
        parity = demographic_parity_difference(*given, sensitive_features=members)
        odds = equalized_odds_difference(*given, sensitive_features=members)
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
def test_a_rate_over_nobody_is_missing(seed, groups, links):
    """A gap needs two groups of pairs with a rate; few rows make that rare."""
    rng = np.random.default_rng(seed)
    predicted, labels = rng.integers(2, size=(2, links))
    ends = rng.integers(groups, size=(2, links))

    ours = of_links(predicted, labels, ends)

    for name, members in groupings(ends).items():
        times = len(members) // links
        truth, decision = np.tile(labels, times), np.tile(predicted, times)
        everyone = np.ones(len(truth), bool)
        of_true = gap_of(decision, members, truth == 1)
        of_false = gap_of(decision, members, truth == 0)
        odds = np.max([of_true, of_false])
        parity = gap_of(decision, members, everyone)
        assert ours[f"dp_{name}"] == pytest.approx(parity, nan_ok=True)
        assert ours[f"eo_{name}"] == pytest.approx(odds, nan_ok=True)


MASKED = np.ma.masked_array([1, 0], [False, True])


@pytest.mark.parametrize(
    ("predicted", "labels", "message"),
    [
        ([1, 0], [-1, 1], "labels must be 0 or 1; found -1"),
        ([0.2, 1.0], [0, 1], "predictions must be 0 or 1; found 0"),
        ([1], [0, 1], "one shape"),
        ([[1, 0]], [[0, 1]], "one shape"),
        (MASKED, [0, 1], "some predictions are masked"),
        ([1, 0], MASKED, "some labels are masked"),
    ],
    ids=["label", "prediction", "number", "shape", "masked prediction", "masked label"],
)
def test_what_has_no_metrics_is_refused(predicted, labels, message):
    with pytest.raises(ValueError, match=message):
        node_metrics(predicted, labels, [0, 1])


def test_an_attribute_without_two_rates_has_no_gap():
    labels = np.array([1, 1, 0, 0])

    found = of_nodes(labels, labels, np.arange(4), 4, a=np.array([0, 0, 1, 1]))

    assert found["statistical_parity_a"] == 1
    assert np.isnan(found["equal_opportunity_a"])


def test_probabilities_of_1_in_float32_are_ranked_but_tie_where_the_epoch_is_chosen():
    """Edges are the nearest on a circle, and all logits are above 10000."""
    place = np.arange(30)
    edges = symmetrise(np.array([place, (place + 1) % 30]), 30)
    graph = Graph(np.ones((30, 1)), np.zeros(30, int), place % 2, edges)
    method = make("gat", graph, LINK)
    angle = torch.from_numpy(2 * np.pi * place / 30)
    height = torch.full_like(angle, 1.5)
    circle = 100 * torch.stack([angle.cos(), angle.sin(), height], dim=1)
    embeddings = circle.float()[method.task.order]

    found = judged(method, graph, embeddings, "validation")["test"]
    chosen_by = method.task.validate(embeddings)

    assert found["auc"] == 1.0
    assert chosen_by["auc"] == 0.5  # no cut-off can tell them apart


SIDE = np.repeat([0, 1], 10)
PLACE = np.tile(np.arange(10), 2)


def parts_of(predicted, labels):
    counts = counted(predicted.astype(bool), labels.astype(bool), SIDE.astype(bool), 2)
    return parity_parts(counts)


THREE_AND_EIGHT = np.where(SIDE == 1, 8, 3) > PLACE  # of ten with label 1


def test_without_errors_the_gap_is_that_of_the_labels():
    parts = parts_of(THREE_AND_EIGHT, THREE_AND_EIGHT)

    assert parts == pytest.approx((0.5, 0))


def test_with_equal_labels_the_gap_is_that_of_the_errors():
    predicted_on_one_side, as_many_labels = SIDE == 1, PLACE < 5

    parts = parts_of(predicted_on_one_side, as_many_labels)

    assert parts == pytest.approx((0, 1))


def test_the_parts_of_a_gap_by_hand():
    """p(1|s) = 0.3, 0.8; q_s1 = 1, 0.5, and q_s0 = 0, 0."""
    missed = (SIDE == 1) & (PLACE < 4)

    parts = parts_of(THREE_AND_EIGHT & ~missed, THREE_AND_EIGHT)

    assert parts == pytest.approx((0.5 * 0.75, 0.55 * -0.5))


@pytest.fixture(params=[2, 4], ids="{} groups".format)
def random_people(request):
    """300 people's decisions, labels and groups, and how many groups there are."""
    rng = np.random.default_rng(1)
    decisions = rng.integers(2, size=300)
    labels = rng.random(300) < 0.4
    groups = rng.integers(request.param, size=300)
    return decisions, labels, groups, request.param


def test_the_parts_add_up_to_the_gap(random_people):
    found = of_nodes(*random_people)

    whole = found["parity_labels"] + found["parity_errors"]
    assert whole == pytest.approx(found["statistical_parity"], abs=1e-12)


def test_parts_are_missing_where_an_extreme_group_has_one_label(random_people):
    decisions, labels, groups, count = random_people

    found = of_nodes(decisions, labels & (groups > 0), groups, count)

    rates = [found[f"positive_rate_{group}"] for group in range(count)]
    is_extreme = rates[0] in (min(rates), max(rates))
    assert np.isnan(found["parity_labels"]) == is_extreme


def test_one_group_has_no_parts(random_people):
    decisions, labels, groups, _ = random_people

    found = of_nodes(decisions, labels, np.zeros_like(groups), 2)

    assert np.isnan(found["parity_labels"])
    assert np.isnan(found["parity_errors"])
