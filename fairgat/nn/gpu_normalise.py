"""Step 3 on a GPU, in Triton, with few kernels.

Each costs a graph of Recidivism's size more time than its numbers do.

Columns are summed over PARTS of the rows by a program each, whose results a second
kernel puts together in order.
"""

import torch
import triton
import triton.language as tl

from fairgat.nn import operators
from fairgat.nn.columns import ROUNDING, SUMMED, SUMMED_VARIED
from fairgat.nn.gpu import _number

PARTS = 128
ROWS, COLUMNS = 32, 32  # that a program reads at a time
EPS = torch.finfo(torch.float32).eps
LEAST = torch.finfo(torch.float32).tiny / EPS  # of a variance that is not rounding
# Constants of Triton's functions.
_ERRORS, _SUMMED = tl.constexpr(ROUNDING * EPS), tl.constexpr(SUMMED * EPS)
_SUMMED_VARIED = tl.constexpr(SUMMED_VARIED * EPS)
_LEAST = tl.constexpr(LEAST)


@triton.jit
def _rounding(summed, column, inside, SUMS: tl.constexpr):
    """By what share of its mean rounding may move a column (`normalise.rounding`)."""
    if SUMS:
        varied = _number(summed + column, inside) > 0
        return tl.where(varied, _SUMMED_VARIED, _SUMMED)
    return _ERRORS


@triton.jit
def _factor(variance, least, otherwise, eta):
    """eta / std and 1 / std; eta * otherwise and 0 for what does not vary."""
    varies = variance > tl.maximum(least, _LEAST)
    deviation = tl.sqrt(tl.where(varies, variance, 1.0))
    inverse = tl.where(varies, 1.0 / deviation, 0.0)
    inverse = tl.where(variance == variance, inverse, variance)  # NaN is not lost
    return eta * tl.where(inverse == 0, otherwise, inverse), inverse


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
    digits than x, and those of a constant column are 0.
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
        ok = (i < end)[:, None] & (f < F)[None, :]
        v = _number(x + i[:, None] * stride + f[None, :], ok)
        v = tl.where(ok, v - first[None, :], 0.0)
        more = tl.minimum(end - at, ROWS).to(tl.float32)
        own = tl.sum(v, 0) / more
        d = tl.where(ok, v - own[None, :], 0.0)
        apart, total = own - mean, count + more
        mean += apart * (more / total)
        squares += tl.sum(d * d, 0) + apart * apart * (count * more / total)
        count = total
    tl.store(partial + (2 * part) * F + f, mean, f < F)
    tl.store(partial + (2 * part + 1) * F + f, squares, f < F)


