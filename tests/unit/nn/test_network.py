"""The network as one node of autograd's graph, against the same network layer by layer."""

from functools import partial

import pytest
import torch
from graphs import random_graph
from torch.utils.checkpoint import checkpoint

from fairgat.nn import CSRGraph, FairGATConv, GATConv, NodeClassifier, hidden, models, products

N, INPUTS, WIDTH = 3000, 17, 64

pytestmark = pytest.mark.skipif(not products.AVX512, reason="there are kernels for the product with AVX-512 alone")


def network(fair=True, spectral_norm=True, eta=0.75, layer=None, **options):
    torch.manual_seed(0)
    if fair:
        layer = partial(layer or FairGATConv, spectral_norm=spectral_norm, **{"eta": eta, "alpha_chi": 0.3} | options)
        return NodeClassifier(layer, INPUTS, WIDTH, spectral_norm=spectral_norm, eta=eta)
    return NodeClassifier(partial(layer or GATConv, **options), INPUTS, WIDTH)


def inputs(fair=True):
    edge_index, sensitive = random_graph(N, 40000)
    x = torch.randn(N, INPUTS, generator=torch.Generator().manual_seed(0))
    return x, CSRGraph.from_edge_index(edge_index, N, sensitive if fair else None)


def step(model, *given):
    """Logits and all gradients, of a loss on some of the nodes."""
    out = model(*given)
    return [out, *torch.autograd.grad(out[::3].square().sum(), list(model.parameters()), materialize_grads=True)]


@pytest.fixture
def whole(monkeypatch):
    """What went through in one piece."""
    found = []

    def recording(*arguments):
        logits = training_logits(*arguments)
        found.extend([] if logits is None else [logits])
        return logits

    training_logits = models.training_logits
    monkeypatch.setattr(models, "training_logits", recording)
    return found


def layer_by_layer(monkeypatch, model, *given):
    with monkeypatch.context() as patched:
        patched.setattr(models, "training_logits", lambda *_: None)
        return step(model, *given)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    "options",
    [
        {"fair": False},
        {"fair": False, "negative_slope": 0.05},
        {},
        {"spectral_norm": False},
        {"eta": None},
        {"alpha_chi": None},
        {"alpha_chi": 0.0},
    ],
    ids=str,
)
def test_the_same_numbers(monkeypatch, threads, whole, count, options):
    threads(count)
    model = network(**options)
    given = inputs(options.get("fair", True) and options.get("alpha_chi", 1) is not None)
    ours, apart = step(model, *given), layer_by_layer(monkeypatch, model, *given)
    assert len(whole) == 1
    assert all(map(torch.equal, ours, apart))


def test_after_some_steps_too(monkeypatch, threads, whole):
    """Networks that are trained either way stay the same, and evaluation is the old way."""
    threads(2)
    given, trained = inputs(), []
    for together in (True, False):
        with monkeypatch.context() as patched:
            if not together:
                patched.setattr(models, "training_logits", lambda *_: None)
            model = network()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                optimizer.zero_grad()
                model(*given).square().mean().backward()
                optimizer.step()
            trained.append(model.eval())
    assert len(whole) == 3
    assert torch.equal(*(model(*given) for model in trained))
    assert len(whole) == 3


class Mine(GATConv):
    pass


class Doubled(torch.nn.Module):
    def forward(self, weight):
        return 2 * weight


def doubled():
    model = network(fair=False)
    torch.nn.utils.parametrize.register_parametrization(model.conv1.lin, "weight", Doubled())
    return model


class Halved(NodeClassifier):
    def _shift(self, z):
        return super()._shift(z) / 2


def derived_network():
    torch.manual_seed(0)
    return Halved(FairGATConv, INPUTS, WIDTH)


def twice():
    """S2, and then another parametrisation."""
    model = network()
    torch.nn.utils.parametrize.register_parametrization(model.linear, "weight", Doubled(), unsafe=True)
    return model


def biased():
    """S2 of a bias, which is no weight."""
    model = network()
    model.conv2.lin.bias = torch.nn.Parameter(torch.zeros(WIDTH))
    torch.nn.utils.parametrize.register_parametrization(model.conv2.lin, "bias", Doubled())
    return model


