"""Numba kernels of segment attention: forward and backward over a CSR graph, no array of size E x F.

Each kernel handles the rows begin .. end and writes nothing outside them. Four edges are taken at a time, so that the
accumulator is loaded and stored once for four rows read; the feature loop is the one that vectorises.

Shapes: N targets and sources, E edges, H heads, C features per head. `x` is (N, H, C), or (N, 1, C) where all heads
aggregate the same features; scores are (H, N) and attention is (H, E). `keep` (E,), `factor` (H, E) and `extra`
(H, E) may be None, for which Numba compiles a version without them. See `fairgat.nn.attention` for the equations.
"""

import numpy as np
from numba import njit

from fairgat.nn.exponential import exp

_BLOCK = 64  # rows whose attention is computed together

# Sums may be reordered and contracted to fused multiply-adds; NaN and infinity keep their meaning.
_jit = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})


@_jit
def _logits(lo, hi, source, keep, score_source, score_target, slope, alpha):
    """alpha[lo:hi] = LeakyReLU(score_source[j] + score_target), less its largest value."""
    zero = alpha.dtype.type(0)
    top = alpha.dtype.type(-np.inf)
    for e in range(lo, hi):
        value = score_source[source[e]] + score_target
        alpha[e] = value * slope if value < zero else value
    for e in range(lo, hi):
        if keep is not None:
            if not keep[e]:
                continue
        if alpha[e] > top:
            top = alpha[e]
    for e in range(lo, hi):
        alpha[e] = min(alpha[e] - top, zero) if keep is not None else alpha[e] - top


@_jit
def _normalise(lo, hi, mass, keep, alpha):
    """Scale alpha[lo:hi] to the sum `mass`; dropped edges become 0."""
    total = alpha.dtype.type(0)
    for e in range(lo, hi):
        if keep is not None:
            if not keep[e]:
                alpha[e] = 0
        total += alpha[e]
    factor = alpha.dtype.type(mass / total) if mass > 0 else alpha.dtype.type(0)
    for e in range(lo, hi):
        alpha[e] *= factor


@_jit
def _kept(lo, hi, keep):
    if keep is None:
        return hi > lo
    for e in range(lo, hi):
        if keep[e]:
            return True
    return False


@_jit
def masses(lo, middle, hi, keep, alpha_chi):
    """Attention of the intra- and the inter-segment: (1 - alpha_chi, alpha_chi), or all of it to the only one."""
    intra = _kept(lo, middle, keep)
    inter = _kept(middle, hi, keep)
    if intra and inter:
        return 1 - alpha_chi, alpha_chi
    return 1.0 * intra, 1.0 * inter


@_jit
def _aggregate(lo, hi, h, source, factor, x, alpha, out):
    """out = sum of alpha[e] * factor[h, e] * x[source[e]] over lo .. hi."""
    k = h if x.shape[1] > 1 else 0
    for f in range(out.size):
        out[f] = 0
    e = lo
    while e + 4 <= hi:
        a0, a1, a2, a3 = alpha[e], alpha[e + 1], alpha[e + 2], alpha[e + 3]
        if factor is not None:
            a0 *= factor[h, e]
            a1 *= factor[h, e + 1]
            a2 *= factor[h, e + 2]
            a3 *= factor[h, e + 3]
        r0, r1, r2, r3 = x[source[e], k], x[source[e + 1], k], x[source[e + 2], k], x[source[e + 3], k]
        for f in range(out.size):
            out[f] += (a0 * r0[f] + a1 * r1[f]) + (a2 * r2[f] + a3 * r3[f])
        e += 4
    while e < hi:
        a0 = alpha[e]
        if factor is not None:
            a0 *= factor[h, e]
        r0 = x[source[e], k]
        for f in range(out.size):
            out[f] += a0 * r0[f]
        e += 1


@_jit
def forward(
    begin, end, rowptr, middle, source, keep, factor, x, s_source, s_target, alpha_chi, slope,
    alpha, out,
):  # fmt: skip
    """out[i, h] = sum_j alpha[h, e] * factor[h, e] * x[j, h], with alpha written beside it."""
    for h in range(out.shape[1]):
        scores, weights = s_source[h], alpha[h]
        for first in range(begin, end, _BLOCK):
            last = min(first + _BLOCK, end)
            for i in range(first, last):
                lo, mid, hi = rowptr[i], middle[i], rowptr[i + 1]
                _logits(lo, mid, source, keep, scores, s_target[h, i], slope, weights)
                _logits(mid, hi, source, keep, scores, s_target[h, i], slope, weights)
            block = weights[rowptr[first] : rowptr[last]]  # rows are short: exp vectorises over many of them
            for e in range(block.size):
                block[e] = exp(block[e])
            for i in range(first, last):
                lo, mid, hi = rowptr[i], middle[i], rowptr[i + 1]
                intra, inter = masses(lo, mid, hi, keep, alpha_chi)
                _normalise(lo, mid, intra, keep, weights)
                _normalise(mid, hi, inter, keep, weights)
                _aggregate(lo, hi, h, source, factor, x, weights, out[i, h])


