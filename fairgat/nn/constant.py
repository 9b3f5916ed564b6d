"""What a layer need not compute anew where its input needs no gradient, as a network's features do not.

Products with features that are mostly zeros, as bags of words are, read the others alone. These, and the covariance of
any features, are found once and kept for as long as the tensor lives and is not written to.
"""

from dataclasses import dataclass

import numpy as np
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from fairgat.nn.arrays import array, served
from fairgat.nn.linear import linear
from fairgat.nn.operator import fake, gradient, operator
from fairgat.nn.parallel import over_rows
from fairgat.nn.scaling import covariance

try:
    from fairgat.nn import kernels
except ImportError:  # Numba is not there, or does not know this Python
    kernels = None

_DENSE = 0.2  # share of non-zeros from which the dense product is as fast
_SAMPLE = 64  # rows that are looked at first: an activation in evaluation is new at every call

_nonzeros_of, _covariance_of = WeakTensorKeyDictionary(), WeakTensorKeyDictionary()


@dataclass(frozen=True, eq=False)
class _NonZeros:
    """A matrix (n, k) by rows: offsets (n + 1,) int64, columns and values (1, m); and its transpose likewise."""

    version: int
    rows: tuple[np.ndarray, np.ndarray, np.ndarray]
    columns: tuple[np.ndarray, np.ndarray, np.ndarray]


def features_linear(x: Tensor, weight: Tensor) -> Tensor:
    """x W^T (n, m) for x (n, k) and weight (m, k), as `linear`.

    Where x needs no gradient and is wider than the product, and is mostly zeros, these cost nothing.
    """
    narrows = x.size(1) == weight.size(1) > weight.size(0)
    if x.requires_grad or not narrows or x.dtype != weight.dtype or not served(kernels, x):
        return linear(x, weight)
    return constant_linear(x, weight)


@operator
def constant_linear(x: Tensor, weight: Tensor) -> Tensor:
    """The operator behind `features_linear`; there is no gradient of x."""
    nonzeros = _nonzeros(x)
    if nonzeros is None:
        return linear(x, weight)
    return _times(nonzeros.rows, weight.t())


@fake(constant_linear)
def _(x, weight):
    return x.new_empty(x.size(0), weight.size(0))


@operator
def constant_linear_backward(grad: Tensor, x: Tensor) -> Tensor:
    """Gradient of the weight (m, k)."""
    nonzeros = _nonzeros(x)
    if nonzeros is None:
        return grad.t() @ x
    return _times(nonzeros.columns, grad).t().contiguous()


@fake(constant_linear_backward)
def _(grad, x):
    return x.new_empty(grad.size(1), x.size(1))


def _setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def _backward(ctx, grad):
    return None, constant_linear_backward(grad, *ctx.saved_tensors)


gradient(constant_linear, _backward, _setup)


def features_covariance(x: Tensor) -> Tensor:
    """Population covariance (1, F, F) over the rows of x (N, F)."""
    return covariance(x[:, None, :])[0] if x.requires_grad else constant_covariance(x)


@operator
def constant_covariance(x: Tensor) -> Tensor:
    """The operator behind `features_covariance`; it has no gradient."""
    if x.is_inference():  # nobody counts writes to it
        return covariance(x[:, None, :])[0]
    version, kept = _covariance_of.get(x, (None, None))
    if version != x._version:
        kept = covariance(x[:, None, :])[0]
        _covariance_of[x] = x._version, kept
    return kept.clone()


@fake(constant_covariance)
def _(x):
    return x.new_empty(1, x.size(1), x.size(1))


def _times(rows: tuple[np.ndarray, np.ndarray, np.ndarray], matrix: Tensor) -> Tensor:
    """A sparse matrix (n, k) times a dense one (k, m): what attention does, with the values as coefficients."""
    offsets, column, value = rows
    out = matrix.new_empty(len(offsets) - 1, 1, matrix.size(1))
    dense = array(matrix)[:, None, :]
    over_rows(kernels.aggregate, offsets, matrix.size(1), offsets, column, None, dense, value, out.numpy())
    return out[:, 0]


def _nonzeros(x: Tensor) -> _NonZeros | None:
    """The non-zeros of x, or None where there are too many of them."""
    if x.is_inference() or not x.numel():  # nobody counts writes to the former
        return None
    found = _nonzeros_of.get(x)
    if found is None or found.version != x._version:
        _nonzeros_of.pop(x, None)
        sample = x[:: max(1, len(x) // _SAMPLE)]
        if sample.count_nonzero() > _DENSE * sample.numel() or x.count_nonzero() > _DENSE * x.numel():
            return None
        matrix = x.detach().numpy()
        found = _nonzeros_of[x] = _NonZeros(x._version, _by_rows(matrix), _by_rows(matrix.T))
    return found


def _by_rows(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    row, column = matrix.nonzero()
    offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(matrix)))])
    return offsets, column.astype(np.uint32), matrix[row, column][None]
