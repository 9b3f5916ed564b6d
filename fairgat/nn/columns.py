"""How far columns deviate from their means: the numbers of step 3, and its operators.

Step 3 of FairGAT brings every column of features to the same standard deviation, eta.

Without `batch` a column's mean and deviation are those over all nodes, and arrays of
them have the shape (...) of a node's features; with it, those over each graph's nodes,
with the shape (B, ...).
"""

import torch
from torch import Tensor

from fairgat.nn import kernels
from fairgat.nn.batch import Batch, mean_of, of_nodes
from fairgat.nn.operators import fused, operator
from fairgat.nn.parallel import launch

# A column that deviates from its mean by fewer rounding errors than that does not vary.
ROUNDING = 4
# The same of sums over neighbours, which round more often: where the columns did not
# vary before they were summed, and where they did, as they then vary afterwards.
SUMS_OF_CONSTANT, SUMS_OF_VARYING = 100, 1


def exact(x: Tensor) -> Tensor:
    """x in float32 at least, for sums.

    Those of squares leave the range of float16; in bfloat16 3000 ones are 256.
    """
    return x.to(torch.promote_types(x.dtype, torch.float32))


def moments(x: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
    """Mean and population variance of the columns of x (N, ...).

    `torch.var_mean` takes ten times as long.
    """
    mean, deviations = centred(x, batch)
    return mean, mean_of(deviations.square(), batch)


def centred(x: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
    """Mean of the columns of x (N, ...), and the deviations from it (N, ...).

    Their own mean, which the rounding of the first has left, is taken out as well: far
    from 0 it is as large as they are. It is a constant, 0 for every x but for rounding.
    """
    x = exact(x)
    mean = mean_of(x, batch)
    # The gradient by it is 0: only second derivatives, which operators lack, need it.
    constant_mean = mean.detach() if fused(mean) else mean
    deviations = x - of_nodes(constant_mean, batch)
    mean_rounding = mean_of(deviations.detach(), batch)
    return mean, deviations - of_nodes(mean_rounding, batch)


def covariance(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean (H, K) and population covariance (H, K, K) over the rows of x (N, H, K)."""
    mean, deviations = centred(x)
    deviations = deviations.transpose(0, 1)
    return mean, deviations.mT @ deviations / max(len(x), 1)


# ----------------------------------------------------------- what columns are scaled by


def column_factor(
    x: Tensor,
    eta: float,
    fallback: Tensor | None = None,
    earlier_inverse: Tensor | None = None,
    batch: Batch | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Find what step 3 multiplies the columns of x (N, ...) by.

    Args:
        eta: their deviation afterwards.
        fallback: factors, times 1 / eta, of columns that do not vary; 1 if None.
        earlier_inverse: where x has sums of columns over neighbours, the second result
            for those columns, before they were summed; None where x has no sums.
        batch: the graphs, each of which has its own deviations.

    Returns:
        factors eta / std; 1 / std without a gradient, 0 where a column does not vary;
        and the mean; each (...), or (B, ...) with `batch`.
    """
    # On the CPU plain PyTorch is as fast for one column.
    fast = batch is None and fused(x) and (x.dim() > 1 or x.is_cuda)
    if not fast:
        mean, variance = moments(x, batch)
        least = rounding(mean, earlier_inverse)
        return *_factors(variance, least, eta, fallback), mean

    columns = x.flatten(1) if x.dim() > 1 else x[:, None]
    factor, mean_parts, inverse = torch.ops.fairgat.column_factor(
        columns, _row(fallback), eta, _row(earlier_inverse)
    )
    results = factor, inverse.detach(), mean_parts.sum(0)
    return tuple(result.view(x.shape[1:]) for result in results)


def _row(values: Tensor | None) -> Tensor | None:
    """(F,) a number for each column, as the operators take them."""
    return None if values is None else exact(values).flatten()


def matrix_factor(
    weight: Tensor,
    mean: Tensor,
    cov: Tensor,
    eta: float,
    fallback: Tensor | None = None,
    earlier_inverse: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """(H, C) `column_factor` of the product x @ weight^T, which is not computed.

    Args:
        weight: (H, C, K).
        mean, cov: `covariance` (H, K) and (H, K, K) of x (N, H, K).
        eta, fallback, earlier_inverse: as for `column_factor`.
    """
    product_mean = (weight @ mean[:, :, None]).squeeze(-1)
    if weight.is_cuda and fused(weight, cov):
        factor, inverse, _ = torch.ops.fairgat.matrix_factor(
            weight, mean, cov, fallback, eta, earlier_inverse
        )
        return factor, inverse.detach(), product_mean

    with torch.no_grad():  # the products that are added up have rounding errors, too
        squares = weight.square()
        mean_of_terms = (squares @ mean.square()[:, :, None]).squeeze(-1).sqrt()
        variances = cov.diagonal(dim1=-2, dim2=-1)[:, :, None]  # of x's columns
        eps = torch.finfo(cov.dtype).eps
        rounding_of_terms = 4 * eps * (squares @ variances).squeeze(-1)
        least = rounding(mean_of_terms, earlier_inverse) + rounding_of_terms
    variance = (weight @ cov * weight).sum(-1)  # w^T cov w for each row w
    return *_factors(variance, least, eta, fallback), product_mean


def _factors(
    variance: Tensor, least: Tensor, eta: float, fallback: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Where the variance is above `least`, eta / std and 1 / std; else a constant's.

    A column that does not vary has eta * `fallback`, and 0.
    """
    is_constant = variance <= least
    inverse = _inverse(variance, is_constant)
    factor = inverse
    if fallback is not None:
        factor = torch.where(is_constant, fallback, inverse)
    return eta * factor, inverse.detach().masked_fill(is_constant, 0.0)


def rounding(mean: Tensor, earlier_inverse: Tensor | None = None) -> Tensor:
    """The variance that rounding may give columns of that mean.

    It is no smaller than float32 has all digits of squares for: a deviation of 3e-16.

    Args:
        mean: of columns, or of sums of columns over neighbours.
        earlier_inverse: of sums, 1 / std of the columns before, or 0.
    """
    errors = ROUNDING
    if earlier_inverse is not None:
        varied = earlier_inverse > 0
        errors = torch.where(varied, float(SUMS_OF_VARYING), float(SUMS_OF_CONSTANT))
    dtype = torch.finfo(mean.dtype)
    variance = (errors * dtype.eps * mean.detach()).square()
    return variance.clamp_min(dtype.tiny / dtype.eps)


def inverse_deviation(variance: Tensor, least: Tensor) -> Tensor:
    """1 / std of columns of a variance above `least`; 1 for the others.

    The others do not vary, and are divided by 1, as scikit-learn's StandardScaler does.
    Rounding errors would be scaled to a deviation of 1 instead, and with them the mean.
    """
    return _inverse(variance, variance <= least)


def _inverse(variance: Tensor, is_constant: Tensor) -> Tensor:
    """1 / std; 1 where a column is constant."""
    # Not `rsqrt`, whose gradient has a third power, which could overflow.
    return variance.masked_fill(is_constant, 1.0).sqrt().reciprocal()


def scale_and_shift(x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """x * scale + bias for x (N, F)."""
    if fused(x, scale, bias):
        return torch.ops.fairgat.scale_and_shift(x, scale, bias)
    return torch.addcmul(bias, x, scale)


# ------------------------------------------------------------------------- as operators
# Without arrays of size N x F on the way, which saved a tenth of FairGAT's epoch.


def _factor_setup(ctx, inputs, output):
    x, _fallback, ctx.eta, _earlier_inverse = inputs
    _factor, mean, inverse = output
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(x, mean, inverse)


def _factor_backward(ctx, grad, grad_mean, _grad_inverse):
    """Gradients by the operator's arguments, from those of its results, if any."""
    x, mean, inverse = ctx.saved_tensors
    grad = torch.zeros_like(inverse) if grad is None else grad
    if grad_mean is not None:  # of either part: their sum is the mean
        grad_mean = grad_mean[0] / max(len(x), 1)
    grad_x, grad_fallback = torch.ops.fairgat.column_factor_backward(
        grad, grad_mean, x, mean, inverse, ctx.eta
    )
    needs_x, needs_fallback, *_ = ctx.needs_input_grad
    grad_x = grad_x if needs_x else None
    grad_fallback = grad_fallback if needs_fallback else None
    return grad_x, grad_fallback, None, None


def _factor_shapes(x, *_):
    factor = x.new_empty(x.size(1), dtype=torch.float32)
    return factor, factor.new_empty(2, x.size(1)), torch.empty_like(factor)


# `mean` (2, F) is a sum of two numbers: one of float32 is off by up to half a unit of
# its last place, which far from 0 is much of a deviation, and gradients would not sum
# to 0.


@operator(
    "column_factor(Tensor x[N F], Tensor? otherwise[F], float eta,"
    " Tensor? summed[F]=None) -> (Tensor factor, Tensor mean, Tensor inverse)",
    _factor_shapes,
    _factor_backward,
    _factor_setup,
)
def _column_factor(x, fallback, eta, earlier_inverse=None):
    """(F,) `column_factor`'s factors; the mean (2, F) in two parts; (F,) 1 / std."""
    rows = max(len(x), 1)
    mean = x.sum(0) / rows
    sums = x.new_empty(kernels.PARTS, 2, x.size(1))  # of deviations and their squares
    launch(kernels.column_moments, x.contiguous().numpy(), mean.numpy(), sums.numpy())
    mean_rounding, mean_square = sums.sum(0) / rows
    variance = mean_square - mean_rounding.square()
    least = rounding(mean, earlier_inverse)
    factor, inverse = _factors(variance, least, eta, fallback)
    return factor, torch.stack([mean, mean_rounding]), inverse


@operator(
    "column_factor_backward(Tensor grad[F], Tensor? shift[F], Tensor x[N F],"
    " Tensor mean[2 F], Tensor inverse[F], float eta) -> (Tensor, Tensor)",
    lambda grad, shift, x, *_: (x.new_empty(x.shape), torch.empty_like(grad)),
)
def _column_factor_gradient(grad, shift, x, mean, inverse, eta):
    """The gradients of x and of the fallback.

    Args:
        grad: (F,) of the factors.
        shift: (F,) what is added to every row of x's gradient, or None.
    """
    grad = grad * eta
    shift = torch.zeros_like(inverse) if shift is None else shift
    slope = grad * inverse * inverse / -max(len(x), 1)  # a third power could overflow
    grad_x = x.new_empty(x.shape)
    arrays = [each.contiguous().numpy() for each in (x, mean, inverse, slope, shift)]
    launch(kernels.column_slopes, *arrays, grad_x.numpy())
    return grad_x, grad.masked_fill(inverse > 0, 0)


@operator(
    "scale_and_shift(Tensor x[N F], Tensor scale[F], Tensor bias[F]) -> Tensor",
    lambda x, scale, bias: torch.empty_like(x),
    lambda ctx, grad: torch.ops.fairgat.scale_and_shift_backward(
        grad, *ctx.saved_tensors
    ),
    lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:2]),
)
def _scale_and_shift(x, scale, bias):
    return torch.addcmul(bias, x, scale)


@operator(
    "scale_and_shift_backward(Tensor grad[N F], Tensor x[N F], Tensor scale[F])"
    " -> (Tensor, Tensor, Tensor)",
    lambda grad, x, scale: tuple(map(torch.empty_like, (x, scale, scale))),
)
def _scale_and_shift_gradient(grad, x, scale):
    return grad * scale, _column_dots(grad, x), grad.sum(0)


def _column_dots(a: Tensor, b: Tensor) -> Tensor:
    """(F,) sums over the rows of a * b, for a and b (N, F)."""
    sums = a.new_empty(kernels.PARTS, a.size(1))
    arrays = [each.contiguous().numpy() for each in (a, b)]
    launch(kernels.column_dots, *arrays, sums.numpy())
    return sums.sum(0)
