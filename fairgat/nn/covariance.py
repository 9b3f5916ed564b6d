"""The covariance of features: var(w^T s) = w^T cov(s) w, so S3's factors are known before features are transformed."""

import torch
from torch import Tensor

from fairgat.nn.arrays import array, like
from fairgat.nn.linear import by_kernels, large, products
from fairgat.nn.operator import fake, gradient, operator


@operator
def covariance(x: Tensor) -> tuple[Tensor, Tensor]:
    """Population covariance (H, F, F) over the rows of x (N, H, F), and their mean, which carries no gradient.

    The mean (2, H, F) is the sum of two numbers where one would be rounded too much, far above the deviations.
    """
    if _fused(x):
        found, mean = products.covariances(array(x))
        return torch.from_numpy(found), torch.from_numpy(mean)
    mean = x.mean(0)
    centred = (x - mean).transpose(0, 1)  # (H, N, F)
    return centred.mT @ centred / max(x.size(0), 1), torch.stack([mean, torch.zeros_like(mean)])


@fake(covariance)
def _(x):
    return x.new_empty(x.size(1), x.size(2), x.size(2)), x.new_empty(2, x.size(1), x.size(2))


@operator
def covariance_backward(grad: Tensor, x: Tensor, mean: Tensor) -> Tensor:
    """Gradient of x; that by the mean is the sum of centred rows: 0."""
    grad_x = torch.zeros_like(x, memory_format=torch.contiguous_format)
    add_gradient(grad, x, mean, grad_x)
    return grad_x


def add_gradient(grad: Tensor, x: Tensor, mean: Tensor, grad_x: Tensor) -> None:
    """Add the gradient of x to grad_x (N, H, F), in place."""
    if _fused(x):
        products.add_covariance_gradient(array(grad), array(x), array(mean), grad_x.numpy())
        return
    slope = (grad + grad.mT) / max(x.size(0), 1)
    centred = x - mean[0]
    centred = centred - centred.mean(0)  # what rounding left of the mean
    grad_x += (centred.transpose(0, 1) @ slope).transpose(0, 1)


@fake(covariance_backward)
def _(grad, x, mean):
    return like(x)


def _fused(x: Tensor) -> bool:
    rows = x.flatten(1)
    return large(rows, x.size(2)) and by_kernels(rows, x.size(2))


def _setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs, output[1])
    ctx.mark_non_differentiable(output[1])


def _backward(ctx, grad, _):
    return covariance_backward(grad, *ctx.saved_tensors)


gradient(covariance, _backward, _setup)
