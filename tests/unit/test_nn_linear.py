"""Matrix products by oneDNN against plain ones."""

import pytest
import torch

from fairgat.nn import linear as module
from fairgat.nn.linear import linear


@pytest.mark.parametrize("shape", [(3000, 17, 64), (1500, 128, 128), (20, 5, 8)])  # the last stays with PyTorch's own
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_products_and_gradients_are_those_of_pytorch(shape, dtype):
    rows, inputs, outputs = shape
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(rows, 2, inputs, generator=generator, dtype=dtype)[:, 1].requires_grad_()  # not contiguous
    weight = torch.randn(outputs, inputs, generator=generator, dtype=dtype).requires_grad_()
    scale = torch.randn(rows, outputs, generator=generator, dtype=dtype)
    ours, theirs = linear(x, weight), torch.nn.functional.linear(x, weight)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    for mine, other in zip(
        torch.autograd.grad((ours * scale).sum(), (x, weight)),
        torch.autograd.grad((theirs * scale).sum(), (x, weight)),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-3)


def test_without_onednn_pytorch_multiplies(monkeypatch):
    x, weight = torch.randn(3000, 17), torch.randn(64, 17)
    monkeypatch.setattr(module, "_onednn", None)
    assert torch.equal(linear(x, weight), x @ weight.t())


def test_opcheck():
    x, weight = torch.randn(300, 17).requires_grad_(), torch.randn(300, 17).requires_grad_()
    torch.library.opcheck(linear, (x, weight))
