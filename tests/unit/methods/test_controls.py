"""The MLP, GAT with a penalty and GAT with thresholds, against their definitions and every other choice."""

from itertools import product

import numpy as np
import pytest
import torch
from dense import (
    NODE,
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


def test_the_mlp_reads_features_only(double):
    method = make("mlp", small_graph())
    task, labels = method.task, method.task.labels.double()
    assert [
        part.weight.shape for part in method.model if isinstance(part, nn.Linear)
    ] == [(6, 5), (6, 6), (1, 6)]

    def loss(model):
        first, second, last = (part for part in model if isinstance(part, nn.Linear))
        h = (task.features @ first.weight.t() + first.bias).relu()
        logits = (h @ second.weight.t() + second.bias).relu() @ last.weight[
            0
        ] + last.bias
        torch.testing.assert_close(method.forward(), logits)
        return bce(logits[task.train], labels[task.train])

    assert_trains_by(method, loss)


@pytest.mark.parametrize("gap", ["statistical_parity", "equal_opportunity"])
def test_a_step_with_the_penalty(double, gap):
    method = make("penalty", small_graph(), weight=1.7, gap=gap)
    task, labels = method.task, method.task.labels.double()
    counted = [
        i for i in task.train.tolist() if gap == "statistical_parity" or labels[i] == 1
    ]

    def loss(model):
        logits = logits_of(model, task.features, neighbours(method))
        means = [
            torch.stack(
                [logits[i].sigmoid() for i in counted if task.sensitive[i] == s]
            ).mean()
            for s in (0, 1)
        ]
        return (
            bce(logits[task.train], labels[task.train])
            + 1.7 * (means[0] - means[1]).abs()
        )

    assert_trains_by(method, loss)


def test_the_gap_of_several_groups():
    values = torch.tensor([0.1, 0.3, 0.9, 0.4])
    assert range_of_means(values, torch.tensor([0, 0, 3, 1])).item() == pytest.approx(
        0.7
    )  # nobody is in group 2
    assert (
        range_of_means(values[:2], torch.tensor([1, 1]))
        == range_of_means(values[:0], torch.tensor([]).long())
        == 0
    )


GAPS = ("statistical_parity", "equal_opportunity")


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize(
    ("groups", "limit", "seed"), [(2, 0.05, 0), (2, 0.2, 1), (3, 0.1, 2)]
)
def test_no_other_thresholds_are_better(gap, groups, limit, seed):
    rng = np.random.default_rng(seed)
    sensitive = rng.permutation(np.arange(36) % groups)
    labels = (rng.random(36) < 0.3 + 0.4 * (sensitive > 0)).astype(int)
    logits = np.round(
        rng.normal(size=36) + labels + 0.5 * sensitive, 1
    )  # some are equal

    def judge(found):
        scores = node_metrics(logits > np.asarray(found)[sensitive], labels, sensitive)
        return scores["accuracy"] if scores[gap] <= limit + 1e-9 else 0.0

    found = thresholds(
        logits, labels, sensitive, (labels == 1) | (gap == GAPS[0]), limit, groups
    )
    ours = [
        np.append(np.unique(logits[sensitive == group]), -9) for group in range(groups)
    ]
    assert judge(found) == max(map(judge, product(*ours))) > 0.5


def test_thresholds_stay_at_zero_where_nothing_is_gained():
    logits, labels, sensitive = (
        np.array([-2.0, -1.0, 1.0, 3.0] * 2),
        np.array([0, 0, 1, 1] * 2),
        np.repeat([0, 1], 4),
    )
    np.testing.assert_array_equal(
        thresholds(logits, labels, sensitive, labels >= 0, 0.02, 2), [0, 0]
    )


def test_a_group_without_a_rate_limits_no_other():
    """Group 1 has no label 1 and group 2 nobody: the first keeps its true positives, the second decides alone."""
    logits, labels = np.array([2.0, 1.0, -1.0, 3.0, 2.0]), np.array([1, 1, 0, 0, 0])
    found = thresholds(logits, labels, np.array([0, 0, 0, 1, 1]), labels == 1, 0.02, 3)
    assert found[0] == found[2] == 0 and found[1] > 3


@pytest.mark.parametrize("gap", GAPS)
def test_thresholds_are_gat_with_other_decisions(gap):
    graph = small_graph(nodes=200, edges=400)
    plain, method = (
        fit(make("gat", graph)),
        make("thresholds", graph, NODE, gap=gap, limit=0.1),
    )
    task, result = method.task, fit(method)
    assert all(
        (weights == result.weights[name]).all()
        for name, weights in plain.weights.items()
    )
    sensitive = task.graph.sensitive
    for rule, kept in result.reported.items():
        shift = (plain.reported[rule].output - kept.output).numpy()
        assert all(np.ptp(shift[sensitive == group]) < 1e-5 for group in (0, 1))
        assert judged(method, graph, kept.output)["validation"][gap] <= 0.1 + 1e-9
        assert plain.reported[rule].epoch == kept.epoch