@_jit
def backward_features(begin, end, tptr, ttarget, tedge, x, alpha, factor, grad, grad_x, grad_alpha):
    """By source: grad_x[j] = sum_i alpha[e] * grad[i], and grad_alpha[e] = <grad[i], x[j]> from the same reads."""
    zero = grad.dtype.type(0)
    for j in range(begin, end):
        for k in range(x.shape[1]):
            for f in range(x.shape[2]):
                grad_x[j, k, f] = zero
        for h in range(grad.shape[1]):
            k = h if x.shape[1] > 1 else 0
            values, out, weights, products = x[j, k], grad_x[j, k], alpha[h], grad_alpha[h]
            e = tptr[j]
            while e + 4 <= tptr[j + 1]:
                t0, t1, t2, t3 = tedge[e], tedge[e + 1], tedge[e + 2], tedge[e + 3]
                a0, a1, a2, a3 = weights[t0], weights[t1], weights[t2], weights[t3]
                if factor is not None:
                    a0 *= factor[h, t0]
                    a1 *= factor[h, t1]
                    a2 *= factor[h, t2]
                    a3 *= factor[h, t3]
                r0, r1 = grad[ttarget[e], h], grad[ttarget[e + 1], h]
                r2, r3 = grad[ttarget[e + 2], h], grad[ttarget[e + 3], h]
                d0, d1, d2, d3 = zero, zero, zero, zero
                for f in range(values.size):
                    v, g0, g1, g2, g3 = values[f], r0[f], r1[f], r2[f], r3[f]
                    d0 += v * g0
                    d1 += v * g1
                    d2 += v * g2
                    d3 += v * g3
                    out[f] += (a0 * g0 + a1 * g1) + (a2 * g2 + a3 * g3)
                products[t0], products[t1], products[t2], products[t3] = d0, d1, d2, d3
                e += 4
            while e < tptr[j + 1]:
                t0, r0 = tedge[e], grad[ttarget[e], h]
                a0 = weights[t0]
                if factor is not None:
                    a0 *= factor[h, t0]
                d0 = zero
                for f in range(values.size):
                    d0 += values[f] * r0[f]
                    out[f] += a0 * r0[f]
                products[t0] = d0
                e += 1


@_jit
def backward_alpha(begin, end, rowptr, source, x, grad, grad_alpha):
    """By target: grad_alpha[e] = <grad[i], x[j]>, where the features need no gradient."""
    zero = grad.dtype.type(0)
    for i in range(begin, end):
        for h in range(grad.shape[1]):
            k = h if x.shape[1] > 1 else 0
            row, products = grad[i, h], grad_alpha[h]
            e = rowptr[i]
            while e + 4 <= rowptr[i + 1]:
                r0, r1, r2, r3 = x[source[e], k], x[source[e + 1], k], x[source[e + 2], k], x[source[e + 3], k]
                d0, d1, d2, d3 = zero, zero, zero, zero
                for f in range(row.size):
                    g = row[f]
                    d0 += g * r0[f]
                    d1 += g * r1[f]
                    d2 += g * r2[f]
                    d3 += g * r3[f]
                products[e], products[e + 1], products[e + 2], products[e + 3] = d0, d1, d2, d3
                e += 4
            while e < rowptr[i + 1]:
                r0, d0 = x[source[e], k], zero
                for f in range(row.size):
                    d0 += row[f] * r0[f]
                products[e] = d0
                e += 1


@_jit
def _backward_weights(lo, hi, mass, source, s_source, target, slope, alpha, grad_alpha):
    """grad_alpha[lo:hi] becomes the gradient of the scores before LeakyReLU; returns their sum."""
    zero = alpha.dtype.type(0)
    if mass <= 0:
        for e in range(lo, hi):
            grad_alpha[e] = zero
        return zero
    mean = zero
    for e in range(lo, hi):
        mean += alpha[e] * grad_alpha[e]
    mean = alpha.dtype.type(mean / mass)
    total = zero
    for e in range(lo, hi):
        value = alpha[e] * (grad_alpha[e] - mean)
        if s_source[source[e]] + target < 0:
            value *= slope
        grad_alpha[e] = value
        total += value
    return total


@_jit
def backward_scores(
    begin, end, rowptr, middle, source, keep, factor, s_source, s_target, alpha_chi, slope,
    alpha, extra, grad_alpha, grad_target,
):  # fmt: skip
    """By target: turn grad_alpha in place into the gradient of the scores, and sum it up for the targets."""
    for i in range(begin, end):
        lo, mid, hi = rowptr[i], middle[i], rowptr[i + 1]
        intra, inter = masses(lo, mid, hi, keep, alpha_chi)
        for h in range(s_target.shape[0]):
            if factor is not None:
                for e in range(lo, hi):
                    grad_alpha[h, e] *= factor[h, e]
            if extra is not None:
                for e in range(lo, hi):
                    grad_alpha[h, e] += extra[h, e]
            target = s_target[h, i]
            total = _backward_weights(lo, mid, intra, source, s_source[h], target, slope, alpha[h], grad_alpha[h])
            total += _backward_weights(mid, hi, inter, source, s_source[h], target, slope, alpha[h], grad_alpha[h])
            grad_target[h, i] = total


@_jit
def sum_by_source(begin, end, tptr, tedge, values, out):
    """out[j, h] = sum of values[h, e] over the edges out of j."""
    zero = out.dtype.type(0)
    for j in range(begin, end):
        for h in range(out.shape[0]):
            total = zero
            for e in range(tptr[j], tptr[j + 1]):
                total += values[h, tedge[e]]
            out[h, j] = total
