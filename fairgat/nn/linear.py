"""Matrix products of many rows, where PyTorch would take MKL.

With AVX-512 by `fairgat.nn.products`, elsewhere by oneDNN, on AMD's processors up to twice as fast. The bias is added
while the result is in registers.
"""

import torch
from torch import Tensor

from fairgat.nn.arrays import array, like, optional
from fairgat.nn.operator import fake, gradient, operator
from fairgat.nn.scaling import add_bias_backward

try:
    from fairgat.nn import products
except ImportError:  # Numba is not there, or does not know this Python
    products = None

_SMALL = 1 << 20  # multiplications, below which the call costs more than it saves
_MANY = 8  # times as many rows as columns, from which on preparing the other matrix costs little
_onednn = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if torch.backends.mkldnn.is_available() else None


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, relu: bool = False) -> Tensor:
    """ReLU(x W^T + bias) (n, m), or x W^T + bias, for x (n, k), weight (m, k) and bias (m,) or None.

    Large float32 products on the CPU have no forward-mode derivative.
    """
    fits = x.size(1) == weight.size(1) and (bias is None or bias.shape == weight.shape[:1])
    alike = x.dtype == weight.dtype and (bias is None or bias.dtype == weight.dtype)
    ours = _onednn is not None or by_kernels(x, weight.size(0))
    if fits and alike and ours and large(x, weight.size(0)):
        return large_linear(x, weight, bias, relu)
    product = torch.nn.functional.linear(x, weight, bias)
    return product.relu() if relu else product


def transposed_product(g: Tensor, x: Tensor) -> Tensor:
    """g^T x (m, k) for g (n, m) and x (n, k), a sum over the many rows; within an operator, as it has no gradient."""
    if g.dtype == x.dtype and large(x, g.size(1)) and by_kernels(x, g.size(1)):
        return torch.from_numpy(products.transposed_times(array(g), array(x)))
    return g.t() @ x  # in which MKL is faster than oneDNN


def large(x: Tensor, width: int) -> bool:
    """Whether a product of x (n, k) with `width` columns or rows is large enough, in float32, on the CPU."""
    enough = x.device.type == "cpu" and x.dtype == torch.float32 and x.numel() * width >= _SMALL
    return enough and not torch.is_autocast_enabled("cpu")


def by_kernels(x: Tensor, width: int) -> bool:
    """Whether the kernels multiply x (n, k) with a matrix of `width` columns or rows: where these are few beside n."""
    many = x.size(0) >= _MANY * max(x.size(1), width)
    return many and products is not None and products.AVX512


@operator
def large_linear(x: Tensor, weight: Tensor, bias: Tensor | None, relu: bool) -> Tensor:
    """The operator behind `linear`."""
    return _large_linear(x, weight, bias, relu)


def _large_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, relu: bool = False) -> Tensor:
    if by_kernels(x, weight.size(0)):
        out = x.new_empty(x.size(0), weight.size(0))
        products.times(array(x), array(weight), optional(bias), relu, out.numpy())
        return out
    if _onednn is None:  # exported where there were more rows
        out = torch.nn.functional.linear(x, weight, bias)
        return out.relu() if relu else out
    bias = None if bias is None else bias.contiguous()
    out = _onednn(x.contiguous(), weight.contiguous(), bias, "none", [], "")
    return out.relu_() if relu else out  # oneDNN's own would turn NaN into 0


@fake(large_linear)
def _(x, weight, bias, relu):
    return x.new_empty(x.size(0), weight.size(0))


@operator
def large_linear_backward(
    grad: Tensor, x: Tensor, weight: Tensor, y: Tensor | None, shifted: bool, needs_x: bool, needs_weight: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of x, weight and bias, each empty where not needed; y is the result, if ReLU was applied."""
    grad_x, grad_weight, grad_bias = (grad.new_empty(0) for _ in range(3))
    if y is not None:
        grad, grad_bias = add_bias_backward.function(grad, y, True)
    elif shifted:
        grad_bias = grad.sum(0)
    if needs_x:
        grad_x = _large_linear(grad, weight.t())
    if needs_weight:
        grad_weight = transposed_product(grad, x)
    return grad_x, grad_weight, grad_bias


@fake(large_linear_backward)
def _(grad, x, weight, y, shifted, needs_x, needs_weight):
    grad_x = like(x) if needs_x else grad.new_empty(0)
    grad_weight = like(weight) if needs_weight else grad.new_empty(0)
    return grad_x, grad_weight, grad.new_empty(grad.size(1) if shifted or y is not None else 0)


def _setup(ctx, inputs, output):
    x, weight, bias, relu = inputs
    ctx.shifted = bias is not None
    ctx.save_for_backward(x, weight, output if relu else None)


def _backward(ctx, grad):
    needs_x, needs_weight, *_ = ctx.needs_input_grad
    found = large_linear_backward(grad, *ctx.saved_tensors, ctx.shifted, needs_x, needs_weight)
    needed = needs_x, needs_weight, ctx.shifted
    return *(each if wanted else None for each, wanted in zip(found, needed, strict=True)), None


gradient(large_linear, _backward, _setup)
