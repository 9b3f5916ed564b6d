"""S3 of a linear map, done to its weights: rows are scaled so that their products with the input deviate by eta.

The variance of w^T x is w^T cov(x) w, so the product itself need not be looked at.
"""

import torch
from torch import Tensor

from fairgat.nn.arrays import array, like, served
from fairgat.nn.operator import fake, gradient, operator
from fairgat.nn.scaling import EPS

try:
    from fairgat.nn import rows
except ImportError:  # Numba is not there, or does not know this Python
    rows = None

_MOST = 1 << 22  # multiplications, above which PyTorch's product is the faster one


def scaled_weight(weight: Tensor, covariance: Tensor, eta: float) -> Tensor:
    """Rows w of weight (H, C, F) times eta / sqrt(w^T cov w + eps), cov (H or 1, F, F) the covariance of the input."""
    return weight_to_deviation(weight, covariance, eta)[0]


@operator
def weight_to_deviation(weight: Tensor, covariance: Tensor, eta: float) -> tuple[Tensor, Tensor, Tensor]:
    """The operator behind `scaled_weight`: the result, weight @ covariance, and the variances (H, C)."""
    if _small(weight, covariance):
        return tuple(map(torch.from_numpy, rows.scale(array(weight), array(covariance), eta, EPS)))
    product = weight @ covariance
    variance = (product * weight).sum(-1)
    factor = eta * torch.rsqrt(variance.clamp_min(0) + EPS)
    return (weight * factor[..., None]).contiguous(), product.contiguous(), variance


def _small(weight: Tensor, covariance: Tensor) -> bool:
    few = weight.numel() * weight.size(2) <= _MOST
    return few and served(rows, weight) and covariance.dtype == weight.dtype


@fake(weight_to_deviation)
def _(weight, covariance, eta):
    return like(weight), like(weight), weight.new_empty(weight.shape[:2])


@operator
def weight_to_deviation_backward(
    grad: Tensor, weight: Tensor, covariance: Tensor, product: Tensor, variance: Tensor, eta: float, needs: bool
) -> tuple[Tensor, Tensor]:
    """Gradients of weight and of covariance (empty unless needed)."""
    if _small(weight, covariance):
        given = array(grad), array(weight), array(covariance), product.numpy(), variance.numpy()
        return tuple(map(torch.from_numpy, rows.scale_gradient(*given, eta, EPS, needs)))
    root = torch.rsqrt(variance.clamp_min(0) + EPS)
    grad_variance = torch.where(variance >= 0, (grad * weight).sum(-1) * (-0.5 * eta) * root**3, 0)
    through = grad_variance[..., None] * weight
    grad_weight = grad * (eta * root)[..., None] + grad_variance[..., None] * product + through @ covariance.mT
    grad_covariance = covariance.new_empty(0, 0, 0)
    if needs:
        grad_covariance = (weight.mT @ through).sum_to_size(covariance.shape)
    return grad_weight.contiguous(), grad_covariance.contiguous()


@fake(weight_to_deviation_backward)
def _(grad, weight, covariance, product, variance, eta, needs):
    return like(weight), like(covariance) if needs else covariance.new_empty(0, 0, 0)


def _setup(ctx, inputs, output):
    weight, covariance, ctx.eta = inputs
    ctx.save_for_backward(weight, covariance, *output[1:])
    ctx.mark_non_differentiable(*output[1:])


def _backward(ctx, grad, *_):
    needs = ctx.needs_input_grad[1]
    grad_weight, grad_covariance = weight_to_deviation_backward(grad, *ctx.saved_tensors, ctx.eta, needs)
    return grad_weight, grad_covariance if needs else None, None


gradient(weight_to_deviation, _backward, _setup)
