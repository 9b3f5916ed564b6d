"""Products of matrices with many rows, and what is made of them in one pass, in Numba.

The libraries' threads are OpenMP's, which sleep and have to be woken for every product; these are the threads of all
the other kernels.

A product keeps four rows of its result in registers, `_WIDE` columns of them; what goes from one product into the next
is a block of rows that stays in the second cache. In which order terms are added up does not depend on the number of
threads, so neither does a number.
"""

import numpy as np
from llvmlite.binding import get_host_cpu_features
from numba import njit

from fairgat.nn.parallel import over_range
from fairgat.nn.simd import ORDERED, first, larger, load, store, zeros

# What Numba's cache on disk shall notice: simd.py has the digest: 3e69244aea54
AVX512 = bool(get_host_cpu_features().get("avx512f"))  # four rows do not fit into smaller registers
_WIDE, _NARROW = 64, 32  # columns of the result that are handled together
_BLOCK = 96  # rows that stay in the second cache while they meet all columns
_TERMS = 512  # of a sum that are added up at a time
_PARTS = 16  # of the rows, whose sums are added up last: as many threads at the most

# Helpers may be the process's: no product is rounded in one of them and added in another.
_jit = njit(nogil=True, cache=True, error_model="numpy", fastmath=ORDERED)


def times(x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, relu: bool, out: np.ndarray) -> None:
    """out (n, m) = x W^T + bias for x (n, k) and W (m, k), k > 0, with ReLU where asked."""
    panels, start = _panels(weight, bias)
    over_range(_times, len(x), panels.size, x, panels, start, x.dtype.type(0 if relu else -np.inf), out)


