r"""Steps 2 and 3 of FairGAT, and features as a product that they need not multiply out.

Step 2 divides a weight matrix by its largest singular value. Step 3 brings every column
of an array to a standard deviation of eta. Columns of S W^T have the variance
:math:`w^T \operatorname{cov}(S) w`, so where W widens S, step 3 is a factor of W.

Step 3 undoes any positive factor c of W: f(c W) = f(W). With c = 1 / sigma(W), outputs,
gradients and training are what they are without step 2, which is therefore not computed
where step 3 follows.
"""

import math
from dataclasses import dataclass, replace
from numbers import Real

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.utils.weak import WeakTensorKeyDictionary

from fairgat.nn.batch import Batch, mean_of, of_nodes
from fairgat.nn.cache import cached
from fairgat.nn.columns import (
    column_factor,
    covariance,
    exact,
    matrix_factor,
    scale_and_shift,
)

_covariances = WeakTensorKeyDictionary()


# ------------------------------------------------------------------------------- step 2


def spectrally_normalised(weight: Tensor) -> Tensor:
    """A weight matrix (C, F) divided by its largest singular value, each time exactly.

    `torch.nn.utils.parametrizations.spectral_norm` carries singular vectors over from
    step to step instead, and can follow the second singular value for a long time:
    trained layers were seen at a norm of 1.2. The gradient is its gradient, that of u^T
    W v with u and v held fixed. Autocast does not change its precision. A matrix that
    is not finite gives NaN.
    """
    with torch.autocast(weight.device.type, enabled=False):
        return weight / largest_singular_value(weight)


def largest_singular_value(weight: Tensor) -> Tensor:
    """The largest singular value of a matrix (C, F); above 0, as it is divided by."""
    with torch.no_grad():
        u, v = leading_vectors(weight)
    return (u @ (weight @ v)).clamp_min(torch.finfo(weight.dtype).tiny)


