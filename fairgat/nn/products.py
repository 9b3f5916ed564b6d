"""Products of matrices with many rows on several threads, in Numba.

On several, those of oneDNN and MKL are OpenMP's, which sleep and have to be woken for every product; these are the
threads of all the other kernels. On one thread the libraries come close, and every published number was trained with
them (`fairgat.nn.linear`).

Each kernel keeps four rows of its result in registers, `_WIDE` columns of them. In which order terms are added up does
not depend on the number of threads, so neither does a number.
"""

import numpy as np
from llvmlite.binding import get_host_cpu_features
from numba import njit

from fairgat.nn.parallel import over_range
from fairgat.nn.simd import FAST, first, larger, load, store, zeros

# What Numba's cache on disk shall notice: simd.py has the digest: ea955a62aa0f
AVX512 = bool(get_host_cpu_features().get("avx512f"))  # four rows do not fit into smaller registers
_WIDE, _NARROW = 64, 32  # columns of the result that are handled together
_BLOCK = 96  # rows that stay in the second cache while they meet all columns
_TERMS = 512  # of a sum that are added up at a time
_PARTS = 16  # of the rows, whose sums are added up last: as many threads at the most

_jit = njit(nogil=True, cache=True, error_model="numpy", fastmath=set(FAST))


def times(x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, relu: bool, out: np.ndarray) -> None:
    """out (n, m) = x W^T + bias for x (n, k) and W (m, k), k > 0, with ReLU where asked."""
    (columns, terms), wide = weight.shape, _WIDE if len(weight) > _NARROW else _NARROW
    padded = np.zeros((-(-columns // wide), wide, terms), x.dtype)
    padded.reshape(-1, terms)[:columns] = weight
    start = np.zeros(padded.shape[:2], x.dtype)
    if bias is not None:
        start.reshape(-1)[:columns] = bias
    panels = np.ascontiguousarray(padded.transpose(0, 2, 1))
    floor = x.dtype.type(0 if relu else -np.inf)
    over_range(_times_wide if wide == _WIDE else _times_narrow, len(x), terms * wide, x, panels, start, floor, out)


def transposed_times(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """g^T x (m, k) for g (n, m) and x (n, k)."""
    if g.shape[1] > x.shape[1]:
        return np.ascontiguousarray(transposed_times(x, g).T)
    parts = np.zeros((_PARTS, g.shape[1], x.shape[1]), x.dtype)
    over_range(_sums_wide if x.shape[1] > _NARROW else _sums_narrow, _PARTS, g.size, g.T, x, parts)
    return parts.sum(0)


@_jit
def _times_wide(begin, end, x, panels, start, floor, out):
    _times(begin, end, x, panels, start, floor, out, first(_WIDE, _WIDE))


@_jit
def _times_narrow(begin, end, x, panels, start, floor, out):
    _times(begin, end, x, panels, start, floor, out, first(_NARROW, _NARROW))


@_jit
def _times(begin, end, x, panels, start, floor, out, whole):
    count, terms, wide = panels.shape
    for low in range(begin, end, _BLOCK):
        high = min(low + _BLOCK, end)
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
def _sums_wide(begin, end, g, x, parts):
    _sums(begin, end, g, x, parts, _WIDE, first(_WIDE, _WIDE))


@_jit
def _sums_narrow(begin, end, g, x, parts):
    _sums(begin, end, g, x, parts, _NARROW, first(_NARROW, _NARROW))


@_jit
def _sums(begin, end, g, x, parts, wide, whole):
    rows, columns = x.shape
    fours, nothing = len(g) - len(g) % 4, zeros(x, whole)
    for part in range(begin, end):
        out, last = parts[part], rows * (part + 1) // len(parts)
        for low in range(rows * part // len(parts), last, _BLOCK):
            high = min(low + _BLOCK, last)
            for f in range(0, columns, wide):
                inside = first(columns - f, whole)
                for i in range(0, fours, 4):
                    a, b, c, d = _four(g[i : i + 4], x, low, high, f, inside, nothing, nothing, nothing, nothing)
                    store(out[i], f, load(out[i], f, inside) + a, inside)
                    store(out[i + 1], f, load(out[i + 1], f, inside) + b, inside)
                    store(out[i + 2], f, load(out[i + 2], f, inside) + c, inside)
                    store(out[i + 3], f, load(out[i + 3], f, inside) + d, inside)
                for i in range(fours, len(g)):
                    sums = _one(g[i], x, low, high, f, inside, nothing)
                    store(out[i], f, load(out[i], f, inside) + sums, inside)


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
