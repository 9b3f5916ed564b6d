"""Step 3 on a GPU, in Triton, with few kernels.

Each costs a graph of Recidivism's size more time than its numbers do.

Columns are summed over PARTS of the rows by a program each, whose results a second
kernel puts together in order.

In the kernels x is (N, F), i are rows and f columns, those of one step of a loop;
`exists` says which of these numbers there are. A column's `mean` (2, F) is the sum of
two numbers, and `inverse` (F,) 1 / std, or 0 where it does not vary. Where there is no
`fallback` or `earlier_inverse` (see `columns.column_factor`), some other array is
passed and not read.
"""

import torch
import triton
import triton.language as tl

from fairgat.nn import operators
from fairgat.nn.columns import ROUNDING, SUMS_OF_CONSTANT, SUMS_OF_VARYING
from fairgat.nn.gpu import _number

PARTS = 128
ROWS, COLUMNS = 32, 32  # that a program reads at a time
EPS = torch.finfo(torch.float32).eps
LEAST = torch.finfo(torch.float32).tiny / EPS  # of a variance that is not rounding
# Constants of Triton's functions.
_OF_COLUMN = tl.constexpr(ROUNDING * EPS)
_OF_SUMS_OF_CONSTANT = tl.constexpr(SUMS_OF_CONSTANT * EPS)
_OF_SUMS_OF_VARYING = tl.constexpr(SUMS_OF_VARYING * EPS)
_LEAST = tl.constexpr(LEAST)


@triton.jit
def _rounding(earlier_inverse, column, inside, SUMS: tl.constexpr):
    """By what share of its mean rounding may move a column (`columns.rounding`)."""
    if SUMS:
        varied = _number(earlier_inverse + column, inside) > 0
        return tl.where(varied, _OF_SUMS_OF_VARYING, _OF_SUMS_OF_CONSTANT)
    return _OF_COLUMN


@triton.jit
def _factor(variance, least, fallback, eta):
    """eta / std and 1 / std; eta * fallback and 0 for what does not vary."""
    varies = variance > tl.maximum(least, _LEAST)
    deviation = tl.sqrt(tl.where(varies, variance, 1.0))
    inverse = tl.where(varies, 1.0 / deviation, 0.0)
    inverse = tl.where(variance == variance, inverse, variance)  # NaN is not lost
    return eta * tl.where(inverse == 0, fallback, inverse), inverse