@triton.jit(do_not_specialize=["N"])
def _moments_to_factor(
    x,
    partial,
    otherwise,
    summed,
    factor,
    mean,
    inverse,
    N,
    F,
    eta,
    OTHERWISE: tl.constexpr,
    SUMS: tl.constexpr,
    PARTS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """mean (2, F): x's first row, and the mean of what x differs from it by."""
    part = tl.arange(0, PARTS).to(tl.int64)
    f = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    ok = (part >= 0)[:, None] & (f < F)[None, :]
    count = (N * (part + 1) // PARTS - N * part // PARTS).to(tl.float32)
    rows = tl.maximum(tl.sum(count, 0), 1.0)
    means = _number(partial + (2 * part)[:, None] * F + f[None, :], ok)
    squares = _number(partial + (2 * part + 1)[:, None] * F + f[None, :], ok)
    rest = tl.sum(count[:, None] * means, 0) / rows
    apart = means - rest[None, :]
    variance = tl.sum(squares + count[:, None] * apart * apart, 0) / rows
    other = _number(otherwise + f, f < F) if OTHERWISE else 1.0
    first = _number(x + f, f < F * tl.minimum(N, 1))
    deviation = _rounding(summed, f, f < F, SUMS) * (first + rest)
    scale, inverted = _factor(variance, deviation * deviation, other, eta)
    tl.store(factor + f, scale, f < F)
    tl.store(mean + f, first, f < F)
    tl.store(mean + F + f, rest, f < F)
    tl.store(inverse + f, inverted, f < F)


def column_factor(x, otherwise, eta, summed=None):
    x = x if x.stride(-1) == 1 else x.contiguous()
    rows, columns = x.shape
    partial, mean, factor, inverse = (
        x.new_empty(*shape, columns, dtype=torch.float32)
        for shape in ((PARTS, 2), (2,), (), ())
    )
    if columns:
        blocks = triton.cdiv(columns, COLUMNS)
        _part_moments[(PARTS, blocks)](
            x, partial, rows, columns, x.stride(0), PARTS, ROWS, COLUMNS
        )
        _moments_to_factor[(blocks,)](
            x,
            partial,
            factor if otherwise is None else otherwise,
            factor if summed is None else summed,
            factor,
            mean,
            inverse,
            rows,
            columns,
            eta,
            otherwise is not None,
            summed is not None,
            PARTS,
            COLUMNS,
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
    grad_otherwise,
    N,
    F,
    stride,
    eta,
    SHIFT: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    f = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    ok = (i < N)[:, None] & (f < F)[None, :]
    g, inverted = _number(grad + f, f < F) * eta, _number(inverse + f, f < F)
    first, rest = _number(mean + f, f < F), _number(mean + F + f, f < F)
    slope = -g * inverted * inverted / N  # a third power could overflow
    v = _number(x + i[:, None] * stride + f[None, :], ok)
    apart = v - first[None, :] - rest[None, :]
    value = apart * inverted[None, :] * slope[None, :]
    if SHIFT:
        value += _number(shift + f, f < F)[None, :]
    place = grad_x + i[:, None] * F + f[None, :]
    tl.store(place, value.to(grad_x.dtype.element_ty), ok)
    if tl.program_id(0) == 0:
        tl.store(grad_otherwise + f, tl.where(inverted > 0, 0.0, g), f < F)


def column_factor_gradient(grad, shift, x, mean, inverse, eta):
    x = x if x.stride(-1) == 1 else x.contiguous()
    rows, columns = x.shape
    grad_x, grad_otherwise = x.new_empty(x.shape), torch.empty_like(inverse)
    if columns:
        _column_factor_gradient[
            (triton.cdiv(max(rows, 1), ROWS), triton.cdiv(columns, COLUMNS))
        ](
            grad.contiguous(),
            inverse if shift is None else shift.contiguous(),
            x,
            mean,
            inverse,
            grad_x,
            grad_otherwise,
            rows,
            columns,
            x.stride(0),
            eta,
            shift is not None,
            ROWS,
            COLUMNS,
        )
    return grad_x, grad_otherwise


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
        ok = (i < end)[:, None] & (f < F)[None, :]
        place = i[:, None] * F + f[None, :]
        g = _number(grad + place, ok)
        dots += tl.sum(g * _number(x + place, ok), 0)
        sums += tl.sum(g, 0)
        tl.store(grad_x + place, (g * factor[None, :]).to(grad_x.dtype.element_ty), ok)
    tl.store(partial + (2 * part) * F + f, dots, f < F)
    tl.store(partial + (2 * part + 1) * F + f, sums, f < F)


@triton.jit
def _sum_of_parts(
    partial, first, second, F, PARTS: tl.constexpr, COLUMNS: tl.constexpr
):
    part = tl.arange(0, PARTS)[:, None]
    f = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    ok = (part >= 0) & (f < F)[None, :]
    one = tl.sum(_number(partial + 2 * part * F + f[None, :], ok), 0)
    other = tl.sum(_number(partial + (2 * part + 1) * F + f[None, :], ok), 0)
    tl.store(first + f, one.to(first.dtype.element_ty), f < F)
    tl.store(second + f, other.to(second.dtype.element_ty), f < F)


def scale_and_shift_gradient(grad, x, scale):
    rows, columns = x.shape
    grad_x, grad_scale, grad_bias = (
        each.new_empty(each.shape) for each in (x, scale, scale)
    )
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
    otherwise,
    summed,
    factor,
    inverse,
    C,
    K,
    head_mean,
    head_cov,
    eta,
    eps,
    OTHERWISE: tl.constexpr,
    SUMS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    head = tl.program_id(1)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < C
    row += head * C
    variance = tl.zeros((ROWS,), tl.float32)
    least = tl.zeros((ROWS,), tl.float32)
    rounding = _rounding(summed, row, inside, SUMS)
    square = (rounding * rounding + tl.zeros((ROWS,), tl.float32))[:, None]
    for at in range(0, K, COLUMNS):
        k = at + tl.arange(0, COLUMNS)
        ok = inside[:, None] & (k < K)[None, :]
        w = _number(weight + row[:, None] * K + k[None, :], ok)
        variance += tl.sum(w * _number(product + row[:, None] * K + k[None, :], ok), 1)
        m = _number(mean + head * head_mean + k, k < K)
        own = eps * _number(cov + head * head_cov + k * (K + 1), k < K)
        least += tl.sum(w * w * (square * (m * m)[None, :] + own[None, :]), 1)
    other = _number(otherwise + row, inside) if OTHERWISE else 1.0
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
    grad_otherwise,
    R,
    K,
    eta,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Of weight; and `scaled`, from which that of the covariance is found.

    It is the weight times the gradient of the variance.
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    g, inverted = _number(grad + row, row < R) * eta, _number(inverse + row, row < R)
    slope = -0.5 * g * inverted * inverted * inverted  # in this order: g is small
    for at in range(0, K, COLUMNS):
        k = at + tl.arange(0, COLUMNS)
        ok = (row < R)[:, None] & (k < K)[None, :]
        place = row[:, None] * K + k[None, :]
        tl.store(
            grad_weight + place, 2 * slope[:, None] * _number(product + place, ok), ok
        )
        tl.store(scaled + place, slope[:, None] * _number(weight + place, ok), ok)
    tl.store(grad_otherwise + row, tl.where(inverted > 0, 0.0, g), row < R)


def _matrix_setup(ctx, inputs, output):
    weight, _, cov, _, ctx.eta, _ = inputs
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(weight, cov, *output[1:])


def _matrix_backward(ctx, grad, *_):
    weight, cov, inverse, product = ctx.saved_tensors
    grads = torch.ops.fairgat.matrix_factor_backward(
        grad, weight, product, inverse, ctx.eta
    )
    grad_weight, scaled, grad_otherwise = grads
    grad_cov = None
    if ctx.needs_input_grad[2]:
        grad_cov = (scaled.mT @ weight).sum_to_size(cov.shape)
    return (
        grad_weight,
        None,
        grad_cov,
        grad_otherwise if ctx.needs_input_grad[3] else None,
        None,
        None,
    )


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
def matrix_factor(weight, mean, cov, otherwise, eta, summed=None):
    weight, mean, cov = weight.contiguous(), mean.contiguous(), cov.contiguous()
    heads, rows, columns = weight.shape
    product = weight @ cov
    factor, inverse = weight.new_empty(heads, rows), weight.new_empty(heads, rows)
    apart = len(cov) > 1
    _matrix_factor[(triton.cdiv(rows, ROWS), heads)](
        weight,
        product,
        mean,
        cov,
        factor if otherwise is None else otherwise.contiguous(),
        factor if summed is None else summed.contiguous(),
        factor,
        inverse,
        rows,
        columns,
        columns * apart,
        columns * columns * apart,
        eta,
        4 * EPS,
        otherwise is not None,
        summed is not None,
        ROWS,
        COLUMNS,
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
    weight = weight.contiguous()
    grad_weight, scaled, grad_otherwise = (
        torch.empty_like(weight),
        torch.empty_like(weight),
        torch.empty_like(inverse),
    )
    rows, columns = inverse.numel(), weight.size(-1)
    _matrix_factor_gradient[(triton.cdiv(rows, ROWS),)](
        grad.contiguous(),
        weight,
        product,
        inverse,
        grad_weight,
        scaled,
        grad_otherwise,
        rows,
        columns,
        eta,
        ROWS,
        COLUMNS,
    )
    return grad_weight, scaled, grad_otherwise


IMPLEMENTATIONS = {
    "column_factor": column_factor,
    "column_factor_backward": column_factor_gradient,
    "scale_and_shift": lambda x, scale, bias: torch.addcmul(bias, x, scale),
    "scale_and_shift_backward": scale_and_shift_gradient,
}
operators.implement(IMPLEMENTATIONS, "CUDA")
