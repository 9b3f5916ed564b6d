"""All Numba code of attention over a CSR graph, in float32.

Plain loops, which LLVM turns into AVX2, AVX-512 or NEON.

Shapes: M rows (targets), N sources, E edges, H heads. `rowptr` (M + 1,) and `source`
(E,) are the graph by target, `tptr` (N + 1,), `ttarget` (E,) and `tedge` (E,) the same
edges by source; see `fairgat.nn.csr`. Indices are i for a target, j for a source, e for
an edge, h for a head, f for a column of features.

Rows are shared out to threads in PARTS. Indices are unsigned, as Numba then leaves out
the check for negative ones: half of the time.
"""

import numpy as np
from llvmlite import ir
from numba import carray, njit, prange, types
from numba.core import cgutils
from numba.extending import intrinsic

from fairgat.nn.parallel import OPTIONS, compiled

BLOCK = 64  # rows, whose edges stay in the first cache
PARTS = 64  # of the rows, of about as many edges each, for the threads
_FUSED = {"contract"}  # products and sums in one instruction
# Dot products may be reordered, which is what lets LLVM vectorise them. Without `nsz`,
# though: Numba optimises a parallel kernel for the process that compiles it, and once
# more for its cache. With both flags the second pass would reorder a sum again, and the
# first training in a fresh clone would get other bits than those that follow.
_REORDERED = {"contract", "reassoc"}

_parallel = compiled(parallel=True, fastmath=_FUSED, **OPTIONS)
_parallel_dots = compiled(parallel=True, fastmath=_REORDERED, **OPTIONS)
_rows = njit(fastmath=_REORDERED, **OPTIONS)
_inlined = njit(forceinline=True, error_model="numpy", fastmath=_FUSED)


@_inlined
def _first_row(rowptr, part):
    """The first row of a part, of which each has about as many edges."""
    if part == PARTS:
        return np.uint64(rowptr.size - 1)
    first_edge = rowptr[-1] * part // PARTS
    return np.uint64(np.searchsorted(rowptr, first_edge))


@_inlined
def _edges_of(rowptr, i):
    """The first edge of row i (or of segment i, or out of source i), and their end."""
    return np.uint64(rowptr[i]), np.uint64(rowptr[i + np.uint64(1)])


# ---------------------------------------------------------------- softmax of the scores


@_inlined
def _exp(x):
    """exp(x) in float32 for x <= 0, to 1e-7; 0 below -87.

    LLVM vectorises it, unlike np.exp: a fifth of the time.
    """
    # x is whole * log(2) + r, with r small; p is exp(r), and power is 2^whole.
    whole = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
    r = (x - whole * np.float32(0.693359375)) + whole * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * r * r + r + np.float32(1)
    power = np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)).view(np.float32)
    return np.float32(0) if x < np.float32(-87) else p * power


@_inlined
def _score(e, source, score_source, score_target, score_edge, slope):
    """The score of edge e before LeakyReLU, and after; of one head and one target."""
    score = score_source[source[e]] + score_target
    if score_edge is not None:
        score += score_edge[e]
    return score, score if score > 0 else score * slope


@njit(forceinline=True, error_model="numpy", fastmath=_FUSED | {"nnan", "nsz"})
def _larger(a, b):
    """The larger one.

    With `nnan`, without which a maximum isn't vectorised; only here, as NaN must pass
    elsewhere.
    """
    return a if a > b else b


@_inlined
def _of_head(score_edge, h):
    """The edges' scores for a head, if edges have scores."""
    return None if score_edge is None else score_edge[h]


@_inlined
def _shifted_scores(
    first, end, source, keep, score_source, score_target, score_edge, slope, alpha
):
    """alpha[first:end] = the scores less the largest of them; -inf where not kept.

    Their exponentials are 1 at most, and cannot overflow.
    """
    largest = np.float32(-np.inf)
    for e in range(first, end):
        score = _score(e, source, score_source, score_target, score_edge, slope)[1]
        if keep is not None:
            score = score if keep[e] else np.float32(-np.inf)
        alpha[e] = score
        largest = _larger(largest, score)
    if largest > np.float32(-np.inf):  # else no edge is kept
        for e in range(first, end):
            alpha[e] -= largest


