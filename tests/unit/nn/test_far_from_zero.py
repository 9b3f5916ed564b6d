"""Step 3 on features whose mean is far from 0, or that hardly vary or do not at all."""

import pytest
import torch
from graphs import random_graph
from step3 import (
    DEVIATIONS,
    ETA,
    FORMS,
    RATIOS,
    assert_as_good_as_plain,
    errors,
    far_features,
    with_gradients,
)

from fairgat.nn import FairGATConv
from fairgat.nn.normalise import Features

WIDTHS = [(6, 12), (12, 6)]  # aggregated first, transformed first


def step(x, weight, center=False):
    """Step 3 of x (N, F), or of its product with a weight, as the layers take it."""
    values = x[:, None]
    made = Features(values, None if weight is None else weight[None])
    scaled = made.centred(ETA) if center else made.standardised(ETA)
    return scaled.dense()


def centred_step(x, weight):
    return step(x, weight, center=True)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("center", [False, True])
def test_step_far_from_zero(form, center, ratio):
    own = centred_step if center else step
    assert_as_good_as_plain(own, far_features(ratio), form, center)


@pytest.mark.parametrize("ratio", [1, 1e4])
@pytest.mark.parametrize("deviation", DEVIATIONS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("center", [False, True])
def test_step_of_small_deviations(form, center, deviation, ratio):
    own = centred_step if center else step
    assert_as_good_as_plain(own, far_features(ratio, deviation), form, center)


@pytest.mark.parametrize("mean", [0.0, 0.1, 1e-13, 12345.678])
@pytest.mark.parametrize("form", FORMS)
def test_columns_that_do_not_vary_are_multiplied_by_eta(form, mean):
    x = torch.full((301, 6), mean)
    weight = None if form == "columns" else torch.eye(12, 6)
    out, gradient, *_ = with_gradients(step, x, weight)
    torch.testing.assert_close(out[:, :6], ETA * x)
    directions = torch.randn(out.shape, generator=torch.Generator().manual_seed(5))
    torch.testing.assert_close(gradient, ETA * directions[:, :6])
    centred_out, gradient, *_ = with_gradients(centred_step, x, weight)
    assert torch.equal(centred_out, torch.zeros_like(out))
    assert not gradient.any()


def layer_errors(widths, options, x):
    """Errors of a layer's outputs and of the gradients of x and W."""
    edge_index, sensitive = random_graph(len(x), 5 * len(x))
    results = []
    for dtype in (torch.float32, torch.float64):
        torch.manual_seed(0)
        layer = FairGATConv(*widths, **options)
        layer.to(dtype)
        weight = layer.lin.weight

        def own(x, _, layer=layer):
            return layer(x, edge_index, sensitive)

        out, gradient = with_gradients(own, x.to(dtype), None)
        results.append([out, gradient, weight.grad])
    return errors(*results)


def assert_at_most(bound, found):
    """`max` would lose NaN."""
    assert all(each <= bound for each in found), found


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize("heads", [{}, {"heads": 2, "concat": False}])
def test_layers_far_from_zero(widths, heads, ratio):
    """Scores grow with the ratio, and gradients' errors with its square."""
    x = far_features(ratio, width=widths[0])
    out, *gradients = layer_errors(widths, heads, x)
    assert out <= 1e-6 + 4e-7 * ratio
    if ratio <= 1e3:
        assert_at_most(5e-6 + 1e-7 * ratio**2, gradients)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("widths", WIDTHS)
def test_centred_layers_far_from_zero(widths, ratio):
    x = far_features(ratio, width=widths[0])
    out, *gradients = layer_errors(widths, {"center": True}, x)
    assert out <= 1e-6 + 4e-7 * ratio
    if ratio <= 1e5:
        assert_at_most(5e-6 + 2e-6 * ratio, gradients)


@pytest.mark.parametrize("deviation", DEVIATIONS)
@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize("center", [False, True])
def test_layers_of_small_deviations(widths, center, deviation):
    x = far_features(1, deviation, width=widths[0])
    assert_at_most(5e-6, layer_errors(widths, {"center": center}, x))


@pytest.mark.parametrize("width", [1, 6, 33])
@pytest.mark.parametrize("edges", [9_000, 270_000])
@pytest.mark.parametrize("heads", [{}, {"heads": 2}])
def test_equal_nodes_stay_equal(width, edges, heads):
    """Their sums over neighbours differ by rounding, which no layer scales up."""
    edge_index, sensitive = random_graph(900, edges)
    row = torch.full((width,), 3.7, requires_grad=True)
    x = row.expand(900, -1)
    torch.manual_seed(0)
    first = FairGATConv(width, 12, **heads)
    second = FairGATConv(first.heads * 12, 5, **heads)
    hidden = first(x, edge_index, sensitive).relu()
    out = second(hidden, edge_index, sensitive)
    assert torch.equal(out, out[:1].expand_as(out))
    right = (x @ first.lin.weight.t()).relu() @ second.lin.weight.t()
    torch.testing.assert_close(out, right, rtol=1e-4, atol=1e-5)
    given = row, first.lin.weight, second.lin.weight
    found = torch.autograd.grad(out.mean(0).sum(), given)
    expected = torch.autograd.grad(right.mean(0).sum(), given)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)
