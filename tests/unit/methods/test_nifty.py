"""NIFTY against its two views over dense matrices, with exact spectral norms."""

import copy

import pytest
import torch
from dense import (
    adam,
    adjacency,
    bce,
    layer,
    make,
    neighbours,
    small_graph,
    step,
    three_groups,
)
from torch.nn.functional import normalize, one_hot

from fairgat.methods.nifty import distance

SETTINGS = {
    "similarity_weight": 0.6,
    "edge_drop_rate": 0.2,
    "feature_noise_rate": 0.5,
    "projector_width": 4,
}


def weight_of(linear):
    """W / sigma(W); the gradient passes through sigma, as in PyTorch's parametrization."""
    parametrized = torch.nn.utils.parametrize.is_parametrized(linear)
    original = (
        linear.parametrizations.weight.original if parametrized else linear.weight
    )
    return original / torch.linalg.matrix_norm(original, 2)


def originals(*modules):
    return [parameter for module in modules for parameter in module.parameters()]


def settle(module):
    """Let the power iterations converge, so that they may be compared with exact singular values."""
    for part in module.modules():
        if torch.nn.utils.parametrize.is_parametrized(part):
            for _ in range(100):
                _ = part.weight


def linear(module, x):
    return x @ weight_of(module).t() + (0 if module.bias is None else module.bias)


def batch_norm(module, x):
    return (x - x.mean(0)) / (
        x.var(0, correction=0) + 1e-5
    ).sqrt() * module.weight + module.bias


def cosine(a, b):
    return ((a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1))).mean()


def encode(model, x, matrix):
    for conv in (model.conv1, model.conv2):
        x = layer(conv, x, matrix, weight_of(conv.lin)).relu()
    return x


class Dense:
    """The method's own parameters, copied, with every pass written out."""

    def __init__(self, method, views):
        self.model, self.projector, self.predictor = map(
            copy.deepcopy, (method.model, method.projector, method.predictor)
        )
        self.task = method.task
        n = self.task.graph.num_nodes
        csr = self.task.plain_csr
        edges = csr.edge_index[:, csr.permutation]
        self.views = [(x, adjacency(edges[:, kept], n)) for x, kept in views]

    def encode(self, x, matrix):
        return encode(self.model, x, matrix)[self.task.train]

    def project(self, h):
        first, norm, _, second, last = self.projector
        return batch_norm(
            last, linear(second, batch_norm(norm, linear(first, h)).relu())
        )

    def predict(self, p):
        first, norm, _, second = self.predictor
        return linear(second, batch_norm(norm, linear(first, p)).relu())

    def similarity(self):
        p1, p2 = (self.project(self.encode(*view)) for view in self.views)
        d1, d2 = (
            -cosine(self.predict(p1), p2.detach()),
            -cosine(self.predict(p2), p1.detach()),
        )
        return 0.6 * (d1 / 2 + d2 / 2)

    def classification(self):
        labels = self.task.labels[self.task.train].double()
        logits = [
            linear(self.model.linear, self.encode(*v)).squeeze(1) + self.model.bias
            for v in self.views
        ]
        return 0.4 * (bce(logits[0], labels) / 2 + bce(logits[1], labels) / 2)


@pytest.mark.parametrize("accumulate", [True, False])
def test_an_epoch(double, monkeypatch, accumulate):
    method = make("nifty", small_graph(), accumulate=accumulate, **SETTINGS)
    for module in (method.model, method.projector, method.predictor):
        settle(module)
    views = [method.view(flip=False), method.view(flip=True)]
    dense = Dense(method, views)
    monkeypatch.setattr(method, "view", lambda flip: views[flip])
    losses = method.update(None)

    convolutions = [dense.model.conv1, dense.model.conv2]
    first = adam(originals(*convolutions, dense.projector, dense.predictor))
    second = adam(originals(dense.model))
    similarity = dense.similarity()
    step(first, similarity)
    if not accumulate:
        second.zero_grad()
    classification = dense.classification()
    classification.backward()
    second.step()
    assert losses["loss"] == pytest.approx(
        similarity.item() + classification.item(), abs=1e-4
    )
    for ours, theirs in [
        (method.model, dense.model),
        (method.projector, dense.projector),
    ]:
        ours, theirs = dict(ours.named_parameters()), dict(theirs.named_parameters())
        for name in ours:
            torch.testing.assert_close(
                ours[name], theirs[name], rtol=0, atol=2e-4, msg=name
            )


