"""The operators on a GPU, in Triton; importing this makes them CUDA's.

Sums are in float32, whatever the type. Nothing is added atomically, so that two runs
are equal bit for bit: a program has a row (or a source) of the graph and a head to
itself. A row of more than LONG edges is cut into parts (`cut_rows`), each with a
program that leaves its sums in `parts`, which a second kernel adds up in order. Offsets
are int64.

One warp that takes eight edges of 128 columns at a time is the fastest on an H200; more
take up to five times as long.

In the kernels i is a target, j a source, e are edges and c columns, those of one step
of a loop; `exists` says which of these edges there are, as the last step has fewer.
Scores are s of sources, t of targets and u of edges, of which `head_s` and `stride_s`
are the strides. Where there are no u, or no `keep`, some other array is passed and not
read. `cuts` (P, 4) are the parts of long rows: row, first edge, end, and at a row's
first part how many it has, else 0. M, N, E, P, H, S, C: rows, sources, edges, parts,
heads, segments and columns.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from fairgat.nn import operators
from fairgat.nn.pointers import LONG

TILE = 1024  # numbers that a program of the sums reads at a time
_LENGTHS = ["N", "M", "E", "P"]  # for whose values no variants of a kernel are compiled

operators.DTYPES["cuda"] = (torch.float32, torch.bfloat16, torch.float16)


@triton.jit
def _number(pointer, inside):
    """Numbers in float32, 0 where `inside` is False."""
    return tl.load(pointer, inside, 0.0).to(tl.float32)


@triton.jit
def _row_or_part(cuts, P, ptr, LONG: tl.constexpr):
    """A program's number, whether it has a part, its row, first edge and end.

    The first P programs have the parts of long rows, the others a row each, which is
    empty where it is cut.
    """
    program = tl.program_id(0).to(tl.int64)
    is_part = program < P
    cut = cuts + 4 * program  # row, first edge, end, number of parts

    row = tl.where(is_part, tl.load(cut, is_part, 0), program - P)
    first, end = tl.load(ptr + row), tl.load(ptr + row + 1)
    end = tl.where(end - first > LONG, first, end)
    first = tl.where(is_part, tl.load(cut + 1, is_part, 0), first)
    end = tl.where(is_part, tl.load(cut + 2, is_part, 0), end)
    return program, is_part, row, first, end


# ---------------------------------------------------------------- softmax of the scores


@triton.jit
def _scores(e, exists, source, s, t, u, stride_s, stride_u, HAS_U: tl.constexpr):
    """Scores s + t + u of edges before LeakyReLU."""
    j = tl.load(source + e, exists, 0).to(tl.int64)
    score = _number(s + j * stride_s, exists) + t
    if HAS_U:
        score += _number(u + e * stride_u, exists)
    return score


@triton.jit
def _long_row(cuts, ptr, S: tl.constexpr, LONG: tl.constexpr, CUT: tl.constexpr):
    """A program's row, and whether the program takes it (`_by_length`).

    With CUT programs are those of the parts of long rows, of which the first takes the
    whole row; without, those of the rows, which take the short ones.
    """
    program = tl.program_id(0).to(tl.int64)
    if CUT:
        cut = cuts + 4 * program
        row = tl.load(cut)
        takes_row = tl.load(cut + 3) > 0
    else:
        row = program
        first, end = tl.load(ptr + row * S), tl.load(ptr + (row + 1) * S)
        takes_row = end - first <= LONG
    return row, takes_row


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
    HAS_KEEP: tl.constexpr,
    HAS_U: tl.constexpr,
    LONG: tl.constexpr,
    CUT: tl.constexpr,
    EDGES: tl.constexpr,
):
    """alpha (H, E): in each segment the softmax of its scores, times its mass (M, S).

    A program has a row and a head, and reads EDGES at a time, twice.
    """
    row, takes_row = _long_row(cuts, segptr, S, LONG, CUT)
    head = tl.program_id(1).to(tl.int64)
    s, u, alpha = s + head * head_s, u + head * head_u, alpha + head * E
    ti = tl.load(t + head * head_t + row * stride_t).to(tl.float32)
    for k in range(S):
        first, end = tl.load(segptr + row * S + k), tl.load(segptr + row * S + k + 1)
        end = tl.where(takes_row, end, first)  # else no edge
        # The largest score and the sum of exponentials in one pass: the sum so far is
        # scaled anew where a larger score is found.
        top = -float("inf")
        total = 0.0
        for at in range(first, end, EDGES):
            e = at + tl.arange(0, EDGES)
            exists = e < end
            z = _scores(e, exists, source, s, ti, u, stride_s, stride_u, HAS_U)
            z = tl.where(z > 0, z, z * slope)
            if HAS_KEEP:
                exists = exists & (tl.load(keep + e, exists, 0) != 0)
            z = tl.where(exists, z, -float("inf"))
            higher = tl.maximum(top, tl.max(z, 0))
            finite = tl.where(higher == -float("inf"), 0.0, higher)
            total = total * tl.exp(top - finite) + tl.sum(tl.exp(z - finite), 0)
            top = higher
        factor = tl.where(total == 0, 0.0, tl.load(mass + row * S + k) / total)
        top = tl.where(top == -float("inf"), 0.0, top)
        for at in range(first, end, EDGES):
            e = at + tl.arange(0, EDGES)
            exists = e < end
            z = _scores(e, exists, source, s, ti, u, stride_s, stride_u, HAS_U)
            z = tl.where(z > 0, z, z * slope)
            value = tl.exp(z - top) * factor
            if HAS_KEEP:
                value = tl.where(tl.load(keep + e, exists, 0) != 0, value, 0.0)
            tl.store(alpha + e, value.to(alpha.dtype.element_ty), exists)


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
    HAS_U: tl.constexpr,
    LONG: tl.constexpr,
    CUT: tl.constexpr,
    EDGES: tl.constexpr,
):
    """grad_score (H, E), and grad_target (H, M), its sum over the edges of each row.

    That of a softmax is alpha (grad - mean), with the mean weighted by alpha.
    """
    row, takes_row = _long_row(cuts, segptr, S, LONG, CUT)
    head = tl.program_id(1).to(tl.int64)
    s, u = s + head * head_s, u + head * head_u
    alpha, grad, grad_score = alpha + head * E, grad + head * E, grad_score + head * E
    ti = tl.load(t + head * head_t + row * stride_t).to(tl.float32)
    sum_of_row = 0.0
    for k in range(S):
        first, end = tl.load(segptr + row * S + k), tl.load(segptr + row * S + k + 1)
        end = tl.where(takes_row, end, first)  # else no edge
        weighted_sum = 0.0
        total = 0.0
        for at in range(first, end, EDGES):
            e = at + tl.arange(0, EDGES)
            a = _number(alpha + e, e < end)
            weighted_sum += tl.sum(a * _number(grad + e, e < end), 0)
            total += tl.sum(a, 0)
        mean = tl.where(total > 0, weighted_sum / total, 0.0)
        for at in range(first, end, EDGES):
            e = at + tl.arange(0, EDGES)
            exists = e < end
            g = _number(alpha + e, exists) * (_number(grad + e, exists) - mean)
            z = _scores(e, exists, source, s, ti, u, stride_s, stride_u, HAS_U)
            g = tl.where(z > 0, g, g * slope)
            tl.store(grad_score + e, g.to(grad_score.dtype.element_ty), exists)
            sum_of_row += tl.sum(tl.where(exists, g, 0.0), 0)
    place = grad_target + head * M + row
    tl.store(place, sum_of_row.to(grad_target.dtype.element_ty), takes_row)


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
    EDGES: tl.constexpr,
):
    """out[h, j] = sum of values[h, e] over the edges out of j."""
    j, takes_row = _long_row(cuts, tptr, 1, LONG, CUT)
    head = tl.program_id(1).to(tl.int64)
    first, end = tl.load(tptr + j), tl.load(tptr + j + 1)
    total = 0.0
    for at in range(first, tl.where(takes_row, end, first), EDGES):
        k = at + tl.arange(0, EDGES)
        e = tl.load(tedge + k, k < end, 0)
        total += tl.sum(_number(values + head * E + e, k < end), 0)
    tl.store(out + head * N + j, total.to(out.dtype.element_ty), takes_row)


def _by_length(
    kernel, cuts: Tensor, rows: int, heads: int, *arguments, **constants
) -> None:
    """Start a kernel on the short rows, and with more warps on the long ones."""
    options = {"LONG": LONG, **constants}
    if rows:
        kernel[(rows, heads)](
            cuts, *arguments, CUT=False, EDGES=32, num_warps=1, **options
        )
    if len(cuts):
        kernel[(len(cuts), heads)](
            cuts, *arguments, CUT=True, EDGES=4096, num_warps=16, **options
        )


def softmax(
    s, t, u, rowptr, segptr, mass, source, cuts, tptr, tedge, tcuts, keep, slope
):
    """Attention (H, E): in each segment a softmax of its edges' scores, times its mass.

    Scores are s (H, N) of sources, t (H, M) of targets and, if given, u (H, E) of
    edges. `keep` (E,) bool is which edges are kept; all where None.
    """
    alpha = s.new_empty(len(s), source.numel())
    unread = s  # a kernel's argument cannot be None
    u_or_unread = unread if u is None else u
    keep_or_unread = unread if keep is None else keep.contiguous().view(torch.int8)
    _by_length(
        _softmax,
        cuts,
        rowptr.numel() - 1,
        len(s),
        segptr,
        mass,
        source,
        keep_or_unread,
        s,
        t,
        u_or_unread,
        alpha,
        slope,
        source.numel(),
        *s.stride(),
        *t.stride(),
        *u_or_unread.stride(),
        S=mass.size(1),
        HAS_KEEP=keep is not None,
        HAS_U=u is not None,
    )
    return alpha


def softmax_gradient(
    grad, alpha, s, t, u, rowptr, segptr, source, cuts, tptr, tedge, tcuts, slope
):
    """Gradients of s, t and u, from alpha and its gradient (H, E)."""
    rows, edges = rowptr.numel() - 1, source.numel()
    unread = s  # a kernel's argument cannot be None
    u_or_unread = unread if u is None else u
    grad_score = torch.empty_like(alpha)
    grad_s, grad_t = s.new_empty(s.shape), t.new_empty(t.shape)
    _by_length(
        _softmax_gradient,
        cuts,
        rows,
        len(s),
        segptr,
        source,
        s,
        t,
        u_or_unread,
        alpha,
        grad.contiguous(),
        grad_score,
        grad_t,
        slope,
        rows,
        edges,
        *s.stride(),
        *t.stride(),
        *u_or_unread.stride(),
        S=(segptr.numel() - 1) // max(rows, 1),
        HAS_U=u is not None,
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
    EDGES: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """out (M, H, C): each row's sum of alpha x; of a long row `parts` (P, H, C).

    A program has a row or part, a head and COLUMNS, and reads EDGES at a time.
    """
    program, is_part, row, first, end = _row_or_part(cuts, P, rowptr, LONG)
    head, heads = tl.program_id(1).to(tl.int64), tl.num_programs(1)
    c = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    inside = c < C
    sums = tl.zeros((COLUMNS,), tl.float32)
    for at in range(first, end, EDGES):
        e = at + tl.arange(0, EDGES)
        exists = e < end
        j = tl.load(source + e, exists, 0).to(tl.int64)
        w = _number(alpha + head * E + e, exists)
        v = _number(
            x + j[:, None] * stride_x + head * head_x + c[None, :],
            exists[:, None] & inside[None, :],
        )
        sums += tl.sum(w[:, None] * v, 0)
    place = out + (row * heads + head) * C + c
    tl.store(place, sums.to(out.dtype.element_ty), c < tl.where(is_part, 0, C))
    part_place = parts + (program * heads + head) * C + c
    tl.store(part_place, sums, c < tl.where(is_part, C, 0))


@triton.jit(do_not_specialize=_LENGTHS)
def _combine(
    cuts, parts, out, width, PARTS_AT_ONCE: tl.constexpr, COLUMNS: tl.constexpr
):
    """Add up the sums of a long row's parts; the program of its first part does.

    `parts` are (P, width), `out` (M, width).
    """
    program = tl.program_id(0).to(tl.int64)
    cut = cuts + 4 * program  # row, first edge, end, number of parts
    row, count = tl.load(cut), tl.load(cut + 3)
    end = program + count
    is_first = count > 0
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = c < width
    sums = tl.zeros((COLUMNS,), tl.float32)
    for at in range(program, end, PARTS_AT_ONCE):
        part = at + tl.arange(0, PARTS_AT_ONCE)
        place = parts + part[:, None] * width + c[None, :]
        exists = (part < end)[:, None] & inside[None, :]
        sums += tl.sum(_number(place, exists), 0)
    place = out + row * width + c
    tl.store(place, sums.to(out.dtype.element_ty), c < tl.where(is_first, width, 0))


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
    EDGES: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """grad_x and grad_alpha (H, E), by source: `grad` (M, H, C) is read once for both.

    A program has a source, or part of its edges, and one head, or all HEADS that share
    x, which is then (N, C).
    """
    program, is_part, j, first, end = _row_or_part(cuts, P, tptr, LONG)
    first_head, programs = tl.program_id(1).to(tl.int64), tl.num_programs(1)
    c = tl.arange(0, COLUMNS)
    inside = c < C
    sums = tl.zeros((COLUMNS,), tl.float32)
    for k in range(HEADS):
        head = first_head + k
        mine = _number(x + j * stride_x + head * head_x + c, inside)
        for at in range(first, end, EDGES):
            e = at + tl.arange(0, EDGES)
            exists = e < end
            i = tl.load(ttarget + e, exists, 0).to(tl.int64)
            place = tl.load(tedge + e, exists, 0) + head * E
            w = _number(alpha + place, exists)
            g = _number(
                grad + (i[:, None] * H + head) * C + c[None, :],
                exists[:, None] & inside[None, :],
            )
            sums += tl.sum(w[:, None] * g, 0)
            products = tl.sum(g * mine[None, :], 1)
            tl.store(
                grad_alpha + place, products.to(grad_alpha.dtype.element_ty), exists
            )
    place = grad_x + (j * programs + first_head) * C + c
    tl.store(place, sums.to(grad_x.dtype.element_ty), c < tl.where(is_part, 0, C))
    part_place = parts + (program * programs + first_head) * C + c
    tl.store(part_place, sums, c < tl.where(is_part, C, 0))


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
    EDGES: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """out (H, E): each edge's product of its target's `grad` and its source's x."""
    _, _, row, first, end = _row_or_part(cuts, P, rowptr, LONG)
    head, heads = tl.program_id(1).to(tl.int64), tl.num_programs(1)
    c = tl.arange(0, COLUMNS)
    inside = c < C
    g = _number(grad + (row * heads + head) * C + c, inside)
    for at in range(first, end, EDGES):
        e = at + tl.arange(0, EDGES)
        exists = e < end
        j = tl.load(source + e, exists, 0).to(tl.int64)
        v = _number(
            x + j[:, None] * stride_x + head * head_x + c[None, :],
            exists[:, None] & inside[None, :],
        )
        products = tl.sum(v * g[None, :], 1)
        tl.store(out + head * E + e, products.to(out.dtype.element_ty), exists)


