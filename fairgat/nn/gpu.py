"""The operators on a GPU, in Triton; importing this makes them CUDA's.

Sums are in float32, whatever the type. Nothing is added atomically, so that two runs
are equal bit for bit: a program has a row (or a source) of the graph and a head to
itself. A row of more than LONG edges is cut into parts (`cut_rows`), each with a
program that leaves its sums in `parts`, which a second kernel adds up in order. Offsets
are int64.

One warp that takes eight edges of 128 columns at a time is the fastest on an H200; more
take up to five times as long.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from fairgat.nn import operators
from fairgat.nn.pointers import LONG

TILE = 1024  # numbers that a program of the sums reads at a time
_LENGTHS = ["N", "M", "E", "P"]  # for which no variant of a kernel is compiled

operators.DTYPES["cuda"] = (torch.float32, torch.bfloat16, torch.float16)


@triton.jit
def _number(pointer, inside):
    return tl.load(pointer, inside, 0.0).to(tl.float32)


@triton.jit
def _row_or_part(cuts, P, ptr, LONG: tl.constexpr):
    """A program's row, first edge and end.

    They are those of part `program_id` < P, or of a row, empty where it is cut.
    """
    item = tl.program_id(0).to(tl.int64)
    part = item < P
    row = tl.where(part, tl.load(cuts + 4 * item, part, 0), item - P)
    first, end = tl.load(ptr + row), tl.load(ptr + row + 1)
    end = tl.where(end - first > LONG, first, end)
    first = tl.where(part, tl.load(cuts + 4 * item + 1, part, 0), first)
    return (
        item,
        part,
        row,
        first,
        tl.where(part, tl.load(cuts + 4 * item + 2, part, 0), end),
    )


# ---------------------------------------------------------------- softmax of the scores


@triton.jit
def _scores(e, ok, source, s, t, u, stride_s, stride_u, EDGES: tl.constexpr):
    """Scores of edges before LeakyReLU."""
    z = _number(s + tl.load(source + e, ok, 0).to(tl.int64) * stride_s, ok) + t
    if EDGES:
        z += _number(u + e * stride_u, ok)
    return z


@triton.jit
def _long_row(cuts, ptr, S: tl.constexpr, LONG: tl.constexpr, CUT: tl.constexpr):
    """A program's row, and whether it is its own.

    Short ones are taken by one warp each, long ones by several.
    """
    item = tl.program_id(0).to(tl.int64)
    if CUT:
        row, own = tl.load(cuts + 4 * item), tl.load(cuts + 4 * item + 3) > 0
    else:
        row = item
        own = tl.load(ptr + (row + 1) * S) - tl.load(ptr + row * S) <= LONG
    return row, own


@triton.jit(do_not_specialize=_LENGTHS)
def _softmax(
    cuts,
    segptr,
    mass,
    source,
    keep,
    s,
    t,
    u,
    alpha,
    slope,
    E,
    head_s,
    stride_s,
    head_t,
    stride_t,
    head_u,
    stride_u,
    S: tl.constexpr,
    KEEP: tl.constexpr,
    EDGES: tl.constexpr,
    LONG: tl.constexpr,
    CUT: tl.constexpr,
    B: tl.constexpr,
):
    row, own = _long_row(cuts, segptr, S, LONG, CUT)
    head = tl.program_id(1).to(tl.int64)
    s, u, alpha = s + head * head_s, u + head * head_u, alpha + head * E
    ti = tl.load(t + head * head_t + row * stride_t).to(tl.float32)
    for k in range(S):
        first, end = tl.load(segptr + row * S + k), tl.load(segptr + row * S + k + 1)
        end = tl.where(own, end, first)
        top = -float("inf")
        total = 0.0
        for at in range(first, end, B):  # the largest score and the sum in one pass
            e = at + tl.arange(0, B)
            ok = e < end
            z = _scores(e, ok, source, s, ti, u, stride_s, stride_u, EDGES)
            z = tl.where(z > 0, z, z * slope)
            if KEEP:
                ok = ok & (tl.load(keep + e, ok, 0) != 0)
            z = tl.where(ok, z, -float("inf"))
            higher = tl.maximum(top, tl.max(z, 0))
            safe = tl.where(higher == -float("inf"), 0.0, higher)
            total = total * tl.exp(top - safe) + tl.sum(tl.exp(z - safe), 0)
            top = higher
        factor = tl.where(total == 0, 0.0, tl.load(mass + row * S + k) / total)
        top = tl.where(top == -float("inf"), 0.0, top)
        for at in range(first, end, B):
            e = at + tl.arange(0, B)
            ok = e < end
            z = _scores(e, ok, source, s, ti, u, stride_s, stride_u, EDGES)
            z = tl.where(z > 0, z, z * slope)
            value = tl.exp(z - top) * factor
            if KEEP:
                value = tl.where(tl.load(keep + e, ok, 0) != 0, value, 0.0)
            tl.store(alpha + e, value.to(alpha.dtype.element_ty), ok)


@triton.jit(do_not_specialize=_LENGTHS)
def _softmax_gradient(
    cuts,
    segptr,
    source,
    s,
    t,
    u,
    alpha,
    grad,
    grad_score,
    grad_target,
    slope,
    M,
    E,
    head_s,
    stride_s,
    head_t,
    stride_t,
    head_u,
    stride_u,
    S: tl.constexpr,
    EDGES: tl.constexpr,
    LONG: tl.constexpr,
    CUT: tl.constexpr,
    B: tl.constexpr,
):
    row, own = _long_row(cuts, segptr, S, LONG, CUT)
    head = tl.program_id(1).to(tl.int64)
    s, u = s + head * head_s, u + head * head_u
    alpha, grad, grad_score = alpha + head * E, grad + head * E, grad_score + head * E
    ti = tl.load(t + head * head_t + row * stride_t).to(tl.float32)
    whole = 0.0
    for k in range(S):
        first, end = tl.load(segptr + row * S + k), tl.load(segptr + row * S + k + 1)
        end = tl.where(own, end, first)
        along = 0.0
        total = 0.0
        for at in range(first, end, B):
            e = at + tl.arange(0, B)
            a = _number(alpha + e, e < end)
            along += tl.sum(a * _number(grad + e, e < end), 0)
            total += tl.sum(a, 0)
        mean = tl.where(total > 0, along / total, 0.0)
        for at in range(first, end, B):
            e = at + tl.arange(0, B)
            ok = e < end
            g = _number(alpha + e, ok) * (_number(grad + e, ok) - mean)
            z = _scores(e, ok, source, s, ti, u, stride_s, stride_u, EDGES)
            g = tl.where(z > 0, g, g * slope)
            tl.store(grad_score + e, g.to(grad_score.dtype.element_ty), ok)
            whole += tl.sum(tl.where(ok, g, 0.0), 0)
    tl.store(grad_target + head * M + row, whole.to(grad_target.dtype.element_ty), own)


@triton.jit(do_not_specialize=_LENGTHS)
def _sum_by_source(
    cuts,
    tptr,
    tedge,
    values,
    out,
    N,
    E,
    LONG: tl.constexpr,
    CUT: tl.constexpr,
    B: tl.constexpr,
):
    j, own = _long_row(cuts, tptr, 1, LONG, CUT)
    head = tl.program_id(1).to(tl.int64)
    first, end = tl.load(tptr + j), tl.load(tptr + j + 1)
    total = 0.0
    for at in range(first, tl.where(own, end, first), B):
        e = at + tl.arange(0, B)
        total += tl.sum(
            _number(values + head * E + tl.load(tedge + e, e < end, 0), e < end), 0
        )
    tl.store(out + head * N + j, total.to(out.dtype.element_ty), own)


def _by_length(kernel, cuts: Tensor, rows: int, heads: int, *arguments) -> None:
    """Start a kernel on the short rows, and with more warps on the long ones."""
    if rows:
        kernel[(rows, heads)](cuts, *arguments, LONG=LONG, CUT=False, B=32, num_warps=1)
    if len(cuts):
        kernel[(len(cuts), heads)](
            cuts, *arguments, LONG=LONG, CUT=True, B=4096, num_warps=16
        )


def softmax(
    s, t, u, rowptr, segptr, mass, source, cuts, tptr, tedge, tcuts, keep, slope
):
    alpha = s.new_empty(len(s), source.numel())
    edge, kept = (
        s if u is None else u,
        alpha if keep is None else keep.contiguous().view(torch.int8),
    )
    _by_length(
        _softmax,
        cuts,
        rowptr.numel() - 1,
        len(s),
        segptr,
        mass,
        source,
        kept,
        s,
        t,
        edge,
        alpha,
        slope,
        source.numel(),
        *s.stride(),
        *t.stride(),
        *edge.stride(),
        mass.size(1),
        keep is not None,
        u is not None,
    )
    return alpha


def softmax_gradient(
    grad, alpha, s, t, u, rowptr, segptr, source, cuts, tptr, tedge, tcuts, slope
):
    rows, edges, edge = rowptr.numel() - 1, source.numel(), s if u is None else u
    segments = (segptr.numel() - 1) // max(rows, 1)
    grad_score, grad_s, grad_t = (
        torch.empty_like(alpha),
        s.new_empty(s.shape),
        t.new_empty(t.shape),
    )
    _by_length(
        _softmax_gradient,
        cuts,
        rows,
        len(s),
        segptr,
        source,
        s,
        t,
        edge,
        alpha,
        grad.contiguous(),
        grad_score,
        grad_t,
        slope,
        rows,
        edges,
        *s.stride(),
        *t.stride(),
        *edge.stride(),
        segments,
        u is not None,
    )
    sources = s.size(1)
    _by_length(
        _sum_by_source,
        tcuts,
        sources,
        len(s),
        tptr,
        tedge,
        grad_score,
        grad_s,
        sources,
        edges,
    )
    return grad_s, grad_t, grad_score


# ----------------------------------------------------------------- sums over neighbours


@triton.jit(do_not_specialize=_LENGTHS)
def _aggregate(
    cuts,
    P,
    rowptr,
    source,
    alpha,
    x,
    out,
    parts,
    E,
    C,
    stride_x,
    head_x,
    LONG: tl.constexpr,
    B: tl.constexpr,
    BC: tl.constexpr,
):
    item, part, row, first, end = _row_or_part(cuts, P, rowptr, LONG)
    head, heads = tl.program_id(1).to(tl.int64), tl.num_programs(1)
    c = tl.program_id(2) * BC + tl.arange(0, BC)
    inside = c < C
    sums = tl.zeros((BC,), tl.float32)
    for at in range(first, end, B):
        e = at + tl.arange(0, B)
        ok = e < end
        j = tl.load(source + e, ok, 0).to(tl.int64)
        w = _number(alpha + head * E + e, ok)
        v = _number(
            x + j[:, None] * stride_x + head * head_x + c[None, :],
            ok[:, None] & inside[None, :],
        )
        sums += tl.sum(w[:, None] * v, 0)
    tl.store(
        out + (row * heads + head) * C + c,
        sums.to(out.dtype.element_ty),
        c < tl.where(part, 0, C),
    )
    tl.store(parts + (item * heads + head) * C + c, sums, c < tl.where(part, C, 0))


@triton.jit(do_not_specialize=_LENGTHS)
def _combine(cuts, parts, out, width, B: tl.constexpr, BC: tl.constexpr):
    """Add up the parts of the row whose first one is the program's."""
    item = tl.program_id(0).to(tl.int64)
    row, end = tl.load(cuts + 4 * item), item + tl.load(cuts + 4 * item + 3)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    inside = c < width
    sums = tl.zeros((BC,), tl.float32)
    for at in range(item, end, B):
        k = at + tl.arange(0, B)
        sums += tl.sum(
            _number(
                parts + k[:, None] * width + c[None, :],
                (k < end)[:, None] & inside[None, :],
            ),
            0,
        )
    tl.store(
        out + row * width + c,
        sums.to(out.dtype.element_ty),
        c < tl.where(end > item, width, 0),
    )


