"""The matched placebo: as many inter-edges as nodes of that degree have, which ones is drawn."""

import further
import numpy as np
import pytest
import torch
from dense import LINK, NODE, make, small_graph, three_groups

from beyond.methods.matched import alone, cut, dose, kinds, matched
from fairgat.nn import CSRGraph

VARIANTS = further.method("fairgat_variants")


def edges(graph):
    """The edges of a graph with self-loops, and which of them are inter-edges."""
    csr = CSRGraph.from_edge_index(torch.from_numpy(graph.edge_index), graph.num_nodes)
    source, target = csr.edge_index.numpy()
    return source, target, graph.sensitive[source] != graph.sensitive[target]


@pytest.mark.parametrize("graph", [small_graph(), three_groups(edges=400)])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_dose_of_each_degree_stays(graph, seed):
    source, target, inter = edges(graph)
    drawn = matched(source, target, inter, seed)
    degree = np.bincount(target)
    for value in np.unique(degree):
        before, after = (
            np.bincount(target[kind], minlength=len(degree))[degree == value]
            for kind in (inter, drawn)
        )
        assert sorted(before) == sorted(after)
    assert not drawn[source == target].any()
    assert (drawn != inter).any()


def test_it_knows_nothing_but_how_many_inter_edges_each_node_has():
    """Other edges of the same rows are the inter-edges: the draw is the same."""
    source, target, inter = edges(small_graph())
    other = inter.copy()
    for node in range(target.max() + 1):
        row = np.flatnonzero((target == node) & (source != target))
        other[row] = inter[row][::-1]
    assert (other != inter).any()
    drawn, of_other = (matched(source, target, kind, 3) for kind in (inter, other))
    np.testing.assert_array_equal(drawn, of_other)


def test_every_neighbour_and_every_node_of_a_degree_is_as_likely():
    """A ring of four, in which one node has one inter-edge, with self-loops."""
    ring = np.arange(4)
    source = np.concatenate([ring, (ring + 1) % 4, ring])
    target = np.concatenate([(ring + 1) % 4, ring, ring])
    inter = np.zeros(12, bool)
    inter[2] = True
    draws = [matched(source, target, inter, seed) for seed in range(2000)]
    assert {draw.sum() for draw in draws} == {1}
    np.testing.assert_allclose(np.mean(draws, axis=0)[:8], 1 / 8, atol=0.03)


def test_a_graph_cut_by_the_true_kinds_is_the_one_of_fair_attention():
    for graph in (small_graph(), three_groups(edges=400)):
        task = make("fairgat", graph, LINK).task
        source, target = task.plain_csr.edge_index.numpy()
        inter = task.graph.sensitive[source] != task.graph.sensitive[target]
        found, expected = cut(task.plain_csr, inter), task.segmented_csr
        for name in ("rowptr", "segptr", "source", "permutation"):
            assert torch.equal(getattr(found, name), getattr(expected, name))
        assert found.segments == 2 and found.num_given == expected.num_given
        np.testing.assert_array_equal(kinds(found), inter)


@pytest.mark.parametrize("protocol", [NODE, LINK], ids=["nodes", "links"])
@pytest.mark.parametrize("settings", [{}, {"center": True}, {"steps": [1]}], ids=str)
def test_the_placebo_has_the_dose_of_fairgat(protocol, settings):
    """Which shuffled groups have not; all start from the same weights."""
    graph = small_graph(nodes=200, edges=500)
    true = make("fairgat", graph, protocol, **settings)
    placebo, again, shuffled = (
        make(VARIANTS, graph, protocol, groups=groups, **settings)
        for groups in ("matched", "matched", "shuffled")
    )
    share = true.model.conv1.alpha_chi
    assert placebo.model.conv1.alpha_chi == share
    torch.testing.assert_close(placebo.model.state_dict(), true.model.state_dict())
    assert dose(placebo.csr, share) == pytest.approx(dose(true.csr, share))
    assert dose(shuffled.csr, share) != pytest.approx(dose(true.csr, share))
    assert (kinds(placebo.csr) != kinds(true.csr)).any()
    assert torch.equal(placebo.forward(), again.forward())
    assert not torch.allclose(placebo.forward(), true.forward())


def test_the_dose_is_what_attention_moves():
    """By definition: half of the distance between two distributions over neighbours."""
    graph = small_graph()
    task = make("fairgat", graph, LINK).task
    csr, share = task.segmented_csr, 0.4
    fair, plain = (np.zeros((graph.num_nodes, graph.num_nodes)) for _ in range(2))
    source, target = csr.edge_index.numpy()
    inter = kinds(csr)
    for node in range(graph.num_nodes):
        row = target == node
        plain[node, source[row]] = 1 / row.sum()
        for kind, mass in ((~inter, 1 - share), (inter, share)):
            mine = row & kind
            given = mass if (row & ~kind).any() else 1
            fair[node, source[mine]] = given / max(mine.sum(), 1)
    moved = abs(fair - plain).sum(1) / 2
    has = [inter[target == node].any() for node in range(graph.num_nodes)]
    expected = {"with_inter_edge": np.mean(has), "moved": moved.mean()}
    assert dose(csr, share) == pytest.approx(expected)


def test_nodes_whose_degree_no_other_node_has():
    star = torch.tensor([[0, 1, 2, 1, 2, 3], [1, 2, 3, 0, 1, 2]])  # degrees 1, 2, 2, 1
    assert alone(CSRGraph.from_edge_index(star, 4)) == 0
    hub = torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])
    assert alone(CSRGraph.from_edge_index(hub, 4)) == 1
