"""Step 3 of a batch of graphs: each graph has its own deviations, as if alone."""

import copy

import pytest
import torch
from graphs import features, random_graph

from fairgat.nn import (
    CSRGraph,
    FairGATConv,
    GATConv,
    LinkEncoder,
    NodeClassifier,
    attention,
    balanced_shares,
    columns,
)

SIZES = [12, 1, 0, 30, 2, 0]  # graphs of one node and of none


def graphs():
    """Edges and groups of each graph."""
    made = []
    for number, nodes in enumerate(SIZES):
        edge_index, sensitive = random_graph(max(nodes, 2), 4 * nodes, 2, number)
        if nodes < 2:
            edge_index = edge_index[:, :0]
        made.append((edge_index % max(nodes, 1), sensitive[:nodes]))
    return made


def together(made):
    """The graphs as one: edges, groups and the graph of each node."""
    starts = torch.tensor([0, *SIZES]).cumsum(0)
    edges, sensitive = zip(*made, strict=True)
    shifted = [each + start for each, start in zip(edges, starts[:-1], strict=True)]
    batch = torch.arange(len(SIZES)).repeat_interleave(torch.tensor(SIZES))
    return torch.cat(shifted, 1), torch.cat(sensitive), batch


def with_gradients(function, x, parameters):
    out = function(x)
    weights = torch.randn(out.shape, generator=torch.Generator().manual_seed(0))
    weighted = out * weights.to(out)
    found = torch.autograd.grad(weighted.sum(), [x, *parameters])
    return [out, *found]


def assert_as_a_loop(model, options, tolerance):
    """Outputs and gradients of a batch are those of a loop over its graphs."""
    made = graphs()
    edge_index, sensitive, batch = together(made)
    dtype = next(model.parameters()).dtype
    x = features(nodes=len(batch)).detach().to(dtype).requires_grad_()

    def loop(x):
        parts = zip(x.split(SIZES), made, strict=True)
        return torch.cat([model(part, *graph) for part, graph in parts])

    def as_one(x):
        return model(x, edge_index, sensitive, batch=batch, **options)

    parameters = list(model.parameters())
    found = with_gradients(as_one, x, parameters)
    expected = with_gradients(loop, x, parameters)
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
    whole = model(x, edge_index, sensitive)
    assert not torch.allclose(whole, found[0], rtol=1e-2, atol=1e-2)


TYPES = [(torch.float32, 2e-4), (torch.float64, 1e-10)]
LAYERS = [
    {},
    {"heads": 2, "eta": 0.75},
    {"heads": 2, "concat": False},
    {"heads": 2, "center": True},
    {"alpha_chi": 0.0, "center": True, "concat": False, "residual": True},
]


@pytest.mark.parametrize(("dtype", "tolerance"), TYPES)
@pytest.mark.parametrize("channels", [3, 8], ids=["narrows", "widens"])
@pytest.mark.parametrize("options", LAYERS, ids=str)
@pytest.mark.parametrize("size", [None, 9])
def test_a_batch_is_a_loop_over_its_graphs(size, options, channels, dtype, tolerance):
    torch.manual_seed(0)
    layer = FairGATConv(5, channels, **options).to(dtype)
    given = {} if size is None else {"batch_size": size}
    assert_as_a_loop(layer, given, tolerance)


@pytest.mark.parametrize("channels", [3, 8], ids=["narrows", "widens"])
def test_a_batch_without_the_operators(monkeypatch, channels):
    for module in (attention, columns):
        monkeypatch.setattr(module, "fused", lambda *x: False)
    torch.manual_seed(0)
    assert_as_a_loop(FairGATConv(5, channels, heads=2), {}, 2e-4)


@pytest.mark.parametrize("eta", [None, 0.75])
@pytest.mark.parametrize("center", [False, True])
def test_models_take_a_batch(eta, center):
    def layer(*widths):
        return FairGATConv(*widths, eta=0.75, center=center)

    torch.manual_seed(0)
    classifier = NodeClassifier(layer, 5, 8, True, eta, center).double()
    assert_as_a_loop(classifier, {}, 1e-9)
    encoder = LinkEncoder(layer, 5, 8).double()
    assert_as_a_loop(encoder, {"batch_size": len(SIZES)}, 1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("center", [False, True])
def test_a_batch_far_from_zero(center, seed):
    """Means of 1e3 deviations: as near to float64 as graph by graph, multiplied out."""
    torch.manual_seed(seed)
    made = graphs()
    edge_index, sensitive, batch = together(made)
    layer = FairGATConv(5, 3, center=center)
    x = torch.randn(len(batch), 5) + 1e3

    def loop(layer, x):
        parts = zip(x.split(SIZES), made, strict=True)
        return torch.cat([layer(part, *graph) for part, graph in parts])

    exact = loop(copy.deepcopy(layer).double(), x.double())
    found = layer(x, edge_index, sensitive, batch=batch)

    error = (found.double() - exact).norm()
    usual = (loop(layer, x).double() - exact).norm()
    assert error <= 4 * usual + 1e-6 * exact.norm()


def test_columns_that_do_not_vary_in_one_graph():
    """There they are multiplied by eta, twice; in the other they are scaled."""
    edge_index = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3]])
    batch = torch.tensor([0, 0, 0, 1, 1, 1])
    x = torch.tensor([[0.1], [0.1], [0.1], [1.0], [2.0], [5.0]])
    layer = FairGATConv(1, 1, alpha_chi=None, eta=0.5, bias=False)
    with torch.no_grad():
        layer.lin.weight.fill_(1)
    out = layer(x, edge_index, batch=batch)
    torch.testing.assert_close(out[:3], 0.25 * x[:3])
    deviation = out[3:].std(0, correction=0)
    torch.testing.assert_close(deviation, torch.tensor([0.5]))