@_inlined
def _scale_to(mass, first, end, alpha):
    """Scale alpha[first:end] to a sum of `mass`."""
    total = np.float32(0)
    for e in range(first, end):
        total += alpha[e]
    # 0 where all edges are dropped.
    share = np.float32(0) if total == 0 else mass / total
    for e in range(first, end):
        alpha[e] *= share


@_parallel
def softmax(
    rowptr,
    segptr,
    mass,
    source,
    keep,
    score_source,
    score_target,
    score_edge,
    slope,
    alpha,
):
    """alpha (H, E): in each segment the softmax of its scores, times its mass (M, S).

    Scores are (H, N), (H, M) and (H, E) or None; `keep` is (E,) or None. Exponentials
    are taken of many rows' edges at once: a row is too short for the vectorised loop.
    """
    segments = np.uint64(mass.shape[1])
    for part in prange(PARTS):
        first, last = _first_row(rowptr, part), _first_row(rowptr, part + 1)
        for begin in range(first, last, np.uint64(BLOCK)):
            end = min(begin + np.uint64(BLOCK), last)
            for h in range(alpha.shape[0]):
                # Scores of sources, targets and edges, as the equations call them.
                s, u, a = score_source[h], _of_head(score_edge, h), alpha[h]
                for i in range(begin, end):
                    t = score_target[h, i]
                    for segment in range(i * segments, (i + np.uint64(1)) * segments):
                        lo, hi = _edges_of(segptr, segment)
                        _shifted_scores(lo, hi, source, keep, s, t, u, slope, a)
                for e in range(np.uint64(rowptr[begin]), np.uint64(rowptr[end])):
                    a[e] = _exp(a[e])
                for i in range(begin, end):
                    for k in range(segments):
                        lo, hi = _edges_of(segptr, i * segments + k)
                        _scale_to(mass[i, k], lo, hi, a)


@_inlined
def _segment_gradient(
    first,
    end,
    source,
    score_source,
    score_target,
    score_edge,
    slope,
    alpha,
    grad_alpha,
    grad_score,
):
    """grad_score[first:end], of the scores before LeakyReLU; returns their sum.

    That of a softmax is alpha (grad_alpha - mean), with the mean weighted by alpha.
    """
    weighted_sum, mass, total = np.float32(0), np.float32(0), np.float32(0)
    for e in range(first, end):
        weighted_sum += alpha[e] * grad_alpha[e]
        mass += alpha[e]
    mean = weighted_sum / mass if mass > 0 else np.float32(0)
    for e in range(first, end):
        value = alpha[e] * (grad_alpha[e] - mean)
        score = _score(e, source, score_source, score_target, score_edge, slope)[0]
        value = value if score > 0 else value * slope
        grad_score[e] = value
        total += value
    return total


