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

ROUNDING = 100  # a column that deviates from its mean by fewer rounding errors than that does not vary

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
    """Mean and population variance over the rows of x (N, ...). `torch.var_mean` takes ten times as long."""
    x = exact(x)
    mean = x.sum(0) / max(len(x), 1)
    return mean, (x - _held(mean)).square().sum(0) / max(len(x), 1)


def _held(mean: Tensor) -> Tensor:
    """The mean as a constant, which saves time where there are no second derivatives: the gradient by it is 0."""
    return mean.detach() if fused(mean) else mean


def column_factor(x: Tensor, eta: float, otherwise: Tensor | None = None) -> Tensor:
    """(...) eta / std of the columns of x (N, ...), and eta * `otherwise` (1 if None) of those that do not vary."""
    if fused(x) and (
        x.dim() > 1 or x.is_cuda
    ):  # on the CPU plain PyTorch is as fast for one column
        flat = None if otherwise is None else exact(otherwise).flatten()
        factor, _, _ = torch.ops.fairgat.column_factor(
            x.flatten(1) if x.dim() > 1 else x[:, None], flat, eta
        )
        return factor.view(x.shape[1:])
    mean, variance = moments(x)
    return eta * inverse_deviation(
        variance, rounding(mean), 1.0 if otherwise is None else otherwise
    )


def matrix_factor(
    weight: Tensor,
    mean: Tensor,
    cov: Tensor,
    eta: float,
    otherwise: Tensor | None = None,
) -> Tensor:
    """(H, C) `column_factor` of x @ weight^T, from the mean (H, K) and the covariance (H, K, K) of x (N, H, K)."""
    if weight.is_cuda and fused(weight, cov):
        return torch.ops.fairgat.matrix_factor(weight, mean, cov, otherwise, eta)[0]
    with torch.no_grad():  # the products that are added up have rounding errors, too
        least = rounding(mean) + 4 * torch.finfo(cov.dtype).eps * cov.diagonal(
            dim1=-2, dim2=-1
        )
        least = (weight.square() @ least[:, :, None]).squeeze(-1)
    variance = (weight @ cov * weight).sum(-1)
    return eta * inverse_deviation(
        variance, least, 1.0 if otherwise is None else otherwise
    )


