"""A layer's linear map, ReLU and the next layer's linear map, without writing the hidden features between them.

Where the first map widens (17 features to 128), hidden features are made for a block of rows that stays in the second
cache, and made again in the backward pass: that costs less than to store and to read them. There, one pass over the
rows gives all gradients.
"""

import torch
from torch import Tensor

from fairgat.nn.arrays import array, like, optional
from fairgat.nn.linear import by_kernels, large, linear, products
from fairgat.nn.operator import fake, gradient, operator


def hidden_linear(x: Tensor, weight: Tensor, bias: Tensor | None, head: Tensor) -> Tensor:
    """ReLU(x W^T + bias) V^T (n, m), for x (n, k), weight W (h, k), bias (h,) or None, and head V (m, h)."""
    shapes = weight.shape[1:] + head.shape[1:] + (weight.shape[:1] if bias is None else bias.shape)
    fits = shapes == x.shape[1:] + 2 * weight.shape[:1]
    alike = all(each is None or each.dtype == x.dtype for each in (weight, bias, head))
    if not torch.compiler.is_compiling() and fits and alike and _fused(x, weight, head):
        return hidden_product(x, weight, bias, head)
    return linear(linear(x, weight, bias, relu=True), head)


def _fused(x: Tensor, weight: Tensor, head: Tensor) -> bool:
    width, outputs = len(weight), len(head)
    return large(x, width) and x.size(1) <= width and outputs > 0 and by_kernels(x, max(width, outputs))


@operator
def hidden_product(x: Tensor, weight: Tensor, bias: Tensor | None, head: Tensor) -> Tensor:
    """The operator behind `hidden_linear`."""
    if not _fused(x, weight, head):  # exported where there were more rows
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
    if not _fused(x, weight, head):
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
