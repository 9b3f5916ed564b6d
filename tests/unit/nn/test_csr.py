"""The CSR form: sorting, the transposed graph, what is kept, the order of the nodes."""

import gc

import numpy as np
import pytest
import torch
from graphs import random_graph, with_self_loops

from fairgat.nn import CSRGraph, GATConv, bandwidth_order
from fairgat.nn import graphs as module

N = 30


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("groups", [None, 1, 2, 4])
def test_edges_come_by_target_intra_edges_first(self_loops, groups):
    edge_index, sensitive = random_graph(N, groups=groups or 1)
    given = sensitive if groups else None

    graph = CSRGraph.from_edge_index(edge_index, N, given, self_loops)

    expected = with_self_loops(edge_index, N) if self_loops else edge_index
    assert torch.equal(graph.edge_index, expected)
    assert graph.num_edges == expected.size(1)
    assert graph.segmented == (groups is not None)
    for node in range(N):
        start, end = graph.rowptr[node], graph.rowptr[node + 1]
        middle = graph.segptr[2 * node + 1] if groups else end
        own, others = graph.source[start:middle], graph.source[middle:end]
        assert end - start == (expected[1] == node).sum()
        assert (sensitive[own.long()] == sensitive[node]).all()
        assert (sensitive[others.long()] != sensitive[node]).all()


@pytest.mark.parametrize("self_loops", [True, False])
def test_what_edges_have_is_sorted_as_they_are(self_loops, edge_index, sensitive):
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive, self_loops)

    source, target = graph.reorder_edges(graph.edge_index.t()).t()

    assert torch.equal(source, graph.source.long())
    assert torch.equal(target, graph.target)


@pytest.mark.filterwarnings("error")
def test_edges_may_be_an_array_that_is_read_only_or_reversed(edge_index):
    array = edge_index.numpy().copy()
    array.flags.writeable = False
    for given, expected in ((array, edge_index), (array[::-1], edge_index.flip(0))):
        graph = CSRGraph.from_edge_index(given, N, add_self_loops=False)
        assert torch.equal(graph.edge_index, expected)


@pytest.mark.parametrize(
    ("edge_index", "sensitive", "message"),
    [
        (torch.zeros(2, 1).long(), torch.zeros(4).int(), r"shape \(3,\)"),
        (torch.zeros(3, 4).long(), None, r"shape \(2, E\)"),
        (torch.zeros(2, 4), None, "integers"),
        (torch.ones(2, 3, dtype=torch.bool), None, "integers"),
        (torch.tensor([[0], [3]]), None, r"outside 0 .. 2"),
        (torch.tensor([[-1], [0]]), None, r"outside 0 .. 2"),
        ([[0], [1]], None, r"must be a tensor, \(2, E\) or sparse, got list"),
        (torch.sparse_coo_tensor(size=(3, 3, 2)), None, "sparse"),
        (torch.eye(2).to_sparse(), None, r"shape \(3, 3\), got \(2, 2\)"),
    ],
    ids=[
        "a group too many",
        "three ends",
        "floats",
        "bools",
        "nobody",
        "a node below 0",
        "a list",
        "three dimensions",
        "another size",
    ],
)
def test_what_does_not_fit_is_refused(edge_index, sensitive, message):
    with pytest.raises(ValueError, match=message):
        CSRGraph.from_edge_index(edge_index, 3, sensitive)


def test_a_graph_is_kept_for_as_long_as_its_tensor():
    gc.collect()
    before = len(module._graphs)
    edge_index, _ = random_graph()
    layer = GATConv(5, 8)
    layer(torch.randn(N, 5), edge_index)
    assert len(module._graphs) == before + 1

    del edge_index
    gc.collect()
    assert len(module._graphs) == before


def test_hubs_take_no_more_time_than_other_nodes():
    """A star of a million edges, sorted by counting: else this takes minutes."""
    nodes = 1_000_000
    star = torch.stack([torch.arange(nodes), torch.zeros(nodes).long()])
    both_ways = torch.cat([star, star.flip(0)], 1)

    graph = CSRGraph.from_edge_index(both_ways, nodes)

    assert graph.num_edges == 2 * (nodes - 1) + nodes
    assert graph.rowptr[1] == nodes


def test_neighbours_get_near_numbers_and_hubs_come_last():
    """On a line whose nodes are shuffled, and all of them joined to a hub."""
    nodes, hub = 400, 17
    others = np.delete(np.arange(nodes), hub)
    line = np.random.default_rng(0).permutation(others)
    along = np.stack([line[:-1], line[1:]])
    spokes = np.stack([np.full(nodes - 1, hub), line])
    edges = np.hstack([along, spokes])

    order = bandwidth_order(np.hstack([edges, edges[::-1]]), nodes)

    assert order.dtype == np.int64
    assert sorted(order) == list(range(nodes))
    assert order[-1] == hub
    place = np.argsort(order)
    steps = place[line[:-1]] - place[line[1:]]
    assert set(np.abs(steps)) == {1}


def test_nodes_without_edges_have_an_order():
    order = bandwidth_order(np.zeros((2, 0), dtype=np.int64), 3)
    assert sorted(order) == [0, 1, 2]