def transposed_times(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """g^T x (m, k) for g (n, m) and x (n, k)."""
    if g.shape[1] > x.shape[1]:
        return np.ascontiguousarray(transposed_times(x, g).T)
    parts = np.zeros((_PARTS, g.shape[1], x.shape[1]), x.dtype)
    over_range(_sums, _PARTS, g.size // _PARTS, g.T, x, parts)
    return _sum(parts)


def hidden_times(x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, head: np.ndarray, out: np.ndarray) -> None:
    """out (n, m) = ReLU(x W^T + bias) V^T for x (n, k), W (h, k) and V (m, h), without an array of size n x h."""
    over_range(_hidden, len(x), head.size, x, *_panels(weight, bias), *_panels(head), out)


def hidden_gradients(
    grad: np.ndarray, x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, head: np.ndarray, grad_x: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of `hidden_times`: that of x (n, k) is written, those of W (h, k), bias (h,) and V (m, h) returned."""
    weights, heads = np.empty((_PARTS, *weight.T.shape), x.dtype), np.empty((_PARTS, *head.shape), x.dtype)
    biases = np.empty((_PARTS, 1, len(weight)), x.dtype)
    over_range(
        _hidden_gradients, _PARTS, grad.size // _PARTS, grad, x, *_panels(weight, bias), *_panels(head.T),
        *_panels(weight.T), grad_x, weights, biases, heads,
    )  # fmt: skip
    return np.ascontiguousarray(_sum(weights).T), _sum(biases)[0], _sum(heads)


def covariances(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Population covariance (H, F, F) over the rows of x (n, H, F), and the mean (2, H, F), the sum of two; n > 0."""
    means = np.zeros((_PARTS, *x.shape[1:]))
    squares = np.zeros((_PARTS, *x.shape[1:], x.shape[2]), x.dtype)
    over_range(_squares, _PARTS, x.size // _PARTS, x, means, squares)
    found, mean = np.empty_like(squares[0]), np.empty_like(x, shape=(2, *x.shape[1:]))
    _combine(len(x), means, squares, found, mean)
    return found, mean


def add_covariance_gradient(grad: np.ndarray, x: np.ndarray, mean: np.ndarray, out: np.ndarray) -> None:
    """Add to out (n, H, F) what the gradient (H, F, F) of `covariances` means for x (n, H, F)."""
    for h in range(len(grad)):
        slope, centre = _slope(grad[h], mean[:, h], len(x))
        panels, start = _panels(slope)
        over_range(_add_centred_times, len(x), panels.size, x[:, h], centre, panels, start, out[:, h])


def _sum(parts: np.ndarray) -> np.ndarray:
    out = np.empty_like(parts[0])
    _added_up(parts, out)
    return out


def _panels(weight: np.ndarray, bias: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """W^T (k, m) in panels (p, k, wide), and the bias in as many (p, wide), both padded with zeros."""
    columns, terms = weight.shape
    wide = _WIDE if columns > _NARROW else _NARROW
    count = -(-columns // wide)
    panels, start = np.empty((count, terms, wide), weight.dtype), np.zeros((count, wide), weight.dtype)
    _fill(weight, bias, panels, start)
    return panels, start


@_jit
def _fill(weight, bias, panels, start):
    wide = start.shape[1]
    for p in range(len(panels)):
        for t in range(panels.shape[1]):
            for f in range(wide):
                column = p * wide + f
                panels[p, t, f] = weight[column, t] if column < len(weight) else 0
    if bias is not None:
        for column in range(len(weight)):
            start[column // wide, column % wide] = bias[column]


@_jit
def _added_up(parts, out):
    """out (m, k) = the sum of parts (p, m, k)."""
    for i in range(len(out)):
        row = out[i]
        row[:] = parts[0, i]
        for part in range(1, len(parts)):
            other = parts[part, i]
            for f in range(row.size):
                row[f] += other[f]


@_jit
def _bounds(part, parts, rows):
    return rows * part // parts, rows * (part + 1) // parts


@_jit
def _times(begin, end, x, panels, start, floor, out):
    for low in range(begin, end, _BLOCK):
        _block_times(low, min(low + _BLOCK, end), x, panels, start, floor, out)


@_jit
def _sums(begin, end, g, x, parts):
    for part in range(begin, end):
        row, last = _bounds(part, len(parts), len(x))
        for low in range(row, last, _BLOCK):
            high = min(low + _BLOCK, last)
            _add_product(g[:, low:high], x[low:high], parts[part])


@_jit
def _hidden(begin, end, x, weight, bias, head, no_bias, out):
    zero, least = x.dtype.type(0), x.dtype.type(-np.inf)
    hidden = np.empty((_BLOCK, head.shape[1]), x.dtype)
    for low in range(begin, end, _BLOCK):
        high = min(low + _BLOCK, end)
        _block_times(0, high - low, x[low:high], weight, bias, zero, hidden)
        _block_times(0, high - low, hidden, head, no_bias, least, out[low:high])


@_jit
def _hidden_gradients(
    begin, end, grad, x, weight, bias, head, no_bias, back, no_bias_back, grad_x, weights, biases, heads
):  # fmt: skip
    zero, least = x.dtype.type(0), x.dtype.type(-np.inf)
    hidden = np.empty((_BLOCK, heads.shape[2]), x.dtype)
    grad_hidden = np.empty_like(hidden)
    for part in range(begin, end):
        row, last = _bounds(part, len(heads), len(x))
        weights[part], biases[part], heads[part] = zero, zero, zero
        for low in range(row, last, _BLOCK):
            high = min(low + _BLOCK, last)
            count, block, g = high - low, x[low:high], grad[low:high]
            _block_times(0, count, block, weight, bias, zero, hidden)
            _block_times(0, count, g, head, no_bias, least, grad_hidden)
            _mask(hidden[:count], grad_hidden[:count], biases[part, 0])
            _block_times(0, count, grad_hidden, back, no_bias_back, least, grad_x[low:high])
            _add_product(block.T, grad_hidden[:count], weights[part])
            _add_product(g.T, hidden[:count], heads[part])


@_jit
def _mask(hidden, grad, sums):
    """grad becomes 0 where hidden is not active; sums += its column sums."""
    zero, total = grad.dtype.type(0), np.zeros_like(sums)
    for i in range(len(grad)):
        row, values = grad[i], hidden[i]
        for f in range(row.size):
            g = zero if values[f] <= zero else row[f]
            row[f] = g
            total[f] += g
    for f in range(sums.size):
        sums[f] += total[f]


@_jit
def _squares(begin, end, x, means, squares):
    centred = np.empty((_BLOCK, x.shape[2]), x.dtype)
    for part in range(begin, end):
        row, last = _bounds(part, len(means), len(x))
        for h in range(x.shape[1]):
            mean = means[part, h]
            for i in range(row, last):
                for f in range(mean.size):
                    mean[f] += x[i, h, f]
            for f in range(mean.size):
                mean[f] /= max(last - row, 1)
            for low in range(row, last, _BLOCK):
                count = min(low + _BLOCK, last) - low
                _subtract(x[low : low + count, h], mean, centred)
                _add_product(centred[:count].T, centred[:count], squares[part, h])


@_jit
def _combine(rows, means, squares, covariance, mean):
    """Chan, Golub and LeVeque (1983): each part is around its own mean."""
    parts, heads, width = means.shape
    for h in range(heads):
        whole, sums = np.zeros(width), np.zeros((width, width))
        for part in range(parts):
            row, last = _bounds(part, parts, rows)
            for f in range(width):
                whole[f] += (last - row) * means[part, h, f]
        for f in range(width):
            whole[f] /= rows
            mean[0, h, f] = whole[f]
            mean[1, h, f] = whole[f] - mean[0, h, f]  # what rounding left
        for part in range(parts):
            row, last = _bounds(part, parts, rows)
            for f in range(width):
                beside = (last - row) * (means[part, h, f] - whole[f])
                for g in range(width):
                    sums[f, g] += squares[part, h, f, g] + beside * (means[part, h, g] - whole[g])
        for f in range(width):
            for g in range(width):
                covariance[h, f, g] = sums[f, g] / rows


@_jit
def _slope(grad, mean, rows):
    """(grad + grad^T) / rows, and the mean (F,) in float64."""
    slope, centre = np.empty_like(grad), np.empty(len(grad))
    for f in range(len(grad)):
        centre[f] = np.float64(mean[0, f]) + np.float64(mean[1, f])
        for g in range(len(grad)):
            slope[f, g] = (grad[f, g] + grad[g, f]) / grad.dtype.type(rows)
    return slope, centre


@_jit
def _add_centred_times(begin, end, x, mean, panels, no_bias, out):
    """out (n, k) += (x - mean) W^T for x (n, k) and W^T in panels."""
    least, centred = x.dtype.type(-np.inf), np.empty((_BLOCK, mean.size), x.dtype)
    product = np.empty_like(centred)
    for low in range(begin, end, _BLOCK):
        high = min(low + _BLOCK, end)
        _subtract(x[low:high], mean, centred)
        _block_times(0, high - low, centred, panels, no_bias, least, product)
        for i in range(low, high):
            for f in range(mean.size):
                out[i, f] += product[i - low, f]


@_jit
def _subtract(x, mean, out):
    for i in range(len(x)):
        for f in range(mean.size):
            out[i, f] = x[i, f] - mean[f]


@_jit
def _block_times(low, high, x, panels, start, floor, out):
    """out[low:high] = the larger of floor and x[low:high] W^T + bias, for W^T and bias in panels."""
    if panels.shape[2] == _WIDE:
        _panel_times(low, high, x, panels, start, floor, out, first(_WIDE, _WIDE))
    else:
        _panel_times(low, high, x, panels, start, floor, out, first(_NARROW, _NARROW))


@_jit
def _panel_times(low, high, x, panels, start, floor, out, whole):
    count, terms, wide = panels.shape
    fours = high - (high - low) % 4
    for t in range(0, terms, _TERMS):
        last = min(t + _TERMS, terms)
        least = floor if last == terms else -np.inf
        for p in range(count):
            f, panel, a = p * wide, panels[p], load(start[p], 0, whole)
            inside, b, c, d = first(out.shape[1] - f, whole), a, a, a
            for i in range(low, fours, 4):
                if t > 0:
                    a, b = load(out[i], f, inside), load(out[i + 1], f, inside)
                    c, d = load(out[i + 2], f, inside), load(out[i + 3], f, inside)
                e, g, h, j = _four(x[i : i + 4], panel, t, last, 0, whole, a, b, c, d)
                store(out[i], f, larger(e, least), inside)
                store(out[i + 1], f, larger(g, least), inside)
                store(out[i + 2], f, larger(h, least), inside)
                store(out[i + 3], f, larger(j, least), inside)
            for i in range(fours, high):
                if t > 0:
                    a = load(out[i], f, inside)
                store(out[i], f, larger(_one(x[i], panel, t, last, 0, whole, a), least), inside)


@_jit
def _add_product(g, x, out):
    """out (m, k) += g x for g (m, n) and x (n, k)."""
    if x.shape[1] > _NARROW:
        _add_columns(g, x, out, _WIDE, first(_WIDE, _WIDE))
    else:
        _add_columns(g, x, out, _NARROW, first(_NARROW, _NARROW))


@_jit
def _add_columns(g, x, out, wide, whole):
    rows, columns = x.shape
    fours, nothing = len(g) - len(g) % 4, zeros(x, whole)
    for f in range(0, columns, wide):
        inside = first(columns - f, whole)
        for i in range(0, fours, 4):
            a, b, c, d = _four(g[i : i + 4], x, 0, rows, f, inside, nothing, nothing, nothing, nothing)
            store(out[i], f, load(out[i], f, inside) + a, inside)
            store(out[i + 1], f, load(out[i + 1], f, inside) + b, inside)
            store(out[i + 2], f, load(out[i + 2], f, inside) + c, inside)
            store(out[i + 3], f, load(out[i + 3], f, inside) + d, inside)
        for i in range(fours, len(g)):
            store(out[i], f, load(out[i], f, inside) + _one(g[i], x, 0, rows, f, inside, nothing), inside)


@_jit
def _four(rows, matrix, low, high, f, inside, a, b, c, d):
    """a + the sum over t of rows[0, t] * matrix[t, f:], and so on for b, c and d."""
    for t in range(low, high):
        values = load(matrix[t], f, inside)
        a = a + values * rows[0, t]
        b = b + values * rows[1, t]
        c = c + values * rows[2, t]
        d = d + values * rows[3, t]
    return a, b, c, d


@_jit
def _one(row, matrix, low, high, f, inside, sums):
    for t in range(low, high):
        sums = sums + load(matrix[t], f, inside) * row[t]
    return sums
