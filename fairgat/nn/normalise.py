r"""Steps S2 and S3 of FairGAT, and features as a product that need not be multiplied out for them.

S2 divides a weight matrix by its largest singular value. S3 brings every column of an array to a standard deviation of
eta. Columns of S W^T have the variance :math:`w^T \operatorname{cov}(S) w`, so where W widens S, S3 is a factor of W.

S3 undoes any positive factor c of W: f(c W) = f(W). With c = 1 / sigma(W), outputs, gradients and training are what
they are without S2, which is therefore not computed where S3 follows.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.utils.weak import WeakTensorKeyDictionary

from fairgat.nn import kernels
from fairgat.nn.cache import kept
from fairgat.nn.operators import fused, operator
from fairgat.nn.parallel import launch

# A column that deviates from its mean by fewer rounding errors than that does not vary.
ROUNDING = 4
# Sums over neighbours round more often, but what varied before them varies after them.
SUMMED, SUMMED_VARIED = 100, 1

_covariances = WeakTensorKeyDictionary()


# ------------------------------------------------------------------------------------------------------------- S2


def spectrally_normalised(weight: Tensor) -> Tensor:
    """A weight matrix (C, F) divided by its largest singular value, which is exact at every step.

    `torch.nn.utils.parametrizations.spectral_norm` carries singular vectors over from step to step instead, and can
    follow the second singular value for a long time: trained layers were seen at a norm of 1.2. The gradient is its
    gradient, that of u^T W v with u and v held fixed. Autocast does not change its precision. A matrix that is not
    finite gives NaN.
    """
    with torch.autocast(weight.device.type, enabled=False):
        return weight / largest_singular_value(weight)


def largest_singular_value(weight: Tensor) -> Tensor:
    """That of a matrix (C, F), above 0."""
    with torch.no_grad():
        u, v = leading_vectors(weight)
    return (u @ (weight @ v)).clamp_min(torch.finfo(weight.dtype).tiny)


def leading_vectors(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Singular vectors (C,) and (F,) of the largest singular value: an eigenvector of the smaller Gram matrix."""
    wide, precise = weight.size(0) < weight.size(1), exact(weight)
    gram = precise @ precise.t() if wide else precise.t() @ precise
    vector = (
        torch.linalg.eigh(gram.nan_to_num(0, 0, 0)).eigenvectors[:, -1].to(weight.dtype)
    )
    other = nn.functional.normalize(
        weight.t() @ vector if wide else weight @ vector, dim=0, eps=0
    )
    other = other.nan_to_num(0)
    return (vector, other) if wide else (other, vector)


# ------------------------------------------------------------------------------------------------------------- S3


def exact(x: Tensor) -> Tensor:
    """x in float32 at least: sums of squares leave the range of float16 and the precision of bfloat16."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def moments(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and population variance over the rows of x (N, ...).

    `torch.var_mean` takes ten times as long.
    """
    mean, deviations = centred(x)
    return mean, deviations.square().sum(0) / max(len(x), 1)


