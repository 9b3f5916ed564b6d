"""The attention operator against a dense computation, edge by edge."""

import pytest
import torch
from graphs import random_graph

from fairgat.nn import CSRGraph, attention

ALPHA_CHI, SLOPE = 0.3, 0.2


def dense(x, score_source, score_target, edge_index, sensitive, alpha_chi, keep=None, factor=None):
    """Row by row, as the equations say; edges in the caller's order."""
    source, target = edge_index
    heads, nodes = score_source.shape
    kept = torch.ones(len(source), dtype=torch.bool) if keep is None else keep
    inter = sensitive[source] != sensitive[target]
    alpha = torch.zeros(heads, len(source), dtype=x.dtype)
    for h in range(heads):
        e = torch.nn.functional.leaky_relu(score_source[h, source] + score_target[h, target], SLOPE)
        for node in range(nodes):
            row = (target == node) & kept
            segments = [(row & ~inter, 1 - alpha_chi), (row & inter, alpha_chi)]
            both = all(segment.any() for segment, _ in segments)
            for segment, mass in segments:
                if segment.any():
                    weights = (mass if both else 1.0) * torch.softmax(e[segment], 0)
                    alpha = alpha.index_put((torch.full((int(segment.sum()),), h), segment.nonzero()[:, 0]), weights)
    weight = alpha if factor is None else alpha * factor
    features = x.expand(-1, heads, -1)
    out = torch.stack([weight[h][:, None] * features[source, h] for h in range(heads)], 1)  # (E, H, C)
    return torch.zeros(nodes, heads, x.size(2), dtype=x.dtype).index_add(0, target, out), alpha


def inputs(heads, shared, dtype, nodes=30):
    generator = torch.Generator().manual_seed(1)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=dtype).requires_grad_()

    return normal(nodes, 1 if shared else heads, 6), normal(heads, nodes), normal(heads, nodes)