def scale_and_shift(x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """x * scale + bias for x (N, F)."""
    if fused(x, scale, bias):
        return torch.ops.fairgat.scale_and_shift(x, scale, bias)
    return torch.addcmul(bias, x, scale)


# The same as operators, without arrays of size N x F on the way, which saved a tenth of FairGAT's epoch.


def _column_dots(a: Tensor, b: Tensor, shift: Tensor | None = None) -> Tensor:
    """(F,) sums over the rows of (a - shift) (b - shift), for a and b (N, F)."""
    shift = a.new_zeros(a.size(1)) if shift is None else shift
    sums = a.new_empty(kernels.PARTS, a.size(1))
    given = [each.contiguous().numpy() for each in (a, shift, b, shift)]
    launch(kernels.column_dots, *given, sums.numpy())
    return sums.sum(0)


def _factor_setup(ctx, inputs, output):
    x, _, ctx.eta = inputs
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(x, *output[1:])


def _factor_backward(ctx, grad, *_):
    grads = torch.ops.fairgat.column_factor_backward(grad, *ctx.saved_tensors, ctx.eta)
    return *(
        each if needed else None
        for each, needed in zip(grads, ctx.needs_input_grad, strict=False)
    ), None


@operator(
    "column_factor(Tensor x[N F], Tensor? otherwise[F], float eta)"
    " -> (Tensor factor, Tensor mean, Tensor inverse)",
    lambda x, *_: tuple(x.new_empty(x.size(1), dtype=torch.float32) for _ in range(3)),
    _factor_backward,
    _factor_setup,
)
def _column_factor(x, otherwise, eta):
    mean = x.sum(0) / max(len(x), 1)
    variance, least = _column_dots(x, x, mean) / max(len(x), 1), rounding(mean)
    factor = eta * inverse_deviation(
        variance, least, 1.0 if otherwise is None else otherwise
    )
    return factor, mean, inverse_deviation(variance, least, 0.0)


@operator(
    "column_factor_backward(Tensor grad[F], Tensor x[N F], Tensor mean[F],"
    " Tensor inverse[F], float eta) -> (Tensor, Tensor)",
    lambda grad, x, *_: (torch.empty_like(x), torch.empty_like(grad)),
)
def _column_factor_gradient(grad, x, mean, inverse, eta):
    grad = grad * eta
    slope = -0.5 * grad * inverse.pow(3) * (2 / max(len(x), 1))
    return torch.addcmul(-mean * slope, x, slope), grad.masked_fill(inverse > 0, 0)


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
    x = exact(x)
    mean = x.sum(0) / max(len(x), 1)
    centred = (x - _held(mean)).transpose(0, 1)
    return mean, centred.mT @ centred / max(len(x), 1)


def standardise(x: Tensor, eta: float, center: bool = False) -> Tensor:
    """S3 of x (N, ...): eta x / std(x), the mean kept, or with `center` taken out first."""
    if center:
        mean = exact(x).sum(0) / max(len(x), 1)
        factor = column_factor(
            x, eta, torch.zeros_like(mean)
        )  # centred constants are 0
        return ((x - mean) * factor).to(x.dtype)
    return (x * column_factor(x, eta)).to(x.dtype)


def rounding(mean: Tensor) -> Tensor:
    """The variance that rounding may give columns of that mean."""
    return (ROUNDING * torch.finfo(mean.dtype).eps * mean.detach()).square()


def inverse_deviation(
    variance: Tensor, least: Tensor, otherwise: Tensor | float = 1.0
) -> Tensor:
    """1 / std of columns of a variance above `least`; the others do not vary, and are divided by 1.

    So does scikit-learn's StandardScaler. Rounding errors would be scaled to a deviation of 1 instead, and with them
    the mean.
    """
    constant = variance <= least
    return torch.where(constant, otherwise, variance.masked_fill(constant, 1.0).rsqrt())


@dataclass(frozen=True)
class Features:
    """Features (N, H, C) as a product, scale * (values @ weight^T), whose factors can be worked on one by one.

    A weighted sum over neighbours acts on `values`, S3 on `scale`, and neither needs the product. So a layer that
    widens its input sums the narrow features; one that doesn't starts with `values` that are transformed already.

    Attributes:
        values: (N, H, K), or (N, K) where all heads have the same ones.
        weight: (H, C, K), or None where K is C and nothing is to be multiplied.
        scale: (H, C) factors of the columns, or None.
    """

    values: Tensor
    weight: Tensor | None = None
    scale: Tensor | None = None

    def dot(self, vectors: Tensor) -> Tensor:
        """(k, H, N) products of every node's features with vectors (k, H, C)."""
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
            scale = column_factor(self.values, eta, self.scale)
            return replace(self, scale=scale.to(self.values.dtype))
        x = self.values

        def moments(x: Tensor) -> tuple[Tensor, Tensor]:
            return covariance(x if x.dim() == 3 else x[:, None])

        recorded = (
            x.is_cuda and torch.cuda.is_current_stream_capturing()
        )  # to be replayed on other features
        mean, cov = moments(x) if recorded else kept(_covariances, x, moments)
        scale = matrix_factor(exact(self.weight), mean, cov, eta, self.scale)
        return replace(self, scale=scale.to(self.weight.dtype))

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
        if self.weight is None:
            values = self.values if self.scale is None else self.values * self.scale
            return Features(values.mean(1, keepdim=True))
        weight = self.scaled_weight()
        return Features(
            self.values.flatten(1)[:, None],
            weight.transpose(0, 1).flatten(1)[None] / heads,
        )

    def dense(self, bias: Tensor | None = None) -> Tensor:
        """(N, H * C) the features multiplied out, plus bias (H * C,), if any; where each head has its own values."""
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
