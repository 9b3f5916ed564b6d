"""Numba kernels of segment attention: forward and backward over a CSR graph, no array of size E x F.

Each kernel handles the rows begin .. end and writes nothing outside them. The sums of a row's features stay in
registers while its edges go by (`fairgat.nn.simd`); where there are more features than registers, in several passes.

Shapes: N targets and sources, E edges, H heads, C features per head. `x` is (N, H, C), or (N, 1, C) where all heads
aggregate the same features; scores are (H, N) and attention is (H, E). `keep` (E,), `factor` (H, E) and `extra`
(H, E) may be None, for which Numba compiles a version without them. See `fairgat.nn.attention` for the equations.
"""

import numpy as np
from llvmlite.binding import get_host_cpu_features
from numba import njit

from fairgat.nn.exponential import exp
from fairgat.nn.simd import (
    FAST,
    dot,
    first,
    larger,
    largest,
    load,
    negative,
    prefetch,
    store,
    take,
    total,
    true_at,
    where,
    zeros,
)

# What Numba's cache on disk shall notice: simd.py and exponential.py have the digest: a4115bd0cc8e
_EDGES = 16  # of a row, handled together
_WIDE = 128 if get_host_cpu_features().get("avx512f") else 64  # features of a pass: in float32, 8 registers
_NARROW = 32  # features of a pass over what is left of them, masked
_AHEAD = 8  # edges from the one whose features are read to the one whose features are fetched

_jit = njit(nogil=True, cache=True, error_model="numpy", fastmath=set(FAST))


@_jit
def _any(lo, hi, keep):
    if keep is None:
        return hi > lo
    for e in range(lo, hi):
        if keep[e]:
            return True
    return False


@_jit
def masses(lo, middle, hi, keep, alpha_chi):
    """Attention of the intra- and the inter-segment: (1 - alpha_chi, alpha_chi), or all of it to the only one."""
    intra = _any(lo, middle, keep)
    inter = _any(middle, hi, keep)
    if intra and inter:
        return 1 - alpha_chi, alpha_chi
    return 1.0 * intra, 1.0 * inter


@_jit
def _softmax(lo, hi, mass, source, keep, score_source, score_target, slope, alpha):
    """alpha[lo:hi] = mass * softmax of LeakyReLU(score_source[j] + score_target) over the kept edges."""
    nothing = alpha.dtype.type(-np.inf)
    whole = first(_EDGES, _EDGES)
    tops = zeros(alpha, whole) + nothing
    for e in range(lo, hi, _EDGES):
        inside = first(hi - e, _EDGES)
        score = take(score_source, load(source, e, inside), inside) + score_target
        score = where(negative(score), score * slope, score)
        score = where(inside if keep is None else true_at(keep, e, inside), score, nothing)
        store(alpha, e, score, inside)
        tops = larger(tops, score)
    top = largest(tops)
    sums = zeros(alpha, whole)
    for e in range(lo, hi, _EDGES):
        inside = first(hi - e, _EDGES)
        value = exp(load(alpha, e, inside) - top)
        value = where(inside if keep is None else true_at(keep, e, inside), value, 0)
        store(alpha, e, value, inside)
        sums = sums + value
    factor = alpha.dtype.type(mass / total(sums)) if mass > 0 else alpha.dtype.type(0)
    for e in range(lo, hi, _EDGES):
        inside = first(hi - e, _EDGES)
        store(alpha, e, load(alpha, e, inside) * factor, inside)


@_jit
def softmax(begin, end, rowptr, middle, source, keep, s_source, s_target, alpha_chi, slope, alpha):
    """alpha[h, e] of every edge, by target."""
    for i in range(begin, end):
        lo, mid, hi = rowptr[i], middle[i], rowptr[i + 1]
        intra, inter = masses(lo, mid, hi, keep, alpha_chi)
        for h in range(alpha.shape[0]):
            _softmax(lo, mid, intra, source, keep, s_source[h], s_target[h, i], slope, alpha[h])
            _softmax(mid, hi, inter, source, keep, s_source[h], s_target[h, i], slope, alpha[h])


