"""Numba kernels over the columns of (N, F) features: sums, scaling, and their gradients, in one pass each.

Sums are taken in blocks of `BLOCK` rows, in working precision, and the blocks are added up in float64: exact enough,
vectorised, and the same for any number of threads.
"""

import math

import numpy as np
from numba import njit

from fairgat.nn.parallel import over_range

BLOCK = 256

_jit = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})
_exact = njit(nogil=True, cache=True, error_model="numpy")  # each operation rounded by itself, as PyTorch's are


def deviation(x: np.ndarray, gain: np.ndarray, eta: float, eps: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and population variance (F,) of each column of x (N, F), and S3's `factor`; both are 0 of no rows."""
    shift = x[0] if len(x) else np.zeros_like(gain)  # large means then cost no digits
    return _deviation(_in_blocks(_moments, x, shift), shift, max(len(x), 1), gain, eta, eps)


def affine(x: np.ndarray, factor: np.ndarray, bias: np.ndarray, relu: bool, y: np.ndarray) -> None:
    """y = x * factor + bias, then ReLU where asked."""
    over_range(_affine, len(x), x.shape[1], x, factor, bias, relu, y)


def shift_gradient(grad: np.ndarray, y: np.ndarray, relu: bool, grad_x: np.ndarray) -> np.ndarray:
    """grad_x = grad where y is active; returns its column sums (F,)."""
    return _summed(_shift_gradient, grad, y, relu, grad_x)[0]


def gradient_sums(grad, x, factor, bias, relu: bool) -> np.ndarray:
    """(2, F): column sums (F,) of grad and of grad * x over the places where `affine` is active."""
    return _summed(_gradient_sums, grad, x, factor, bias, relu)


def affine_gradient(grad, x, factor, bias, slope, offset, relu: bool, grad_x: np.ndarray) -> None:
    """grad_x = factor * grad (where `affine` is active) + slope * x + offset."""
    over_range(_affine_gradient, len(x), x.shape[1], grad, x, factor, bias, slope, offset, relu, grad_x)


def active_dot(x, factor, bias, weight, out: np.ndarray) -> None:
    """out[n] = sum of weight * ReLU(x[n] * factor + bias)."""
    over_range(_active_dot, len(x), x.shape[1], x, factor, bias, weight, out)


def active_dot_sums(grad, x, factor, bias) -> np.ndarray:
    """(2, F): sums over n of grad[n], and of grad[n] * x[n], where x[n] * factor + bias > 0."""
    return _summed(_active_dot_sums, x, grad, factor, bias)


@_exact
def active_dot_parameters(sums, factor, bias, weight):
    """Gradients of factor, bias and weight (F,) of `active_dot`, for its `active_dot_sums` (2, F)."""
    total, weighted = sums[0], sums[1]
    return weight * weighted, weight * total, factor * weighted + bias * total


def active_dot_gradient(grad, x, factor, bias, weight, slope, offset, grad_x: np.ndarray) -> None:
    """grad_x[n] = grad[n] * weight * factor where x[n] * factor + bias > 0, + slope * x[n] + offset unless None."""
    over_range(_active_dot_gradient, len(x), x.shape[1], grad, x, factor, bias, weight * factor, slope, offset, grad_x)


def scores(x: np.ndarray, att: np.ndarray, out: np.ndarray) -> None:
    """out[k, h, n] = <att[k, h], x[n, h]> for both k; x may be (N, 1, C), shared by all heads."""
    over_range(_scores, len(x), att[0].size, x, att, out)


def scores_of_scaled(x: np.ndarray, att: np.ndarray, eta: float, eps: float) -> tuple[np.ndarray, ...]:
    """`scores` (2, H, N) of x (N, H, C) as S3 scales it; and its `factor`, mean and variance, (H, C) each."""
    flat, ones = x.reshape(len(x), att[0].size), np.ones_like(att[0])
    mean, variance, gain = (each.reshape(ones.shape) for each in deviation(flat, ones.ravel(), eta, eps))
    out = np.empty_like(x, shape=(*att.shape[:2], len(x)))
    scores(x, att * gain, out)
    return out, gain, mean, variance


def score_sums(grad: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(2, H, C): sums over n of grad[0, h, n] * x[n, h] and of grad[1, h, n] * x[n, h]."""
    return _summed(_score_sums, x, grad)


def add_score_gradient(grad, att, x, slope, offset, grad_x: np.ndarray) -> None:
    """grad_x[n, h] += grad[0, h, n] * att[0, h] + grad[1, h, n] * att[1, h] + slope[h] * x[n, h] + offset[h].

    Where slope and offset are None, the last two terms are not there and x is not read.
    """
    over_range(_add_score_gradient, len(x), x[0].size if len(x) else 0, grad, att, x, slope, offset, grad_x)


def _summed(kernel, first: np.ndarray, *rest) -> np.ndarray:
    """Both sums of a kernel over all blocks, (2, ...)."""
    total = _added_up(_in_blocks(kernel, first, *rest))
    return total.astype(first.dtype).reshape(2, *first.shape[1:])


def _in_blocks(kernel, first: np.ndarray, *rest) -> np.ndarray:
    blocks, each = -(-len(first) // BLOCK), first.shape[1:]
    parts = np.zeros_like(first, shape=(2, blocks, *each))
    over_range(kernel, blocks, BLOCK * math.prod(each), first, *rest, parts)
    return parts.reshape(2, blocks, math.prod(each))


@_jit
def factor(gain: np.ndarray, variance: np.ndarray, eta: float, eps: float) -> np.ndarray:
    """(F,) eta * gain / sqrt(gain^2 * variance + eps)."""
    out = np.empty_like(gain)
    for f in range(gain.size):
        out[f] = eta * gain[f] / np.sqrt(gain[f] * gain[f] * variance[f] + eps)
    return out


@_jit
def through_factor(grad, gain, mean, variance, eta: float, eps: float, rows: int):
    """What the gradient (F,) of `factor` means for x (rows, F), slope * x + offset, and for the gain; (F,) each."""
    slope, offset, grad_gain = np.empty_like(gain), np.empty_like(gain), np.empty_like(gain)
    for f in range(gain.size):
        cube = (gain[f] * gain[f] * variance[f] + eps) ** -1.5
        along = -eta * grad[f] * gain[f] ** 3 * cube / max(rows, 1)  # d factor / d x = along * (x - mean)
        slope[f], offset[f], grad_gain[f] = along, -along * mean[f], grad[f] * eta * eps * cube
    return slope, offset, grad_gain


@_jit
def through_scores(grad, grad_gain, att, gain, mean, variance, eta: float, eps: float, rows: int):
    """For scores of gain * c, gain the `factor` of c (rows, F), whose sums `grad` (2, F) are those of `score_sums`.

    Returns att * gain and the gradient of att, (2, F) each, and the gradient of c through its variance, slope * c +
    offset, (F,) each. `grad_gain` (F,), the gain's own gradient, may be None.
    """
    effective, grad_att = np.empty_like(att), np.empty_like(att)
    slope, offset = np.empty_like(gain), np.empty_like(gain)
    for f in range(gain.size):
        through = grad[0, f] * att[0, f] + grad[1, f] * att[1, f]
        if grad_gain is not None:
            through += grad_gain[f]
        along = -eta * through * (variance[f] + eps) ** -1.5 / max(rows, 1)
        slope[f], offset[f] = along, -along * mean[f]
        for k in range(2):
            effective[k, f], grad_att[k, f] = att[k, f] * gain[f], grad[k, f] * gain[f]
    return effective, grad_att, slope, offset


@_jit
def _added_up(parts):
    sums = np.zeros((2, parts.shape[2]))
    for k in range(2):
        for block in range(parts.shape[1]):
            for f in range(parts.shape[2]):
                sums[k, f] += parts[k, block, f]
    return sums


@_jit
def _deviation(parts, shift, rows, gain, eta, eps):
    mean, variance, sums = np.empty_like(shift), np.empty_like(shift), _added_up(parts)
    for f in range(shift.size):
        beside = sums[0, f] / rows
        mean[f] = beside + shift[f]
        variance[f] = max(sums[1, f] / rows - beside * beside, 0.0)
    return mean, variance, factor(gain, variance, eta, eps)


@_jit
def _moments(begin, end, x, shift, parts):
    for block in range(begin, end):
        total, squares = parts[0, block], parts[1, block]
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(x))):
            row = x[i]
            for f in range(row.size):
                value = row[f] - shift[f]
                total[f] += value
                squares[f] += value * value


@_jit
def _affine(begin, end, x, factor, bias, relu, y):
    zero = x.dtype.type(0)
    for i in range(begin, end):
        row, out = x[i], y[i]
        for f in range(row.size):
            value = row[f] * factor[f] + bias[f]
            out[f] = zero if relu and value < zero else value


@_jit
def _shift_gradient(begin, end, grad, y, relu, grad_x, parts):
    zero = grad.dtype.type(0)
    for block in range(begin, end):
        total = parts[0, block]
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(grad))):
            g_row, y_row, out = grad[i], y[i], grad_x[i]
            for f in range(g_row.size):
                g = zero if relu and y_row[f] <= zero else g_row[f]
                out[f] = g
                total[f] += g


@_jit
def _gradient_sums(begin, end, grad, x, factor, bias, relu, parts):
    zero = x.dtype.type(0)
    for block in range(begin, end):
        total, weighted = parts[0, block], parts[1, block]
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(x))):
            g_row, x_row = grad[i], x[i]
            for f in range(x_row.size):
                g = zero if relu and x_row[f] * factor[f] + bias[f] <= zero else g_row[f]
                total[f] += g
                weighted[f] += g * x_row[f]


@_jit
def _affine_gradient(begin, end, grad, x, factor, bias, slope, offset, relu, grad_x):
    zero = x.dtype.type(0)
    for i in range(begin, end):
        g_row, x_row, out = grad[i], x[i], grad_x[i]
        for f in range(x_row.size):
            g = zero if relu and x_row[f] * factor[f] + bias[f] <= zero else g_row[f]
            out[f] = factor[f] * g + slope[f] * x_row[f] + offset[f]


@_jit
def _active_dot(begin, end, x, factor, bias, weight, out):
    zero = x.dtype.type(0)
    for i in range(begin, end):
        row, total = x[i], zero
        for f in range(row.size):
            value = row[f] * factor[f] + bias[f]
            total += (zero if value < zero else value) * weight[f]  # NaN stays
        out[i] = total


@_jit
def _active_dot_sums(begin, end, x, grad, factor, bias, parts):
    zero = x.dtype.type(0)
    for block in range(begin, end):
        total, weighted = parts[0, block], parts[1, block]
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(x))):
            row, whole = x[i], grad[i]
            if whole == zero:  # a node without loss
                continue
            for f in range(row.size):
                value = row[f]
                g = zero if value * factor[f] + bias[f] <= zero else whole
                total[f] += g
                weighted[f] += g * value


@_jit
def _active_dot_gradient(begin, end, grad, x, factor, bias, weight, slope, offset, grad_x):
    zero = x.dtype.type(0)
    for i in range(begin, end):
        row, out, whole = x[i], grad_x[i], grad[i]
        if slope is not None:
            for f in range(row.size):
                value = row[f]
                g = zero if value * factor[f] + bias[f] <= zero else whole
                out[f] = g * weight[f] + (slope[f] * value + offset[f])
        elif whole == zero:  # a node without loss
            for f in range(row.size):
                out[f] = zero
        else:
            for f in range(row.size):
                g = zero if row[f] * factor[f] + bias[f] <= zero else whole
                out[f] = g * weight[f]


@_jit
def _scores(begin, end, x, att, out):
    for i in range(begin, end):
        for h in range(att.shape[1]):
            row, a_source, a_target = x[i, h if x.shape[1] > 1 else 0], att[0, h], att[1, h]
            source = target = x.dtype.type(0)
            for f in range(row.size):
                source += a_source[f] * row[f]
                target += a_target[f] * row[f]
            out[0, h, i], out[1, h, i] = source, target


@_jit
def _score_sums(begin, end, x, grad, parts):
    for block in range(begin, end):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, len(x))):
            for h in range(x.shape[1]):
                source, target = grad[0, h, i], grad[1, h, i]
                row, s_sums, t_sums = x[i, h], parts[0, block, h], parts[1, block, h]
                for f in range(row.size):
                    s_sums[f] += source * row[f]
                    t_sums[f] += target * row[f]


@_jit
def _add_score_gradient(begin, end, grad, att, x, slope, offset, grad_x):
    for i in range(begin, end):
        for h in range(att.shape[1]):
            source, target = grad[0, h, i], grad[1, h, i]
            a_source, a_target = att[0, h], att[1, h]
            row, out = x[i, h], grad_x[i, h]
            if slope is None:
                for f in range(row.size):
                    out[f] += source * a_source[f] + target * a_target[f]
            else:
                s_row, o_row = slope[h], offset[h]
                for f in range(row.size):
                    out[f] += source * a_source[f] + target * a_target[f] + (s_row[f] * row[f] + o_row[f])
