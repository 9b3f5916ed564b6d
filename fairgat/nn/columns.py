"""How far columns deviate from their means: the numbers of step 3, and its operators.

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
# Sums over neighbours round more often, but what varied before them varies after them.
SUMMED, SUMMED_VARIED = 100, 1


def exact(x: Tensor) -> Tensor:
    """x in float32 at least, for sums of squares.

    They leave the range of float16 and the precision of bfloat16.
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
    deviations = x - of_nodes(_held(mean), batch)
    rest = mean_of(deviations.detach(), batch)
    return mean, deviations - of_nodes(rest, batch)


def _held(mean: Tensor) -> Tensor:
    """The mean as a constant where there are no second derivatives, which saves time.

    The gradient by it is 0.
    """
    return mean.detach() if fused(mean) else mean


def covariance(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean (H, K) and population covariance (H, K, K) over the rows of x (N, H, K)."""
    mean, deviations = centred(x)
    deviations = deviations.transpose(0, 1)
    return mean, deviations.mT @ deviations / max(len(x), 1)


# ----------------------------------------------------------- what columns are scaled by


def column_factor(
    x: Tensor,
    eta: float,
    otherwise: Tensor | None = None,
    summed: Tensor | None = None,
    batch: Batch | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Find what step 3 multiplies the columns of x (N, ...) by.

    Args:
        eta: their deviation afterwards.
        otherwise: factors, times 1 / eta, of columns that do not vary; 1 if None.
        summed: the second result for the columns of which x has sums, if it has.
        batch: the graphs, each of which has its own deviations.

    Returns:
        factors eta / std; 1 / std without a gradient, 0 where a column does not vary;
        and the mean; each (...), or (B, ...) with `batch`.
    """
    # On the CPU plain PyTorch is as fast for one column.
    fast = batch is None and fused(x) and (x.dim() > 1 or x.is_cuda)
    if not fast:
        mean, variance = moments(x, batch)
        return *_factors(variance, rounding(mean, summed), eta, otherwise), mean

    columns = x.flatten(1) if x.dim() > 1 else x[:, None]
    otherwise, summed = _row(otherwise), _row(summed)
    found = torch.ops.fairgat.column_factor(columns, otherwise, eta, summed)
    factor, mean, inverse = found
    found = factor, inverse.detach(), mean.sum(0)
    return tuple(each.view(x.shape[1:]) for each in found)


def _row(values: Tensor | None) -> Tensor | None:
    return None if values is None else exact(values).flatten()


def matrix_factor(
    weight: Tensor,
    mean: Tensor,
    cov: Tensor,
    eta: float,
    otherwise: Tensor | None = None,
    summed: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """(H, C) `column_factor` of x @ weight^T, without the product.

    Args:
        weight: (H, C, K).
        mean, cov: `covariance` (H, K) and (H, K, K) of x (N, H, K).
        eta, otherwise, summed: as for `column_factor`.
    """
    product_mean = (weight @ mean[:, :, None]).squeeze(-1)
    if weight.is_cuda and fused(weight, cov):
        factor, inverse, _ = torch.ops.fairgat.matrix_factor(
            weight, mean, cov, otherwise, eta, summed
        )
        return factor, inverse.detach(), product_mean

    with torch.no_grad():  # the products that are added up have rounding errors, too
        squares = weight.square()
        far = (squares @ mean.square()[:, :, None]).squeeze(-1)
        own = cov.diagonal(dim1=-2, dim2=-1)[:, :, None]
        products = 4 * torch.finfo(cov.dtype).eps * (squares @ own).squeeze(-1)
        least = rounding(far.sqrt(), summed) + products
    variance = (weight @ cov * weight).sum(-1)
    return *_factors(variance, least, eta, otherwise), product_mean


def _factors(
    variance: Tensor, least: Tensor, eta: float, otherwise: Tensor | None
) -> tuple[Tensor, Tensor]:
    """eta / std, or eta * `otherwise`; and 1 / std, or 0."""
    constant = variance <= least
    inverse = _inverse(variance, constant)
    factor = inverse
    if otherwise is not None:
        factor = torch.where(constant, otherwise, inverse)
    return eta * factor, inverse.detach().masked_fill(constant, 0.0)


def rounding(mean: Tensor, summed: Tensor | None = None) -> Tensor:
    """The variance that rounding may give columns of that mean.

    With `summed`, 1 / std of columns or 0, it is that of their sums over neighbours. It
    is no smaller than float32 has all digits of squares for: a deviation of 3e-16.
    """
    errors = ROUNDING
    if summed is not None:
        errors = torch.where(summed > 0, float(SUMMED_VARIED), float(SUMMED))
    type_ = torch.finfo(mean.dtype)
    variance = (errors * type_.eps * mean.detach()).square()
    return variance.clamp_min(type_.tiny / type_.eps)


def inverse_deviation(variance: Tensor, least: Tensor) -> Tensor:
    """1 / std of columns of a variance above `least`; 1 for the others.

    The others do not vary, and are divided by 1, as scikit-learn's StandardScaler does.
    Rounding errors would be scaled to a deviation of 1 instead, and with them the mean.
    """
    return _inverse(variance, variance <= least)


def _inverse(variance: Tensor, constant: Tensor) -> Tensor:
    # Not `rsqrt`, whose gradient has a third power, which could overflow.
    return variance.masked_fill(constant, 1.0).sqrt().reciprocal()


def scale_and_shift(x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """x * scale + bias for x (N, F)."""
    if fused(x, scale, bias):
        return torch.ops.fairgat.scale_and_shift(x, scale, bias)
    return torch.addcmul(bias, x, scale)


# ------------------------------------------------------------------------- as operators
# Without arrays of size N x F on the way, which saved a tenth of FairGAT's epoch.


def _factor_setup(ctx, inputs, output):
    x, _, ctx.eta, _ = inputs
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(x, *output[1:])


def _factor_backward(ctx, grad, grad_mean, _):
    x, mean, inverse = ctx.saved_tensors
    grad = torch.zeros_like(inverse) if grad is None else grad
    if grad_mean is not None:  # of either part: their sum is the mean
        grad_mean = grad_mean[0] / max(len(x), 1)
    grad_x, grad_otherwise = torch.ops.fairgat.column_factor_backward(
        grad, grad_mean, x, mean, inverse, ctx.eta
    )
    x_needed, otherwise_needed, *_ = ctx.needs_input_grad
    grad_x = grad_x if x_needed else None
    grad_otherwise = grad_otherwise if otherwise_needed else None
    return grad_x, grad_otherwise, None, None


def _no_factor(x, *_):
    factor = x.new_empty(x.size(1), dtype=torch.float32)
    return factor, factor.new_empty(2, x.size(1)), torch.empty_like(factor)


# `mean` (2, F) is a sum of two numbers: one of float32 is off by up to half a unit of
# its last place, which far from 0 is much of a deviation, and gradients would not sum
# to 0.


@operator(
    "column_factor(Tensor x[N F], Tensor? otherwise[F], float eta,"
    " Tensor? summed[F]=None) -> (Tensor factor, Tensor mean, Tensor inverse)",
    _no_factor,
    _factor_backward,
    _factor_setup,
)
def _column_factor(x, otherwise, eta, summed=None):
    rows = max(len(x), 1)
    mean = x.sum(0) / rows
    sums = x.new_empty(kernels.PARTS, 2, x.size(1))
    launch(kernels.column_moments, x.contiguous().numpy(), mean.numpy(), sums.numpy())
    rest, square = sums.sum(0) / rows
    variance = square - rest.square()
    factor, inverse = _factors(variance, rounding(mean, summed), eta, otherwise)
    return factor, torch.stack([mean, rest]), inverse


@operator(
    "column_factor_backward(Tensor grad[F], Tensor? shift[F], Tensor x[N F],"
    " Tensor mean[2 F], Tensor inverse[F], float eta) -> (Tensor, Tensor)",
    lambda grad, shift, x, *_: (x.new_empty(x.shape), torch.empty_like(grad)),
)
def _column_factor_gradient(grad, shift, x, mean, inverse, eta):
    """Of x, with `shift` (F,) added to every row, and of `otherwise`."""
    grad = grad * eta
    shift = torch.zeros_like(inverse) if shift is None else shift
    slope = grad * inverse * inverse / -max(len(x), 1)  # a third power could overflow
    grad_x = x.new_empty(x.shape)
    given = [each.contiguous().numpy() for each in (x, mean, inverse, slope, shift)]
    launch(kernels.column_slopes, *given, grad_x.numpy())
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
    given = [each.contiguous().numpy() for each in (a, b)]
    launch(kernels.column_dots, *given, sums.numpy())
    return sums.sum(0)
