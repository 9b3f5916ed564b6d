"""The MLP, GAT with a penalty and GAT with thresholds, against their definitions."""

from itertools import product

import numpy as np
import pytest
import torch
from dense import (
    assert_trains_by,
    bce,
    judged,
    logits_of,
    make,
    neighbours,
    small_graph,
)
from torch import nn

from fairgat.measures.metrics import node_metrics
from fairgat.methods.penalty import range_of_means
from fairgat.methods.thresholds import thresholds
from fairgat.training.loop import fit

GAPS = ("statistical_parity", "equal_opportunity")


def linear_layers(model):
    return [part for part in model if isinstance(part, nn.Linear)]


def test_the_mlp_has_two_hidden_layers_as_wide_as_gats():
    layers = linear_layers(make("mlp", small_graph()).model)

    shapes = [(layer.in_features, layer.out_features) for layer in layers]
    assert shapes == [(5, 6), (6, 6), (6, 1)]


def test_the_mlp_reads_features_only(double):
    method = make("mlp", small_graph())
    task = method.task
    labels = task.labels[task.train].double()

    def loss(model):
        first, second, last = linear_layers(model)
        h = (task.features @ first.weight.t() + first.bias).relu()
        h = (h @ second.weight.t() + second.bias).relu()
        logits = h @ last.weight[0] + last.bias
        torch.testing.assert_close(method.forward(), logits)
        return bce(logits[task.train], labels)

    assert_trains_by(method, loss)


@pytest.mark.parametrize("gap", GAPS)
def test_the_penalty_is_the_gap_of_the_mean_probabilities(double, gap):
    method = make("penalty", small_graph(), weight=1.7, gap=gap)
    task = method.task
    labels = task.labels.double()

    def mean_of(group, probabilities):
        members = []
        for node in task.train.tolist():
            counted = gap == "statistical_parity" or labels[node] == 1
            if counted and task.sensitive[node] == group:
                members.append(probabilities[node])
        return sum(members) / len(members)

    def loss(model):
        logits = logits_of(model, task.features, neighbours(method))
        probabilities = logits.sigmoid()
        penalty = (mean_of(0, probabilities) - mean_of(1, probabilities)).abs()
        return bce(logits[task.train], labels[task.train]) + 1.7 * penalty

    assert_trains_by(method, loss)


@pytest.mark.parametrize(
    ("values", "groups", "expected"),
    [
        pytest.param([0.1, 0.3, 0.9, 0.4], [0, 0, 3, 1], 0.7, id="nobody in group 2"),
        pytest.param([0.1, 0.3], [1, 1], 0, id="one group"),
        pytest.param([], [], 0, id="nobody"),
    ],
)
def test_the_gap_of_several_groups_is_the_range_of_their_means(
    values, groups, expected
):
    gap = range_of_means(torch.tensor(values), torch.tensor(groups).long())

    assert gap.item() == pytest.approx(expected)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize(
    ("groups", "limit", "seed"), [(2, 0.05, 0), (2, 0.2, 1), (3, 0.1, 2)]
)
def test_no_other_thresholds_are_more_accurate(gap, groups, limit, seed):
    rng = np.random.default_rng(seed)
    sensitive = rng.permutation(np.arange(36) % groups)
    labels = (rng.random(36) < 0.3 + 0.4 * (sensitive > 0)).astype(int)
    logits = rng.normal(size=36) + labels + 0.5 * sensitive
    logits = logits.round(1)  # some are equal
    counted = np.ones(36, bool) if gap == "statistical_parity" else labels == 1

    def accuracy(cuts):
        """0 where the gap is beyond the limit."""
        decisions = logits > np.asarray(cuts)[sensitive]
        scores = node_metrics(decisions, labels, sensitive)
        return scores["accuracy"] if scores[gap] <= limit + 1e-9 else 0.0

    found = thresholds(logits, labels, sensitive, counted, limit, groups)

    choices = []
    for group in range(groups):
        own = np.unique(logits[sensitive == group])
        choices.append([-9, *own])
    best = max(accuracy(cuts) for cuts in product(*choices))
    assert accuracy(found) == best
    assert best > 0.5


def test_thresholds_stay_at_zero_where_nothing_is_gained():
    logits = np.array([-2.0, -1.0, 1.0, 3.0] * 2)
    labels = np.array([0, 0, 1, 1] * 2)
    sensitive = np.repeat([0, 1], 4)
    counted = np.ones(8, bool)

    found = thresholds(logits, labels, sensitive, counted, 0.02, 2)

    assert found.tolist() == [0, 0]


def test_a_group_without_a_rate_limits_no_other():
    """Group 1 has no label 1, group 2 nobody: the first keeps its true positives."""
    logits = np.array([2.0, 1.0, -1.0, 3.0, 2.0])
    labels = np.array([1, 1, 0, 0, 0])
    sensitive = np.array([0, 0, 0, 1, 1])

    found = thresholds(logits, labels, sensitive, labels == 1, 0.02, 3)

    assert found[0] == found[2] == 0
    assert found[1] > 3


@pytest.mark.parametrize("gap", GAPS)
def test_thresholds_are_gat_with_other_decisions(gap):
    graph = small_graph(nodes=200, edges=400)
    plain = fit(make("gat", graph))
    method = make("thresholds", graph, gap=gap, limit=0.1)

    result = fit(method)

    sensitive = method.task.graph.sensitive  # in the task's numbering, as outputs are
    for name, weights in plain.weights.items():
        np.testing.assert_array_equal(weights, result.weights[name])
    for rule, kept in result.reported.items():
        shift = (plain.reported[rule].output - kept.output).numpy()
        scores = judged(method, graph, kept.output)["validation"]
        assert plain.reported[rule].epoch == kept.epoch
        assert scores[gap] <= 0.1 + 1e-9
        for group in (0, 1):
            assert np.ptp(shift[sensitive == group]) < 1e-5