@triton.jit(do_not_specialize=["N"])
def _part_moments(
    x,
    partial,
    N,
    F,
    stride,
    PARTS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """partial (PARTS, 2, F): mean and sum of squared deviations over the part's rows.

    The mean is that of x less its first row: far from 0 the differences have more
    digits than x, and those of a constant column are 0. ROWS at a time are joined to
    what there is by the formula for two samples' moments (Chan et al., 1979).
    """
    part = tl.program_id(0).to(tl.int64)
    f = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    first = _number(x + f, f < F * tl.minimum(N, 1))
    mean = tl.zeros((COLUMNS,), tl.float32)
    squares = tl.zeros((COLUMNS,), tl.float32)
    count = 0.0
    end = N * (part + 1) // PARTS
    for at in range(N * part // PARTS, end, ROWS):
        i = at + tl.arange(0, ROWS)
        exists = (i < end)[:, None] & (f < F)[None, :]
        v = _number(x + i[:, None] * stride + f[None, :], exists)
        v = tl.where(exists, v - first[None, :], 0.0)
        new_count = tl.minimum(end - at, ROWS).to(tl.float32)
        new_mean = tl.sum(v, 0) / new_count
        d = tl.where(exists, v - new_mean[None, :], 0.0)
        apart, total = new_mean - mean, count + new_count
        mean += apart * (new_count / total)
        squares += tl.sum(d * d, 0) + apart * apart * (count * new_count / total)
        count = total
    tl.store(partial + (2 * part) * F + f, mean, f < F)
    tl.store(partial + (2 * part + 1) * F + f, squares, f < F)


@triton.jit(do_not_specialize=["N"])
def _moments_to_factor(
    x,
    partial,
    fallback,
    earlier_inverse,
    factor,
    mean,
    inverse,
    N,
    F,
    eta,
    HAS_FALLBACK: tl.constexpr,
    SUMS: tl.constexpr,
    PARTS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """factor, mean and inverse from the PARTS' moments.

    mean (2, F): x's first row, and the mean of what x differs from it by.
    """
    part = tl.arange(0, PARTS).to(tl.int64)
    f = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    exists = (part >= 0)[:, None] & (f < F)[None, :]
    count = (N * (part + 1) // PARTS - N * part // PARTS).to(tl.float32)
    rows = tl.maximum(tl.sum(count, 0), 1.0)
    means = _number(partial + (2 * part)[:, None] * F + f[None, :], exists)
    squares = _number(partial + (2 * part + 1)[:, None] * F + f[None, :], exists)
    rest = tl.sum(count[:, None] * means, 0) / rows
    apart = means - rest[None, :]
    variance = tl.sum(squares + count[:, None] * apart * apart, 0) / rows
    other = _number(fallback + f, f < F) if HAS_FALLBACK else 1.0
    first = _number(x + f, f < F * tl.minimum(N, 1))
    least_deviation = _rounding(earlier_inverse, f, f < F, SUMS) * (first + rest)
    least = least_deviation * least_deviation
    scale, inverted = _factor(variance, least, other, eta)
    tl.store(factor + f, scale, f < F)
    tl.store(mean + f, first, f < F)
    tl.store(mean + F + f, rest, f < F)
    tl.store(inverse + f, inverted, f < F)


def column_factor(x, fallback, eta, earlier_inverse=None):
    """Find eta / std (F,) of the columns of x (N, F), and what the gradient needs.

    One kernel takes the moments of PARTS of the rows, a second one joins them.

    Args:
        fallback: (F,) in place of 1 / std where a column does not vary; 1 if None.
        earlier_inverse: (F,) 1 / std of the columns that x has sums of, None where it
            has no sums (see `columns.column_factor`).

    Returns:
        The factor (F,); the mean (2, F), a sum of two; and 1 / std (F,), or 0.
    """
    x = x if x.stride(-1) == 1 else x.contiguous()
    rows, columns = x.shape
    partial = x.new_empty(PARTS, 2, columns, dtype=torch.float32)
    mean = partial.new_empty(2, columns)
    factor, inverse = partial.new_empty(columns), partial.new_empty(columns)
    unread = factor  # a kernel's argument cannot be None
    if columns:
        blocks = triton.cdiv(columns, COLUMNS)
        _part_moments[(PARTS, blocks)](
            x, partial, rows, columns, x.stride(0), PARTS, ROWS, COLUMNS
        )
        _moments_to_factor[(blocks,)](
            x,
            partial,
            unread if fallback is None else fallback,
            unread if earlier_inverse is None else earlier_inverse,
            factor,
            mean,
            inverse,
            rows,
            columns,
            eta,
            HAS_FALLBACK=fallback is not None,
            SUMS=earlier_inverse is not None,
            PARTS=PARTS,
            COLUMNS=COLUMNS,
        )
    return factor, mean, inverse


@triton.jit(do_not_specialize=["N"])
def _column_factor_gradient(
    grad,
    shift,
    x,
    mean,
    inverse,
    grad_x,
    grad_fallback,
    N,
    F,
    stride,
    eta,
    SHIFT: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """grad_x (N, F), with `shift` (F,) added to every row, and grad_fallback (F,)."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    f = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    exists = (i < N)[:, None] & (f < F)[None, :]
    g, inverted = _number(grad + f, f < F) * eta, _number(inverse + f, f < F)
    first, rest = _number(mean + f, f < F), _number(mean + F + f, f < F)
    slope = -g * inverted * inverted / N  # a third power could overflow
    v = _number(x + i[:, None] * stride + f[None, :], exists)
    apart = v - first[None, :] - rest[None, :]
    value = apart * inverted[None, :] * slope[None, :]
    if SHIFT:
        value += _number(shift + f, f < F)[None, :]
    place = grad_x + i[:, None] * F + f[None, :]
    tl.store(place, value.to(grad_x.dtype.element_ty), exists)
    if tl.program_id(0) == 0:
        tl.store(grad_fallback + f, tl.where(inverted > 0, 0.0, g), f < F)


def column_factor_gradient(grad, shift, x, mean, inverse, eta):
    """Gradients of x (N, F) and of the fallback (F,), given that of eta / std.

    Args:
        grad: (F,) that of eta / std.
        shift: (F,) what is added to every row of x's gradient, or None.
        mean, inverse: what `column_factor` returned with the factor.
    """
    x = x if x.stride(-1) == 1 else x.contiguous()
    rows, columns = x.shape
    grad_x, grad_fallback = x.new_empty(x.shape), torch.empty_like(inverse)
    grid = triton.cdiv(max(rows, 1), ROWS), triton.cdiv(columns, COLUMNS)
    unread = inverse  # a kernel's argument cannot be None
    if columns:
        _column_factor_gradient[grid](
            grad.contiguous(),
            unread if shift is None else shift.contiguous(),
            x,
            mean,
            inverse,
            grad_x,
            grad_fallback,
            rows,
            columns,
            x.stride(0),
            eta,
            SHIFT=shift is not None,
            ROWS=ROWS,
            COLUMNS=COLUMNS,
        )
    return grad_x, grad_fallback


@triton.jit(do_not_specialize=["N"])
def _scaling_gradient(
    grad,
    x,
    scale,
    grad_x,
    partial,
    N,
    F,
    PARTS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """grad * scale; partial (PARTS, 2, F), each part's sums of grad * x and of grad."""
    part = tl.program_id(0).to(tl.int64)
    f = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    factor = _number(scale + f, f < F)
    dots = tl.zeros((COLUMNS,), tl.float32)
    sums = tl.zeros((COLUMNS,), tl.float32)
    end = N * (part + 1) // PARTS
    for at in range(N * part // PARTS, end, ROWS):
        i = at + tl.arange(0, ROWS)
        exists = (i < end)[:, None] & (f < F)[None, :]
        place = i[:, None] * F + f[None, :]
        g = _number(grad + place, exists)
        dots += tl.sum(g * _number(x + place, exists), 0)
        sums += tl.sum(g, 0)
        tl.store(
            grad_x + place, (g * factor[None, :]).to(grad_x.dtype.element_ty), exists
        )
    tl.store(partial + (2 * part) * F + f, dots, f < F)
    tl.store(partial + (2 * part + 1) * F + f, sums, f < F)


@triton.jit
def _sum_of_parts(
    partial, first, second, F, PARTS: tl.constexpr, COLUMNS: tl.constexpr
):
    """first and second (F,): the sums over the parts of partial (PARTS, 2, F)."""
    part = tl.arange(0, PARTS)[:, None]
    f = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    exists = (part >= 0) & (f < F)[None, :]
    one = tl.sum(_number(partial + 2 * part * F + f[None, :], exists), 0)
    other = tl.sum(_number(partial + (2 * part + 1) * F + f[None, :], exists), 0)
    tl.store(first + f, one.to(first.dtype.element_ty), f < F)
    tl.store(second + f, other.to(second.dtype.element_ty), f < F)


def scale_and_shift_gradient(grad, x, scale):
    """Gradients of x (N, F), the scale (F,) and the bias (F,) of x * scale + bias."""
    rows, columns = x.shape
    grad_x = x.new_empty(x.shape)
    grad_scale, grad_bias = scale.new_empty(columns), scale.new_empty(columns)
    partial = x.new_empty(PARTS, 2, columns, dtype=torch.float32)
    blocks = triton.cdiv(columns, COLUMNS)
    if columns:
        _scaling_gradient[(PARTS, blocks)](
            grad.contiguous(),
            x.contiguous(),
            scale,
            grad_x,
            partial,
            rows,
            columns,
            PARTS,
            ROWS,
            COLUMNS,
        )
        _sum_of_parts[(blocks,)](
            partial, grad_scale, grad_bias, columns, PARTS, COLUMNS
        )
    return grad_x, grad_scale, grad_bias


# -------------------------------------------- columns of a product, from its covariance


@triton.jit
def _matrix_factor(
    weight,
    product,
    mean,
    cov,
    fallback,
    earlier_inverse,
    factor,
    inverse,
    C,
    K,
    head_mean,
    head_cov,
    eta,
    eps,
    HAS_FALLBACK: tl.constexpr,
    SUMS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """factor and inverse (H, C) of the columns of x @ weight^T, weight (H, C, K).

    `product` (H, C, K) is weight @ cov. ROWS of a head's weight are a program's, and
    read COLUMNS at a time.
    """
    head = tl.program_id(1)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < C
    row += head * C
    variance = tl.zeros((ROWS,), tl.float32)
    least = tl.zeros((ROWS,), tl.float32)
    rounding = _rounding(earlier_inverse, row, inside, SUMS)
    square = (rounding * rounding + tl.zeros((ROWS,), tl.float32))[:, None]
    for at in range(0, K, COLUMNS):
        k = at + tl.arange(0, COLUMNS)
        exists = inside[:, None] & (k < K)[None, :]
        place = row[:, None] * K + k[None, :]
        w = _number(weight + place, exists)
        variance += tl.sum(w * _number(product + place, exists), 1)
        m = _number(mean + head * head_mean + k, k < K)
        own = eps * _number(cov + head * head_cov + k * (K + 1), k < K)
        least += tl.sum(w * w * (square * (m * m)[None, :] + own[None, :]), 1)
    other = _number(fallback + row, inside) if HAS_FALLBACK else 1.0
    scale, inverted = _factor(variance, least, other, eta)
    tl.store(factor + row, scale, inside)
    tl.store(inverse + row, inverted, inside)


@triton.jit
def _matrix_factor_gradient(
    grad,
    weight,
    product,
    inverse,
    grad_weight,
    scaled,
    grad_fallback,
    R,
    K,
    eta,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """grad_weight and grad_fallback; and `scaled`, for the covariance's gradient.

    `scaled` (R, K) is the weight times the gradient of each row's variance. R are the
    rows of all heads.
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    g, inverted = _number(grad + row, row < R) * eta, _number(inverse + row, row < R)
    slope = -0.5 * g * inverted * inverted * inverted  # in this order: g is small
    for at in range(0, K, COLUMNS):
        k = at + tl.arange(0, COLUMNS)
        exists = (row < R)[:, None] & (k < K)[None, :]
        place = row[:, None] * K + k[None, :]
        of_weight = 2 * slope[:, None] * _number(product + place, exists)
        of_product = slope[:, None] * _number(weight + place, exists)
        tl.store(grad_weight + place, of_weight, exists)
        tl.store(scaled + place, of_product, exists)
    tl.store(grad_fallback + row, tl.where(inverted > 0, 0.0, g), row < R)


def _matrix_setup(ctx, inputs, output):
    weight, _mean, cov, _fallback, ctx.eta, _earlier_inverse = inputs
    _factor, inverse, product = output
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(weight, cov, inverse, product)


def _matrix_backward(ctx, grad, *_):
    """Gradients of the operator's six arguments, from that of its first result."""
    weight, cov, inverse, product = ctx.saved_tensors
    grads = torch.ops.fairgat.matrix_factor_backward(
        grad, weight, product, inverse, ctx.eta
    )
    grad_weight, scaled, grad_fallback = grads
    grad_cov = None
    if ctx.needs_input_grad[2]:
        grad_cov = (scaled.mT @ weight).sum_to_size(cov.shape)
    if not ctx.needs_input_grad[3]:
        grad_fallback = None
    return grad_weight, None, grad_cov, grad_fallback, None, None


@operators.operator(
    "matrix_factor(Tensor weight[H C K], Tensor mean[1|H K], Tensor cov[1|H K K],"
    " Tensor? otherwise[H C], float eta, Tensor? summed[H C]=None)"
    " -> (Tensor factor, Tensor inverse, Tensor product)",
    lambda weight, *_: (
        weight.new_empty(weight.shape[:2]),
        weight.new_empty(weight.shape[:2]),
        torch.empty_like(weight),
    ),
    _matrix_backward,
    _matrix_setup,
    device="CUDA",
)
def matrix_factor(weight, mean, cov, fallback, eta, earlier_inverse=None):
    """Find eta / std (H, C) of the columns of a product, from x's covariance.

    The product x @ weight^T is not computed. Arguments are as for
    `columns.matrix_factor`.

    Returns:
        The factor (H, C), 1 / std (H, C) or 0, and weight @ cov for the gradient.
    """
    weight, mean, cov = weight.contiguous(), mean.contiguous(), cov.contiguous()
    heads, rows, columns = weight.shape
    product = weight @ cov
    factor, inverse = weight.new_empty(heads, rows), weight.new_empty(heads, rows)
    unread = factor  # a kernel's argument cannot be None
    # From one head to the next; 0 where they have the same x.
    head_mean = head_cov = 0
    if len(cov) > 1:
        head_mean, head_cov = columns, columns * columns
    _matrix_factor[(triton.cdiv(rows, ROWS), heads)](
        weight,
        product,
        mean,
        cov,
        unread if fallback is None else fallback.contiguous(),
        unread if earlier_inverse is None else earlier_inverse.contiguous(),
        factor,
        inverse,
        rows,
        columns,
        head_mean,
        head_cov,
        eta,
        4 * EPS,
        HAS_FALLBACK=fallback is not None,
        SUMS=earlier_inverse is not None,
        ROWS=ROWS,
        COLUMNS=COLUMNS,
    )
    return factor, inverse, product


@operators.operator(
    "matrix_factor_backward(Tensor grad[H C], Tensor weight[H C K],"
    " Tensor product[H C K], Tensor inverse[H C], float eta)"
    " -> (Tensor, Tensor, Tensor)",
    lambda grad, weight, *_: (
        torch.empty_like(weight),
        torch.empty_like(weight),
        torch.empty_like(grad),
    ),
    device="CUDA",
)
def matrix_factor_gradient(grad, weight, product, inverse, eta):
    """Gradients of weight (H, C, K) and the fallback (H, C), given that of eta / std.

    Between them `scaled` (H, C, K), of which the covariance's gradient is made: the
    weight times the gradient of each column's variance.
    """
    weight = weight.contiguous()
    grad_weight, scaled = torch.empty_like(weight), torch.empty_like(weight)
    grad_fallback = torch.empty_like(inverse)
    rows, columns = inverse.numel(), weight.size(-1)
    _matrix_factor_gradient[(triton.cdiv(rows, ROWS),)](
        grad.contiguous(),
        weight,
        product,
        inverse,
        grad_weight,
        scaled,
        grad_fallback,
        rows,
        columns,
        eta,
        ROWS,
        COLUMNS,
    )
    return grad_weight, scaled, grad_fallback


IMPLEMENTATIONS = {
    "column_factor": column_factor,
    "column_factor_backward": column_factor_gradient,
    "scale_and_shift": lambda x, scale, bias: torch.addcmul(bias, x, scale),
    "scale_and_shift_backward": scale_and_shift_gradient,
}
operators.implement(IMPLEMENTATIONS, "CUDA")
