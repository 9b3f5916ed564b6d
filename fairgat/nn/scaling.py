"""Step S3 of FairGAT, bias and ReLU in one pass: bring features to unit variance, scale them by eta, add, activate.

    y = ReLU(eta * z / sqrt(var(z) + eps) + bias),    z = gain * x,

with the variance taken over all nodes and the mean kept. Without `eta` nothing is normalised: y = ReLU(x + bias).
Written with PyTorch's element-wise operations this doubles the epoch; here x is read twice and y written once.
"""

import numpy as np
import torch
from torch import Tensor

try:
    from numba import njit

    _jit = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})
except ImportError:
    _jit = None

EPS = 1e-12  # far below any variance that matters: row-normalised citation features reach 1e-5
_BLOCK = 256  # rows whose sums are added up in working precision before they join the float64 total


def scale(
    x: Tensor, bias: Tensor | None, eta: float | None = None, gain: Tensor | None = None, relu: bool = False
) -> Tensor:
    """Normalise, scale, shift and activate (N, F) features.

    Args:
        x: (N, F).
        bias: (F,) added after scaling, or None.
        eta: standard deviation of each column afterwards; None leaves the scale alone (and needs no gain).
        gain: (F,) column factors that x stands before; they cancel in the scaling but for eps.
        relu: apply ReLU last.
    """
    if eta is None:
        gain = None
    zeros = x.new_zeros(x.size(1)) if bias is None else bias
    ones = x.new_ones(x.size(1)) if gain is None else gain
    return scale_columns(x, ones, zeros, 0.0 if eta is None else eta, eta is not None, relu)[0]