@_jit
def aggregate(begin, end, rowptr, source, factor, x, alpha, out):
    """out[i, h] = sum_j alpha[h, e] * factor[h, e] * x[j, h], by target."""
    for h in range(out.shape[1]):
        k = h if x.shape[1] > 1 else 0
        for i in range(begin, end):
            lo, hi, f = rowptr[i], rowptr[i + 1], 0
            while f + _WIDE <= x.shape[2]:
                _aggregate(lo, hi, h, k, source, factor, x, alpha[h], out[i, h], f, first(_WIDE, _WIDE))
                f += _WIDE
            while f < x.shape[2]:
                _aggregate(lo, hi, h, k, source, factor, x, alpha[h], out[i, h], f, first(x.shape[2] - f, _NARROW))
                f += _NARROW


@_jit
def _aggregate(lo, hi, h, k, source, factor, x, alpha, out, f, inside):
    last, sums = source.size - 1, zeros(x, inside)
    for e in range(lo, hi):
        prefetch(x[source[min(e + _AHEAD, last)], k], f, inside)
        weight = alpha[e] if factor is None else alpha[e] * factor[h, e]
        sums = sums + load(x[source[e], k], f, inside) * weight
    store(out, f, sums, inside)


@_jit
def backward_features(begin, end, tptr, ttarget, tedge, x, alpha, factor, grad, grad_x, grad_alpha):
    """By source: grad_x[j] = sum_i alpha[e] * grad[i], and grad_alpha[e] = <grad[i], x[j]> from the same reads."""
    for j in range(begin, end):
        lo, hi = tptr[j], tptr[j + 1]
        grad_x[j] = 0
        for h in range(grad.shape[1]):
            k = h if x.shape[1] > 1 else 0
            values, sums, weights, products = x[j, k], grad_x[j, k], alpha[h], grad_alpha[h]
            f = 0
            while f + _WIDE <= values.size:
                _backward(
                    lo, hi, h, ttarget, tedge, values, weights, factor, grad, sums, products, f, first(_WIDE, _WIDE)
                )
                f += _WIDE
            while f < values.size:
                rest = first(values.size - f, _NARROW)
                _backward(lo, hi, h, ttarget, tedge, values, weights, factor, grad, sums, products, f, rest)
                f += _NARROW


@_jit
def _backward(lo, hi, h, ttarget, tedge, x, alpha, factor, grad, grad_x, products, f, inside):
    last, values, sums = ttarget.size - 1, load(x, f, inside), load(grad_x, f, inside)
    for e in range(lo, hi):
        prefetch(grad[ttarget[min(e + _AHEAD, last)], h], f, inside)
        t, row = tedge[e], load(grad[ttarget[e], h], f, inside)
        weight = alpha[t] if factor is None else alpha[t] * factor[h, t]
        sums = sums + row * weight
        product = dot(values, row)
        products[t] = product if f == 0 else products[t] + product
    store(grad_x, f, sums, inside)


@_jit
def backward_alpha(begin, end, rowptr, source, x, grad, grad_alpha):
    """By target: grad_alpha[e] = <grad[i], x[j]>, where the features need no gradient."""
    for h in range(grad.shape[1]):
        k = h if x.shape[1] > 1 else 0
        for i in range(begin, end):
            lo, hi, f = rowptr[i], rowptr[i + 1], 0
            while f + _WIDE <= x.shape[2]:
                _products(lo, hi, source, x[:, k], grad[i, h], grad_alpha[h], f, first(_WIDE, _WIDE))
                f += _WIDE
            while f < x.shape[2]:
                _products(lo, hi, source, x[:, k], grad[i, h], grad_alpha[h], f, first(x.shape[2] - f, _NARROW))
                f += _NARROW


@_jit
def _products(lo, hi, source, x, grad, products, f, inside):
    values = load(grad, f, inside)
    for e in range(lo, hi):
        product = dot(values, load(x[source[e]], f, inside))
        products[e] = product if f == 0 else products[e] + product


@_jit
def _gradient(e, inside, h, factor, extra, grad_alpha):
    value = load(grad_alpha, e, inside)
    if factor is not None:
        value = value * load(factor[h], e, inside)
    if extra is not None:
        value = value + load(extra[h], e, inside)
    return value


