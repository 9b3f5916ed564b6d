"""Numba kernels over pairs of nodes: dot products of their embeddings, and the gradient."""

import numpy as np
from numba import njit

from fairgat.nn.parallel import over_range

_jit = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})


def products(z: np.ndarray, edges: np.ndarray, out: np.ndarray) -> None:
    """out[e] = <z[u], z[v]> for the pairs (u, v) of edges (2, m)."""
    over_range(_products, edges.shape[1], z.shape[1], z, edges.view(np.uint64), out)


def gradient(grad: np.ndarray, z: np.ndarray, edges: np.ndarray, grad_z: np.ndarray) -> None:
    """grad_z[u] += grad[e] z[v] and grad_z[v] += grad[e] z[u] over all pairs; each thread takes some columns."""
    over_range(_gradient, z.shape[1], 2 * edges.shape[1], grad, z, edges.view(np.uint64), grad_z)


@_jit
def _products(begin, end, z, edges, out):
    for e in range(begin, end):
        a, b = z[edges[0, e]], z[edges[1, e]]
        total = z.dtype.type(0)
        for f in range(a.size):
            total += a[f] * b[f]
        out[e] = total


@_jit
def _gradient(begin, end, grad, z, edges, grad_z):
    for e in range(grad.size):
        u, v, g = edges[0, e], edges[1, e], grad[e]
        a, b = z[u, begin:end], z[v, begin:end]
        grad_a, grad_b = grad_z[u, begin:end], grad_z[v, begin:end]
        for f in range(a.size):
            grad_a[f] += g * b[f]
        for f in range(a.size):  # apart from the loop above: u may be v
            grad_b[f] += g * a[f]
