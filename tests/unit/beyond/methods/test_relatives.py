"""A-FAME, BeMap and the common threshold, against their definitions."""

from dataclasses import replace

import further
import numpy as np
import pytest
import torch
from dense import NODE, assert_same_pass, make, neighbours, small_graph
from torch.nn.functional import leaky_relu

from fairgat.training.loop import fit

A_FAME = further.method("a_fame")
BEMAP = further.method("bemap")
COMMON = further.method("common_threshold")


@pytest.mark.parametrize("slope", [1.0, 0.2])
@pytest.mark.parametrize("softmax", ["targets", "sources"])
def test_the_pass_of_a_fame_and_its_gradient(double, softmax, slope):
    method = make(A_FAME, small_graph(), softmax=softmax, negative_slope=slope)
    model, task = method.model, method.task
    matrix, s = neighbours(method), task.sensitive.double()

    def dense(conv, x):
        c = x @ conv.lin.weight.t()
        e = (
            (c @ conv.att_dst[0, 0])[:, None]
            + (c @ conv.att_src[0, 0])[None]
            + conv.b * (s[:, None] - s[None])
        )
        e = leaky_relu(e, slope).masked_fill(~matrix, -torch.inf)
        return e.softmax(1 if softmax == "targets" else 0) @ c + conv.bias

    logits = (
        dense(model.conv2, dense(model.conv1, task.features).relu()).relu()
        @ model.linear.weight[0]
        + model.bias
    )
    assert_same_pass(method.forward(), logits, model.parameters())


def kept(method):
    """Drawn edges as the sets of each node's own and other neighbours."""
    task, keep = method.task, method.drawn().numpy()
    source, target = (
        ends.numpy() for ends in (task.plain_csr.source, task.plain_csr.target)
    )
    s = task.graph.sensitive
    assert keep[source == target].all()
    sets = [(set(), set()) for _ in s]
    for j, i in zip(source[keep], target[keep], strict=True):
        if i != j:
            sets[i][int(s[i] != s[j])].add(int(j))
    return sets


def test_bemaps_neighbourhoods_are_balanced():
    graph = small_graph(nodes=60, edges=500)
    sensitive = graph.sensitive.copy()
    sensitive[graph.edge_index[0][graph.edge_index[1] == 0]] = sensitive[
        0
    ]  # node 0 has its own group alone
    method = make(BEMAP, replace(graph, sensitive=sensitive), beta=0.5, at_least=2)
    task, s = method.task, method.task.graph.sensitive
    source, target = task.graph.edge_index
    alone = 0
    for i, (own, other) in enumerate(kept(method)):
        neighbours = set(source[target == i].tolist())
        mine = {j for j in neighbours if s[j] == s[i]}
        assert own <= mine and other <= neighbours - mine
        rarer = min(len(mine), len(neighbours - mine))
        if neighbours == mine:
            alone += 1
            assert (
                len(own) == min(max(2, int((len(mine) + 3) * 0.5)), len(mine))
                and not other
            )
        else:
            assert (len(own), len(other)) == (max(rarer - 1, 0), rarer)
    assert alone


def test_bemap_draws_by_weight():
    """How often each neighbour is drawn first, against the weights by their definition."""
    method = make(BEMAP, small_graph(nodes=30, edges=90), beta=0.01, at_least=1)
    s, matrix = method.task.graph.sensitive, neighbours(method).double().numpy()
    weight = 1 / (1 + np.abs(matrix @ matrix @ (2.0 * s - 1)))
    sets = {
        i: [j for j in np.flatnonzero(matrix[i]) if s[j] != s[i]] for i in range(30)
    }
    drawn = kept(method)
    node = max(
        (i for i in sets if len(drawn[i][1]) == 1),
        key=lambda i: np.ptp(weight[sets[i]]),
    )
    candidates = sets[node]
    assert len(candidates) > 1
    draws = [kept(method)[node][1].pop() for _ in range(1500)]
    expected = weight[candidates] / weight[candidates].sum()
    found = np.array([draws.count(j) for j in candidates]) / len(draws)
    assert np.ptp(expected) > 0.2
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
    plain, method = fit(make("gat", graph)), make(COMMON, graph, NODE)
    result, task = fit(method), method.task
    validation = task.validation
    labels = task.graph.labels[validation]
    for rule, shifted in result.reported.items():
        logits = plain.reported[rule].output.numpy()
        assert np.ptp(logits - shifted.output.numpy()) < 1e-5
        every = [
            ((logits[validation] > cut) == labels).mean()
            for cut in [-99, *logits[validation]]
        ]
        assert ((shifted.output.numpy()[validation] > 0) == labels).mean() == max(every)
