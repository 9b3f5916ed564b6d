"""A layer's linear map, ReLU and the next layer's linear map, without writing the hidden features between them.

Where the first map widens (17 features to 128), hidden features are made for a block of rows that stays in the second
cache, and made again in the backward pass: that costs less than to store and to read them. There, one pass over the
rows gives all gradients.
"""

import torch
from torch import Tensor

from fairgat.nn.arrays import array, like, optional
from fairgat.nn.covariance import add_gradient, covariance
from fairgat.nn.deviation import scaled_weight, weight_to_deviation, weight_to_deviation_backward
from fairgat.nn.linear import by_kernels, large, linear, products
from fairgat.nn.operator import fake, gradient, operator


def hidden_linear(x: Tensor, weight: Tensor, bias: Tensor | None, head: Tensor, eta: float | None = None) -> Tensor:
    """ReLU(x W^T + bias) V^T (n, m), for x (n, k), weight W (h, k), bias (h,) or None, and head V (m, h).

    With eta, W is scaled first, so that every column of x W^T has that standard deviation (S3).
    """
    shapes = weight.shape[1:] + head.shape[1:] + (weight.shape[:1] if bias is None else bias.shape)
    fits = shapes == x.shape[1:] + 2 * weight.shape[:1]
    alike = all(each is None or each.dtype == x.dtype for each in (weight, bias, head))
    served = not torch.compiler.is_compiling() and fits and alike and fused(x, weight, head)
    if eta is not None:
        if served:
            return scaled_hidden_product(x, weight, bias, head, eta)[0]
        weight = scaled_weight(weight[None], covariance(x[:, None])[0], eta)[0]
    return hidden_product(x, weight, bias, head) if served else linear(linear(x, weight, bias, relu=True), head)


def fused(x: Tensor, weight: Tensor, head: Tensor) -> bool:
    """Whether the kernels serve these shapes and types."""
    width, outputs = len(weight), len(head)
    return large(x, width) and x.size(1) <= width and outputs > 0 and by_kernels(x, max(width, outputs))


@operator
def hidden_product(x: Tensor, weight: Tensor, bias: Tensor | None, head: Tensor) -> Tensor:
    """The operator behind `hidden_linear`."""
    if not fused(x, weight, head):  # exported where there were more rows
        return torch.nn.functional.linear(torch.nn.functional.linear(x, weight, bias).relu(), head)
    out = x.new_empty(len(x), len(head))
    products.hidden_times(array(x), array(weight), optional(bias), array(head), out.numpy())
    return out


@fake(hidden_product)
def _(x, weight, bias, head):
    return x.new_empty(x.size(0), head.size(0))


@operator
def hidden_product_backward(
    grad: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None, head: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients of x, weight, bias and head."""
    if not fused(x, weight, head):
        hidden = torch.nn.functional.linear(x, weight, bias).relu()
        masked = (grad @ head) * (hidden > 0)
        return masked @ weight, masked.t() @ x, masked.sum(0), grad.t() @ hidden
    grad_x = like(x)
    arrays = (array(grad), array(x), array(weight), optional(bias), array(head))
    return grad_x, *(torch.from_numpy(each) for each in products.hidden_gradients(*arrays, grad_x.numpy()))


@fake(hidden_product_backward)
def _(grad, x, weight, bias, head):
    return like(x), like(weight), weight.new_empty(weight.size(0)), like(head)


def _setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _backward(ctx, grad):
    saved = ctx.saved_tensors
    grad_x, grad_weight, grad_bias, grad_head = hidden_product_backward(grad, *saved)
    return grad_x, grad_weight, None if saved[2] is None else grad_bias, grad_head


gradient(hidden_product, _backward, _setup)


# ------------------------------------------------------------------------------------------------------- with S3


@operator
def scaled_hidden_product(
    x: Tensor, weight: Tensor, bias: Tensor | None, head: Tensor, eta: float
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The operator behind `hidden_linear` with eta: the result, and what its gradient needs.

    These are the covariance of x (1, k, k), its mean as in `covariance`, W scaled (1, h, k), W times the covariance
    (1, h, k) and the variances (1, h).
    """
    found, mean = covariance.function(x[:, None])
    scaled, product, variance = weight_to_deviation.function(weight[None], found, eta)
    return hidden_product.function(x, scaled[0], bias, head), found, mean, scaled, product, variance


@fake(scaled_hidden_product)
def _(x, weight, bias, head, eta):
    (h, k), m = weight.shape, head.size(0)
    shapes = (x.size(0), m), (1, k, k), (2, 1, k), (1, h, k), (1, h, k), (1, h)
    return tuple(x.new_empty(shape) for shape in shapes)


@operator
def scaled_hidden_product_backward(
    grad: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None, head: Tensor, found: Tensor, mean: Tensor,
    scaled: Tensor, product: Tensor, variance: Tensor, eta: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Gradients of x, weight, bias and head."""
    grad_x, grad_scaled, grad_bias, grad_head = hidden_product_backward.function(grad, x, scaled[0], bias, head)
    saved = weight[None], found, product, variance
    grad_weight, grad_found = weight_to_deviation_backward.function(grad_scaled[None], *saved, eta, True)
    add_gradient(grad_found, x[:, None], mean, grad_x[:, None])
    return grad_x, grad_weight[0], grad_bias, grad_head


@fake(scaled_hidden_product_backward)
def _(grad, x, weight, bias, head, *_):
    return like(x), like(weight), weight.new_empty(weight.size(0)), like(head)


def _scaled_setup(ctx, inputs, output):
    *tensors, ctx.eta = inputs
    ctx.save_for_backward(*tensors, *output[1:])
    ctx.mark_non_differentiable(*output[1:])


def _scaled_backward(ctx, grad, *_):
    saved = ctx.saved_tensors
    grad_x, grad_weight, grad_bias, grad_head = scaled_hidden_product_backward(grad, *saved, ctx.eta)
    return grad_x, grad_weight, None if saved[2] is None else grad_bias, grad_head, None


gradient(scaled_hidden_product, _scaled_backward, _scaled_setup)
