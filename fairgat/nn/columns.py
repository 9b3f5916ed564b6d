"""Numba kernels over the columns of (N, F) features: sums, scaling, and their gradients, in one pass each.

Sums are taken in blocks of `BLOCK` rows, in working precision, and the blocks are added up in float64: exact enough,
vectorised, and the same for any number of threads.
"""

import numpy as np
from numba import njit

from fairgat.nn.parallel import over_range

BLOCK = 256

_jit = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})


def moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and population variance (F,) of each column of x (N, F), in float64."""
    rows = len(x)
    if not rows:
        return np.zeros(x.shape[1]), np.zeros(x.shape[1])
    total, squares = _summed(_moments, x, x[0].copy())  # shifted by a row: large means then cost no digits
    mean = total / rows
    return mean + x[0], np.maximum(squares / rows - mean * mean, 0.0)


def affine(x: np.ndarray, factor: np.ndarray, bias: np.ndarray, relu: bool, y: np.ndarray) -> None:
    """y = x * factor + bias, then ReLU where asked."""
    over_range(_affine, len(x), x.shape[1], x, factor, bias, relu, y)


def shift_gradient(grad: np.ndarray, y: np.ndarray, relu: bool, grad_x: np.ndarray) -> np.ndarray:
    """grad_x = grad where y is active; returns its column sums (F,) in float64."""
    return _summed(_shift_gradient, grad, y, relu, grad_x)[0]


def gradient_sums(grad, x, factor, bias, relu: bool) -> tuple[np.ndarray, np.ndarray]:
    """Column sums (F,) of grad and of grad * x over the places where `affine` is active, in float64."""
    return _summed(_gradient_sums, grad, x, factor, bias, relu)


def affine_gradient(grad, x, factor, bias, slope, offset, relu: bool, grad_x: np.ndarray) -> None:
    """grad_x = factor * grad (where `affine` is active) + slope * x + offset."""
    over_range(_affine_gradient, len(x), x.shape[1], grad, x, factor, bias, slope, offset, relu, grad_x)


def active_dot(x, factor, bias, weight, out: np.ndarray) -> None:
    """out[n] = sum of weight * ReLU(x[n] * factor + bias)."""
    over_range(_active_dot, len(x), x.shape[1], x, factor, bias, weight, out)


def active_dot_sums(grad, x, factor, bias) -> tuple[np.ndarray, np.ndarray]:
    """Sums (F,) over n of grad[n], and of grad[n] * x[n], where x[n] * factor + bias > 0, in float64."""
    return _summed(_active_dot_sums, x, grad, factor, bias)


def active_dot_gradient(grad, x, factor, bias, weight, slope, offset, grad_x: np.ndarray) -> None:
    """grad_x[n] = grad[n] * weight * factor where x[n] * factor + bias > 0, + slope * x[n] + offset unless None."""
    over_range(_active_dot_gradient, len(x), x.shape[1], grad, x, factor, bias, weight * factor, slope, offset, grad_x)


def scores(x: np.ndarray, att: np.ndarray, out: np.ndarray) -> None:
    """out[k, h, n] = <att[k, h], x[n, h]> for both k; x may be (N, 1, C), shared by all heads."""
    over_range(_scores, len(x), att[0].size, x, att, out)


def score_sums(grad: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums over n of grad[0, h, n] * x[n, h] and of grad[1, h, n] * x[n, h], (H, C) each, in float64."""
    return _summed(_score_sums, x, grad)


def add_score_gradient(grad, att, x, slope, offset, grad_x: np.ndarray) -> None:
    """grad_x[n, h] += grad[0, h, n] * att[0, h] + grad[1, h, n] * att[1, h] + slope[h] * x[n, h] + offset[h].

    Where slope and offset are None, the last two terms are not there and x is not read.
    """
    over_range(_add_score_gradient, len(x), x[0].size if len(x) else 0, grad, att, x, slope, offset, grad_x)


def _summed(kernel, first: np.ndarray, *rest) -> tuple[np.ndarray, np.ndarray]:
    blocks = -(-len(first) // BLOCK)
    parts = np.zeros((2, blocks, *first.shape[1:]), first.dtype)
    over_range(kernel, blocks, BLOCK * int(np.prod(first.shape[1:])), first, *rest, parts)
    total = parts.sum(axis=1, dtype=np.float64)
    return total[0], total[1]


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
