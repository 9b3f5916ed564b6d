"""Large matrix products, by oneDNN and by kernels, against plain ones."""

import pytest
import torch

from fairgat.nn import linear as module
from fairgat.nn.linear import large_linear, large_linear_backward, linear

LARGE, SMALL = (3000, 17, 64), (20, 5, 8)
here = pytest.mark.skipif(module._onednn is None, reason="this PyTorch has no oneDNN")


@pytest.fixture(autouse=True, params=[1, 2])
def count(request, threads):
    """On one thread oneDNN does the large ones, on two, with AVX-512, the kernels."""
    threads(request.param)


def operands(shape, dtype=torch.float32):
    rows, inputs, outputs = shape
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(rows, 2, inputs, generator=generator, dtype=dtype)[:, 1]  # not contiguous
    return x, torch.randn(outputs, inputs, generator=generator, dtype=dtype)


@pytest.mark.parametrize("shape", [LARGE, (1500, 128, 128), SMALL])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("needs", [(True, True), (True, False), (False, True)])
def test_products_and_gradients_are_those_of_pytorch(shape, dtype, needs):
    x, weight = (t.requires_grad_(wanted) for t, wanted in zip(operands(shape, dtype), needs, strict=True))
    wanted = [t for t in (x, weight) if t.requires_grad]
    ours, theirs = linear(x, weight), torch.nn.functional.linear(x, weight)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    scale = torch.randn(shape[2], shape[0], dtype=dtype).t()
    mine, others = (torch.autograd.grad((out * scale).sum(), wanted) for out in (ours, theirs))
    for a, b in zip(mine, others, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("shape", [LARGE, SMALL])
@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("shifted", [True, False])
def test_bias_and_relu(shape, relu, shifted):
    x, weight = (t.requires_grad_() for t in operands(shape))
    wanted = [x, weight]
    bias = torch.randn(shape[2]).requires_grad_() if shifted else None
    wanted += [bias] if shifted else []
    ours, theirs = linear(x, weight, bias, relu), torch.nn.functional.linear(x, weight, bias)
    theirs = theirs.relu() if relu else theirs
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    factor = torch.randn(shape[2], shape[0]).t() * (theirs.detach().abs() > 1e-3)  # rounding decides about ReLU at 0
    for a, b in zip(*(torch.autograd.grad((out * factor).sum(), wanted) for out in (ours, theirs)), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("shape", [LARGE, SMALL])
def test_nan_is_not_hidden_and_a_bias_may_have_any_strides(shape):
    x, weight = operands(shape)
    bias = torch.randn(2 * shape[2])[::2]
    torch.testing.assert_close(
        linear(x, weight, bias), torch.nn.functional.linear(x, weight, bias), rtol=1e-4, atol=1e-4
    )
    x[0, 0] = torch.nan
    assert linear(x, weight, bias, relu=True)[0].isnan().all()


@here
def test_large_single_precision_products_alone_are_ours(monkeypatch):
    taken = []
    monkeypatch.setattr(module, "large_linear", lambda x, weight, *_: taken.append(x.shape) or x @ weight.t())
    for shape, dtype in ((LARGE, torch.float32), (LARGE, torch.float64), (SMALL, torch.float32)):
        linear(*operands(shape, dtype))
    with torch.autocast("cpu"):
        linear(*operands(LARGE))
    assert taken == [(3000, 17)]


@here
def test_opcheck():
    x, weight = (t.requires_grad_() for t in operands((300, 17, 300)))
    for bias, relu in ((None, False), (None, True), (torch.randn(300).requires_grad_(), True)):
        torch.library.opcheck(large_linear.registered, (x, weight, bias, relu))
    grad, y = torch.randn(2, 300, 300).unbind()
    for shifted, needs_x, needs_weight in ((True, True, True), (False, True, False), (False, False, False)):
        torch.library.opcheck(
            large_linear_backward.registered, (grad, x.detach(), weight.detach(), y, shifted, needs_x, needs_weight)
        )
        torch.library.opcheck(
            large_linear_backward.registered, (grad, x.detach(), weight.detach(), None, shifted, needs_x, needs_weight)
        )


def test_wrong_shapes_are_pytorchs_error():
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        linear(torch.ones(3000, 17), torch.ones(64, 18))