def column_moments(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and (population) variance (F,) of each column of x (N, F)."""
    return _column_moments(x)


@torch.library.custom_op("fairgat::column_moments", mutates_args=())
def _column_moments(x: Tensor) -> tuple[Tensor, Tensor]:
    return _moments(x)


@_column_moments.register_fake
def _(x):
    return x.new_empty(x.size(1)), x.new_empty(x.size(1))


def _moments_setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[0], output[0])


def _moments_backward(ctx, grad_mean, grad_variance):
    x, mean = ctx.saved_tensors
    return torch.addcmul(grad_mean / x.size(0), x - mean, grad_variance * (2 / x.size(0)))


_column_moments.register_autograd(_moments_backward, setup_context=_moments_setup)


@torch.library.custom_op("fairgat::scale_columns", mutates_args=())
def scale_columns(
    x: Tensor, gain: Tensor, bias: Tensor, eta: float, normalise: bool, relu: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The operator behind `scale`: y (N, F), and mean and variance (F,) of x (zeros where not normalised)."""
    if normalise:
        mean, variance = _moments(x)
        factor = eta * gain * torch.rsqrt(gain * gain * variance + EPS)
    else:
        mean, variance, factor = torch.zeros_like(gain), torch.zeros_like(gain), gain
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    if _fused(x):
        _affine(x.contiguous().numpy(), factor.numpy(), bias.numpy(), relu, y.numpy())
    else:
        torch.addcmul(bias, x, factor, out=y)
        if relu:
            y.relu_()
    return y, mean, variance


@scale_columns.register_fake
def _(x, gain, bias, eta, normalise, relu):
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    return y, torch.empty_like(gain), torch.empty_like(gain)


@torch.library.custom_op("fairgat::scale_columns_backward", mutates_args=())
def scale_columns_backward(
    grad: Tensor, y: Tensor, x: Tensor, gain: Tensor, mean: Tensor, variance: Tensor,
    eta: float, normalise: bool, relu: bool,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Gradients of x (N, F), gain (F,) and bias (F,)."""
    fused = _fused(x)
    if fused:
        g, out, values = (t.contiguous().numpy() for t in (grad, y, x))
        sums = _gradient_sums(g, out, values, relu)
        grad_bias, grad_factor = (torch.from_numpy(s).to(x.dtype) for s in sums)
    else:
        masked = grad * (y > 0) if relu else grad
        grad_bias, grad_factor = masked.sum(0), (masked * x).sum(0)
    if normalise:
        root = torch.rsqrt(gain * gain * variance + EPS)
        factor = eta * gain * root
        grad_gain = grad_factor * eta * EPS * root**3
        slope = grad_factor * (-eta * gain**3 * root**3 / x.size(0))  # d factor / d x = slope * (x - mean)
    else:
        factor, grad_gain, slope = gain, grad_factor, torch.zeros_like(gain)
    grad_x = torch.empty_like(x, memory_format=torch.contiguous_format)
    if fused:
        _affine_gradient(g, out, values, factor.numpy(), slope.numpy(), (-slope * mean).numpy(), relu, grad_x.numpy())
    else:
        torch.addcmul(factor * masked - slope * mean, x, slope, out=grad_x)
    return grad_x, grad_gain, grad_bias


@scale_columns_backward.register_fake
def _(grad, y, x, gain, *_):
    grad_x = torch.empty_like(x, memory_format=torch.contiguous_format)
    return grad_x, torch.empty_like(gain), torch.empty_like(gain)


def _scale_setup(ctx, inputs, output):
    x, gain, _, *settings = inputs
    y, mean, variance = output
    ctx.save_for_backward(y, x, gain, mean, variance)
    ctx.settings = settings


def _scale_backward(ctx, grad, *_):
    y, *rest = ctx.saved_tensors
    return *scale_columns_backward(grad, y, *rest, *ctx.settings), None, None, None


scale_columns.register_autograd(_scale_backward, setup_context=_scale_setup)


def _fused(x: Tensor) -> bool:
    return _jit is not None and x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)


def _moments(x: Tensor) -> tuple[Tensor, Tensor]:
    if not _fused(x):
        variance, mean = torch.var_mean(x, 0, correction=0)
        return mean, variance
    mean, variance = _column_sums(x.contiguous().numpy())
    return torch.from_numpy(mean).to(x.dtype), torch.from_numpy(variance).to(x.dtype)


if _jit is not None:

    @_jit
    def _column_sums(x):
        """Mean and variance of each column; shifted by the first row, so that large means cost no digits."""
        rows, columns = x.shape
        total, squares = np.zeros(columns), np.zeros(columns)
        part, part_squares = np.zeros_like(x[0]), np.zeros_like(x[0])
        shift = x[0].copy()
        for first in range(0, rows, _BLOCK):
            part[:] = 0
            part_squares[:] = 0
            for i in range(first, min(first + _BLOCK, rows)):
                row = x[i]
                for f in range(columns):
                    value = row[f] - shift[f]
                    part[f] += value
                    part_squares[f] += value * value
            for f in range(columns):
                total[f] += part[f]
                squares[f] += part_squares[f]
        mean = total / rows
        return mean + shift, np.maximum(squares / rows - mean * mean, 0.0)

    @_jit
    def _affine(x, factor, bias, relu, y):
        zero = x.dtype.type(0)
        for i in range(x.shape[0]):
            row, out = x[i], y[i]
            for f in range(row.size):
                value = row[f] * factor[f] + bias[f]
                out[f] = zero if relu and value < zero else value

    @_jit
    def _gradient_sums(grad, y, x, relu):
        """Column sums of grad and of grad * x, over the places where y is active."""
        rows, columns = x.shape
        zero = x.dtype.type(0)
        total, weighted = np.zeros(columns), np.zeros(columns)
        part, part_weighted = np.zeros_like(x[0]), np.zeros_like(x[0])
        for first in range(0, rows, _BLOCK):
            part[:] = 0
            part_weighted[:] = 0
            for i in range(first, min(first + _BLOCK, rows)):
                g_row, y_row, x_row = grad[i], y[i], x[i]
                for f in range(columns):
                    g = zero if relu and y_row[f] <= zero else g_row[f]
                    part[f] += g
                    part_weighted[f] += g * x_row[f]
            for f in range(columns):
                total[f] += part[f]
                weighted[f] += part_weighted[f]
        return total, weighted

    @_jit
    def _affine_gradient(grad, y, x, factor, slope, offset, relu, grad_x):
        zero = x.dtype.type(0)
        for i in range(x.shape[0]):
            g_row, y_row, x_row, out = grad[i], y[i], x[i], grad_x[i]
            for f in range(x_row.size):
                g = zero if relu and y_row[f] <= zero else g_row[f]
                out[f] = factor[f] * g + slope[f] * x_row[f] + offset[f]