def leading_vectors(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Singular vectors (C,) and (F,) of the largest singular value of a matrix (C, F).

    The shorter one is an eigenvector of the smaller Gram matrix.
    """
    is_wide = weight.size(0) < weight.size(1)
    tall = weight.t() if is_wide else weight
    precise = exact(tall)
    gram = (precise.t() @ precise).nan_to_num(0, 0, 0)
    eigenvectors = torch.linalg.eigh(gram).eigenvectors  # by ascending eigenvalue
    short = eigenvectors[:, -1].to(weight.dtype)
    long = nn.functional.normalize(tall @ short, dim=0, eps=0).nan_to_num(0)
    return (short, long) if is_wide else (long, short)


# ------------------------------------------------------------------------------- step 3


def check_eta(eta: object) -> None:
    """Refuse what is no factor of step 3; None leaves the step out.

    Raises:
        ValueError: it is not positive and finite.
    """
    if eta is None:
        return
    if not isinstance(eta, Real) or not 0 < eta < math.inf:
        raise ValueError(f"eta must be positive and finite, got {eta!r}")


def standardise(
    x: Tensor, eta: float, center: bool = False, batch: Batch | None = None
) -> Tensor:
    """Step 3 of x (N, ...): eta x / std(x), with the std of each column.

    Args:
        center: take the mean out first.
        batch: the graphs, each of which has its own deviations and means.
    """
    if not center:
        factor, *_ = column_factor(x, eta, batch=batch)
        return (x * of_nodes(factor, batch)).to(x.dtype)

    mean = mean_of(exact(x), batch)
    # Columns that do not vary become 0.
    factor, *_ = column_factor(x, eta, torch.zeros_like(mean), batch=batch)
    deviations = x - of_nodes(mean, batch)
    return (deviations * of_nodes(factor, batch)).to(x.dtype)


@dataclass(frozen=True)
class Features:
    """Features (N, H, C) as a product, scale * (values @ weight^T) + shift.

    A weighted sum over neighbours acts on `values`, step 3 on `scale`, and neither
    needs the product. So a layer that widens its input sums the narrow features; one
    that doesn't starts with `values` that are transformed already. In a batch of graphs
    step 3 multiplies out.

    Attributes:
        values: (N, H, K), or (N, K) where all heads have the same ones.
        weight: (H, C, K), or None where K is C and nothing is to be multiplied.
        scale: (H, C) factors of the columns, or None.
        inverse_std: (H, C) 1 / std of the columns when step 3 last scaled them, 0 of
            those that did not vary; (B, H, C) in a batch; None before.
        shift: (H, C) numbers to add after all, or None. Columns of Z that do not vary
            have their mean there and a scale of 0: the next layer would scale their
            rounding.
        batch: the graphs of which step 3 takes the deviations, or None for all as one.
    """

    values: Tensor
    weight: Tensor | None = None
    scale: Tensor | None = None
    inverse_std: Tensor | None = None
    shift: Tensor | None = None
    batch: Batch | None = None

    def dot(self, vectors: Tensor) -> Tensor:
        """(k, H, N) products of every node's features with vectors (k, H, C).

        Shift, scale and weight act on the k vectors, not on the N features.
        """
        if self.shift is not None:
            of_shift = (vectors * self.shift).sum(2)[:, :, None]
            return replace(self, shift=None).dot(vectors) + of_shift
        if self.scale is not None:
            vectors = vectors * self.scale
        if self.weight is not None:
            vectors = torch.einsum("khc,hcf->khf", vectors, self.weight)
        if self.values.dim() == 2:  # of all heads
            products = self.values @ vectors.flatten(0, 1).t()
            return products.t().view(*vectors.shape[:2], -1)
        if self.values.size(1) == 1:  # one head
            products = self.values.flatten(1) @ vectors.flatten(1).t()
            return products.t()[:, None]
        return torch.einsum("khf,nhf->khn", vectors, self.values)

    def standardised(self, eta: float) -> "Features":
        """Bring each column to a standard deviation of eta, its mean with it: step 3.

        An earlier scale is found anew, except for columns that do not vary.
        """
        if self.batch is not None:  # each graph has its own deviations
            return self._standardised_by_graph(eta)
        if self.weight is None:  # from the columns themselves
            factors = column_factor(self.values, eta, self.scale, self.inverse_std)
            return self._scaled(*factors)

        # From the covariance of the values: without the product.
        x = self.values
        # What is recorded for a CUDA graph is replayed on other features.
        is_recorded = x.is_cuda and torch.cuda.is_current_stream_capturing()
        moments = _moments(x) if is_recorded else cached(_covariances, x, _moments)
        weight = exact(self.weight)
        factors = matrix_factor(weight, *moments, eta, self.scale, self.inverse_std)
        return self._scaled(*factors)

    def _standardised_by_graph(self, eta: float) -> "Features":
        """Step 3 in a batch: multiplied out, as each graph has its own factors."""
        x = self.multiplied()
        factors = column_factor(x, eta, None, self.inverse_std, self.batch)
        scaled = self._scaled(*factors)
        values = x * self.batch.of_nodes(scaled.scale)
        if scaled.shift is not None:
            values = values + self.batch.of_nodes(scaled.shift)
        return Features(values, inverse_std=scaled.inverse_std, batch=self.batch)

    def _scaled(self, scale: Tensor, inverse_std: Tensor, mean: Tensor) -> "Features":
        """The features with what `column_factor` gives for their columns."""
        shift = None
        if self.inverse_std is not None:  # these are sums of features scaled before
            is_constant = inverse_std == 0
            shift = torch.where(is_constant, mean * scale, 0.0).to(self.values.dtype)
            scale = scale.masked_fill(is_constant, 0.0)
        scale = scale.to(self.values.dtype)
        return replace(self, scale=scale, inverse_std=inverse_std, shift=shift)

    def multiplied(self) -> Tensor:
        """(N, H, C) values @ weight^T, without the scale."""
        if self.weight is None:
            return self.values
        products = linear(self.values, self.weight.flatten(0, 1))
        return products.view(-1, *self.weight.shape[:2])

    def centred(self, eta: float) -> "Features":
        """Step 3, the mean taken out first, which multiplies everything out."""
        values = standardise(self.multiplied(), eta, center=True, batch=self.batch)
        return Features(values, batch=self.batch)

    def scaled_weight(self) -> Tensor:
        """(H, C, K) the weight times the scale, if any."""
        if self.scale is None:
            return self.weight
        return self.weight * self.scale[:, :, None]

    def averaged(self) -> "Features":
        """(N, 1, C) the mean over the heads, where each head has its own values."""
        heads = self.values.size(1)
        inverse_std, shift = self.inverse_std, self.shift
        if inverse_std is not None:  # a mean varies where one of its terms does
            inverse_std = inverse_std.amax(-2, keepdim=True)
        if shift is not None:
            shift = shift.mean(0, keepdim=True)

        if self.weight is None:
            values = self.values if self.scale is None else self.values * self.scale
            values, weight = values.mean(1, keepdim=True), None
        else:  # the heads' values and weights side by side: one product adds them up
            values = self.values.flatten(1)[:, None]
            weight = self.scaled_weight().transpose(0, 1).flatten(1)[None] / heads
        return Features(
            values, weight, inverse_std=inverse_std, shift=shift, batch=self.batch
        )

    def dense(self, bias: Tensor | None = None) -> Tensor:
        """(N, H * C) the features multiplied out, plus bias (H * C,), if any.

        Each head has its own values.
        """
        if self.shift is not None:
            shift = self.shift.flatten()
            bias = shift if bias is None else bias + shift
        if self.weight is None:
            return self._dense_columns(bias)

        weight = self.scaled_weight()
        # Without a select, whose gradient is an array of zeros and a copy.
        if len(weight) == 1:
            return linear(self.values.flatten(1), weight.flatten(0, 1), bias)
        biases = [None] * len(weight)
        if bias is not None:
            biases = bias.view(len(weight), -1)
        outputs = []
        for head, bias_of_head in enumerate(biases):
            outputs.append(linear(self.values[:, head], weight[head], bias_of_head))
        return torch.cat(outputs, 1)

    def _dense_columns(self, bias: Tensor | None) -> Tensor:
        """`dense` where there is no weight."""
        values = self.values.flatten(1)
        if self.scale is None:
            return values if bias is None else values + bias
        scale = self.scale.flatten()
        return values * scale if bias is None else scale_and_shift(values, scale, bias)


def _moments(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and covariance of values (N, H, K), or (N, K) as those of one head."""
    return covariance(x if x.dim() == 3 else x[:, None])