@triton.jit(do_not_specialize=_LENGTHS)
def _aggregate_gradient(
    cuts,
    P,
    tptr,
    ttarget,
    tedge,
    alpha,
    x,
    grad,
    grad_x,
    grad_alpha,
    parts,
    E,
    C,
    H,
    stride_x,
    head_x,
    HEADS: tl.constexpr,
    LONG: tl.constexpr,
    B: tl.constexpr,
    BC: tl.constexpr,
):
    """By source, so that each row of `grad` is read once for both gradients.

    HEADS share x, or a program has one.
    """
    item, part, j, first, end = _row_or_part(cuts, P, tptr, LONG)
    own, programs = tl.program_id(1).to(tl.int64), tl.num_programs(1)
    c = tl.arange(0, BC)
    inside = c < C
    sums = tl.zeros((BC,), tl.float32)
    for k in range(HEADS):
        head = own + k
        mine = _number(x + j * stride_x + head * head_x + c, inside)
        for at in range(first, end, B):
            e = at + tl.arange(0, B)
            ok = e < end
            i = tl.load(ttarget + e, ok, 0).to(tl.int64)
            place = tl.load(tedge + e, ok, 0) + head * E
            w = _number(alpha + place, ok)
            g = _number(
                grad + (i[:, None] * H + head) * C + c[None, :],
                ok[:, None] & inside[None, :],
            )
            sums += tl.sum(w[:, None] * g, 0)
            tl.store(
                grad_alpha + place,
                tl.sum(g * mine[None, :], 1).to(grad_alpha.dtype.element_ty),
                ok,
            )
    tl.store(
        grad_x + (j * programs + own) * C + c,
        sums.to(grad_x.dtype.element_ty),
        c < tl.where(part, 0, C),
    )
    tl.store(parts + (item * programs + own) * C + c, sums, c < tl.where(part, C, 0))


