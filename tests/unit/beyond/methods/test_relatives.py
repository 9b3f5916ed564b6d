"""A-FAME, BeMap and the common threshold, against their definitions."""

from dataclasses import replace

import further
import numpy as np
import pytest
import torch
from dense import assert_same_pass, make, neighbours, scores_of, small_graph
from torch.nn.functional import leaky_relu

from fairgat.training.loop import fit

A_FAME = further.method("a_fame")
BEMAP = further.method("bemap")
COMMON = further.method("common_threshold")


@pytest.mark.parametrize("slope", [1.0, 0.2])
@pytest.mark.parametrize(("softmax", "axis"), [("targets", 1), ("sources", 0)])
def test_the_pass_of_a_fame_and_its_gradient(double, softmax, axis, slope):
    method = make(A_FAME, small_graph(), softmax=softmax, negative_slope=slope)
    model, task = method.model, method.task
    matrix, sensitive = neighbours(method), task.sensitive.double()
    differences = sensitive[:, None] - sensitive[None]

    h = task.features
    for conv in (model.conv1, model.conv2):
        c = h @ conv.lin.weight.t()
        scores = leaky_relu(scores_of(conv, c, 0) + conv.b * differences, slope)
        alpha = scores.masked_fill(~matrix, -torch.inf).softmax(axis)
        h = (alpha @ c + conv.bias).relu()
    logits = h @ model.linear.weight[0] + model.bias

    assert_same_pass(method.forward(), logits, model.parameters())


def drawn_neighbours(method):
    """Draw edges; by node its neighbours in its own and in the other group, as sets."""
    csr, sensitive = method.task.plain_csr, method.task.graph.sensitive
    sets = [(set(), set()) for _ in sensitive]
    source, target = csr.source.tolist(), csr.target.tolist()
    for place, kept in enumerate(method.drawn()):
        neighbour, node = source[place], target[place]
        if neighbour == node:
            assert kept  # self-loops stay
        elif kept:
            elsewhere = int(sensitive[neighbour] != sensitive[node])
            sets[node][elsewhere].add(neighbour)
    return sets


def test_bemaps_neighbourhoods_are_balanced():
    graph = small_graph(nodes=60, edges=500)
    source, target = graph.edge_index
    sensitive = graph.sensitive.copy()
    sensitive[source[target == 0]] = sensitive[0]  # node 0 has its own group alone
    one_sided_graph = replace(graph, sensitive=sensitive)
    method = make(BEMAP, one_sided_graph, beta=0.5, at_least=2)
    graph = method.task.graph
    source, target = graph.edge_index

    drawn = drawn_neighbours(method)

    one_sided = 0
    for node, (own, other) in enumerate(drawn):
        row = set(source[target == node].tolist())
        mine = {each for each in row if graph.sensitive[each] == graph.sensitive[node]}
        rarer = min(len(mine), len(row) - len(mine))
        assert own <= mine
        assert other <= row - mine
        if row == mine:
            one_sided += 1
            share = int((len(mine) + 3) * 0.5)
            assert len(own) == min(max(2, share), len(mine))
            assert not other
        else:
            assert (len(own), len(other)) == (max(rarer - 1, 0), rarer)
    assert one_sided


def test_bemap_draws_by_weight():
    """How often a neighbour is drawn first, against the weights by their definition."""
    method = make(BEMAP, small_graph(nodes=30, edges=90), beta=0.01, at_least=1)
    sensitive = method.task.graph.sensitive
    matrix = neighbours(method).double().numpy()
    weight = 1 / (1 + np.abs(matrix @ matrix @ (2.0 * sensitive - 1)))

    # Of the nodes that draw one neighbour in the other group: that whose candidates'
    # weights differ most.
    best, node, candidates = 0, None, []
    for each, (_, other) in enumerate(drawn_neighbours(method)):
        elsewhere = np.flatnonzero(matrix[each] * (sensitive != sensitive[each]))
        if len(other) == 1 and np.ptp(weight[elsewhere]) > best:
            best, node, candidates = np.ptp(weight[elsewhere]), each, elsewhere
    expected = weight[candidates] / weight[candidates].sum()
    assert np.ptp(expected) > 0.2

    draws = []
    for _ in range(1500):
        _, other = drawn_neighbours(method)[node]
        draws += other

    found = [draws.count(each) / 1500 for each in candidates]
    np.testing.assert_allclose(found, expected, atol=0.05)


def test_bemap_predicts_on_the_whole_graph():
    graph = small_graph()
    bemap, gat = make(BEMAP, graph), make("gat", graph)
    fit(bemap)

    gat.model.load_state_dict(bemap.model.state_dict())
    gat.model.eval()

    with torch.no_grad():
        torch.testing.assert_close(bemap.forward(), gat.embed())


def test_the_common_threshold_is_the_most_accurate_one():
    graph = small_graph(nodes=200, edges=400)
    plain = fit(make("gat", graph))
    method = make(COMMON, graph)

    result = fit(method)

    validation = method.task.validation
    labels = method.task.graph.labels[validation]
    for rule, kept in result.reported.items():
        logits, shifted = plain.reported[rule].output.numpy(), kept.output.numpy()
        accuracies = []
        for cut in [-99, *logits[validation]]:
            decisions = logits[validation] > cut
            accuracies.append((decisions == labels).mean())
        decisions = shifted[validation] > 0
        assert (decisions == labels).mean() == max(accuracies)
        assert np.ptp(logits - shifted) < 1e-5
