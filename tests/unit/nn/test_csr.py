"""The CSR form: sorting, the transposed graph, what is kept, and the order of the nodes."""

import gc

import numpy as np
import pytest
import torch
from graphs import random_graph, with_self_loops

from fairgat.nn import CSRGraph, GATConv, bandwidth_order
from fairgat.nn import graphs as module


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("groups", [None, 1, 2, 4])
def test_edges_by_target_intra_edges_first(self_loops, groups):
    nodes = 30
    edge_index, sensitive = random_graph(nodes, groups=groups or 1)
    graph = CSRGraph.from_edge_index(
        edge_index, nodes, sensitive if groups else None, self_loops
    )
    expected = with_self_loops(edge_index, nodes) if self_loops else edge_index
    assert torch.equal(graph.edge_index, expected)
    assert graph.num_edges == expected.size(1) and graph.segmented == (
        groups is not None
    )
    assert torch.equal(
        graph.reorder_edges(expected.t()).t(),
        torch.stack([graph.source.long(), graph.target]),
    )
    for i in range(nodes):
        lo, hi = graph.rowptr[i], graph.rowptr[i + 1]
        mid = graph.segptr[2 * i + 1] if groups else hi
        assert hi - lo == (expected[1] == i).sum()
        assert (sensitive[graph.source[lo:mid].long()] == sensitive[i]).all()
        assert (sensitive[graph.source[mid:hi].long()] != sensitive[i]).all()


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
)
def test_what_does_not_fit_is_refused(edge_index, sensitive, message):
    with pytest.raises(ValueError, match=message):
        CSRGraph.from_edge_index(edge_index, 3, sensitive)


def test_a_graph_is_kept_for_as_long_as_its_tensor():
    gc.collect()
    before = len(module._graphs)
    edge_index, _ = random_graph()
    layer = GATConv(5, 8)
    layer(torch.randn(30, 5), edge_index)
    assert len(module._graphs) == before + 1
    del edge_index
    gc.collect()
    assert len(module._graphs) == before


def test_time_is_linear_in_the_edges_and_hubs_are_no_exception():
    """A star of a million edges, sorted by counting."""
    hub = torch.stack(
        [torch.arange(1_000_000), torch.zeros(1_000_000, dtype=torch.long)]
    )
    graph = CSRGraph.from_edge_index(torch.cat([hub, hub.flip(0)], 1), 1_000_000)
    assert graph.num_edges == 2 * 999_999 + 1_000_000
    assert graph.rowptr[1] == 1_000_000


def test_neighbours_get_near_numbers_and_hubs_come_last():
    nodes, hub = 400, 17
    line = np.random.default_rng(0).permutation(np.delete(np.arange(nodes), hub))
    spokes = np.stack([np.full(nodes - 1, hub), line])
    edges = np.concatenate([np.stack([line[:-1], line[1:]]), spokes], axis=1)
    order = bandwidth_order(np.concatenate([edges, edges[::-1]], axis=1), nodes)
    assert order.dtype == np.int64 and sorted(order) == list(range(nodes))
    assert order[-1] == hub
    rank = np.argsort(order)
    assert (np.abs(rank[line[:-1]] - rank[line[1:]]) == 1).all()
    assert sorted(bandwidth_order(np.zeros((2, 0), dtype=np.int64), 3)) == [0, 1, 2]
