"""Attention over features that need no gradient, against attention that would give them one."""

import pytest
import torch
from graphs import random_graph

from fairgat.nn import CSRGraph, attention, scaling
from fairgat.nn import constant_attention as module
from fairgat.nn.attention import attend
from fairgat.nn.constant_attention import attend_features, constant_attention, constant_attention_backward

N = 30


def inputs(heads, width, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(N, width, generator=generator, dtype=dtype)
    weight = torch.randn(heads, 4, width, generator=generator, dtype=dtype).requires_grad_()
    att = torch.randn(2, heads, 4, generator=generator, dtype=dtype).requires_grad_()
    edge_index, sensitive = random_graph()
    return x, weight, att, CSRGraph.from_edge_index(edge_index, N, sensitive, add_self_loops=False)


@pytest.mark.parametrize("fused", [True, False], ids=["numba", "pytorch"])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("width", [1, 5, 17, 40, 150])
@pytest.mark.parametrize("masked", [True, False])
def test_equals_attention_and_its_gradient(monkeypatch, threads, fused, count, heads, width, masked):
    """Node 0 has no edges, some nodes have neighbours of one group alone."""
    if not fused:
        monkeypatch.setattr(scaling, "columns", None)
        monkeypatch.setattr(attention, "kernels", None)
        monkeypatch.setattr(module, "kernels", None)
    threads(count)
    x, weight, att, graph = inputs(heads, width)
    keep = factor = None
    if masked:
        keep = torch.rand(graph.num_edges) < 0.7
        factor = 2.0 * (torch.rand(heads, graph.num_edges) < 0.5).double()
    scores = torch.einsum("nf,hcf,khc->khn", x, weight, att)
    expected = attend(x[:, None, :], *scores, graph, 0.3, 0.2, keep, factor)
    found = attend_features(x, weight, att, graph, 0.3, 0.2, keep, factor)
    torch.testing.assert_close(found, expected)
    for parts in ((0, 1), (0,), (1,)):  # alpha may be used further on, and alone
        weights = [torch.randn_like(expected[k]) for k in parts]
        mine, theirs = (
            torch.autograd.grad(
                sum((w * out[k]).sum() for w, k in zip(weights, parts, strict=True)), (weight, att), retain_graph=True
            )
            for out in (found, expected)
        )
        torch.testing.assert_close(mine, theirs, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("count", [1, 2])
def test_what_does_not_fit_is_pytorchs_error(threads, count):
    """The kernels check no bounds."""
    threads(count)
    x, weight, att, graph = inputs(1, 17)
    for wrong in (weight[..., :10], torch.cat([weight, weight], -1), weight.float()):
        with pytest.raises((RuntimeError, ValueError)):
            attend_features(x, wrong, att, graph)
    for wrong in (att[..., :3], att.float()):
        with pytest.raises((RuntimeError, ValueError)):
            attend_features(x, weight, wrong, graph)


def test_features_that_need_a_gradient_get_it(threads):
    threads(2)
    x, weight, att, graph = inputs(2, 5)
    x.requires_grad_()
    assert torch.autograd.gradcheck(lambda x, w, a: attend_features(x, w, a, graph, 0.3), (x, weight, att))


def test_no_number_depends_on_how_rows_are_divided(threads):
    edge_index, sensitive = random_graph(3000, 60000)
    graph, x = CSRGraph.from_edge_index(edge_index, 3000, sensitive), torch.randn(3000, 17)
    weight, att = torch.randn(1, 8, 17).requires_grad_(), torch.randn(2, 1, 8).requires_grad_()
    found = []
    for count in (1, 2, 5):
        threads(count)
        out, _ = attend_features(x, weight, att, graph, 0.3)
        grads = torch.autograd.grad(out.square().sum(), (weight, att))
        found.append(b"".join(each.numpy().tobytes() for each in grads))
    assert len(set(found)) == 1


def test_no_edges_and_no_nodes(threads):
    threads(2)
    for nodes in (3, 0):
        graph = CSRGraph.from_edge_index(torch.zeros(2, 0, dtype=torch.long), nodes, add_self_loops=False)
        weight, att = torch.randn(1, 4, 5).requires_grad_(), torch.randn(2, 1, 4)
        out, alpha = attend_features(torch.randn(nodes, 5), weight, att, graph)
        assert out.shape == (nodes, 1, 5) and alpha.shape == (1, 0)
        assert not torch.autograd.grad(out.sum(), weight)[0].any()


def test_gradients_and_registrations(threads):
    threads(2)
    x, weight, att, graph = inputs(2, 5)
    rest = *graph.tensors, None, None, 0.3, 0.2
    assert torch.autograd.gradcheck(lambda w, a: constant_attention(x, w, a, *rest)[:2], (weight, att))
    torch.library.opcheck(constant_attention.registered, (x, weight, att, *rest))
    out, alpha, scores = (each.detach() for each in constant_attention(x, weight, att, *rest))
    torch.library.opcheck(
        constant_attention_backward.registered,
        (torch.ones_like(out), torch.ones_like(alpha), alpha, scores, x, weight.detach(), att.detach(), *rest),
    )
