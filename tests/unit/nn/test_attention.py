"""The operators against the reference in float64, and what PyTorch asks of operators."""

import numpy as np
import pytest
import torch
from graphs import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from operators import passes, scores_and_features

from fairgat.nn import CSRGraph, balanced_shares
from fairgat.nn.attention import reference_softmax, reference_sum, segment_softmax

DTYPES = torch.float32, torch.float64  # the operators, and the reference


@settings(max_examples=40, deadline=None)
@given(
    nodes=st.integers(6, 40),
    edges=st.integers(0, 200),
    heads=st.integers(1, 3),
    width=st.sampled_from([1, 7, 16, 33, 64, 128, 200]),
    shared=st.booleans(),
    of_edges=st.booleans(),
    groups=st.integers(1, 4),
    shares=st.booleans(),
    loops=st.booleans(),
    alpha_chi=st.sampled_from([0.0, 0.3, 1.0]),
    drop=st.booleans(),
    constant=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_operators_equal_the_reference(
    nodes,
    edges,
    heads,
    width,
    shared,
    of_edges,
    groups,
    shares,
    loops,
    alpha_chi,
    drop,
    constant,
    seed,
):
    """Values and gradients, isolated nodes, duplicated edges, dropped ones and constant features among them."""
    edge_index, sensitive = random_graph(nodes, edges, groups, seed)
    balanced = balanced_shares(sensitive, edge_index, 0.2, loops) if shares else None
    graph = CSRGraph.from_edge_index(edge_index, nodes, sensitive, loops, balanced)
    given = scores_and_features(graph, heads, width, shared, of_edges, seed)
    keep = (
        torch.rand(graph.num_edges, generator=torch.Generator().manual_seed(seed)) < 0.7
        if drop
        else None
    )
    for fused, exact in zip(
        *passes(graph, given, DTYPES, alpha_chi, keep, constant), strict=True
    ):
        size = float(exact.detach().abs().amax()) if exact.numel() else 0.0
        torch.testing.assert_close(
            fused.double(), exact, rtol=1e-4, atol=1e-5 * max(size, 1.0)
        )


def test_the_reference_is_the_equations():
    """A row with both kinds of neighbours, one with one kind, and one without any, by hand."""
    edge_index = torch.tensor([[0, 1, 2, 0], [1, 1, 1, 2]])
    graph = CSRGraph.from_edge_index(
        edge_index, 4, torch.tensor([1, 0, 0, 0]), add_self_loops=False
    )
    source, target = (
        torch.tensor([[0.5, -1.0, 2.0, 0.0]]).double(),
        torch.tensor([[0.0, -0.7, 1.0, 0.0]]).double(),
    )
    alpha = graph.original_order(
        reference_softmax(
            source, target, None, graph, graph.masses(0.3, torch.float64), None, 0.2
        )[0]
    )
    one, two = np.exp(0.2 * -1.7), np.exp(1.3)
    expected = [0.3, 0.7 * one / (one + two), 0.7 * two / (one + two), 1.0]
    torch.testing.assert_close(alpha, torch.tensor(expected, dtype=torch.float64))
    x = torch.tensor([[1.0], [10.0], [100.0], [1000.0]]).double()
    expected = torch.tensor(
        [0.0, 0.3 + 10 * alpha[1] + 100 * alpha[2], 1.0, 0.0]
    ).double()
    torch.testing.assert_close(
        reference_sum(alpha[graph.permutation][None], x, graph)[:, 0, 0], expected
    )


@pytest.mark.parametrize("drop", [False, True])
def test_opcheck(drop):
    edge_index, sensitive = random_graph(12, 40)
    graph = CSRGraph.from_edge_index(edge_index, 12, sensitive)
    keep = torch.rand(graph.num_edges) < 0.8 if drop else None
    tptr, _, tedge, _, tcuts = graph.transposed()
    by_source = tptr, tedge, tcuts
    source, target, edge, x = scores_and_features(graph, 2, 16, edges=drop)
    for each in (source, target, edge, x):
        None if each is None else each.requires_grad_()
    torch.library.opcheck(
        torch.ops.fairgat.segment_softmax.default,
        (
            source,
            target,
            edge,
            graph.rowptr,
            graph.segptr,
            graph.masses(0.3, torch.float32),
            graph.source,
            graph.cuts(),
            *by_source,
            keep,
            0.2,
        ),
    )
    alpha = segment_softmax(source, target, graph, 0.3, 0.2, keep, edge).detach()
    given = alpha.clone().requires_grad_(), x, graph.rowptr, graph.source, graph.cuts()
    torch.library.opcheck(
        torch.ops.fairgat.sum_of_neighbours.default, (*given, *graph.transposed())
    )
    plain = [None if each is None else each.detach() for each in (source, target, edge)]
    torch.library.opcheck(
        torch.ops.fairgat.segment_softmax_backward.default,
        (
            alpha,
            alpha,
            *plain,
            graph.rowptr,
            graph.segptr,
            graph.source,
            graph.cuts(),
            *by_source,
            0.2,
        ),
    )
    grad = torch.randn(12, 2, 16)
    torch.library.opcheck(
        torch.ops.fairgat.sum_of_neighbours_backward.default,
        (grad, alpha, x.detach(), *graph.transposed()),
    )


def test_scores_of_any_size_and_nan():
    """Scores too large for exp() alone; and NaN is not lost on the way."""
    edge_index, sensitive = random_graph(20, 60)
    graph = CSRGraph.from_edge_index(edge_index, 20, sensitive)
    source, target, *_ = scores_and_features(graph, 1, 16)
    big = [1e4 * each for each in (source, target)]
    expected = segment_softmax(*(each.double() for each in big), graph, 0.3)
    torch.testing.assert_close(
        segment_softmax(*big, graph, 0.3).double(), expected, rtol=1e-4, atol=1e-6
    )
    source[0, 3] = torch.nan
    found, exact = (
        segment_softmax(source.to(d), target.to(d), graph).isnan()
        for d in (torch.float, torch.double)
    )
    assert torch.equal(found, exact) and found.any() and not found.all()


def test_the_exponential():
    """Through softmax rows of two edges, whose shares are exp(-d) / (1 + exp(-d))."""
    d = torch.linspace(0, 86, 4001)
    n = len(d)
    edge_index = torch.stack(
        [torch.arange(2 * n), torch.arange(n).repeat_interleave(2) + 2 * n]
    )
    graph = CSRGraph.from_edge_index(edge_index, 3 * n, add_self_loops=False)
    source = torch.zeros(1, 3 * n)
    source[0, 1 : 2 * n : 2] = -d
    alpha = segment_softmax(source, torch.zeros(1, 3 * n), graph, slope=1.0)[0].view(
        -1, 2
    )
    torch.testing.assert_close(
        alpha[:, 1].double(), torch.sigmoid(-d.double()), rtol=1e-6, atol=0
    )


def test_the_same_bits_whatever_the_number_of_threads(threads):
    """Rows are summed up by one thread each."""
    edge_index, sensitive = random_graph(3000, 40_000)
    graph, results = CSRGraph.from_edge_index(edge_index, 3000, sensitive), []
    for count in (1, 2, 2, 3):
        threads(count)
        results += passes(graph, scores_and_features(graph, 2, 48), [torch.float32])
        assert torch.get_num_threads() == count
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))
