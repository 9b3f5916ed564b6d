"""Passes over a dense N x N matrix, in place.

A second matrix of that size is the momentum, a third never exists.
"""

import numpy as np
from numba import prange

from fairgat.nn.parallel import OPTIONS, compiled

TILE = 64
MAGNITUDE = np.uint32(0x7FFFFFFF)  # all but the sign, which a zero may have
# Low bits of a float32 that a histogram bin spans: a relative width of 2^-11.
BIN_BITS = 12

# `contract` only: operations that may be reordered are reordered differently in the
# cache (fairgat/nn/kernels.py).
_options = {**OPTIONS, "fastmath": {"contract"}}
_jit, _parallel = compiled(**_options), compiled(parallel=True, **_options)


@_parallel
def structure_step(
    rowptr, column, u, a, v, b, weight, momentum, rate, shrink, adjacency, velocity
):
    """Take one step of SGD with momentum, soft-thresholded and clamped to [0, 1].

    The gradient is 2 (adjacency - A) + weight (u a^T + v b^T); A is 1 at `column` of
    each row and on the diagonal. `velocity` (N, N) is the momentum's sum of gradients.
    """
    number = adjacency.dtype.type
    zero, one, two = number(0), number(1), number(2)
    for i in prange(len(adjacency)):
        row, speed = adjacency[i], velocity[i]
        # The momentum, and the gradient without A.
        p, q = weight * u[i], weight * v[i]
        for j in range(row.size):
            speed[j] = momentum * speed[j] + two * row[j] + (p * a[j] + q * b[j])
        # A is 1 on the diagonal and at each edge.
        speed[i] -= two
        for e in range(rowptr[i], rowptr[i + 1]):
            speed[column[e]] -= two
        # The step, thresholded and clamped.
        for j in range(row.size):
            row[j] = min(max(row[j] - rate * speed[j] - shrink, zero), one)


@_jit
def _symmetrise_row(matrix, s):
    """Average the tiles of tile row s, from the diagonal on, with those across it."""
    size, half = len(matrix), matrix.dtype.type(0.5)
    for first_column in range(s * TILE, size, TILE):
        for i in range(s * TILE, min((s + 1) * TILE, size)):
            for j in range(max(first_column, i + 1), min(first_column + TILE, size)):
                mean = half * (matrix[i, j] + matrix[j, i])
                matrix[i, j] = mean
                matrix[j, i] = mean


@_parallel
def symmetrise(matrix):
    """matrix = (matrix + matrix^T) / 2, tile by tile.

    Pairs of tile rows k and T - 1 - k are equal work.
    """
    tiles = (len(matrix) + TILE - 1) // TILE
    for k in prange((tiles + 1) // 2):
        _symmetrise_row(matrix, k)
        if tiles - 1 - k != k:
            _symmetrise_row(matrix, tiles - 1 - k)


@_jit
def histogram(bits):
    """Count the values above the diagonal of (N, N) uint32 by their leading bits."""
    counts = np.zeros(1 << (32 - BIN_BITS), dtype=np.int64)
    for i in range(len(bits)):
        for j in range(i + 1, len(bits)):
            counts[(bits[i, j] & MAGNITUDE) >> BIN_BITS] += 1
    return counts


@_jit
def collect(bits, first, source, target):
    """Find the values above the diagonal in bin `first` or later, row by row."""
    count = 0
    for i in range(len(bits)):
        for j in range(i + 1, len(bits)):
            if (bits[i, j] & MAGNITUDE) >> BIN_BITS >= first:
                source[count] = i
                target[count] = j
                count += 1
