"""S3 of a network's logits, and their bias."""

import torch
from torch import Tensor

from fairgat.nn.arrays import array, served
from fairgat.nn.deviation import rows
from fairgat.nn.operator import fake, gradient, operator
from fairgat.nn.scaling import EPS


def scaled_logits(z: Tensor, bias: Tensor, eta: float) -> Tensor:
    """z * eta / sqrt(var(z) + eps) + bias, for z (N,) and bias (1,); the mean is kept."""
    dtype = torch.promote_types(z.dtype, bias.dtype)
    return logits_to_deviation(z.to(dtype), bias.to(dtype), eta)[0]


@operator
def logits_to_deviation(z: Tensor, bias: Tensor, eta: float) -> tuple[Tensor, Tensor]:
    """The operator behind `scaled_logits`: the result, and mean and variance of z (2,), in float64 on the CPU."""
    if served(rows, z):
        return tuple(map(torch.from_numpy, rows.scale_logits(array(z), bias.item(), eta, EPS)))
    variance, mean = torch.var_mean(z.to(_exact(z)), correction=0)
    return z * (eta * torch.rsqrt(variance + EPS)).to(z.dtype) + bias, torch.stack([mean, variance])


@fake(logits_to_deviation)
def _(z, bias, eta):
    return torch.empty_like(z), z.new_empty(2, dtype=_exact(z))


def _exact(z: Tensor) -> torch.dtype:
    return torch.float64 if z.device.type == "cpu" else torch.promote_types(z.dtype, torch.float32)


@operator
def logits_to_deviation_backward(grad: Tensor, z: Tensor, moments: Tensor, eta: float) -> tuple[Tensor, Tensor]:
    """Gradients of z (N,) and of the bias (1,)."""
    if served(rows, z):
        return tuple(map(torch.from_numpy, rows.scale_logits_gradient(array(grad), array(z), array(moments), eta, EPS)))
    mean, variance = moments
    root, values = torch.rsqrt(variance + EPS), z.to(moments.dtype)
    slope = (grad * values).sum() * (-eta / max(z.size(0), 1)) * root**3
    return (grad * (eta * root) + slope * (values - mean)).to(z.dtype), grad.sum(0, keepdim=True)


@fake(logits_to_deviation_backward)
def _(grad, z, moments, eta):
    return torch.empty_like(z), z.new_empty(1)


def _setup(ctx, inputs, output):
    z, _, ctx.eta = inputs
    ctx.save_for_backward(z, output[1])
    ctx.mark_non_differentiable(output[1])


def _backward(ctx, grad, _):
    return *logits_to_deviation_backward(grad, *ctx.saved_tensors, ctx.eta), None


gradient(logits_to_deviation, _backward, _setup)