def _tile(columns: int) -> dict[str, int]:
    """Edges and columns that a program reads at a time, and its warps."""
    columns = triton.next_power_of_2(columns)
    return {
        "EDGES": max(1, min(16, TILE // columns)),
        "COLUMNS": columns,
        "num_warps": max(1, min(8, columns // 256)),
    }


def _rows_apart(x: Tensor) -> Tensor:
    """x (N, C) or (N, H, C), with its columns side by side; rows may be apart."""
    return x if x.stride(-1) == 1 or x.size(-1) == 1 else x.contiguous()


def _strides(x: Tensor) -> tuple[int, int]:
    """From one node to the next, and from one head; 0 where they share x (N, C)."""
    return x.stride(0), x.stride(1) if x.dim() == 3 else 0


def _with_long_rows(out: Tensor, cuts: Tensor, parts: Tensor) -> Tensor:
    """Write the sums of their parts to the rows of `out` that were cut; return it."""
    if len(cuts):
        width = out[0].numel()
        tile = _tile(min(width, 128))
        parts_at_once, columns = tile.pop("EDGES"), tile["COLUMNS"]
        _combine[(len(cuts), triton.cdiv(width, columns))](
            cuts, parts, out, width, PARTS_AT_ONCE=parts_at_once, **tile
        )
    return out


def aggregate(alpha, x, rowptr, source, cuts, *_):
    """Sum alpha (H, E) times x over each row's neighbours: (M, H, C).

    A program has a row, or a part of one of more than LONG edges (`cuts`);
    `_with_long_rows` adds up the parts.
    """
    rows, heads, columns = rowptr.numel() - 1, alpha.size(0), x.size(-1)
    x = _rows_apart(x)
    out = x.new_empty(rows, heads, columns)
    parts = x.new_empty(len(cuts), heads, columns, dtype=torch.float32)
    if not out.numel():
        return out
    tile = _tile(min(columns, 128))
    blocks = triton.cdiv(columns, tile["COLUMNS"])
    _aggregate[(rows + len(cuts), heads, blocks)](
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
    return _with_long_rows(out, cuts, parts)


def aggregate_gradient(grad, alpha, x, tptr, ttarget, tedge, position, tcuts):
    """Gradients of alpha (H, E) and of x, given `grad` (M, H, C), that of the sums.

    A program has a source, whose edges are those of the transposed graph (`tptr`,
    `ttarget`, `tedge`), or a part of one of more than LONG edges (`tcuts`).
    """
    heads, columns, x = alpha.size(0), x.size(-1), _rows_apart(x)
    programs = 1 if x.dim() == 2 else heads  # for each source
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
    return grad_alpha, _with_long_rows(grad_x, tcuts, parts)


def dot_products(grad, x, rowptr, source, cuts):
    """(H, E) the gradient of alpha only, each edge's product of `grad` and x."""
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