@_parallel
def softmax_gradient(
    rowptr,
    segptr,
    source,
    score_source,
    score_target,
    score_edge,
    slope,
    alpha,
    grad_alpha,
    grad_score,
    grad_target,
):
    """grad_score (H, E), and grad_target (H, M), its sum over the edges of each row."""
    segments = np.uint64((segptr.size - 1) // max(rowptr.size - 1, 1))
    for part in prange(PARTS):
        for i in range(_first_row(rowptr, part), _first_row(rowptr, part + 1)):
            for h in range(alpha.shape[0]):
                s, t, u = score_source[h], score_target[h, i], _of_head(score_edge, h)
                total = np.float32(0)
                for segment in range(i * segments, (i + np.uint64(1)) * segments):
                    first, end = _edges_of(segptr, segment)
                    total += _segment_gradient(
                        first,
                        end,
                        source,
                        s,
                        t,
                        u,
                        slope,
                        alpha[h],
                        grad_alpha[h],
                        grad_score[h],
                    )
                grad_target[h, i] = total


@_parallel
def sum_by_source(tptr, tedge, values, out):
    """out[h, j] = sum of values[h, e] over the edges out of j."""
    for part in prange(PARTS):
        for j in range(_first_row(tptr, part), _first_row(tptr, part + 1)):
            for h in range(out.shape[0]):
                total = np.float32(0)
                first, end = _edges_of(tptr, j)
                for k in range(first, end):
                    total += values[h, tedge[k]]
                out[h, j] = total


# ----------------------------------------------------------------- sums over neighbours


@intrinsic(prefer_literal=True)
def _stack_array(typingctx, length):
    """A pointer to `length` (a constant) float32 on the stack.

    LLVM keeps them in registers: half of the time.
    """
    count = length.literal_value

    def codegen(context, builder, signature, arguments):
        array = cgutils.alloca_once(builder, ir.ArrayType(ir.FloatType(), count))
        return builder.bitcast(array, ir.PointerType(ir.FloatType()))

    return types.CPointer(types.float32)(length), codegen


def _aggregate_rows(constant: int | None):
    """Compile `aggregate` for the rows begin .. end and a constant number of columns.

    A row's sums stay in registers. None compiles it for any number up to 64, 32 and
    less included: a loop of a constant 32 would be unrolled before it could be
    vectorised, and take four times as long.
    """
    length = constant or 64

    @_rows
    def kernel(
        begin, end, rowptr, source, weight, x, x_column, out, out_column, columns
    ):
        sums = carray(_stack_array(length), (length,))
        width = columns if constant is None else np.uint64(length)
        for i in range(begin, end):
            for f in range(width):
                sums[f] = 0
            for e in range(np.uint64(rowptr[i]), np.uint64(rowptr[i + np.uint64(1)])):
                w, j = weight[e], source[e]
                for f in range(width):
                    sums[f] += w * x[j, x_column + f]
            for f in range(width):
                out[i, out_column + f] = sums[f]

    return kernel


def _gradient_rows(width: int):
    """Compile `aggregate_gradient` for the sources begin .. end and `width` columns.

    A source's row of `grad_x` is summed up on the stack over the edges out of it, while
    the same reading of `grad` gives each edge its dot product.
    """

    @_rows
    def kernel(
        begin,
        end,
        tptr,
        ttarget,
        weight,
        x,
        x_column,
        grad,
        out_column,
        grad_x,
        adds_to_x,
        grad_weight,
        adds_to_weight,
    ):
        sums = carray(_stack_array(width), (width,))
        for j in range(begin, end):
            for f in range(np.uint64(width)):
                sums[f] = grad_x[j, x_column + f] if adds_to_x else 0
            # k is an edge out of j, and i its target.
            for k in range(np.uint64(tptr[j]), np.uint64(tptr[j + np.uint64(1)])):
                w, i, product = weight[k], ttarget[k], np.float32(0)
                for f in range(np.uint64(width)):
                    value = grad[i, out_column + f]
                    product += x[j, x_column + f] * value
                    sums[f] += w * value
                grad_weight[k] = product + grad_weight[k] if adds_to_weight else product
            for f in range(np.uint64(width)):
                grad_x[j, x_column + f] = sums[f]

    return kernel


_aggregate_128, _aggregate_64, _aggregate_few = map(_aggregate_rows, (128, 64, None))
_gradient_128, _gradient_64, _gradient_32, _gradient_16 = map(
    _gradient_rows, (128, 64, 32, 16)
)


@_parallel
def aggregate(rowptr, source, weight, x, x_column, out, out_column, columns):
    """out[i, out_column + f] = sum_j weight[e] x[j, x_column + f] for f < columns.

    Features are (N, H * C), of which this takes `columns` of one head.
    """
    for part in prange(PARTS):
        begin, end = _first_row(rowptr, part), _first_row(rowptr, part + 1)
        # What each of the kernels for some rows takes.
        edges = (begin, end, rowptr, source, weight)
        arguments = (*edges, x, x_column, out, out_column, columns)
        if columns == 128:
            _aggregate_128(*arguments)
        elif columns == 64:
            _aggregate_64(*arguments)
        else:
            _aggregate_few(*arguments)


@_parallel
def aggregate_gradient(
    tptr,
    ttarget,
    weight,
    x,
    x_column,
    grad,
    out_column,
    columns,
    grad_x,
    adds_to_x,
    grad_weight,
    adds_to_weight,
):
    """The gradients of x and of the weights, by source.

    grad_x[j, x_column + f] = sum_i weight[k] grad[i, out_column + f]
    grad_weight[k] = <grad[i], x[j]>

    k is an edge out of j, and i its target. Both gradients are found from one read of
    `grad`, and added to what there is where `adds_to_x` and `adds_to_weight` say so.
    Weights are in the order of the sources: to fetch them one by one takes 14 instead
    of 11 ms on Recidivism.
    """
    for part in prange(PARTS):
        begin, end = _first_row(tptr, part), _first_row(tptr, part + 1)
        # What each of the kernels for some sources takes.
        edges = (begin, end, tptr, ttarget, weight)
        read = (x, x_column, grad, out_column)
        added_to = (grad_x, adds_to_x, grad_weight, adds_to_weight)
        arguments = (*edges, *read, *added_to)
        if columns == 128:
            _gradient_128(*arguments)
        elif columns == 64:
            _gradient_64(*arguments)
        elif columns == 32:
            _gradient_32(*arguments)
        else:
            _gradient_16(*arguments)


@_parallel_dots
def dot_products(rowptr, source, x, grad, out):
    """out[h, e] = <grad[i, h], x[j, h]>, by target.

    It is <grad[i, h], x[j, 0]> where all heads have the same x.
    """
    for part in prange(PARTS):
        for i in range(_first_row(rowptr, part), _first_row(rowptr, part + 1)):
            for h in range(np.uint64(out.shape[0])):
                x_head = h if x.shape[1] > 1 else np.uint64(0)
                first, end = _edges_of(rowptr, i)
                for e in range(first, end):
                    j, product = source[e], np.float32(0)
                    for f in range(np.uint64(x.shape[2])):
                        product += grad[i, h, f] * x[j, x_head, f]
                    out[h, e] = product


# ---------------------------------------------------------------------- sums over nodes


@_inlined
def _rows_of(part, rows):
    """Where one of PARTS equal parts of the rows begins and ends."""
    return np.uint64(rows * part // PARTS), np.uint64(rows * (part + 1) // PARTS)


@_parallel
def column_dots(a, b, sums):
    """sums[p, f] = sum of a[i, f] b[i, f] over the rows of part p of a and b (N, F)."""
    for part in prange(PARTS):
        sums[part] = 0
        begin, end = _rows_of(part, len(a))
        for i in range(begin, end):
            for f in range(np.uint64(a.shape[1])):
                sums[part, f] += a[i, f] * b[i, f]


@_parallel
def column_moments(x, shift, sums):
    """sums[p, :, f] = sums of x[i, f] - shift[f] and of its square over part p's rows.

    x is (N, F), and shift (F,) about its mean.
    """
    for part in prange(PARTS):
        sums[part] = 0
        begin, end = _rows_of(part, len(x))
        for i in range(begin, end):
            for f in range(np.uint64(x.shape[1])):
                deviation = x[i, f] - shift[f]
                sums[part, 0, f] += deviation
                sums[part, 1, f] += deviation * deviation


@_parallel
def column_slopes(x, mean, inverse, slope, shift, out):
    """out = ((x - mean) inverse) slope + shift.

    x is (N, F), the mean (2, F) in two parts that are added up, and the others (F,).
    """
    for part in prange(PARTS):
        begin, end = _rows_of(part, len(x))
        for i in range(begin, end):
            for f in range(np.uint64(x.shape[1])):
                deviation = x[i, f] - mean[0, f] - mean[1, f]
                out[i, f] = deviation * inverse[f] * slope[f] + shift[f]