@triton.jit(do_not_specialize=_LENGTHS)
def _dot_products(
    cuts,
    P,
    rowptr,
    source,
    x,
    grad,
    out,
    E,
    C,
    stride_x,
    head_x,
    LONG: tl.constexpr,
    B: tl.constexpr,
    BC: tl.constexpr,
):
    _, _, row, first, end = _row_or_part(cuts, P, rowptr, LONG)
    head, heads = tl.program_id(1).to(tl.int64), tl.num_programs(1)
    c = tl.arange(0, BC)
    inside = c < C
    g = _number(grad + (row * heads + head) * C + c, inside)
    for at in range(first, end, B):
        e = at + tl.arange(0, B)
        ok = e < end
        j = tl.load(source + e, ok, 0).to(tl.int64)
        v = _number(
            x + j[:, None] * stride_x + head * head_x + c[None, :],
            ok[:, None] & inside[None, :],
        )
        tl.store(
            out + head * E + e, tl.sum(v * g[None, :], 1).to(out.dtype.element_ty), ok
        )


def _tile(columns: int) -> dict[str, int]:
    """Edges and columns that a program reads at a time, and its warps."""
    columns = triton.next_power_of_2(columns)
    return {
        "B": max(1, min(16, TILE // columns)),
        "BC": columns,
        "num_warps": max(1, min(8, columns // 256)),
    }


def _rows_apart(x: Tensor) -> Tensor:
    """x (N, C) or (N, H, C), with its columns side by side; rows may be apart."""
    return x if x.stride(-1) == 1 or x.size(-1) == 1 else x.contiguous()


def _strides(x: Tensor) -> tuple[int, int]:
    return x.stride(0), x.stride(1) if x.dim() == 3 else 0


def _added_up(cuts: Tensor, parts: Tensor, out: Tensor) -> Tensor:
    if len(cuts):
        width, tile = out[0].numel(), _tile(min(out[0].numel(), 128))
        _combine[(len(cuts), triton.cdiv(width, tile["BC"]))](
            cuts, parts, out, width, **tile
        )
    return out


def aggregate(alpha, x, rowptr, source, cuts, *_):
    heads, columns, x, rows = (
        alpha.size(0),
        x.size(-1),
        _rows_apart(x),
        rowptr.numel() - 1,
    )
    out, parts = (
        x.new_empty(rows, heads, columns),
        x.new_empty(len(cuts), heads, columns, dtype=torch.float32),
    )
    if not out.numel():
        return out
    tile = _tile(min(columns, 128))
    _aggregate[(rows + len(cuts), heads, triton.cdiv(columns, tile["BC"]))](
        cuts,
        len(cuts),
        rowptr,
        source,
        alpha.contiguous(),
        x,
        out,
        parts,
        source.numel(),
        columns,
        *_strides(x),
        LONG=LONG,
        **tile,
    )
    return _added_up(cuts, parts, out)


def aggregate_gradient(grad, alpha, x, tptr, ttarget, tedge, position, tcuts):
    heads, columns, x = alpha.size(0), x.size(-1), _rows_apart(x)
    programs = 1 if x.dim() == 2 else heads
    grad_x, grad_alpha = x.new_empty(x.shape), alpha.new_empty(alpha.shape)
    if not grad_x.numel():
        return grad_alpha.zero_(), grad_x
    parts = x.new_empty(len(tcuts), programs, columns, dtype=torch.float32)
    _aggregate_gradient[(len(x) + len(tcuts), programs)](
        tcuts,
        len(tcuts),
        tptr,
        ttarget,
        tedge,
        alpha.contiguous(),
        x,
        grad.contiguous(),
        grad_x,
        grad_alpha,
        parts,
        alpha.size(1),
        columns,
        heads,
        *_strides(x),
        HEADS=heads // programs,
        LONG=LONG,
        **_tile(columns),
    )
    return grad_alpha, _added_up(tcuts, parts, grad_x)


def dot_products(grad, x, rowptr, source, cuts):
    rows, heads, columns = grad.shape
    x, out = _rows_apart(x), grad.new_empty(heads, source.numel())
    if out.numel():
        _dot_products[(rows + len(cuts), heads)](
            cuts,
            len(cuts),
            rowptr,
            source,
            x,
            grad.contiguous(),
            out,
            source.numel(),
            columns,
            *_strides(x),
            LONG=LONG,
            **_tile(columns),
        )
    return out


IMPLEMENTATIONS = {
    "segment_softmax": softmax,
    "segment_softmax_backward": softmax_gradient,
    "sum_of_neighbours": aggregate,
    "sum_of_neighbours_backward": aggregate_gradient,
    "dot_products": dot_products,
}
operators.implement(IMPLEMENTATIONS, "CUDA")
