"""The dot-product decoder of link prediction, without an array of size edges x features."""

import torch
from torch import Tensor

from fairgat.nn.arrays import array, like, served
from fairgat.nn.operator import fake, gradient, operator

try:
    from fairgat.nn import pairs
except ImportError:  # Numba is not there, or does not know this Python
    pairs = None


@operator
def dot_product(z: Tensor, edges: Tensor) -> Tensor:
    """(m,) dot products <z_u, z_v> of embeddings z (N, F) for the pairs (u, v) of edges (2, m)."""
    if not served(pairs, z):
        return (z[edges[0]] * z[edges[1]]).sum(1)
    out = z.new_empty(edges.size(1))
    pairs.products(array(z), array(edges), out.numpy())
    return out


@fake(dot_product)
def _(z, edges):
    return z.new_empty(edges.size(1))


@operator
def dot_product_backward(grad: Tensor, z: Tensor, edges: Tensor) -> Tensor:
    """Gradient of z (N, F)."""
    if not served(pairs, z):
        source, target = edges
        weight = grad[:, None]
        return torch.zeros_like(z).index_add(0, source, weight * z[target]).index_add(0, target, weight * z[source])
    grad_z = torch.zeros_like(z, memory_format=torch.contiguous_format)
    pairs.gradient(array(grad), array(z), array(edges), grad_z.numpy())
    return grad_z


@fake(dot_product_backward)
def _(grad, z, edges):
    return like(z)


def _setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _backward(ctx, grad):
    return dot_product_backward(grad, *ctx.saved_tensors), None


gradient(dot_product, _backward, _setup)
