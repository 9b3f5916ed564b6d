"""The matched placebo: as many inter-edges as nodes of that degree have, drawn."""

import further
import numpy as np
import pytest
import torch
from dense import LINK, NODE, make, small_graph, three_groups

from beyond.methods.matched import alone, cut, dose, kinds, matched
from fairgat.nn import CSRGraph

VARIANTS = further.method("fairgat_variants")
GRAPHS = pytest.mark.parametrize(
    "graph", [small_graph(), three_groups(edges=400)], ids=["two", "three"]
)


def edges_of(graph):
    """The edges of a graph with self-loops, and which of them are inter-edges."""
    csr = CSRGraph.from_edge_index(torch.from_numpy(graph.edge_index), graph.num_nodes)
    source, target = csr.edge_index.numpy()
    return source, target, graph.sensitive[source] != graph.sensitive[target]


@GRAPHS
@pytest.mark.parametrize("seed", [0, 1])
def test_nodes_of_a_degree_have_the_same_numbers_of_inter_edges(graph, seed):
    source, target, inter = edges_of(graph)

    drawn = matched(source, target, inter, seed)

    degree = np.bincount(target)
    before = np.bincount(target[inter], minlength=len(degree))
    after = np.bincount(target[drawn], minlength=len(degree))
    for value in np.unique(degree):
        alike = degree == value
        assert sorted(before[alike]) == sorted(after[alike])
    assert (drawn != inter).any()


@GRAPHS
def test_a_self_loop_is_never_drawn(graph):
    source, target, inter = edges_of(graph)

    drawn = matched(source, target, inter, 0)

    assert not drawn[source == target].any()


def test_it_knows_nothing_but_how_many_inter_edges_each_node_has():
    """Other edges of the same rows are the inter-edges: the draw is the same."""
    source, target, inter = edges_of(small_graph())
    other = inter.copy()
    for node in range(target.max() + 1):
        row = np.flatnonzero((target == node) & (source != target))
        other[row] = inter[row][::-1]
    assert (other != inter).any()

    drawn = matched(source, target, inter, 3)

    np.testing.assert_array_equal(drawn, matched(source, target, other, 3))


def test_every_neighbour_and_every_node_of_a_degree_is_as_likely():
    """A ring of four, in which one node has one inter-edge, with self-loops."""
    ring = np.arange(4)
    following = (ring + 1) % 4
    source = np.concatenate([ring, following, ring])
    target = np.concatenate([following, ring, ring])
    inter = np.arange(12) == 2

    draws = np.array([matched(source, target, inter, seed) for seed in range(2000)])

    assert (draws.sum(axis=1) == 1).all()
    np.testing.assert_allclose(draws.mean(axis=0)[:8], 1 / 8, atol=0.03)


@GRAPHS
def test_a_graph_cut_by_the_true_kinds_is_the_one_of_fair_attention(graph):
    task = make("fairgat", graph, LINK).task
    source, target = task.plain_csr.edge_index.numpy()
    inter = task.graph.sensitive[source] != task.graph.sensitive[target]

    found = cut(task.plain_csr, inter)

    expected = task.segmented_csr
    for name in ("rowptr", "segptr", "source", "permutation"):
        assert torch.equal(getattr(found, name), getattr(expected, name))
    assert found.segments == 2
    assert found.num_given == expected.num_given
    np.testing.assert_array_equal(kinds(found), inter)


OPTIONS = pytest.mark.parametrize(
    "settings", [{}, {"center": True}, {"steps": [1]}], ids=str
)
TASKS = pytest.mark.parametrize("protocol", [NODE, LINK], ids=["nodes", "links"])


@TASKS
@OPTIONS
def test_the_placebo_has_the_dose_and_the_weights_of_fairgat(protocol, settings):
    graph = small_graph(nodes=200, edges=500)
    true = make("fairgat", graph, protocol, **settings)

    placebo = make(VARIANTS, graph, protocol, groups="matched", **settings)

    share = true.model.conv1.alpha_chi
    assert placebo.model.conv1.alpha_chi == share
    assert dose(placebo.csr, share) == pytest.approx(dose(true.csr, share))
    torch.testing.assert_close(placebo.model.state_dict(), true.model.state_dict())


@TASKS
@OPTIONS
def test_shuffled_groups_have_another_dose(protocol, settings):
    graph = small_graph(nodes=200, edges=500)
    true = make("fairgat", graph, protocol, **settings)

    shuffled = make(VARIANTS, graph, protocol, groups="shuffled", **settings)

    share = true.model.conv1.alpha_chi
    assert dose(shuffled.csr, share) != pytest.approx(dose(true.csr, share))


@TASKS
@OPTIONS
def test_the_placebo_has_other_inter_edges_the_same_in_each_run(protocol, settings):
    graph = small_graph(nodes=200, edges=500)
    true = make("fairgat", graph, protocol, **settings)

    placebo = make(VARIANTS, graph, protocol, groups="matched", **settings)
    again = make(VARIANTS, graph, protocol, groups="matched", **settings)

    assert (kinds(placebo.csr) != kinds(true.csr)).any()
    assert not torch.allclose(placebo.forward(), true.forward())
    assert torch.equal(placebo.forward(), again.forward())


def test_the_dose_is_what_attention_moves():
    """By definition: half of the distance between two distributions over neighbours."""
    graph = small_graph()
    csr, share = make("fairgat", graph, LINK).task.segmented_csr, 0.4
    _, target = csr.edge_index.numpy()
    inter = kinds(csr)

    found = dose(csr, share)

    moved, with_inter_edge = [], []
    for node in range(graph.num_nodes):
        of_row = inter[target == node]
        count, degree = of_row.sum(), len(of_row)
        fair = np.full(degree, 1 / degree)
        if 0 < count < degree:
            fair[of_row] = share / count
            fair[~of_row] = (1 - share) / (degree - count)
        moved.append(abs(fair - 1 / degree).sum() / 2)
        with_inter_edge.append(count > 0)
    expected = {"moved": np.mean(moved), "with_inter_edge": np.mean(with_inter_edge)}
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("edges", "count"),
    [
        pytest.param([(0, 1), (1, 2), (2, 3)], 0, id="a path, with degrees 1, 2, 2, 1"),
        pytest.param([(0, 1), (0, 2), (0, 3)], 1, id="a star, with degrees 3, 1, 1, 1"),
    ],
)
def test_nodes_whose_degree_no_other_node_has_are_counted(edges, count):
    one_way = torch.tensor(edges).t()
    both_ways = torch.cat([one_way, one_way.flip(0)], dim=1)

    assert alone(CSRGraph.from_edge_index(both_ways, 4)) == count