@pytest.mark.parametrize("fused", [True, False], ids=["numba", "pytorch"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("option", ["plain", "keep", "factor", "shared", "three_groups"])
@pytest.mark.parametrize("heads", [1, 2])
def test_outputs_and_gradients_equal_the_dense_form(monkeypatch, fused, dtype, option, heads):
    if not fused:
        monkeypatch.setattr(attention, "kernels", None)
    edge_index, sensitive = random_graph(groups=3 if option == "three_groups" else 2)
    graph = CSRGraph.from_edge_index(edge_index, 30, sensitive, add_self_loops=False)
    arguments = inputs(heads, option == "shared", dtype)
    generator = torch.Generator().manual_seed(2)
    keep = torch.rand(edge_index.size(1), generator=generator) < 0.4 if option == "keep" else None
    factor = torch.rand(heads, edge_index.size(1), generator=generator, dtype=dtype) if option == "factor" else None

    out, alpha = attention.attend(
        *arguments,
        graph,
        ALPHA_CHI,
        SLOPE,
        None if keep is None else graph.reorder_edges(keep),
        None if factor is None else graph.reorder_edges(factor.t()).t(),
    )
    alpha = graph.original_order(alpha.t()).t()
    expected, expected_alpha = dense(*arguments, edge_index, sensitive, ALPHA_CHI, keep, factor)
    weights = [torch.randn(t.shape, generator=generator, dtype=dtype) for t in (out, alpha)]
    gradients = torch.autograd.grad((out * weights[0]).sum() + (alpha * weights[1]).sum(), arguments)
    reference = torch.autograd.grad((expected * weights[0]).sum() + (expected_alpha * weights[1]).sum(), arguments)
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-10, "atol": 1e-12}
    for ours, theirs in zip([out, alpha, *gradients], [expected, expected_alpha, *reference], strict=True):
        torch.testing.assert_close(ours, theirs, **tolerance)


@pytest.mark.parametrize("needs_x", [True, False])
@pytest.mark.parametrize("option", ["plain", "keep", "factor", "shared"])
@pytest.mark.parametrize("width", [1, 31, 32, 128, 300])
def test_rows_and_features_of_any_length_equal_plain_pytorch(monkeypatch, width, option, needs_x):
    generator = torch.Generator().manual_seed(3)
    target = torch.arange(40).repeat_interleave(torch.arange(40))  # rows of 0 .. 39 edges
    edge_index = torch.stack([torch.randint(40, target.shape, generator=generator), target])
    graph = CSRGraph.from_edge_index(edge_index, 40, torch.arange(40) % 2, add_self_loops=False)
    x = torch.randn(40, 1 if option == "shared" else 2, width, generator=generator).requires_grad_(needs_x)
    scores = [torch.randn(2, 40, generator=generator).requires_grad_() for _ in range(2)]
    keep = torch.rand(graph.num_edges, generator=generator) < 0.7 if option == "keep" else None
    factor = torch.rand(2, graph.num_edges, generator=generator) if option == "factor" else None
    weight = torch.randn(40, 2, width, generator=generator)

    def results():
        out, alpha = attention.attend(x, *scores, graph, ALPHA_CHI, SLOPE, keep, factor)
        loss = (out * weight).sum() + alpha.square().sum()
        return [out, alpha, *torch.autograd.grad(loss, [x, *scores] if needs_x else scores)]

    ours = results()
    monkeypatch.setattr(attention, "kernels", None)
    for fused, plain in zip(ours, results(), strict=True):
        torch.testing.assert_close(fused, plain, rtol=1e-4, atol=1e-4)


def test_attention_of_a_segment_sums_to_its_mass():
    edge_index, sensitive = random_graph()
    graph = CSRGraph.from_edge_index(edge_index, 30, sensitive)
    _, alpha = attention.attend(*inputs(2, False, torch.float64), graph, ALPHA_CHI)
    source, target = graph.edge_index
    inter = sensitive[source] != sensitive[target]
    alpha = graph.original_order(alpha.t())
    for node in range(30):
        here = target == node
        expected = ALPHA_CHI if (here & inter).any() else 0.0  # the self-loop makes an intra-segment everywhere
        torch.testing.assert_close(alpha[here & inter].sum(0), torch.full((2,), expected, dtype=torch.float64))
        torch.testing.assert_close(alpha[here & ~inter].sum(0), torch.full((2,), 1 - expected, dtype=torch.float64))


def test_a_row_with_one_kind_of_edges_gives_them_everything():
    edge_index = torch.tensor([[1, 2, 1], [0, 0, 2]])
    graph = CSRGraph.from_edge_index(edge_index, 3, torch.tensor([0, 1, 1]), add_self_loops=False)
    _, alpha = attention.attend(*inputs(1, False, torch.float64, nodes=3), graph, ALPHA_CHI)
    torch.testing.assert_close(graph.original_order(alpha[0])[:2].sum().item(), 1.0)  # inter-edges alone
    torch.testing.assert_close(graph.original_order(alpha[0])[2].item(), 1.0)  # an intra-edge alone


@pytest.mark.parametrize("masked", [False, True])
def test_opcheck(masked):
    edge_index, sensitive = random_graph()
    graph = CSRGraph.from_edge_index(edge_index, 30, sensitive)
    keep = torch.rand(graph.num_edges, generator=torch.Generator().manual_seed(0)) < 0.5 if masked else None
    factor = torch.rand(2, graph.num_edges) if masked else None
    pointers = graph.tensors
    arguments = (*inputs(2, False, torch.float32), *pointers, keep, factor, ALPHA_CHI, SLOPE)
    torch.library.opcheck(attention.segment_attention.registered, arguments)


@pytest.mark.parametrize("shared", [False, True])
def test_gradcheck(shared):
    edge_index, sensitive = random_graph(8, 20)
    graph = CSRGraph.from_edge_index(edge_index, 8, sensitive)
    arguments = inputs(2, shared, torch.float64, nodes=8)
    assert torch.autograd.gradcheck(lambda *a: attention.attend(*a, graph, ALPHA_CHI), arguments)


def test_exponential_is_exact_to_float32():
    numba = pytest.importorskip("numba")
    from fairgat.nn.exponential import exp
    from fairgat.nn.simd import first, load, store

    @numba.njit
    def apply(values, results):
        for i in range(0, values.size, 16):
            mask = first(values.size - i, 16)
            store(results, i, exp(load(values, i, mask)), mask)

    values = torch.linspace(-87, 5, 100_001)
    results = torch.empty_like(values)
    apply(values.numpy(), results.numpy())
    torch.testing.assert_close(results, values.exp(), rtol=3e-7, atol=0)


def test_large_scores_neither_overflow_nor_vanish():
    graph = CSRGraph.from_edge_index(torch.tensor([[0, 1], [1, 1]]), 2, add_self_loops=False)
    x = torch.tensor([[[1.0]], [[2.0]]])
    for shift in (-1e4, 1e4):
        out, alpha = attention.attend(x, torch.tensor([[shift, shift]]), torch.zeros(1, 2), graph)
        torch.testing.assert_close(alpha, torch.full((1, 2), 0.5))
        torch.testing.assert_close(out[1].item(), 1.5)


def test_nan_is_not_hidden():
    graph = CSRGraph.from_edge_index(torch.tensor([[0, 1], [1, 1]]), 2, add_self_loops=False)
    out, _ = attention.attend(torch.ones(2, 1, 3), torch.tensor([[float("nan"), 0.0]]), torch.zeros(1, 2), graph)
    assert out[1].isnan().all()


@pytest.mark.parametrize("alpha_chi", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("nodes", [63, 64, 65, 129])
def test_blocks_of_rows(monkeypatch, nodes, alpha_chi):
    """Around 64 rows: some without edges, some of one group, and all edges of a block dropped."""
    edge_index, sensitive = random_graph(nodes, 20 * nodes)
    edge_index = edge_index[:, ~torch.isin(edge_index[1], torch.tensor([62, 63, 64]))]
    sensitive[:20] = 0
    graph = CSRGraph.from_edge_index(edge_index, nodes, sensitive, add_self_loops=False)
    keep = torch.rand(graph.num_edges, generator=torch.Generator().manual_seed(3)) < 0.7
    keep[: int(graph.rowptr[40])] = False
    found = []
    for fused in (True, False):
        if not fused:
            monkeypatch.setattr(attention, "kernels", None)
        arguments = inputs(2, False, torch.float64, nodes)
        out, alpha = attention.attend(*arguments, graph, alpha_chi, SLOPE, keep)
        weights = torch.linspace(0.0, 1.0, out.numel(), dtype=out.dtype).view_as(out)
        gradients = torch.autograd.grad((out * weights).sum() + alpha.square().sum(), arguments)
        found.append((out, alpha, *gradients))
    torch.testing.assert_close(*found)