def centred(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean over the rows of x (N, ...), and the deviations from it (N, ...).

    Their own mean, which the rounding of the first has left, is taken out as well: far
    from 0 it is as large as they are. It is a constant, 0 for every x but for rounding.
    """
    x = exact(x)
    rows = max(len(x), 1)
    mean = x.sum(0) / rows
    deviations = x - _held(mean)
    rest = deviations.detach().sum(0) / rows
    return mean, deviations - rest


def _held(mean: Tensor) -> Tensor:
    """The mean as a constant where there are no second derivatives, which saves time.

    The gradient by it is 0.
    """
    return mean.detach() if fused(mean) else mean


def column_factor(
    x: Tensor,
    eta: float,
    otherwise: Tensor | None = None,
    summed: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Find what step 3 multiplies the columns of x (N, ...) by.

    Args:
        eta: their deviation afterwards.
        otherwise: (...) factors, times 1 / eta, of columns that do not vary; 1 if None.
        summed: (...) the second result for the columns of which x has sums, if it has.

    Returns:
        (...) factors eta / std; (...) 1 / std without a gradient, 0 where a column does
        not vary; and (...) the mean.
    """
    # On the CPU plain PyTorch is as fast for one column.
    if fused(x) and (x.dim() > 1 or x.is_cuda):
        columns = x.flatten(1) if x.dim() > 1 else x[:, None]
        given = [
            None if each is None else exact(each).flatten()
            for each in (otherwise, summed)
        ]
        factor, mean, inverse = torch.ops.fairgat.column_factor(
            columns, given[0], eta, given[1]
        )
        found = factor, inverse.detach(), mean.sum(0)
        return tuple(each.view(x.shape[1:]) for each in found)
    mean, variance = moments(x)
    return *_factors(variance, rounding(mean, summed), eta, otherwise), mean


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
    if otherwise is None:
        otherwise = 1.0
    factor = eta * inverse_deviation(variance, least, otherwise)
    return factor, inverse_deviation(variance.detach(), least, 0.0)


def scale_and_shift(x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """x * scale + bias for x (N, F)."""
    if fused(x, scale, bias):
        return torch.ops.fairgat.scale_and_shift(x, scale, bias)
    return torch.addcmul(bias, x, scale)


# The same as operators, without arrays of size N x F on the way, which saved a tenth of FairGAT's epoch.


def _column_dots(a: Tensor, b: Tensor) -> Tensor:
    """(F,) sums over the rows of a * b, for a and b (N, F)."""
    sums = a.new_empty(kernels.PARTS, a.size(1))
    given = [each.contiguous().numpy() for each in (a, b)]
    launch(kernels.column_dots, *given, sums.numpy())
    return sums.sum(0)


def _factor_setup(ctx, inputs, output):
    x, _, ctx.eta, _ = inputs
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(x, *output[1:])


def _factor_backward(ctx, grad, grad_mean, _):
    x, mean, inverse = ctx.saved_tensors
    grad = torch.zeros_like(inverse) if grad is None else grad
    if grad_mean is not None:  # of either part: their sum is the mean
        grad_mean = grad_mean[0] / max(len(x), 1)
    grads = torch.ops.fairgat.column_factor_backward(
        grad, grad_mean, x, mean, inverse, ctx.eta
    )
    needed = [
        each if need else None
        for each, need in zip(grads, ctx.needs_input_grad, strict=False)
    ]
    return *needed, None, None


# `mean` (2, F) is a sum of two numbers: one of float32 is off by up to half a unit of its
# last place, which far from 0 is much of a deviation, and gradients would not sum to 0.


@operator(
    "column_factor(Tensor x[N F], Tensor? otherwise[F], float eta,"
    " Tensor? summed[F]=None) -> (Tensor factor, Tensor mean, Tensor inverse)",
    lambda x, *_: tuple(
        x.new_empty(*shape, x.size(1), dtype=torch.float32) for shape in ((), (2,), ())
    ),
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
    lambda grad, shift, x, *_: (
        torch.empty_like(x, memory_format=torch.contiguous_format),
        torch.empty_like(grad),
    ),
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
    lambda grad, x, scale: (
        torch.empty_like(x),
        torch.empty_like(scale),
        torch.empty_like(scale),
    ),
)
def _scale_and_shift_gradient(grad, x, scale):
    return grad * scale, _column_dots(grad, x), grad.sum(0)


def covariance(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean (H, K) and population covariance (H, K, K) over the rows of x (N, H, K)."""
    mean, deviations = centred(x)
    deviations = deviations.transpose(0, 1)
    return mean, deviations.mT @ deviations / max(len(x), 1)


def standardise(x: Tensor, eta: float, center: bool = False) -> Tensor:
    """S3 of x (N, ...): eta x / std(x), the mean kept, or with `center` taken out first."""
    if center:
        mean = exact(x).sum(0) / max(len(x), 1)
        # Columns that do not vary become 0.
        factor, *_ = column_factor(x, eta, torch.zeros_like(mean))
        return ((x - mean) * factor).to(x.dtype)
    factor, *_ = column_factor(x, eta)
    return (x * factor).to(x.dtype)


def rounding(mean: Tensor, summed: Tensor | None = None) -> Tensor:
    """The variance that rounding may give columns of that mean.

    With `summed`, 1 / std of columns or 0, it is that of their sums over neighbours. It is
    no smaller than float32 has all digits of squares for: a deviation of 3e-16.
    """
    errors = ROUNDING
    if summed is not None:
        errors = torch.where(summed > 0, float(SUMMED_VARIED), float(SUMMED))
    type_ = torch.finfo(mean.dtype)
    variance = (errors * type_.eps * mean.detach()).square()
    return variance.clamp_min(type_.tiny / type_.eps)


def inverse_deviation(
    variance: Tensor, least: Tensor, otherwise: Tensor | float = 1.0
) -> Tensor:
    """1 / std of columns of a variance above `least`; the others do not vary, and are
    divided by 1.

    So does scikit-learn's StandardScaler. Rounding errors would be scaled to a deviation
    of 1 instead, and with them the mean.
    """
    constant = variance <= least
    # Not `rsqrt`, whose gradient has a third power, which could overflow.
    deviation = variance.masked_fill(constant, 1.0).sqrt()
    return torch.where(constant, otherwise, deviation.reciprocal())


@dataclass(frozen=True)
class Features:
    """Features (N, H, C) as a product, scale * (values @ weight^T), whose factors can be worked on one by one.

    A weighted sum over neighbours acts on `values`, S3 on `scale`, and neither needs the product. So a layer that
    widens its input sums the narrow features; one that doesn't starts with `values` that are transformed already.

    Attributes:
        values: (N, H, K), or (N, K) where all heads have the same ones.
        weight: (H, C, K), or None where K is C and nothing is to be multiplied.
        scale: (H, C) factors of the columns, or None.
        summed: (H, C) 1 / std of the columns when S3 last scaled them, 0 of those that did
            not vary; None before.
        shift: (H, C) numbers to add after all, or None. Columns of Z that do not vary have
            their mean there and a scale of 0: the next layer would scale their rounding.
    """

    values: Tensor
    weight: Tensor | None = None
    scale: Tensor | None = None
    summed: Tensor | None = None
    shift: Tensor | None = None

    def dot(self, vectors: Tensor) -> Tensor:
        """(k, H, N) products of every node's features with vectors (k, H, C)."""
        if self.shift is not None:
            added = (vectors * self.shift).sum(2)[:, :, None]
            return replace(self, shift=None).dot(vectors) + added
        if self.scale is not None:
            vectors = vectors * self.scale
        if self.weight is not None:
            vectors = torch.einsum("khc,hcf->khf", vectors, self.weight)
        if self.values.dim() == 2:
            return (
                (self.values @ vectors.flatten(0, 1).t())
                .t()
                .view(*vectors.shape[:2], -1)
            )
        if self.values.size(1) == 1:
            return (self.values.flatten(1) @ vectors.flatten(1).t()).t()[:, None]
        return torch.einsum("khf,nhf->khn", vectors, self.values)

    def standardised(self, eta: float) -> "Features":
        """S3, the mean kept. A scale that there was cancels where the column varies."""
        if self.weight is None:
            return self._scaled(
                *column_factor(self.values, eta, self.scale, self.summed)
            )
        x = self.values

        def moments(x: Tensor) -> tuple[Tensor, Tensor]:
            return covariance(x if x.dim() == 3 else x[:, None])

        recorded = (
            x.is_cuda and torch.cuda.is_current_stream_capturing()
        )  # to be replayed on other features
        mean, cov = moments(x) if recorded else kept(_covariances, x, moments)
        return self._scaled(
            *matrix_factor(exact(self.weight), mean, cov, eta, self.scale, self.summed)
        )

    def _scaled(self, scale: Tensor, inverse: Tensor, mean: Tensor) -> "Features":
        """With a scale; sums of what does not vary become their mean."""
        shift = None
        if self.summed is not None:
            constant = inverse == 0
            shift = torch.where(constant, mean * scale, 0.0).to(self.values.dtype)
            scale = scale.masked_fill(constant, 0.0)
        scale = scale.to(self.values.dtype)
        return replace(self, scale=scale, summed=inverse, shift=shift)

    def multiplied(self) -> Tensor:
        """(N, H, C) values @ weight^T, without the scale."""
        if self.weight is None:
            return self.values
        return linear(self.values, self.weight.flatten(0, 1)).view(
            -1, *self.weight.shape[:2]
        )

    def centred(self, eta: float) -> "Features":
        """S3, the mean taken out first, which multiplies everything out."""
        return Features(standardise(self.multiplied(), eta, center=True))

    def scaled_weight(self) -> Tensor:
        """(H, C, K) the weight times the scale, if any."""
        return (
            self.weight if self.scale is None else self.weight * self.scale[:, :, None]
        )

    def averaged(self) -> "Features":
        """(N, 1, C) the mean over the heads, where each head has its own values."""
        heads = self.values.size(1)
        summed, shift = self.summed, self.shift
        if summed is not None:  # a mean varies where one of its terms does
            summed = summed.amax(0, keepdim=True)
        if shift is not None:
            shift = shift.mean(0, keepdim=True)
        if self.weight is None:
            values = self.values if self.scale is None else self.values * self.scale
            values = values.mean(1, keepdim=True)
            return Features(values, summed=summed, shift=shift)
        values = self.values.flatten(1)[:, None]
        weight = self.scaled_weight().transpose(0, 1).flatten(1)[None]
        return Features(values, weight / heads, summed=summed, shift=shift)

    def dense(self, bias: Tensor | None = None) -> Tensor:
        """(N, H * C) the features multiplied out, plus bias (H * C,), if any.

        Each head has its own values.
        """
        if self.shift is not None:
            shift = self.shift.flatten()
            bias = shift if bias is None else bias + shift
        if self.weight is None:
            values = self.values.flatten(1)
            if self.scale is None:
                return values if bias is None else values + bias
            scale = self.scale.flatten()
            return (
                values * scale if bias is None else scale_and_shift(values, scale, bias)
            )
        weight = self.scaled_weight()
        if (
            len(weight) == 1
        ):  # without a select, whose gradient is an array of zeros and a copy
            return linear(self.values.flatten(1), weight.flatten(0, 1), bias)
        parts = [None] * len(weight) if bias is None else bias.view(len(weight), -1)
        return torch.cat(
            [
                linear(self.values[:, h], weight[h], parts[h])
                for h in range(len(weight))
            ],
            1,
        )
