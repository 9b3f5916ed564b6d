"""The fused normalisation against PyTorch's element-wise operations."""

import pytest
import torch

from fairgat.nn import scaling


@pytest.mark.parametrize("fused", [True, False], ids=["numba", "pytorch"])
@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("eta", [None, 0.75])
def test_equals_the_written_out_form(monkeypatch, fused, relu, eta):
    if not fused:
        monkeypatch.setattr(scaling, "columns", None)
    generator = torch.Generator().manual_seed(0)
    x, bias, gain = (
        torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()
        for shape in [(600, 7), (7,), (7,)]
    )
    ours = scaling.scale(x, bias, eta, gain, relu)
    z = x if eta is None else eta * gain * x / (gain * x).std(0, correction=0)
    expected = z + bias
    expected = expected.relu() if relu else expected
    torch.testing.assert_close(ours, expected)
    inputs = (x, bias) if eta is None else (x, bias, gain)
    weights = torch.randn(600, 7, generator=generator, dtype=torch.float64)
    for a, b in zip(
        torch.autograd.grad((ours * weights).sum(), inputs),
        torch.autograd.grad((expected * weights).sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-8)


def normal(*shapes):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_() for shape in shapes]


def test_gradients_and_registrations_of_normalise():
    x, gain, bias = normal((9, 3), (3,), (3,))
    assert torch.autograd.gradcheck(lambda *a: scaling.normalise(*a, 0.75, False)[0], (x, gain, bias))
    torch.library.opcheck(scaling.normalise.registered, (x, gain, bias, 0.75, True))


def test_gradients_and_registrations_of_add_bias():
    x, bias = normal((9, 3), (3,))
    assert torch.autograd.gradcheck(lambda *a: scaling.add_bias(*a, False), (x, bias))
    torch.library.opcheck(scaling.add_bias.registered, (x, bias, True))


def test_moments_keep_their_digits_under_a_large_mean():
    x = torch.randn(5000, 3, generator=torch.Generator().manual_seed(0)) + 1000
    _, _, variance = scaling.normalise(x, torch.ones(3), torch.zeros(3), 1.0, False)
    torch.testing.assert_close(variance, x.double().var(0, correction=0).float(), rtol=1e-4, atol=0)
