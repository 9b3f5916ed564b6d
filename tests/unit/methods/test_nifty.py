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
from torch.nn.utils.parametrize import is_parametrized

from fairgat.methods.nifty import distance

SETTINGS = {
    "similarity_weight": 0.6,
    "edge_drop_rate": 0.2,
    "feature_noise_rate": 0.5,
    "projector_width": 4,
}


def weight_of(linear):
    """W / sigma(W).

    The gradient passes through sigma, as in PyTorch's parametrization.
    """
    original = linear.weight
    if is_parametrized(linear):
        original = linear.parametrizations.weight.original
    return original / torch.linalg.matrix_norm(original, 2)


def settle(module):
    """Let the power iterations converge, so that exact singular values compare."""
    for part in module.modules():
        if is_parametrized(part):
            for _ in range(100):
                _ = part.weight


def linear(module, x):
    product = x @ weight_of(module).t()
    return product if module.bias is None else product + module.bias


def batch_norm(module, x):
    deviation = (x.var(0, correction=0) + 1e-5).sqrt()
    return (x - x.mean(0)) / deviation * module.weight + module.bias


def cosine(a, b):
    lengths = a.norm(dim=1) * b.norm(dim=1)
    return ((a * b).sum(1) / lengths).mean()


def encode(model, x, matrix):
    for conv in (model.conv1, model.conv2):
        x = layer(conv, x, matrix, weight_of(conv.lin)).relu()
    return x


def classify(model, h):
    return linear(model.linear, h).squeeze(1) + model.bias


class Dense:
    """The method's own parameters, copied, with every pass written out."""

    def __init__(self, method, views):
        self.model = copy.deepcopy(method.model)
        self.projector = copy.deepcopy(method.projector)
        self.predictor = copy.deepcopy(method.predictor)
        self.train = method.task.train
        self.labels = method.task.labels[self.train].double()
        csr = method.task.plain_csr
        edges = csr.edge_index[:, csr.permutation]
        self.views = []
        for x, kept in views:
            self.views.append((x, adjacency(edges[:, kept], csr.num_nodes)))

    def encoded(self):
        """The training nodes in both views."""
        return [encode(self.model, *view)[self.train] for view in self.views]

    def project(self, h):
        first, norm, _, second, last = self.projector
        h = batch_norm(norm, linear(first, h)).relu()
        return batch_norm(last, linear(second, h))

    def predict(self, p):
        first, norm, _, second = self.predictor
        return linear(second, batch_norm(norm, linear(first, p)).relu())

    def similarity(self):
        p1, p2 = (self.project(h) for h in self.encoded())
        d1 = -cosine(self.predict(p1), p2.detach())
        d2 = -cosine(self.predict(p2), p1.detach())
        return 0.6 * (d1 / 2 + d2 / 2)

    def classification(self):
        first, second = (classify(self.model, h) for h in self.encoded())
        return 0.4 * (bce(first, self.labels) / 2 + bce(second, self.labels) / 2)


def assert_near(ours, theirs):
    theirs = dict(theirs.named_parameters())
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(parameter, theirs[name], rtol=0, atol=2e-4, msg=name)


@pytest.mark.parametrize("accumulate", [True, False])
def test_an_epoch_steps_on_similarity_and_then_on_classification(
    double, monkeypatch, accumulate
):
    method = make("nifty", small_graph(), accumulate=accumulate, **SETTINGS)
    for module in (method.model, method.projector, method.predictor):
        settle(module)
    views = [method.view(flip=False), method.view(flip=True)]
    monkeypatch.setattr(method, "view", lambda flip: views[flip])
    dense = Dense(method, views)

    losses = method.update(None)

    model = dense.model
    of_similarity = torch.nn.ModuleList(
        [model.conv1, model.conv2, dense.projector, dense.predictor]
    )
    first, second = adam(of_similarity.parameters()), adam(model.parameters())
    similarity = dense.similarity()
    step(first, similarity)
    if not accumulate:
        second.zero_grad()
    classification = dense.classification()
    classification.backward()
    second.step()
    expected = similarity.item() + classification.item()
    assert losses["loss"] == pytest.approx(expected, abs=1e-4)
    assert_near(method.model, model)
    assert_near(method.projector, dense.projector)