def test_views(double):
    method = make("nifty", small_graph(), **SETTINGS)
    csr, n = method.task.plain_csr, method.task.graph.num_nodes
    dropped, noisy = 0, 0
    for _ in range(200):
        for flip in (False, True):
            x, kept = method.view(flip)
            sensitive = method.task.sensitive.double()
            assert torch.equal(x[:, 0], 1 - sensitive if flip else sensitive)
            noise = x[:, 1:] - method.task.features
            assert torch.allclose(
                noise, noise[0].expand_as(noise)
            )  # the same for every node
            values = noise[0][noise[0].abs() > 1e-12]
            assert torch.allclose(
                values, values[:1].expand_as(values)
            )  # and for every picked column
            assert kept[csr.permutation >= csr.num_edges - n].all()  # self-loops stay
            dropped, noisy = dropped + int((~kept).sum()), noisy + len(values)
    assert dropped / (400 * (csr.num_edges - n)) == pytest.approx(0.2, abs=0.01)
    assert noisy / (400 * 5) == pytest.approx(0.5, abs=0.05)


def test_of_three_groups_the_flip_draws_one_of_the_other_two(double):
    method = make("nifty", three_groups(), **SETTINGS)
    sensitive, drawn = method.task.sensitive, torch.zeros(3, 3)
    for _ in range(200):
        straight, flipped = method.view(flip=False)[0], method.view(flip=True)[0]
        assert torch.equal(straight[:, :3], one_hot(sensitive).double())
        assert (flipped[:, :3].sum(1) == 1).all()
        drawn.index_put_(
            (sensitive, flipped[:, :3].argmax(1)),
            torch.ones(len(sensitive)),
            accumulate=True,
        )
        noise = straight[:, 3:] - method.task.features
        assert torch.allclose(noise, noise[0].expand_as(noise))
    shares = drawn / drawn.sum(1, keepdim=True)
    torch.testing.assert_close(shares, (1 - torch.eye(3)) / 2, rtol=0, atol=0.05)
    assert 0 < method.update(None)["loss"] < 10


def test_prediction_reads_the_clean_graph_and_the_sensitive_attribute(double):
    method = make("nifty", small_graph(), **SETTINGS)
    settle(method.model)
    model, x = (
        method.model,
        torch.cat([method.task.sensitive[:, None], method.task.features], dim=1),
    )
    with torch.no_grad():
        logits = (
            linear(model.linear, encode(model, x, neighbours(method))).squeeze(1)
            + model.bias
        )
    torch.testing.assert_close(method.forward(), logits)


def test_the_distance_and_its_gradient(double):
    """None passes to the second argument."""
    a, b = torch.randn(2, 9, 4)
    assert distance(a, b).item() == pytest.approx(-cosine(a, b).item())
    assert torch.autograd.gradcheck(
        lambda a: distance(a, b[3:]), a[3:].requires_grad_()
    )
    a, b = a.detach(), b.requires_grad_()
    a[2] = 0  # where the length counts as 1e-8
    plain = -(
        (a.requires_grad_() * normalize(b.detach())).sum(1)
        / a.norm(dim=1).clamp_min(1e-8)
    ).mean()
    ours, theirs = (
        torch.autograd.grad(3 * value, [a, b], allow_unused=True)
        for value in (distance(a, b), plain)
    )
    torch.testing.assert_close(ours[0], theirs[0])
    assert ours[1] is None
