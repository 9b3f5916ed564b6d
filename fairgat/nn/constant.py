"""What a layer need not compute anew where its input needs no gradient, as a network's features do not.

Products with features that are mostly zeros, as bags of words are, read the others alone. These, and the covariance of
any features, are found once and kept for as long as the tensor lives and is not written to.
"""

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from fairgat.nn.arrays import array, like, served
from fairgat.nn.cache import kept
from fairgat.nn.covariance import covariance
from fairgat.nn.deviation import scaled_weight, weight_to_deviation, weight_to_deviation_backward
from fairgat.nn.linear import linear, transposed_product
from fairgat.nn.operator import fake, gradient, operator
from fairgat.nn.parallel import over_rows

try:
    from fairgat.nn import kernels
except ImportError:  # Numba is not there, or does not know this Python
    kernels = None

_DENSE = 0.2  # share of non-zeros from which the dense product is as fast
_SAMPLE = 64  # rows that are looked at first: an activation in evaluation is new at every call

_nonzeros_of, _covariance_of = WeakTensorKeyDictionary(), WeakTensorKeyDictionary()

_Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # of a sparse (n, k): offsets (n + 1,), columns (m,), values (1, m)


def features_linear(x: Tensor, weight: Tensor) -> Tensor:
    """x W^T (n, m) for x (n, k) and weight (m, k), as `linear`.

    Where x needs no gradient and is wider than the product, and is mostly zeros, these cost nothing.
    """
    narrows = x.size(1) == weight.size(1) > weight.size(0)
    if _changes(x) or not narrows or x.dtype != weight.dtype or not served(kernels, x):
        return linear(x, weight)
    return constant_linear(x, weight)


def _changes(x: Tensor) -> bool:
    """Whether x may hold other numbers at the next call: compiled code writes to its buffers without counting."""
    return x.requires_grad or torch.compiler.is_compiling()


@operator
def constant_linear(x: Tensor, weight: Tensor) -> Tensor:
    """The operator behind `features_linear`; there is no gradient of x."""
    found = kept(_nonzeros_of, x, _nonzeros)
    return linear(x, weight) if found is None else _times(found[0], weight.t())


@fake(constant_linear)
def _(x, weight):
    return x.new_empty(x.size(0), weight.size(0))


@operator
def constant_linear_backward(grad: Tensor, x: Tensor) -> Tensor:
    """Gradient of the weight (m, k)."""
    found = kept(_nonzeros_of, x, _nonzeros)
    return transposed_product(grad, x) if found is None else _times(found[1], grad).t().contiguous()


@fake(constant_linear_backward)
def _(grad, x):
    return x.new_empty(grad.size(1), x.size(1))


def _setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def _backward(ctx, grad):
    return None, constant_linear_backward(grad, *ctx.saved_tensors)


gradient(constant_linear, _backward, _setup)


def features_scaled_weight(x: Tensor, weight: Tensor, eta: float) -> Tensor:
    """Weight (H, C, F) scaled so that every column of x W^T deviates by eta, for x (N, F); see `scaled_weight`.

    Where x needs no gradient, its covariance is found once.
    """
    if _changes(x) or x.dtype != weight.dtype:
        return scaled_weight(weight, _covariance(x), eta)
    return constant_scaled_weight(x, weight, eta)[0]


@operator
def constant_scaled_weight(x: Tensor, weight: Tensor, eta: float) -> tuple[Tensor, Tensor, Tensor]:
    """The operator behind `features_scaled_weight`, as `weight_to_deviation`; there is no gradient of x."""
    return weight_to_deviation.function(weight, kept(_covariance_of, x, _covariance), eta)


@fake(constant_scaled_weight)
def _(x, weight, eta):
    return like(weight), like(weight), weight.new_empty(weight.shape[:2])


@operator
def constant_scaled_weight_backward(
    grad: Tensor, x: Tensor, weight: Tensor, product: Tensor, variance: Tensor, eta: float
) -> Tensor:
    """Gradient of the weight."""
    found = kept(_covariance_of, x, _covariance)
    return weight_to_deviation_backward.function(grad, weight, found, product, variance, eta, False)[0]


@fake(constant_scaled_weight_backward)
def _(grad, *_):
    return like(grad)


def _scaled_setup(ctx, inputs, output):
    x, weight, ctx.eta = inputs
    ctx.save_for_backward(x, weight, *output[1:])
    ctx.mark_non_differentiable(*output[1:])


def _scaled_backward(ctx, grad, *_):
    return None, constant_scaled_weight_backward(grad, *ctx.saved_tensors, ctx.eta), None


gradient(constant_scaled_weight, _scaled_backward, _scaled_setup)


def _covariance(x: Tensor) -> Tensor:
    """(1, F, F)."""
    return covariance(x[:, None, :])[0]


def _times(rows: _Rows, matrix: Tensor) -> Tensor:
    """A sparse matrix (n, k) times a dense one (k, m): what attention does, with the values as coefficients."""
    offsets, column, value = rows
    out = matrix.new_empty(len(offsets) - 1, 1, matrix.size(1))
    dense = array(matrix)[:, None, :]
    over_rows(kernels.aggregate, offsets, matrix.size(1), offsets, column, None, dense, value, out.numpy())
    return out[:, 0]


def _nonzeros(x: Tensor) -> tuple[_Rows, _Rows] | None:
    """The non-zeros of x and of its transpose; None where there are too many, or where they could not be kept."""
    sample = x[:: max(1, len(x) // _SAMPLE)]
    if x.is_inference() or any(part.count_nonzero() > _DENSE * part.numel() for part in (sample, x)):
        return None
    matrix = csr_matrix(x.detach().numpy())
    return _by_rows(matrix), _by_rows(matrix.T.tocsr())


def _by_rows(matrix: csr_matrix) -> _Rows:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), matrix.data[None]
