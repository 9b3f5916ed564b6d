"""The covariance by PyTorch and by kernels, against float64, with its gradient."""

import pytest
import torch

from fairgat.nn import covariance as module
from fairgat.nn.covariance import covariance, covariance_backward

kernels = pytest.mark.skipif(
    module.products is None or not module.products.AVX512, reason="the kernels need Numba and AVX-512"
)


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=dtype)


def taken(monkeypatch):
    """Which of the kernels were called."""
    done = []
    for name in ("covariances", "add_covariance_gradient"):
        real = getattr(module.products, name)
        monkeypatch.setattr(
            module.products, name, lambda *given, name=name, real=real: done.append(name) or real(*given)
        )
    return done


@kernels
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("shape", [(5000, 1, 17), (4000, 2, 33), (1601, 3, 40)], ids=str)
def test_kernels_and_pytorch_agree(monkeypatch, threads, count, shape):
    done = taken(monkeypatch)
    threads(count)
    x, weight = normal(*shape), normal(shape[1], shape[2], shape[2])
    found = []
    for values in (x.clone().requires_grad_(), x.double().requires_grad_()):
        result = covariance(values)[0]
        (result * weight.to(values.dtype)).sum().backward()
        found.append((result.detach(), values.grad))
    assert set(done) == {"covariances", "add_covariance_gradient"}
    for ours, exact in zip(*found, strict=True):
        torch.testing.assert_close(ours.double(), exact, rtol=1e-4, atol=2e-6)


@kernels
def test_no_number_depends_on_how_rows_are_divided(threads):
    found = []
    for count in (1, 2, 5):
        threads(count)
        x = normal(5000, 1, 17).requires_grad_()
        result = covariance(x)[0]
        result.square().sum().backward()
        found.append(result.detach().numpy().tobytes() + x.grad.numpy().tobytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_a_mean_far_above_the_deviation_costs_no_digits(threads, count):
    threads(count)
    x, weight = 1 + 1e-3 * normal(5000, 1, 16), normal(1, 16, 16)
    found = []
    for values in (x.requires_grad_(), x.detach().double().requires_grad_()):
        result = covariance(values)[0]
        (result * weight.to(values.dtype)).sum().backward()
        found.append((result.detach().double(), values.grad.double()))
    for ours, exact in zip(*found, strict=True):
        assert (ours - exact).norm() < 1e-5 * exact.norm()


def test_gradients_and_registrations():
    x = normal(9, 2, 3, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: covariance(x)[0], x)
    torch.testing.assert_close(covariance(x)[0][1], torch.cov(x[:, 1].t(), correction=0))
    torch.library.opcheck(covariance.registered, (x,))
    mean = covariance(x)[1]
    torch.testing.assert_close(mean.sum(0), x.detach().mean(0))
    torch.library.opcheck(covariance_backward.registered, (torch.randn(2, 3, 3).double(), x.detach(), mean))


@kernels
def test_registrations_of_the_kernels():
    x = normal(5000, 1, 17).requires_grad_()
    torch.library.opcheck(covariance.registered, (x,))
    mean = covariance(x)[1]
    torch.library.opcheck(covariance_backward.registered, (torch.randn(1, 17, 17), x.detach(), mean))
