"""Numba kernels of segment attention: forward and backward over a CSR graph, no array of size E x F.

Each kernel handles the rows begin .. end and writes nothing outside them. The sums of a row's features stay in
registers while its edges go by (`fairgat.nn.simd`); where there are more features than registers, in several passes.
What a softmax takes is done step by step for a block of rows: within one row, each step would wait for the one before.

Shapes: N targets and sources, E edges, H heads, C features per head. `x` is (N, H, C), or (N, 1, C) where all heads
aggregate the same features; scores are (H, N) and attention is (H, E). `keep` (E,), `factor` (H, E) and `extra`
(H, E) may be None, for which Numba compiles a version without them. See `fairgat.nn.attention` for the equations.
"""

import numpy as np
from llvmlite.binding import get_host_cpu_features
from numba import njit

from fairgat.nn.exponential import exp
from fairgat.nn.simd import (
    ORDERED,
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

# What Numba's cache on disk shall notice: simd.py and exponential.py have the digest: c12e933bc091
_EDGES = 16  # of a row, handled together
_WIDE = 128 if get_host_cpu_features().get("avx512f") else 64  # features of a pass: in float32, 8 registers
_NARROW = 32  # features of a pass over what is left of them, masked
_AHEAD = 8  # edges from the one whose features are read to the one whose features are fetched
_ROWS = 64  # whose edges stay in the first cache from one step of a softmax to the next
_RUN = 64  # edges whose exponentials are taken together

_jit = njit(nogil=True, cache=True, error_model="numpy", fastmath=ORDERED)
# One that is not inlined is a symbol of the whole process, in the form that was compiled, or loaded, first.
_inlined = njit(nogil=True, error_model="numpy", fastmath=ORDERED, forceinline=True)


@_inlined
def _any(lo, hi, keep):
    if keep is None:
        return hi > lo
    for e in range(lo, hi):
        if keep[e]:
            return True
    return False


@_inlined
def masses(lo, middle, hi, keep, alpha_chi):
    """Attention of the intra- and the inter-segment: (1 - alpha_chi, alpha_chi), or all of it to the only one."""
    intra = _any(lo, middle, keep)
    inter = _any(middle, hi, keep)
    if intra and inter:
        return 1 - alpha_chi, alpha_chi
    return 1.0 * intra, 1.0 * inter


@_inlined
def _scores(lo, mid, hi, source, keep, score_source, score_target, slope, alpha):
    """alpha[lo:hi] = LeakyReLU(score_source[j] + score_target), less the largest of the segment's kept edges.

    The segments are lo .. mid and mid .. hi, or, where mid is None, the whole row.
    """
    nothing = zeros(alpha, first(_EDGES, _EDGES)) + alpha.dtype.type(-np.inf)
    tops = others = nothing
    for e in range(lo, hi, _EDGES):
        inside = first(hi - e, _EDGES)
        score = take(score_source, load(source, e, inside), inside) + score_target
        score = where(negative(score), score * slope, score)
        score = where(inside if keep is None else true_at(keep, e, inside), score, nothing)
        store(alpha, e, score, inside)
        if mid is None:
            tops = larger(tops, score)
        else:
            intra = first(mid - e, _EDGES)
            tops = larger(tops, where(intra, score, nothing))
            others = larger(others, where(intra, nothing, score))
    top, other = largest(tops), largest(others)
    for e in range(lo, hi, _EDGES):
        inside = first(hi - e, _EDGES)
        score = load(alpha, e, inside)
        less = score - top if mid is None else where(first(mid - e, _EDGES), score - top, score - other)
        store(alpha, e, less, inside)


@_inlined
def _exponentials(lo, hi, alpha):
    for e in range(lo, hi, _RUN):
        inside = first(hi - e, _RUN)
        store(alpha, e, exp(load(alpha, e, inside)), inside)


@_inlined
def _normalise(lo, mid, hi, mass, other_mass, keep, alpha):
    """alpha[lo:hi] becomes 0 where not kept, and is multiplied so that each segment's sum is its mass."""
    nothing = zeros(alpha, first(_EDGES, _EDGES))
    sums = others = nothing
    for e in range(lo, hi, _EDGES):
        inside = first(hi - e, _EDGES)
        value = load(alpha, e, inside)
        if keep is not None:
            value = where(true_at(keep, e, inside), value, 0)
            store(alpha, e, value, inside)
        sums, others = _added(sums, others, value, mid, e, nothing)
    factor = _share(mass, total(sums), alpha)
    other = factor if mid is None else _share(other_mass, total(others), alpha)
    for e in range(lo, hi, _EDGES):
        inside = first(hi - e, _EDGES)
        value = load(alpha, e, inside)
        scaled = value * factor if mid is None else where(first(mid - e, _EDGES), value * factor, value * other)
        store(alpha, e, scaled, inside)


@_inlined
def _added(sums, others, value, mid, e, nothing):
    """The sums of both segments, with the values of the edges from e on added to those of their own."""
    if mid is None:
        return sums + value, others
    intra = first(mid - e, _EDGES)
    return sums + where(intra, value, nothing), others + where(intra, nothing, value)


@_inlined
def _share(mass, whole, alpha):
    return alpha.dtype.type(mass / whole) if mass > 0 else alpha.dtype.type(0)


@_jit
def softmax(begin, end, rowptr, middle, source, keep, s_source, s_target, alpha_chi, slope, alpha):
    """alpha[h, e] of every edge, by target: mass * softmax of the scores, within each segment over the kept edges."""
    for low in range(begin, end, _ROWS):
        high = min(low + _ROWS, end)
        for h in range(alpha.shape[0]):
            scores, weights = s_source[h], alpha[h]
            for i in range(low, high):
                lo, mid, hi, target = rowptr[i], middle[i], rowptr[i + 1], s_target[h, i]
                if mid == hi:
                    _scores(lo, None, hi, source, keep, scores, target, slope, weights)
                else:
                    _scores(lo, mid, hi, source, keep, scores, target, slope, weights)
            _exponentials(rowptr[low], rowptr[high], weights)
            for i in range(low, high):
                lo, mid, hi = rowptr[i], middle[i], rowptr[i + 1]
                intra, inter = masses(lo, mid, hi, keep, alpha_chi)
                if mid == hi:
                    _normalise(lo, None, hi, intra, inter, keep, weights)
                else:
                    _normalise(lo, mid, hi, intra, inter, keep, weights)


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


@_inlined
def _aggregate(lo, hi, h, k, source, factor, x, alpha, out, f, inside):
    last, sums = np.uint64(source.size - 1), zeros(x, inside)
    for e in range(np.uint64(lo), np.uint64(hi)):  # unsigned: no check for negative indices
        prefetch(x[source[min(e + np.uint64(_AHEAD), last)], k], f, inside)
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
            edges, f = (lo, hi, h, ttarget, tedge), 0
            if values.size >= _WIDE:
                _backward(edges, values, weights, factor, grad, sums, products, None, 0, first(_WIDE, _WIDE))
                f = _WIDE
            else:
                some = first(values.size, _NARROW)
                _backward(edges, values, weights, factor, grad, sums, products, None, 0, some)
                f = _NARROW
            while f + _WIDE <= values.size:
                _backward(edges, values, weights, factor, grad, sums, products, products, f, first(_WIDE, _WIDE))
                f += _WIDE
            while f < values.size:
                rest = first(values.size - f, _NARROW)
                _backward(edges, values, weights, factor, grad, sums, products, products, f, rest)
                f += _NARROW


@_inlined
def _backward(edges, x, alpha, factor, grad, grad_x, products, before, f, inside):
    """One pass over some features; `before` holds the products of those before, or is None."""
    lo, hi, h, ttarget, tedge = edges
    last, values, sums = np.uint64(ttarget.size - 1), load(x, f, inside), load(grad_x, f, inside)
    for e in range(np.uint64(lo), np.uint64(hi)):
        ahead = min(e + np.uint64(_AHEAD), last)
        prefetch(grad[ttarget[ahead], h], f, inside)
        prefetch(products, tedge[ahead], first(1, 1))
        prefetch(alpha, tedge[ahead], first(1, 1))
        t, row = tedge[e], load(grad[ttarget[e], h], f, inside)
        weight = alpha[t] if factor is None else alpha[t] * factor[h, t]
        sums = sums + row * weight
        product = dot(values, row)
        products[t] = product if before is None else before[t] + product
    store(grad_x, f, sums, inside)


@_jit
def backward_alpha(begin, end, rowptr, source, x, grad, grad_alpha):
    """By target: grad_alpha[e] = <grad[i], x[j]>, where the features need no gradient."""
    for h in range(grad.shape[1]):
        features = x[:, h if x.shape[1] > 1 else 0]
        for i in range(begin, end):
            _row_products(rowptr[i], rowptr[i + 1], source, features, grad[i, h], grad_alpha[h])


@_inlined
def _row_products(lo, hi, source, x, grad, products):
    """products[lo:hi] = <grad, x[j]>."""
    if grad.size >= _WIDE:
        _products(lo, hi, source, x, grad, products, None, 0, first(_WIDE, _WIDE))
        f = _WIDE
    else:
        _products(lo, hi, source, x, grad, products, None, 0, first(grad.size, _NARROW))
        f = _NARROW
    while f + _WIDE <= grad.size:
        _products(lo, hi, source, x, grad, products, products, f, first(_WIDE, _WIDE))
        f += _WIDE
    while f < grad.size:
        _products(lo, hi, source, x, grad, products, products, f, first(grad.size - f, _NARROW))
        f += _NARROW


@_inlined
def _products(lo, hi, source, x, grad, products, before, f, inside):
    values = load(grad, f, inside)
    for e in range(np.uint64(lo), np.uint64(hi)):
        product = dot(values, load(x[source[e]], f, inside))
        products[e] = product if before is None else before[e] + product


@_inlined
def _gradient(e, inside, h, factor, extra, grad_alpha):
    value = load(grad_alpha, e, inside)
    if factor is not None:
        value = value * load(factor[h], e, inside)
    if extra is not None:
        value = value + load(extra[h], e, inside)
    return value


@_inlined
def _means(lo, mid, hi, mass, other_mass, h, alpha, factor, extra, grad_alpha):
    """The mean of alpha's gradient in each segment, weighted by alpha."""
    nothing = zeros(alpha, first(_EDGES, _EDGES))
    sums = others = nothing
    for e in range(lo, hi, _EDGES):
        inside = first(hi - e, _EDGES)
        value = load(alpha, e, inside) * _gradient(e, inside, h, factor, extra, grad_alpha)
        sums, others = _added(sums, others, value, mid, e, nothing)
    mean = alpha.dtype.type(total(sums) / mass) if mass > 0 else alpha.dtype.type(0)
    if mid is None:
        return mean, mean
    return mean, alpha.dtype.type(total(others) / other_mass) if other_mass > 0 else alpha.dtype.type(0)


@_inlined
def _backward_softmax(
    lo, mid, hi, mean, other, source, score_source, score_target, slope, h, alpha, factor, extra, grad_alpha
):  # fmt: skip
    """grad_alpha[lo:hi] becomes the gradient of the scores before LeakyReLU; returns their sum."""
    sums = zeros(alpha, first(_EDGES, _EDGES))
    for e in range(lo, hi, _EDGES):
        inside = first(hi - e, _EDGES)
        value = _gradient(e, inside, h, factor, extra, grad_alpha)
        value = value - mean if mid is None else where(first(mid - e, _EDGES), value - mean, value - other)
        value = load(alpha, e, inside) * value
        score = take(score_source, load(source, e, inside), inside) + score_target
        value = where(negative(score), value * slope, value)
        store(grad_alpha, e, value, inside)
        sums = sums + value
    return total(sums)


@_inlined
def _backward_block(
    begin, end, rowptr, middle, source, keep, factor, score_source, score_target, alpha_chi, slope, h,
    alpha, extra, grad_alpha, means, of_target,
):  # fmt: skip
    """`backward_scores` of one head and at most `_ROWS` rows; of_target[0] is of row `begin`."""
    for i in range(begin, end):
        lo, mid, hi = rowptr[i], middle[i], rowptr[i + 1]
        intra, inter = masses(lo, mid, hi, keep, alpha_chi)
        if mid == hi:
            mean, other = _means(lo, None, hi, intra, inter, h, alpha, factor, extra, grad_alpha)
        else:
            mean, other = _means(lo, mid, hi, intra, inter, h, alpha, factor, extra, grad_alpha)
        means[0, i - begin], means[1, i - begin] = mean, other
    for i in range(begin, end):
        lo, mid, hi, target = rowptr[i], middle[i], rowptr[i + 1], score_target[i]
        mean, other = means[0, i - begin], means[1, i - begin]
        if mid == hi:
            of_target[i - begin] = _backward_softmax(
                lo, None, hi, mean, other, source, score_source, target, slope, h, alpha, factor, extra, grad_alpha
            )
        else:
            of_target[i - begin] = _backward_softmax(
                lo, mid, hi, mean, other, source, score_source, target, slope, h, alpha, factor, extra, grad_alpha
            )


@_jit
def backward_scores(
    begin, end, rowptr, middle, source, keep, factor, s_source, s_target, alpha_chi, slope,
    alpha, extra, grad_alpha, grad_target,
):  # fmt: skip
    """By target: turn grad_alpha in place into the gradient of the scores, and sum it up for the targets."""
    means = np.empty((2, _ROWS), alpha.dtype)
    for low in range(begin, end, _ROWS):
        high = min(low + _ROWS, end)
        for h in range(s_target.shape[0]):
            _backward_block(
                low, high, rowptr, middle, source, keep, factor, s_source[h], s_target[h], alpha_chi, slope, h,
                alpha[h], extra, grad_alpha[h], means, grad_target[h, low:high],
            )  # fmt: skip


@_jit
def backward_directions(
    begin, end, bounds, rowptr, middle, source, keep, factor, s_source, s_target, alpha_chi, slope,
    alpha, extra, x, grad, grad_alpha, parts,
):  # fmt: skip
    """By target, for scores <parts[0, h], x[j]> + <parts[1, h], x[i]>: the gradient of both, summed up in parts.

    Part p (2, H, C) of `parts` sums over the rows bounds[p] .. bounds[p + 1]; `grad_alpha` is room to work in.
    """
    means, of_target = np.empty((2, _ROWS), alpha.dtype), np.empty(_ROWS, alpha.dtype)
    for p in range(begin, end):
        for low in range(bounds[p], bounds[p + 1], _ROWS):
            high = min(low + _ROWS, bounds[p + 1])
            for h in range(grad.shape[1]):
                gradient = grad_alpha[h]
                for i in range(low, high):
                    _row_products(rowptr[i], rowptr[i + 1], source, x, grad[i, h], gradient)
                _backward_block(
                    low, high, rowptr, middle, source, keep, factor, s_source[h], s_target[h], alpha_chi, slope, h,
                    alpha[h], extra, gradient, means, of_target,
                )  # fmt: skip
                sums, f = parts[p, :, h], 0
                while f + _WIDE <= x.shape[1]:
                    _add_rows(low, high, rowptr, source, x, gradient, of_target, sums, f, first(_WIDE, _WIDE))
                    f += _WIDE
                while f < x.shape[1]:
                    rest = first(x.shape[1] - f, _NARROW)
                    _add_rows(low, high, rowptr, source, x, gradient, of_target, sums, f, rest)
                    f += _NARROW


@_inlined
def _add_rows(begin, end, rowptr, source, x, gradient, of_target, sums, f, inside):
    of_source = load(sums[0], f, inside)
    for e in range(np.uint64(rowptr[begin]), np.uint64(rowptr[end])):
        of_source = of_source + load(x[source[e]], f, inside) * gradient[e]
    store(sums[0], f, of_source, inside)
    of_targets = load(sums[1], f, inside)
    for i in range(begin, end):
        of_targets = of_targets + load(x[i], f, inside) * of_target[i - begin]
    store(sums[1], f, of_targets, inside)


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
