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
from fairgat.nn.attention import fused, operator
from fairgat.nn.cache import kept
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
        with torch.no_grad():
            u, v = leading_vectors(weight)
        sigma = u @ (weight @ v)
        return weight / sigma.clamp_min(torch.finfo(weight.dtype).tiny)


def leading_vectors(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Singular vectors (C,) and (F,) of the largest singular value: an eigenvector of the smaller Gram matrix."""
    wide, precise = weight.size(0) < weight.size(1), exact(weight)
    gram = precise @ precise.t() if wide else precise.t() @ precise
    vector = torch.linalg.eigh(gram.nan_to_num(0, 0, 0)).eigenvectors[:, -1].to(weight.dtype)
    other = nn.functional.normalize(weight.t() @ vector if wide else weight @ vector, dim=0, eps=0)
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
    if fused(x) and x.dim() > 1:
        return mean, torch.ops.fairgat.column_variance(x.flatten(1), mean.detach().flatten()).view(mean.shape)
    return mean, (x - _held(mean)).square().sum(0) / max(len(x), 1)


def _held(mean: Tensor) -> Tensor:
    """The mean as a constant, which saves time where there are no second derivatives: the gradient by it is 0."""
    return mean.detach() if fused(mean) else mean


def scale_and_shift(x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """x * scale + bias for x (N, F)."""
    if fused(x, scale, bias):
        return torch.ops.fairgat.scale_and_shift(x, scale, bias)
    return torch.addcmul(bias, x, scale)


# The same as operators, without arrays of size N x F on the way, which saved a tenth of FairGAT's epoch.


@operator("column_dots(Tensor a, Tensor b) -> Tensor", lambda a, b: a.new_empty(a.size(1)))
def _column_dots(a: Tensor, b: Tensor, shift: Tensor | None = None) -> Tensor:
    """(F,) sums over the rows of (a - shift) (b - shift), for a and b (N, F)."""
    shift = a.new_zeros(a.size(1)) if shift is None else shift
    sums = a.new_empty(kernels.PARTS, a.size(1))
    given = [each.contiguous().numpy() for each in (a, shift, b, shift)]
    launch(kernels.column_dots, *given, sums.numpy())
    return sums.sum(0)


def _variance_backward(ctx, grad):
    x, mean = ctx.saved_tensors
    slope = grad * (2 / max(len(x), 1))
    return torch.addcmul(-mean * slope, x, slope), None


@operator(
    "column_variance(Tensor x, Tensor mean) -> Tensor",
    lambda x, mean: torch.empty_like(mean),
    _variance_backward,
    lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)
def _variance(x, mean):
    return _column_dots(x, x, mean) / max(len(x), 1)


def _shift_backward(ctx, grad):
    x, scale = ctx.saved_tensors
    return grad * scale, torch.ops.fairgat.column_dots(grad, x), grad.sum(0)


@operator(
    "scale_and_shift(Tensor x, Tensor scale, Tensor bias) -> Tensor",
    lambda x, scale, bias: torch.empty_like(x),
    _shift_backward,
    lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:2]),
)
def _scale_and_shift(x, scale, bias):
    return torch.addcmul(bias, x, scale)


def covariance(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean (H, K) and population covariance (H, K, K) over the rows of x (N, H, K)."""
    x = exact(x)
    mean = x.sum(0) / max(len(x), 1)
    centred = (x - _held(mean)).transpose(0, 1)
    return mean, centred.mT @ centred / max(len(x), 1)


def standardise(x: Tensor, eta: float, center: bool = False) -> Tensor:
    """S3 of x (N, ...): eta x / std(x), the mean kept, or with `center` taken out first."""
    mean, variance = moments(x)
    factor = inverse_deviation(variance, rounding(mean), 0.0 if center else 1.0)  # centred constants: 0
    return ((x - mean if center else x) * (eta * factor)).to(x.dtype)


def rounding(mean: Tensor) -> Tensor:
    """The variance that rounding may give columns of that mean."""
    return (ROUNDING * torch.finfo(mean.dtype).eps * mean.detach()).square()


def inverse_deviation(variance: Tensor, least: Tensor, otherwise: Tensor | float = 1.0) -> Tensor:
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
            return (self.values @ vectors.flatten(0, 1).t()).t().view(*vectors.shape[:2], -1)
        if self.values.size(1) == 1:
            return (self.values.flatten(1) @ vectors.flatten(1).t()).t()[:, None]
        return torch.einsum("khf,nhf->khn", vectors, self.values)

    def variance(self) -> tuple[Tensor, Tensor]:
        """(H, C) population variance of the columns without `scale`, and the part of it that may be rounding."""
        if self.weight is None:
            mean, variance = moments(self.values)
            return variance, rounding(mean)
        mean, cov = kept(_covariances, self.values, lambda x: covariance(x if x.dim() == 3 else x[:, None]))
        weight = exact(self.weight)
        with torch.no_grad():  # the products that are added up have rounding errors, too
            least = rounding(mean) + 4 * torch.finfo(cov.dtype).eps * cov.diagonal(dim1=-2, dim2=-1)
            least = (weight.square() @ least[:, :, None]).squeeze(-1)
        return (weight @ cov * weight).sum(-1), least

    def standardised(self, eta: float) -> "Features":
        """S3, the mean kept. A scale that there was cancels where the column varies."""
        scale = 1.0 if self.scale is None else self.scale
        own = self.values if self.weight is None else self.weight
        return replace(self, scale=(eta * inverse_deviation(*self.variance(), scale)).to(own.dtype))

    def centred(self, eta: float) -> "Features":
        """S3, the mean taken out first, which multiplies everything out; for values of C, not yet summed up."""
        values = self.values
        if self.weight is not None:
            values = linear(values, self.weight.flatten(0, 1)).view(-1, *self.weight.shape[:2])
        return Features(standardise(values, eta, center=True))

    def averaged(self) -> "Features":
        """(N, 1, C) the mean over the heads, where each head has its own values."""
        heads = self.values.size(1)
        if self.weight is None:
            values = self.values if self.scale is None else self.values * self.scale
            return Features(values.mean(1, keepdim=True))
        weight = self.weight if self.scale is None else self.weight * self.scale[..., None]
        return Features(self.values.flatten(1)[:, None], weight.transpose(0, 1).flatten(1)[None] / heads)

    def dense(self, bias: Tensor | None = None) -> Tensor:
        """(N, H * C) the features multiplied out, plus bias (H * C,), if any; where each head has its own values."""
        if self.weight is None:
            values = self.values.flatten(1)
            if self.scale is None:
                return values if bias is None else values + bias
            scale = self.scale.flatten()
            return values * scale if bias is None else scale_and_shift(values, scale, bias)
        weight = self.weight if self.scale is None else self.weight * self.scale[..., None]
        if len(weight) == 1:  # without a select, whose gradient is an array of zeros and a copy
            return linear(self.values.flatten(1), weight.flatten(0, 1), bias)
        parts = [None] * len(weight) if bias is None else bias.view(len(weight), -1)
        return torch.cat([linear(self.values[:, h], weight[h], parts[h]) for h in range(len(weight))], 1)