@pytest.mark.parametrize(
    "make",
    [
        partial(network, heads=2, concat=False),
        partial(network, concat=False),
        partial(network, dropout=0.5),
        partial(network, center=True),
        partial(network, bias=False),
        partial(network, residual=True),
        partial(network, fair=False, layer=Mine),
        doubled,
        twice,
        biased,
        derived_network,
    ],
    ids=[
        "heads",
        "mean",
        "dropout",
        "center",
        "bias",
        "residual",
        "derived",
        "parametrised",
        "twice",
        "biased",
        "network",
    ],
)
def test_what_is_not_served_goes_layer_by_layer(monkeypatch, whole, make):
    model = make()
    given = inputs(isinstance(model.conv1, FairGATConv))
    torch.manual_seed(1)
    ours = step(model, *given)
    torch.manual_seed(1)
    assert all(map(torch.equal, ours, layer_by_layer(monkeypatch, model, *given)))
    assert whole == []


def test_features_that_are_not_served(monkeypatch, whole):
    model, (x, graph) = network(), inputs()
    y = x.clone().requires_grad_()
    assert torch.autograd.grad(model(y, graph).square().sum(), y)[0].any()
    model(x, graph, keep=torch.ones(graph.num_edges, dtype=torch.bool))
    with torch.autocast("cpu"):
        model(x, graph)
    with monkeypatch.context() as patched:
        patched.setattr(hidden, "fused", lambda *_: False)
        model(x, graph)
    with torch.autograd.profiler.profile():
        model(x, graph)
    model.double()(x.double(), graph)
    assert whole == []


def test_errors_are_those_of_the_layers(whole):
    model, (x, graph) = network(), inputs()
    for wrong, message in (
        ((x[:, :5], graph), r"x must have shape \(N, 17\), got \(3000, 5\)"),
        ((x[:99], graph), "the CSRGraph has 3000 nodes, and x 99 rows"),
        ((x, inputs(fair=False)[1]), "this layer needs a CSRGraph made with `sensitive`"),
    ):
        with pytest.raises(ValueError, match=message):
            model(*wrong)
    model.linear = torch.nn.Linear(WIDTH + 1, 1, bias=False)
    with pytest.raises(ValueError, match=r"head must have shape \(64,\) or \(m, 64\), got \(65,\)"):
        model(x, graph)
    assert whole == []


def test_weights_that_are_kept(whole):
    """Within `parametrize.cached` a weight is found once, and its gradient can be asked for."""
    model = network()
    with torch.nn.utils.parametrize.cached():
        weight = model.conv1.lin.weight
        assert torch.autograd.grad(model(*inputs()).square().sum(), weight)[0].any()
    assert whole == []


def test_who_looks_on_sees_the_layers(whole):
    given = inputs()
    for part in ("conv1", "conv2", "linear", "linear.parametrizations.weight.0", "conv1.lin.parametrizations.weight"):
        model, seen = network(), []
        model.get_submodule(part).register_forward_hook(lambda module, given, out, seen=seen: seen.append(1))
        model(*given)
        assert seen == [1], part
    assert whole == []


def test_what_autograd_offers_besides(monkeypatch, whole):
    """Parameters without gradient, none at all, weights of the caller's, checkpoints, and no second derivative."""
    model, given = network(), inputs()
    expected, *gradients = layer_by_layer(monkeypatch, model, *given)
    model.conv1.lin.parametrizations.weight.original.requires_grad_(False)
    model(*given)[::3].square().sum().backward()
    for gradient, parameter in zip(gradients, model.parameters(), strict=True):
        assert parameter.grad is None if not parameter.requires_grad else torch.equal(parameter.grad, gradient)
    with torch.no_grad():
        assert torch.equal(model(*given), expected) and not model(*given).requires_grad
    model = network()
    out = torch.func.functional_call(model, {name: each.detach() for name, each in model.named_parameters()}, given)
    assert torch.equal(out, expected)
    ours = torch.autograd.grad(
        checkpoint(model, *given, use_reentrant=False)[::3].square().sum(), list(model.parameters())
    )
    assert all(map(torch.equal, ours, gradients))
    out = model(*given)[::3].square().sum()
    parameters, summed = list(model.parameters()), [torch.Tensor.sum, lambda out: (1 * out).sum()]
    ours, apart = (torch.autograd.grad(add(model(*given)), parameters) for add in summed)  # expanded, and written out
    assert all(map(torch.equal, ours, apart))
    with torch.autocast("cpu"):
        cast = torch.autograd.grad(out, parameters)
    assert all(map(torch.equal, cast, gradients))
    assert len(whole) == 8
    weight = model.linear.parametrizations.weight.original
    first = torch.autograd.grad(model(*given).square().sum(), weight, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
