"""What ends a network: scaling, bias, ReLU and a linear layer with one output, without writing what is between them.

Where the loss is on some nodes only, the gradient's sums read these alone.
"""

import numpy as np
import torch
from torch import Tensor

from fairgat.nn import scaling
from fairgat.nn.arrays import array, like, served
from fairgat.nn.operator import fake, gradient, operator


def logit_of(
    x: Tensor, weight: Tensor, bias: Tensor | None, eta: float | None = None, gain: Tensor | None = None
) -> Tensor:
    """(N,) `scale(x, bias, eta, gain, relu=True) @ weight`, for x (N, F) and weight (F,); see `fairgat.nn.scaling`."""
    bias = x.new_zeros(x.size(1)) if bias is None else bias
    gain = x.new_ones(x.size(1)) if gain is None else gain
    return active_logit(x, gain, bias, weight, *scaling.as_operators_take(eta))[0]


@operator
def active_logit(
    x: Tensor, gain: Tensor, bias: Tensor, weight: Tensor, eta: float, scaled: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The operator behind `logit_of`: the logits (N,), and where x is scaled its mean, variance and factor (F,)."""
    if scaled:
        mean, variance, factor = scaling.deviation(x, gain, eta)
    else:
        mean, variance, factor = torch.zeros_like(gain), torch.zeros_like(gain), torch.ones_like(gain)
    if not served(scaling.columns, x):
        return torch.addcmul(bias, x, factor).relu() @ weight, mean, variance, factor
    out = x.new_empty(x.size(0))
    scaling.columns.active_dot(array(x), factor.numpy(), array(bias), array(weight), out.numpy())
    return out, mean, variance, factor


@fake(active_logit)
def _(x, gain, bias, weight, eta, scaled):
    return x.new_empty(x.size(0)), *(torch.empty_like(gain) for _ in range(3))


@operator
def active_logit_backward(
    grad: Tensor, x: Tensor, gain: Tensor, bias: Tensor, weight: Tensor, mean: Tensor, variance: Tensor,
    factor: Tensor, eta: float, scaled: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Gradients of x (N, F), gain, bias and weight (F,)."""
    if not served(scaling.columns, x):
        return _active_logit_backward(grad, x, gain, bias, weight, mean, variance, factor, eta, scaled)
    given, kernels, grad_x = (array(grad), array(x), factor.numpy(), array(bias)), scaling.columns, like(x)
    sums, slopes = kernels.active_dot_sums(*given), array(weight)
    grad_factor, *found = kernels.active_dot_parameters(sums, *given[2:], slopes)
    slope, offset, grad_gain = None, None, np.zeros_like(grad_factor)
    if scaled:
        moments = mean.numpy(), variance.numpy()
        slope, offset, grad_gain = kernels.through_factor(
            grad_factor, array(gain), *moments, eta, scaling.EPS, x.size(0)
        )
    kernels.active_dot_gradient(*given, slopes, slope, offset, grad_x.numpy())
    return grad_x, *map(torch.from_numpy, (grad_gain, *found))


def _active_logit_backward(grad, x, gain, bias, weight, mean, variance, factor, eta, scaled):
    active = grad[:, None] * (torch.addcmul(bias, x, factor) > 0)
    total, weighted = active.sum(0), (active * x).sum(0)
    grad_x, grad_gain = active * (weight * factor), torch.zeros_like(gain)
    if scaled:
        slope, offset, grad_gain = scaling.through_factor(weight * weighted, gain, mean, variance, eta, x.size(0))
        grad_x = grad_x + slope * x + offset
    return grad_x, grad_gain, weight * total, factor * weighted + bias * total


@fake(active_logit_backward)
def _(grad, x, gain, bias, weight, *_):
    return like(x), torch.empty_like(gain), torch.empty_like(bias), torch.empty_like(weight)


def _setup(ctx, inputs, output):
    *tensors, eta, scaled = inputs
    ctx.save_for_backward(*tensors, *output[1:])
    ctx.settings = eta, scaled


def _gradient(ctx, grad, *_):
    return *active_logit_backward(grad, *ctx.saved_tensors, *ctx.settings), None, None


gradient(active_logit, _gradient, _setup)
