"""Step S3 of FairGAT fused with what stands beside it: attention scores before it, bias and ReLU after it.

Written with PyTorch's element-wise operations, S3 doubles the epoch. Here the features C are read once for their
variance, and Z is read twice and written once for normalisation, scaling, bias and ReLU together.
"""

import torch
from torch import Tensor

from fairgat.nn.arrays import array, like, served
from fairgat.nn.operator import fake, gradient, operator

try:
    from fairgat.nn import columns
except ImportError:  # Numba is not there, or does not know this Python
    columns = None

EPS = 1e-12  # far below any variance that matters: row-normalised citation features reach 1e-5


def scale(
    x: Tensor, bias: Tensor | None, eta: float | None = None, gain: Tensor | None = None, relu: bool = False
) -> Tensor:
    """y = ReLU(eta * z / sqrt(var(z) + eps) + bias) with z = gain * x, the variance over the rows, the mean kept.

    Args:
        x: (N, F).
        bias: (F,) added after scaling, or None.
        eta: standard deviation of each column afterwards; None leaves the scale alone: y = ReLU(x + bias).
        gain: (F,) column factors that x stands before; they cancel in the scaling but for eps.
        relu: apply ReLU last.
    """
    if bias is None:
        bias = x.new_zeros(x.size(1))
    if eta is None:
        return add_bias(x, bias, relu)
    gain = x.new_ones(x.size(1)) if gain is None else gain
    return normalise(x, gain, bias, eta, relu)[0]


def as_operators_take(eta: float | None) -> tuple[float, bool]:
    """S3's factor, and whether there is one: an operator's number may not be None."""
    return (0.0, False) if eta is None else (eta, True)


# ------------------------------------------------------------------------------------------------- bias and ReLU


@operator
def add_bias(x: Tensor, bias: Tensor, relu: bool) -> Tensor:
    """ReLU(x + bias) for x (N, F) and bias (F,), or x + bias."""
    if not served(columns, x):
        return (x + bias).relu() if relu else x + bias
    y = like(x)
    columns.affine(array(x), torch.ones_like(bias).numpy(), bias.numpy(), relu, y.numpy())
    return y


@fake(add_bias)
def _(x, bias, relu):
    return like(x)


@operator
def add_bias_backward(grad: Tensor, y: Tensor, relu: bool) -> tuple[Tensor, Tensor]:
    """Gradients of x (N, F) and bias (F,)."""
    if not served(columns, grad):
        masked = grad * (y > 0) if relu else grad.clone()
        return masked, masked.sum(0)
    grad_x = like(grad)
    total = columns.shift_gradient(array(grad), array(y), relu, grad_x.numpy())
    return grad_x, torch.from_numpy(total)


@fake(add_bias_backward)
def _(grad, y, relu):
    return like(grad), grad.new_empty(grad.size(1))


def _add_bias_setup(ctx, inputs, output):
    ctx.save_for_backward(output)
    ctx.relu = inputs[2]


def _add_bias_gradient(ctx, grad):
    return *add_bias_backward(grad, *ctx.saved_tensors, ctx.relu), None


gradient(add_bias, _add_bias_gradient, _add_bias_setup)


# ------------------------------------------------------------------------------- normalisation, bias and ReLU: Z


