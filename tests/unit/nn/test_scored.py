"""Attention with its scores in one operator, against the two apart, differentiated by PyTorch."""

import pytest
import torch
from graphs import random_graph

from fairgat.nn import CSRGraph, attention, scaling
from fairgat.nn.attention import attend
from fairgat.nn.scored import attend_scored, scored_attention

N = 30


def inputs(heads, width=5):
    generator = torch.Generator().manual_seed(0)
    c, att = (
        torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()
        for shape in ((N, heads, width), (2, heads, width))
    )
    edge_index, sensitive = random_graph()
    return c, att, CSRGraph.from_edge_index(edge_index, N, sensitive)


@pytest.mark.parametrize("fused", [True, False], ids=["numba", "pytorch"])
@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("eta", [None, 0.75])
@pytest.mark.parametrize("needs", [(0, 1), (1,)], ids=["c and att", "att"])
def test_equals_the_two_apart(monkeypatch, fused, heads, eta, needs):
    if not fused:
        monkeypatch.setattr(scaling, "columns", None)
        monkeypatch.setattr(attention, "kernels", None)
    c, att, graph = inputs(heads)
    c.requires_grad_(0 in needs)
    scaled = c if eta is None else eta * c / (c.var(0, correction=0) + scaling.EPS).sqrt()
    scores = torch.einsum("nhc,khc->khn", scaled, att)
    out, alpha = attend(c, *scores, graph, 0.3)
    ours, our_alpha, gain = attend_scored(c, att, graph, 0.3, eta=eta)
    torch.testing.assert_close((ours, our_alpha), (out, alpha))
    assert (gain is None) == (eta is None)
    weights = [torch.randn(value.shape, dtype=torch.float64) for value in (out, alpha)]
    losses = [
        sum((w * v).sum() for w, v in zip(weights, pair, strict=True)) for pair in ((ours, our_alpha), (out, alpha))
    ]
    if eta is not None:
        torch.testing.assert_close(c * gain, scaled)
        of_gain = torch.randn(gain.shape, dtype=torch.float64)
        losses[0] = losses[0] + (of_gain * gain).sum()
        losses[1] = losses[1] + (of_gain * eta / (c.var(0, correction=0) + scaling.EPS).sqrt()).sum()
    wanted = [(c, att)[k] for k in needs]
    mine, others = (torch.autograd.grad(loss, wanted) for loss in losses)
    torch.testing.assert_close(mine, others, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("scaled", [True, False])
def test_gradients_and_registrations(scaled):
    c, att, graph = inputs(2, 3)
    targets = torch.randint(N, (N,), generator=torch.Generator().manual_seed(1))  # some more than once, some never
    csr = graph.tensors
    settings = (None, None, 0.3, 0.2, 0.75, scaled)
    assert torch.autograd.gradcheck(lambda c, att: scored_attention(c, att, *csr, targets, *settings)[:3], (c, att))
    torch.library.opcheck(scored_attention.registered, (c, att, *csr, targets, *settings))


def test_what_was_not_used_needs_no_gradient():
    c, att, graph = inputs(1)
    _, alpha, gain = attend_scored(c, att, graph, 0.3, eta=1.0)
    for value in (alpha, gain):
        grad_c, grad_att = torch.autograd.grad(value.square().sum(), (c, att), retain_graph=True)
        assert grad_c.abs().sum() > 0
        assert grad_att.isfinite().all()


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 1, 3), (1, 1, 4)])
def test_vectors_of_another_shape_are_refused(shape):
    edge_index, _ = random_graph()
    with pytest.raises(ValueError, match=r"att must have shape \(2, 1, 4\), got"):
        attend_scored(torch.randn(30, 1, 4), torch.randn(*shape), CSRGraph.from_edge_index(edge_index, 30), eta=1.0)
