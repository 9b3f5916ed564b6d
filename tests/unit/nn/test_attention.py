"""The operators against the reference in float64, and what PyTorch asks of them."""

import math

import pytest
import torch
from graphs import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from operators import passes, scores_and_features

from fairgat.nn import CSRGraph, attention, balanced_shares
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
    """Values and gradients, with isolated nodes, duplicated and dropped edges."""
    edge_index, sensitive = random_graph(nodes, edges, groups, seed)
    balanced = balanced_shares(sensitive, edge_index, 0.2, loops) if shares else None
    graph = CSRGraph.from_edge_index(edge_index, nodes, sensitive, loops, balanced)
    given = scores_and_features(graph, heads, width, shared, of_edges, seed)
    keep = None
    if drop:
        generator = torch.Generator().manual_seed(seed)
        keep = torch.rand(graph.num_edges, generator=generator) < 0.7

    found, exact = passes(graph, given, DTYPES, alpha_chi, keep, constant)

    for own, reference in zip(found, exact, strict=True):
        size = 1.0
        if reference.numel():
            size = max(size, float(reference.detach().abs().amax()))
        torch.testing.assert_close(own.double(), reference, rtol=1e-4, atol=1e-5 * size)


def test_the_reference_is_the_equations():
    """By hand: nodes with both kinds of neighbours, with one kind, and without any."""
    edge_index = torch.tensor([[0, 1, 2, 0], [1, 1, 1, 2]])
    groups = torch.tensor([1, 0, 0, 0])
    graph = CSRGraph.from_edge_index(edge_index, 4, groups, add_self_loops=False)
    source = torch.tensor([[0.5, -1.0, 2.0, 0.0]]).double()
    target = torch.tensor([[0.0, -0.7, 1.0, 0.0]]).double()
    x = torch.tensor([[1.0], [10.0], [100.0], [1000.0]]).double()

    masses = graph.masses(0.3, torch.float64)
    alpha = reference_softmax(source, target, None, graph, masses, None, 0.2)
    z = reference_sum(alpha, x, graph)

    one, two = math.exp(0.2 * -1.7), math.exp(1.3)  # slope 0.2 below 0
    of_one, of_two = 0.7 * one / (one + two), 0.7 * two / (one + two)
    found = graph.original_order(alpha[0]).tolist()
    assert found == pytest.approx([0.3, of_one, of_two, 1.0])
    sums = [0.0, 0.3 + 10 * of_one + 100 * of_two, 1.0, 0.0]
    assert z.flatten().tolist() == pytest.approx(sums)


@pytest.mark.parametrize("drop", [False, True])
def test_opcheck(drop):
    edge_index, sensitive = random_graph(12, 40)
    graph = CSRGraph.from_edge_index(edge_index, 12, sensitive)
    keep = torch.rand(graph.num_edges) < 0.8 if drop else None
    ops, check = torch.ops.fairgat, torch.library.opcheck
    scores = scores_and_features(graph, 2, 16, edges=drop)
    for each in scores:
        if each is not None:
            each.requires_grad_()
    source, target, edge, x = scores
    tptr, _, tedge, _, tcuts = graph.transposed()
    by_source = tptr, tedge, tcuts
    rows = graph.rowptr, graph.segptr
    ends = graph.source, graph.cuts()

    masses = graph.masses(0.3, torch.float32)
    given = (*scores[:3], *rows, masses, *ends, *by_source, keep, 0.2)
    check(ops.segment_softmax.default, given)

    alpha = segment_softmax(source, target, graph, 0.3, 0.2, keep, edge).detach()
    given = (alpha.clone().requires_grad_(), x, graph.rowptr, *ends)
    check(ops.sum_of_neighbours.default, (*given, *graph.transposed()))

    plain = [None if each is None else each.detach() for each in scores[:3]]
    given = (alpha, alpha, *plain, *rows, *ends, *by_source, 0.2)
    check(ops.segment_softmax_backward.default, given)

    given = (torch.randn(12, 2, 16), alpha, x.detach(), *graph.transposed())
    check(ops.sum_of_neighbours_backward.default, given)


@pytest.fixture
def small():
    """A graph of 20 nodes, and scores of its sources and targets."""
    edge_index, sensitive = random_graph(20, 60)
    graph = CSRGraph.from_edge_index(edge_index, 20, sensitive)
    source, target, *_ = scores_and_features(graph, 1, 16)
    return graph, source, target


def test_scores_may_be_too_large_for_exp_alone(small):
    graph, source, target = small
    source, target = 1e4 * source, 1e4 * target

    found = segment_softmax(source, target, graph, 0.3)

    exact = segment_softmax(source.double(), target.double(), graph, 0.3)
    torch.testing.assert_close(found.double(), exact, rtol=1e-4, atol=1e-6)


def test_nan_is_not_lost(small):
    graph, source, target = small
    source[0, 3] = torch.nan

    found = segment_softmax(source, target, graph).isnan()

    exact = segment_softmax(source.double(), target.double(), graph).isnan()
    assert torch.equal(found, exact)
    assert found.any()
    assert not found.all()


def test_the_exponential():
    """Through rows of two edges, whose shares are exp(-d) / (1 + exp(-d))."""
    distances = torch.linspace(0, 86, 4001)
    count = len(distances)
    ends = torch.arange(2 * count)
    rows = torch.arange(count).repeat_interleave(2) + 2 * count
    edge_index = torch.stack([ends, rows])
    graph = CSRGraph.from_edge_index(edge_index, 3 * count, add_self_loops=False)
    source, target = torch.zeros(1, 3 * count), torch.zeros(1, 3 * count)
    source[0, 1 : 2 * count : 2] = -distances

    alpha = segment_softmax(source, target, graph, slope=1.0)

    second = alpha[0].view(-1, 2)[:, 1]
    expected = torch.sigmoid(-distances.double())
    torch.testing.assert_close(second.double(), expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize("fused", [True, False], ids=["operators", "reference"])
def test_the_same_bits_whatever_the_number_of_threads(monkeypatch, fused, threads):
    """Rows are summed up by one thread each."""
    if not fused:
        monkeypatch.setattr(attention, "fused", lambda *x: False)
    edge_index, sensitive = random_graph(3000, 40_000)
    graph = CSRGraph.from_edge_index(edge_index, 3000, sensitive)
    given = scores_and_features(graph, 2, 48)

    results = []
    for count in (1, 2, 2, 3):
        threads(count)
        results += passes(graph, given, [torch.float32])
        assert torch.get_num_threads() == count

    first, *others = results
    for other in others:
        for one, same in zip(first, other, strict=True):
            assert torch.equal(one, same)
