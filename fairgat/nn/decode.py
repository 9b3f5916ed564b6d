"""The dot-product decoder of link prediction, without an array of size edges x features."""

import torch
from torch import Tensor

from fairgat.nn.arrays import INTEGERS, array, like, served
from fairgat.nn.operator import fake, gradient, operator

try:
    from fairgat.nn import pairs
except ImportError:  # Numba is not there, or does not know this Python
    pairs = None


@operator
def dot_product(z: Tensor, edges: Tensor) -> Tensor:
    """(m,) dot products <z_u, z_v> of embeddings z (N, F) for the pairs (u, v) of edges (2, m), integers.

    Raises:
        ValueError: edges have another shape or type, or, on the CPU, name a node outside 0 .. N-1.
    """
    if edges.dim() != 2 or edges.size(0) != 2 or edges.dtype not in INTEGERS:
        raise ValueError(f"edges must be integers of shape (2, m), got {edges.dtype} of {tuple(edges.shape)}")
    if edges.numel() and edges.device.type == "cpu":  # the kernels would read what is there
        low, high = edges.aminmax()
        if low < 0 or high >= z.size(0):
            raise ValueError(f"edges name a node outside 0 .. {z.size(0) - 1}")
    if not served(pairs, z):
        source, target = edges.long()  # uint8 would be taken for a mask
        return (z[source] * z[target]).sum(1)
    out = z.new_empty(edges.size(1))
    pairs.products(array(z), array(edges.long()), out.numpy())
    return out


@fake(dot_product)
def _(z, edges):
    return z.new_empty(edges.size(1))


@operator
def dot_product_backward(grad: Tensor, z: Tensor, edges: Tensor) -> Tensor:
    """Gradient of z (N, F)."""
    if not served(pairs, z):
        source, target = edges.long()
        weight = grad[:, None]
        return torch.zeros_like(z).index_add(0, source, weight * z[target]).index_add(0, target, weight * z[source])
    grad_z = torch.zeros_like(z, memory_format=torch.contiguous_format)
    pairs.gradient(array(grad), array(z), array(edges.long()), grad_z.numpy())
    return grad_z


@fake(dot_product_backward)
def _(grad, z, edges):
    return like(z)


def _setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _backward(ctx, grad):
    return dot_product_backward(grad, *ctx.saved_tensors), None


gradient(dot_product, _backward, _setup)
