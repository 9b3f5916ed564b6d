"""S3 of weights and of logits: the deviation that it promises, its gradient, and both forms against each other."""

import pytest
import torch

from fairgat.nn import deviation, logits
from fairgat.nn.deviation import scaled_weight, weight_to_deviation, weight_to_deviation_backward
from fairgat.nn.logits import logits_to_deviation, logits_to_deviation_backward, scaled_logits


@pytest.fixture(params=[True, False], ids=["numba", "pytorch"])
def form(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(deviation, "rows", None)
        monkeypatch.setattr(logits, "rows", None)


def normal(*shape, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=dtype)


def inputs(heads, shared, dtype=torch.float64):
    """Weights (heads, 5, 3), and the covariance of what they are multiplied with."""
    x = normal(1 if shared else heads, 50, 3, dtype=dtype) + 2
    return x, normal(heads, 5, 3, dtype=dtype), torch.stack([torch.cov(each.t(), correction=0) for each in x])


@pytest.mark.parametrize(("heads", "shared"), [(1, True), (2, True), (2, False)])
def test_products_have_the_deviation(form, heads, shared):
    x, weight, covariance = inputs(heads, shared)
    products = x @ scaled_weight(weight, covariance, 0.75).mT
    torch.testing.assert_close(products.std(1, correction=0), torch.full((heads, 5), 0.75, dtype=torch.float64))


@pytest.mark.parametrize(("heads", "shared"), [(1, True), (2, True), (2, False)])
def test_gradients_of_weights(form, heads, shared):
    _, weight, covariance = inputs(heads, shared)
    given = weight.requires_grad_(), covariance.requires_grad_()
    assert torch.autograd.gradcheck(lambda w, c: scaled_weight(w, c, 0.75), given)
    scaled_weight(weight, covariance.detach(), 0.75).sum().backward()
    assert covariance.grad is None


def test_a_constant_input_has_no_deviation(form):
    weight = normal(1, 5, 3).requires_grad_()
    scaled = scaled_weight(weight, torch.zeros(1, 3, 3).double(), 1.0)
    scaled.sum().backward()
    assert scaled.isfinite().all() and weight.grad.isfinite().all()


def test_logits_have_the_deviation(form):
    z, bias = normal(40).requires_grad_(), torch.tensor([0.5]).double().requires_grad_()
    scaled = scaled_logits(z, bias, 0.75)
    torch.testing.assert_close(scaled.std(correction=0).item(), 0.75)
    torch.testing.assert_close(scaled, z * 0.75 / z.std(correction=0) + 0.5)
    assert torch.autograd.gradcheck(lambda z, b: scaled_logits(z, b, 0.75), (z, bias))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_registrations(form, dtype):
    _, weight, covariance = inputs(2, False, dtype)
    torch.library.opcheck(weight_to_deviation.registered, (weight.requires_grad_(), covariance.requires_grad_(), 0.75))
    weight, covariance = weight.detach(), covariance.detach()
    saved = weight_to_deviation(weight, covariance, 0.75)[1:]
    for needs in (True, False):
        given = (torch.randn_like(weight), weight, covariance, *saved, 0.75, needs)
        torch.library.opcheck(weight_to_deviation_backward.registered, given)
    z, bias = normal(40, dtype=dtype).requires_grad_(), torch.ones(1, dtype=dtype).requires_grad_()
    torch.library.opcheck(logits_to_deviation.registered, (z, bias, 0.75))
    moments = logits_to_deviation(z, bias, 0.75)[1]
    torch.library.opcheck(
        logits_to_deviation_backward.registered, (torch.randn(40, dtype=dtype), z.detach(), moments, 0.75)
    )


def test_both_forms_agree(monkeypatch):
    _, weight, covariance = inputs(2, False, torch.float32)
    z = normal(40, dtype=torch.float32)
    fused = scaled_weight(weight, covariance, 0.75), scaled_logits(z, torch.ones(1), 0.75)
    monkeypatch.setattr(deviation, "rows", None)
    monkeypatch.setattr(logits, "rows", None)
    torch.testing.assert_close((scaled_weight(weight, covariance, 0.75), scaled_logits(z, torch.ones(1), 0.75)), fused)


def test_logits_of_another_precision_than_the_bias(form):
    """As autocast gives them."""
    z, bias = normal(40, dtype=torch.bfloat16).requires_grad_(), torch.ones(1).requires_grad_()
    scaled = scaled_logits(z, bias, 0.75)
    scaled.square().sum().backward()
    assert (scaled.dtype, z.grad.dtype, bias.grad.dtype) == (torch.float32, torch.bfloat16, torch.float32)


@pytest.mark.parametrize("z", [torch.empty(0), torch.ones(1), torch.full((5,), 3.0)], ids=["none", "one", "equal"])
def test_logits_without_a_deviation(form, z):
    z = z.requires_grad_()
    scaled = scaled_logits(z, torch.ones(1), 0.75)
    scaled.sum().backward()
    assert z.numel() == 0 or (scaled.isfinite().all() and z.grad.isfinite().all())


def test_what_is_no_number_stays_one(form):
    z = normal(40, dtype=torch.float32)
    z[3] = torch.nan
    assert scaled_logits(z, torch.ones(1), 0.75).isnan().all()


@pytest.mark.parametrize("count", [0, 3])
def test_the_logits_have_one_bias(count):
    with pytest.raises(RuntimeError):
        scaled_logits(torch.randn(5), torch.zeros(count), 1.0)