def noise_of(x, method):
    """(F,) what a view adds to each feature: the same for every node."""
    noise = x - method.task.features
    assert torch.allclose(noise, noise[0].expand_as(noise))
    return noise[0]


def test_a_view_drops_edges_and_adds_one_number_to_some_features(double):
    method = make("nifty", small_graph(), **SETTINGS)
    csr = method.task.plain_csr
    edges = csr.num_edges - csr.num_nodes
    is_loop = csr.permutation >= edges

    dropped, noisy = 0, 0
    for _ in range(400):
        x, kept = method.view(flip=False)
        noise = noise_of(x[:, 1:], method)
        added = noise[noise.abs() > 1e-12]
        assert torch.allclose(added, added[:1].expand_as(added))
        assert kept[is_loop].all()
        dropped += int((~kept).sum())
        noisy += len(added)

    assert dropped / (400 * edges) == pytest.approx(0.2, abs=0.01)
    assert noisy / (400 * 5) == pytest.approx(0.5, abs=0.05)


def test_view_two_has_the_other_group(double):
    method = make("nifty", small_graph(), **SETTINGS)
    sensitive = method.task.sensitive.double()

    straight, _ = method.view(flip=False)
    flipped, _ = method.view(flip=True)

    assert torch.equal(straight[:, 0], sensitive)
    assert torch.equal(flipped[:, 0], 1 - sensitive)


def test_of_three_groups_view_two_draws_one_of_the_other_two(double):
    method = make("nifty", three_groups(), **SETTINGS)
    sensitive = method.task.sensitive
    ones = torch.ones(len(sensitive))

    drawn = torch.zeros(3, 3)
    for _ in range(200):
        straight, _ = method.view(flip=False)
        flipped, _ = method.view(flip=True)
        group = flipped[:, :3].argmax(1)
        assert torch.equal(straight[:, :3], one_hot(sensitive).double())
        assert torch.equal(flipped[:, :3], one_hot(group, 3).double())
        noise_of(straight[:, 3:], method)
        drawn.index_put_((sensitive, group), ones, accumulate=True)

    shares = drawn / drawn.sum(1, keepdim=True)
    either = (1 - torch.eye(3)) / 2
    torch.testing.assert_close(shares, either, rtol=0, atol=0.05)
    assert 0 < method.update(None)["loss"] < 10


def test_prediction_reads_the_clean_graph_and_the_sensitive_attribute(double):
    method = make("nifty", small_graph(), **SETTINGS)
    settle(method.model)
    task, model = method.task, method.model
    x = torch.cat([task.sensitive[:, None], task.features], dim=1)

    logits = method.forward()

    with torch.no_grad():
        expected = classify(model, encode(model, x, neighbours(method)))
    torch.testing.assert_close(logits, expected)


def test_the_distance_is_the_negative_mean_cosine(double):
    a, b = torch.randn(2, 9, 4)

    assert distance(a, b).item() == pytest.approx(-cosine(a, b).item())


def test_the_distance_has_the_gradient_of_its_definition(double):
    """A row of zeros has the length 1e-8; nothing passes to the second argument."""
    a, b = torch.randn(2, 9, 4)
    a[2] = 0
    a.requires_grad_()
    b.requires_grad_()
    lengths = a.norm(dim=1).clamp_min(1e-8)
    plain = -((a * normalize(b.detach())).sum(1) / lengths).mean()

    of_a, of_b = torch.autograd.grad(3 * distance(a, b), [a, b], allow_unused=True)

    (expected,) = torch.autograd.grad(3 * plain, [a])
    torch.testing.assert_close(of_a, expected)
    assert of_b is None
