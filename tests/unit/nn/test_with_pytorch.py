"""What PyTorch and PyTorch Geometric do with any layer: compile, autocast, pickle."""

import copy
import pickle
from dataclasses import replace
from functools import partial

import pytest
import torch
import torch_geometric.nn
from graphs import edge_features, features
from torch.autograd import forward_ad
from torch_geometric.index import Index  # noqa: F401

from fairgat.nn import CSRGraph, FairGATConv, GATConv, balanced_shares

N = 30


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_inference_mode_gives_the_same_and_what_it_builds_serves_training(
    dtype, edge_index, sensitive
):
    layer = FairGATConv(5, 8).to(dtype)
    given = [features().detach().to(dtype), edge_index, sensitive]
    others = [each.clone() for each in given]
    expected = layer(*given).detach()

    with torch.inference_mode():
        made_inside = [each.clone() for each in given]
        for tensors in (given, others, made_inside):
            torch.testing.assert_close(layer(*tensors), expected)

    layer(*others).sum().backward()
    assert layer.lin.weight.grad.isfinite().all()


@pytest.mark.parametrize(
    "widths", [(5, 8), (8, 5)], ids=["aggregate-first", "transform-first"]
)
def test_autocast_leaves_the_precision(widths, edge_index, sensitive):
    layer = FairGATConv(*widths, edge_dim=3)
    x, edge_attr = features(widths[0]), edge_features(edge_index)
    halves = x.bfloat16(), edge_index, sensitive, edge_attr.bfloat16()
    expected = layer(x, edge_index, sensitive, edge_attr)

    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = layer(x, edge_index, sensitive, edge_attr)
        after_half = layer(*halves)
        out.sum().backward()

    assert torch.equal(out, expected)
    assert after_half.dtype == torch.float32
    torch.testing.assert_close(after_half, expected, rtol=0.1, atol=0.1)


@pytest.mark.parametrize("options", [{}, {"eta": None}], ids=str)
def test_a_second_derivative_in_float32_is_refused(options, edge_index, sensitive):
    x = features()
    out = FairGATConv(5, 8, **options)(x, edge_index, sensitive)
    with pytest.raises(RuntimeError, match="no second derivatives in float32"):
        torch.autograd.grad(out.square().sum(), x, create_graph=True)


@pytest.mark.parametrize(
    "options",
    [{}, {"center": True}, {"eta": None, "spectral_norm": False}, {"edge_dim": 3}],
    ids=str,
)
@pytest.mark.parametrize("channels", [3, 8], ids=["narrows", "widens"])
def test_second_derivatives_in_float64(channels, options, edge_index, sensitive):
    torch.manual_seed(0)
    layer = FairGATConv(5, channels, **options).double()
    made = [features()]
    if layer.edge_dim:
        made.append(edge_features(edge_index))
    given = [each.detach().double().requires_grad_() for each in made]

    def function(x, edge_attr=None):
        return layer(x, edge_index, sensitive, edge_attr)

    assert torch.autograd.gradcheck(function, given, fast_mode=True)
    assert torch.autograd.gradgradcheck(function, given, fast_mode=True)


@pytest.mark.parametrize(
    "options", [{}, {"eta": None, "edge_dim": 3}, {"add_self_loops": False}], ids=str
)
@pytest.mark.parametrize("as_csr", [True, False], ids=["csr", "edge_index"])
def test_compiled_model_gives_the_same_numbers(
    as_csr, options, edge_index, sensitive, compiler
):
    torch.manual_seed(0)
    layer = FairGATConv(8, 5, **options).eval()
    edge_attr = edge_features(edge_index) if layer.edge_dim else None
    graph = [edge_index, sensitive]
    if as_csr:
        loops = layer.add_self_loops
        graph = [CSRGraph.from_edge_index(edge_index, N, sensitive, loops)]
    dynamic = None if options else True
    compiled = torch.compile(
        layer, backend="aot_eager", fullgraph=as_csr, dynamic=dynamic
    )

    results = []
    for function in (layer, compiled):
        x = features(8)
        out = function(x, *graph, edge_attr=edge_attr)
        out.square().sum().backward()
        results.append([out, x.grad])

    torch.testing.assert_close(*results)
    expected, _ = results[0]
    without_gradients = compiled(features(8).detach(), *graph, edge_attr=edge_attr)
    torch.testing.assert_close(without_gradients, expected)


