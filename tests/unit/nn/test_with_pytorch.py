"""What PyTorch does with any module: inference mode, autocast, compile, functional calls, pickles."""

import copy
import pickle
from functools import partial

import pytest
import torch
from graphs import features

from fairgat.nn import CSRGraph, FairGATConv, GATConv, balanced_shares

N = 30


def test_inference_mode(edge_index, sensitive):
    layer = FairGATConv(5, 8).eval()
    expected = layer(features(), edge_index, sensitive).detach()
    with torch.inference_mode():
        torch.testing.assert_close(layer(features(), edge_index, sensitive), expected)
        torch.testing.assert_close(layer(features(), edge_index.clone(), sensitive.clone()), expected)


@pytest.mark.parametrize("widths", [(5, 8), (8, 5)], ids=["aggregate-first", "transform-first"])
def test_autocast_leaves_the_precision(widths, edge_index, sensitive):
    layer, x = FairGATConv(*widths), features(widths[0])
    expected = layer(x, edge_index, sensitive)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = layer(x, edge_index, sensitive)
        after_half = layer(x.bfloat16(), edge_index, sensitive)
        out.sum().backward()
    assert torch.equal(out, expected)
    assert after_half.dtype == torch.float32
    torch.testing.assert_close(after_half, expected, rtol=0.1, atol=0.1)


def test_a_second_derivative_is_refused(edge_index):
    x = features()
    (first,) = torch.autograd.grad(GATConv(5, 8)(x, edge_index).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        first.sum().backward()


@pytest.mark.parametrize("options", [{}, {"eta": None}, {"add_self_loops": False}], ids=str)
@pytest.mark.parametrize("as_csr", [True, False], ids=["csr", "edge_index"])
def test_compiled_model_gives_the_same_numbers(as_csr, options, edge_index, sensitive):
    torch.manual_seed(0)
    layer = FairGATConv(8, 5, **options).eval()
    graph = (edge_index, sensitive)
    if as_csr:
        graph = (CSRGraph.from_edge_index(edge_index, N, sensitive, layer.add_self_loops),)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    results = []
    for function in (layer, compiled):
        x = features(8)
        out = function(x, *graph)
        out.square().sum().backward()
        results.append([out, x.grad])
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("make", [GATConv, FairGATConv, partial(FairGATConv, eta=None)])
@pytest.mark.parametrize("widths", [(5, 8), (8, 5)], ids=["aggregate-first", "transform-first"])
def test_gradients_by_functional_calls(make, widths, edge_index, sensitive):
    layer, x = make(*widths), features(widths[0]).detach()
    graph = (edge_index,) if type(layer) is GATConv else (edge_index, sensitive)
    parameters = dict(layer.named_parameters())

    def loss(parameters):
        return torch.func.functional_call(layer, parameters, (x, *graph)).square().sum()

    found = torch.func.grad(loss)(parameters)
    loss(parameters).backward()
    torch.testing.assert_close(found, {name: each.grad for name, each in parameters.items()}, rtol=1e-4, atol=1e-4)


def test_a_layer_is_pickled_and_copied(edge_index, sensitive):
    layer = FairGATConv(5, 8, alpha_chi=balanced_shares(sensitive, edge_index, 0.5))
    expected = layer(features(), edge_index, sensitive)
    for other in (pickle.loads(pickle.dumps(layer)), copy.deepcopy(layer)):
        torch.testing.assert_close(other(features(), edge_index, sensitive), expected)
        torch.testing.assert_close(other(features(), CSRGraph.from_edge_index(
            edge_index, N, sensitive, shares=layer.alpha_chi)), expected)  # fmt: skip


def test_a_layer_takes_groups_of_any_type_compiled_or_not(edge_index, sensitive):
    layer = FairGATConv(5, 8).eval()
    expected = layer(features(), edge_index, sensitive)
    for called in (layer, torch.compile(layer, backend="eager")):
        for groups in (sensitive.tolist(), sensitive.numpy()):
            torch.testing.assert_close(called(features(), edge_index, groups), expected)