@_jit
def _backward_softmax(lo, hi, mass, source, score_source, score_target, slope, h, alpha, factor, extra, grad_alpha):
    """grad_alpha[lo:hi] becomes the gradient of the scores before LeakyReLU; returns their sum."""
    whole = first(_EDGES, _EDGES)
    means = zeros(alpha, whole)
    for e in range(lo, hi, _EDGES):
        inside = first(hi - e, _EDGES)
        means = means + load(alpha, e, inside) * _gradient(e, inside, h, factor, extra, grad_alpha)
    mean = alpha.dtype.type(total(means) / mass) if mass > 0 else alpha.dtype.type(0)
    sums = zeros(alpha, whole)
    for e in range(lo, hi, _EDGES):
        inside = first(hi - e, _EDGES)
        value = load(alpha, e, inside) * (_gradient(e, inside, h, factor, extra, grad_alpha) - mean)
        score = take(score_source, load(source, e, inside), inside) + score_target
        value = where(negative(score), value * slope, value)
        store(grad_alpha, e, value, inside)
        sums = sums + value
    return total(sums)


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
            scores, target, weights, gradient = s_source[h], s_target[h, i], alpha[h], grad_alpha[h]
            grad_target[h, i] = _backward_softmax(
                lo, mid, intra, source, scores, target, slope, h, weights, factor, extra, gradient
            ) + _backward_softmax(mid, hi, inter, source, scores, target, slope, h, weights, factor, extra, gradient)


@_jit
def backward_directions(
    begin, end, bounds, rowptr, middle, source, keep, factor, s_source, s_target, alpha_chi, slope,
    alpha, extra, x, grad, grad_alpha, parts,
):  # fmt: skip
    """By target, for scores <parts[0, h], x[j]> + <parts[1, h], x[i]>: the gradient of both, summed up in parts.

    Part p (2, H, C) of `parts` sums over the rows bounds[p] .. bounds[p + 1]; `grad_alpha` is room to work in.
    """
    for p in range(begin, end):
        for h in range(grad.shape[1]):
            of_source, of_target = parts[p, 0, h], parts[p, 1, h]
            scores, weights, gradient = s_source[h], alpha[h], grad_alpha[h]
            for i in range(bounds[p], bounds[p + 1]):
                lo, mid, hi, target = rowptr[i], middle[i], rowptr[i + 1], s_target[h, i]
                intra, inter = masses(lo, mid, hi, keep, alpha_chi)
                f = 0
                while f + _WIDE <= x.shape[1]:
                    _products(lo, hi, source, x, grad[i, h], gradient, f, first(_WIDE, _WIDE))
                    f += _WIDE
                while f < x.shape[1]:
                    _products(lo, hi, source, x, grad[i, h], gradient, f, first(x.shape[1] - f, _NARROW))
                    f += _NARROW
                of_row = _backward_softmax(
                    lo, mid, intra, source, scores, target, slope, h, weights, factor, extra, gradient
                ) + _backward_softmax(
                    mid, hi, inter, source, scores, target, slope, h, weights, factor, extra, gradient
                )
                f = 0
                while f + _WIDE <= x.shape[1]:
                    _add_row(lo, hi, i, source, x, gradient, of_row, of_source, of_target, f, first(_WIDE, _WIDE))
                    f += _WIDE
                while f < x.shape[1]:
                    rest = first(x.shape[1] - f, _NARROW)
                    _add_row(lo, hi, i, source, x, gradient, of_row, of_source, of_target, f, rest)
                    f += _NARROW


@_jit
def _add_row(lo, hi, i, source, x, gradient, of_row, of_source, of_target, f, inside):
    sums = load(of_source, f, inside)
    for e in range(lo, hi):
        sums = sums + load(x[source[e]], f, inside) * gradient[e]
    store(of_source, f, sums, inside)
    store(of_target, f, load(of_target, f, inside) + load(x[i], f, inside) * of_row, inside)


@_jit
def sum_by_source(begin, end, tptr, tedge, values, out):
    """out[h, j] = sum of values[h, e] over the edges out of j."""
    for h in range(out.shape[0]):
        for j in range(begin, end):
            sums = zeros(out, first(_EDGES, _EDGES))
            for e in range(tptr[j], tptr[j + 1], _EDGES):
                inside = first(tptr[j + 1] - e, _EDGES)
                sums = sums + take(values[h], load(tedge, e, inside), inside)
            out[h, j] = total(sums)