@pytest.mark.parametrize("make", [GATConv, FairGATConv, partial(FairGATConv, eta=None)])
@pytest.mark.parametrize(
    "widths", [(5, 8), (8, 5)], ids=["aggregate-first", "transform-first"]
)
def test_gradients_by_functional_calls(make, widths, edge_index, sensitive):
    layer, x = make(*widths), features(widths[0]).detach()
    graph = (edge_index,) if type(layer) is GATConv else (edge_index, sensitive)
    parameters = dict(layer.named_parameters())

    def loss(parameters):
        out = torch.func.functional_call(layer, parameters, (x, *graph))
        return out.square().sum()

    found = torch.func.grad(loss)(parameters)

    loss(parameters).backward()
    expected = {name: each.grad for name, each in parameters.items()}
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "options", [{}, {"eta": None}, {"center": True}, {"edge_dim": 3}], ids=str
)
@pytest.mark.parametrize("width", [5, 8], ids=["aggregate-first", "transform-first"])
@pytest.mark.parametrize("trains", [True, False])
def test_forward_derivatives(trains, width, options, edge_index, sensitive):
    """Of a frozen layer, too, where PyTorch records no graph that could refuse."""
    torch.manual_seed(0)
    layer = FairGATConv(width, 7, **options).requires_grad_(trains)
    x, direction = features(width).detach(), features(width, seed=4).detach()
    given = [edge_index, sensitive]
    if layer.edge_dim:
        given.append(edge_features(edge_index).detach())

    with forward_ad.dual_level():
        out = layer(forward_ad.make_dual(x, direction), *given)
        found = forward_ad.unpack_dual(out).tangent

    x.requires_grad_()
    weights = torch.randn_like(out.detach())
    (layer(x, *given) * weights).sum().backward()
    expected = (x.grad * direction).sum()
    torch.testing.assert_close((found * weights).sum(), expected, rtol=1e-4, atol=1e-4)


def pickled(layer):
    return pickle.loads(pickle.dumps(layer))


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy])
def test_a_layer_is_pickled_and_copied(copied, edge_index, sensitive):
    shares = balanced_shares(sensitive, edge_index, 0.5)
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive, shares=shares)
    layer = FairGATConv(5, 8, alpha_chi=shares)

    other = copied(layer)

    expected = layer(features(), edge_index, sensitive)
    torch.testing.assert_close(other(features(), edge_index, sensitive), expected)
    torch.testing.assert_close(other(features(), graph), expected)


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy])
def test_a_copy_of_a_graph_is_of_its_arrays(copied, edge_index, sensitive):
    """Also where they were written to after a layer had read them."""
    graph = copied(CSRGraph.from_edge_index(edge_index, N, sensitive))
    layer = FairGATConv(5, 8)
    layer(features(), graph)
    graph.source.copy_(graph.source.flip(0))

    grads = []
    for each in (copied(graph), replace(graph)):
        x = features()
        layer(x, each).square().sum().backward()
        grads.append(x.grad)
    assert torch.equal(*grads)


def test_a_layer_takes_groups_of_any_type_compiled_or_not(edge_index, sensitive):
    layer = FairGATConv(5, 8).eval()
    expected = layer(features(), edge_index, sensitive)
    for called in (layer, torch.compile(layer, backend="eager")):
        for groups in (sensitive.tolist(), sensitive.numpy()):
            torch.testing.assert_close(called(features(), edge_index, groups), expected)


def test_an_edge_index_of_pytorch_geometric(edge_index, sensitive):
    theirs = torch_geometric.EdgeIndex(edge_index, sparse_size=(N, N))
    layer, x = FairGATConv(5, 8), torch.randn(N, 5)
    expected = layer(x, edge_index, sensitive)
    torch.testing.assert_close(layer(x, theirs, sensitive), expected)

    edge_index[1] = edge_index[1].flip(0)  # which theirs wraps
    expected = layer(x, edge_index.clone(), sensitive)
    torch.testing.assert_close(layer(x, theirs, sensitive), expected)