def test_nodes_of_a_batch_come_in_any_order(edge_index, sensitive):
    layer, x = FairGATConv(5, 8), features()
    batch = torch.arange(30) % 3
    expected = layer(x, edge_index, sensitive, batch=batch)
    order = torch.randperm(30, generator=torch.Generator().manual_seed(0))
    place = order.argsort()
    edges = place[edge_index]

    found = layer(x[order], edges, sensitive[order], batch=batch[order])

    torch.testing.assert_close(found[place], expected)
    for other in (batch.int(), batch.to(torch.uint8)):
        assert torch.equal(layer(x, edge_index, sensitive, batch=other), expected)


def test_one_graph_as_a_batch_is_the_graph(edge_index, sensitive):
    layer, x = FairGATConv(5, 8), features()
    whole = layer(x, edge_index, sensitive)
    batch = torch.zeros(30).long()
    torch.testing.assert_close(layer(x, edge_index, sensitive, batch=batch), whole)
    assert torch.equal(layer(x, edge_index, sensitive, batch_size=1), whole)


@pytest.mark.parametrize("options", [{}, {"center": True}], ids=str)
def test_second_derivatives_of_a_batch(options, edge_index, sensitive):
    torch.manual_seed(0)
    layer = FairGATConv(5, 8, **options).double()
    batch = torch.arange(30) % 4
    x = features().detach().double().requires_grad_()

    def function(x):
        return layer(x, edge_index, sensitive, batch=batch)

    assert torch.autograd.gradcheck(function, x, fast_mode=True)
    assert torch.autograd.gradgradcheck(function, x, fast_mode=True)


@pytest.mark.parametrize("channels", [3, 8], ids=["narrows", "widens"])
@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize("size", [None, 3])
def test_a_compiled_batch(size, shares, channels, edge_index, sensitive, compiler):
    """Without a graph break where `batch_size` and a CSRGraph are given."""
    found = balanced_shares(sensitive, edge_index, 0.5) if shares else None
    graph = CSRGraph.from_edge_index(edge_index, 30, sensitive, shares=found)
    layer = FairGATConv(5, channels, alpha_chi=found or 0.5)
    given = {"batch": torch.arange(30) % 3}
    if size is not None:
        given["batch_size"] = size
    dynamic = True if shares else None  # with symbols for sizes
    compiled = torch.compile(
        layer, backend="aot_eager", fullgraph=size is not None, dynamic=dynamic
    )
    results = []
    for function in (layer, compiled):
        x = features()
        out = function(x, graph, **given)
        out.square().sum().backward()
        results.append([out, x.grad])
    torch.testing.assert_close(*results)


def batched(batch, size=None):
    return FairGATConv(5, 2)(features(), *random_graph(), batch=batch, batch_size=size)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: batched(torch.zeros(29).long()), r"shape \(30,\)"),
        (lambda: batched(torch.zeros(30)), "batch must be integers"),
        (lambda: batched(torch.zeros(30, 1).long()), r"int64 of \(30, 1\)"),
        (lambda: batched([0] * 30), "got list"),
        (lambda: batched(torch.arange(30) - 1), "graphs -1 to 28"),
        (lambda: batched(torch.arange(30), 29), r"outside 0 \.\. 28"),
        (lambda: batched(torch.arange(30), 30.0), "a whole number, got 30.0"),
        (lambda: batched(None, 8), "batch_size=8 needs `batch`"),
    ],
)
def test_a_batch_that_does_not_fit_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_layer_without_step_3_gives_the_same_with_a_batch(edge_index, sensitive):
    layer, x = FairGATConv(5, 8, eta=None), features()
    expected = layer(x, edge_index, sensitive)
    found = layer(x, edge_index, sensitive, batch=torch.arange(30) % 3)
    assert torch.equal(found, expected)
    with pytest.raises(TypeError, match="batch"):
        GATConv(5, 8)(x, edge_index, batch=torch.arange(30))