@operator
def normalise(x: Tensor, gain: Tensor, bias: Tensor, eta: float, relu: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The operator behind `scale` with eta: y (N, F), and mean and variance (F,) of x."""
    mean, variance, factor = deviation(x, gain, eta)
    if not served(columns, x):
        y = torch.addcmul(bias, x, factor)
        return y.relu() if relu else y, mean, variance
    y = like(x)
    columns.affine(array(x), factor.numpy(), bias.numpy(), relu, y.numpy())
    return y, mean, variance


@fake(normalise)
def _(x, gain, bias, eta, relu):
    return like(x), torch.empty_like(gain), torch.empty_like(gain)


@operator
def normalise_backward(
    grad: Tensor, x: Tensor, gain: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, eta: float, relu: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of x (N, F), gain (F,) and bias (F,); where ReLU was active is computed again, not read from y."""
    fused = served(columns, x)
    factor = factor_of(gain, variance, eta)
    if fused:
        g, values, line = array(grad), array(x), (factor.numpy(), bias.numpy())
        grad_bias, grad_factor = torch.from_numpy(columns.gradient_sums(g, values, *line, relu))
    else:
        masked = grad * (torch.addcmul(bias, x, factor) > 0) if relu else grad
        grad_bias, grad_factor = masked.sum(0), (masked * x).sum(0)
    slope, offset, grad_gain = through_factor(grad_factor, gain, mean, variance, eta, x.size(0))
    if fused:
        grad_x = like(x)
        columns.affine_gradient(g, values, *line, slope.numpy(), offset.numpy(), relu, grad_x.numpy())
    else:
        grad_x = factor * masked + slope * x + offset
    return grad_x, grad_gain, grad_bias


@fake(normalise_backward)
def _(grad, x, gain, *_):
    return like(x), torch.empty_like(gain), torch.empty_like(gain)


def _normalise_setup(ctx, inputs, output):
    x, gain, bias, *settings = inputs
    ctx.save_for_backward(x, gain, bias, *output[1:])
    ctx.settings = settings


def _normalise_gradient(ctx, grad, *_):
    return *normalise_backward(grad, *ctx.saved_tensors, *ctx.settings), None, None


gradient(normalise, _normalise_gradient, _normalise_setup)


# ------------------------------------------------------------------------------------------- attention scores: C


def scores_of_scaled(c: Tensor, att: Tensor, eta: float, scaled: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Scores <att, c> (2, H, N) of every node as source and as target, and gain, mean and variance (H, C) of c.

    With `scaled` the scores are those of gain * c, c scaled as S3 scales it: gain = eta / sqrt(var(c) + eps). For c
    (N, H, C) and att (2, H, C). The gradient is in `fairgat.nn.scored`.
    """
    if scaled and served(columns, c):
        found = columns.scores_of_scaled(array(c), array(att), eta, EPS)
        return tuple(map(torch.from_numpy, found))
    if scaled:
        variance, mean = torch.var_mean(c, 0, correction=0)
        gain = factor_of(torch.ones_like(variance), variance, eta)
    else:
        gain = c.new_ones(c.shape[1:])
        mean, variance = torch.zeros_like(gain), torch.zeros_like(gain)
    return scores_of(c, att * gain), gain, mean, variance


def scores_of(c: Tensor, att: Tensor) -> Tensor:
    """<att, c> (2, H, N) for c (N, H, C), or (N, 1, C) where all heads share it, and att (2, H, C)."""
    if served(columns, c):
        out = c.new_empty(2, att.size(1), c.size(0))
        columns.scores(array(c), array(att), out.numpy())
        return out
    scores = torch.matmul(c.transpose(0, 1), att.permute(1, 2, 0))  # (H, N, C) (H, C, 2): MKL's fast way round
    return scores.permute(2, 0, 1).contiguous()


def score_gradients(
    grad: Tensor, grad_gain: Tensor | None, c: Tensor, att: Tensor, gain: Tensor, mean: Tensor, variance: Tensor,
    eta: float, scaled: bool, grad_c: Tensor | None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Gradients of c (N, H, C), added in place to `grad_c` unless it is None, and of att (2, H, C).

    Args:
        grad: (2, H, N) of the scores.
        grad_gain: (H, C) of the gain.
    """
    if not served(columns, c):
        return _score_gradients(grad, grad_gain, c, att, gain, mean, variance, eta, scaled, grad_c)
    g, values = array(grad), array(c)
    sums = columns.score_sums(g, values)  # gradient of att * gain
    if not scaled:
        effective, grad_att, slope, offset = array(att), sums, None, None
    else:
        flat = (array(each).reshape(-1) for each in (gain, mean, variance))
        own = None if grad_gain is None else array(grad_gain).reshape(-1)
        both = array(att).reshape(2, -1)
        found = columns.through_scores(sums.reshape(2, -1), own, both, *flat, eta, EPS, c.size(0))
        effective, grad_att, slope, offset = (each.reshape(*each.shape[:-1], *c.shape[1:]) for each in found)
    if grad_c is None:
        return c.new_empty(0), torch.from_numpy(grad_att)
    columns.add_score_gradient(g, effective, values, slope, offset, grad_c.numpy())
    return grad_c, torch.from_numpy(grad_att)


def _score_gradients(grad, grad_gain, c, att, gain, mean, variance, eta, scaled, grad_c):
    grad_scaled = torch.einsum("khn,nhc->khc", grad, c)
    if grad_c is None:
        return c.new_empty(0), grad_scaled * gain
    grad_c += torch.einsum("khn,khc->nhc", grad, att * gain)
    if scaled:
        through_gain = (grad_scaled * att).sum(0)
        if grad_gain is not None:
            through_gain = through_gain + grad_gain
        slope, offset, _ = through_factor(through_gain, torch.ones_like(gain), mean, variance, eta, c.size(0))
        grad_c += slope * c + offset
    return grad_c, grad_scaled * gain


def factor_of(gain: Tensor, variance: Tensor, eta: float) -> Tensor:
    """What S3 multiplies x by where gain * x is scaled, the variance being that of x; all of one shape."""
    if served(columns, gain):
        flat = columns.factor(array(gain).ravel(), array(variance).ravel(), eta, EPS)
        return torch.from_numpy(flat).view(gain.shape)
    return eta * gain * torch.rsqrt(gain * gain * variance + EPS)


def through_factor(
    grad_factor: Tensor, gain: Tensor, mean: Tensor, variance: Tensor, eta: float, rows: int
) -> tuple[Tensor, Tensor, Tensor]:
    """What the gradient of `factor_of` means for x of so many rows, slope * x + offset, and for the gain."""
    if served(columns, gain):
        flat = (array(each).ravel() for each in (grad_factor, gain, mean, variance))
        found = columns.through_factor(*flat, eta, EPS, rows)
        return tuple(torch.from_numpy(each).view(gain.shape) for each in found)
    root = torch.rsqrt(gain * gain * variance + EPS)
    slope = grad_factor * (-eta * gain**3 * root**3 / max(rows, 1))  # d factor / d x = slope * (x - mean)
    return slope, -slope * mean, grad_factor * eta * EPS * root**3


def deviation(x: Tensor, gain: Tensor, eta: float) -> tuple[Tensor, Tensor, Tensor]:
    """Mean and population variance (F,) over the rows of x (N, F), and `factor_of` gain (F,) and variance."""
    if not served(columns, x):
        variance, mean = torch.var_mean(x, 0, correction=0)
        return mean, variance, factor_of(gain, variance, eta)
    return tuple(map(torch.from_numpy, columns.deviation(array(x), array(gain), eta, EPS)))
