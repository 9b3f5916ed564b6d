"""Matrix products of many rows by oneDNN, where PyTorch would take MKL: on AMD's processors up to twice as fast.

The bias is added while the result is in registers, ReLU applied in place.
"""

import torch
from torch import Tensor

from fairgat.nn.operator import fake, gradient, operator
from fairgat.nn.scaling import add_bias_backward

_SMALL = 1 << 20  # multiplications, below which the call costs more than it saves
_onednn = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if torch.backends.mkldnn.is_available() else None


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, relu: bool = False) -> Tensor:
    """ReLU(x W^T + bias) (n, m), or x W^T + bias, for x (n, k), weight (m, k) and bias (m,) or None.

    Large float32 products on the CPU go to oneDNN; they have no forward-mode derivative.
    """
    large = x.numel() * weight.size(0) >= _SMALL and x.size(1) == weight.size(1)
    single = x.dtype == weight.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    fits = bias is None or (bias.dtype == weight.dtype and bias.shape == weight.shape[:1])
    if _onednn is not None and x.device.type == "cpu" and large and single and fits:
        return linear_onednn(x, weight, bias, relu)
    product = torch.nn.functional.linear(x, weight, bias)
    return product.relu() if relu else product


@operator
def linear_onednn(x: Tensor, weight: Tensor, bias: Tensor | None, relu: bool) -> Tensor:
    """The operator behind `linear`."""
    bias = None if bias is None else bias.contiguous()
    product = _onednn(x.contiguous(), weight.contiguous(), bias, "none", [], "")
    return product.relu_() if relu else product  # oneDNN's own would turn NaN into 0


@fake(linear_onednn)
def _(x, weight, bias, relu):
    return x.new_empty(x.size(0), weight.size(0))


def _setup(ctx, inputs, output):
    x, weight, bias, ctx.relu = inputs
    ctx.shifted = bias is not None
    ctx.save_for_backward(x, weight, output if ctx.relu else None)


def _backward(ctx, grad):
    x, weight, y = ctx.saved_tensors
    needs_x, needs_weight, *_ = ctx.needs_input_grad
    grad_bias = None
    if ctx.relu:
        grad, grad_bias = add_bias_backward(grad, y, True)
    elif ctx.shifted:
        grad_bias = grad.sum(0)
    return (
        linear(grad, weight.t()) if needs_x else None,
        grad.t() @ x if needs_weight else None,  # a sum over the many rows, in which MKL is the faster one
        grad_bias if ctx.shifted else None,
        None,
    )


gradient(linear_onednn, _backward, _setup)
