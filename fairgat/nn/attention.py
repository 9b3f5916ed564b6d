r"""Attention over a CSR graph whose rows are cut into segments, with a softmax in each.

.. math::
    e_{ij} = \operatorname{LeakyReLU}(s_j + t_i + u_{ij}), \qquad
    \alpha_{ij} = m_i^{seg(j)}
    \frac{\exp e_{ij}}{\sum_{k \in seg(j)} \exp e_{ik}}, \qquad
    z_i = \sum_j \alpha_{ij} c_j

with u = 0 where edges have no features. GAT has one segment of mass 1 in each row.
FairGAT has two: a row with both kinds of edges gives its inter-edges the mass alpha_chi
and its intra-edges the rest, and a row with one kind gives that kind all. With shares
for K groups there are up to K segments, whose masses are computed once per graph
(`fairgat.nn.shares`).

The two functions of `fairgat.nn.reference` are these equations, for any device and
type, and make arrays of size E x C. Two operators, which do not, take their place for
the types of DTYPES: on the CPU they run the kernels of `fairgat.nn.kernels`, on a GPU
those of `fairgat.nn.gpu`. PyTorch's dispatcher chooses.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from fairgat.nn import kernels
from fairgat.nn.csr import CSRGraph
from fairgat.nn.operators import fused, operator
from fairgat.nn.parallel import launch
from fairgat.nn.reference import reference_softmax, reference_sum


def redistributed_mass(mass: Tensor, graph: CSRGraph, keep: Tensor) -> Tensor:
    """(M, S) masses of the segments where edges, False in `keep` (E,), are dropped.

    A segment that loses all its edges leaves its mass to the others of its row. A row
    that loses all of them has no mass.
    """
    if mass.size(1) == 1:
        return mass
    has_edges = _kept_edges(graph, keep) > 0
    has_edges = has_edges.view_as(mass).to(mass.dtype)  # 1 or 0
    remaining = mass * has_edges
    has_mass = remaining.sum(1, keepdim=True) > 0
    # Where all that had mass is gone, the other segments share it equally.
    mass = torch.where(has_mass, remaining, has_edges)
    return mass / mass.sum(1, keepdim=True).clamp_min(torch.finfo(mass.dtype).tiny)


def _kept_edges(graph: CSRGraph, keep: Tensor) -> Tensor:
    """(M * S,) the number of edges that are kept in each segment."""
    kept_before = pad(keep.cumsum(0, dtype=torch.int32), (1, 0))  # (E + 1,) each edge
    return kept_before[graph.segptr].diff()


def segment_softmax(
    score_source: Tensor,
    score_target: Tensor,
    graph: CSRGraph,
    alpha_chi: float = 0.0,
    slope: float = 0.2,
    keep: Tensor | None = None,
    score_edge: Tensor | None = None,
) -> Tensor:
    """Attention coefficients: in each segment a softmax of its edges' scores.

    Args:
        score_source: s, (H, N).
        score_target: t, (H, M), with M rows of the graph, which are its nodes if it is
            a whole one.
        graph: whose rows are cut into segments.
        alpha_chi: attention that a row with both kinds of edges gives to its
            inter-edges, where the graph was made without shares.
        slope: of the LeakyReLU.
        keep: (E,) bool in the graph's order; edges that are False are not there, and a
            segment that loses all its edges leaves its mass to the others of its row,
            in proportion to theirs.
        score_edge: u, (H, E) in the graph's order; None for 0.

    Returns:
        alpha (H, E) in the graph's order.
    """
    scores = [score_source, score_target]
    if score_edge is not None:
        scores.append(score_edge)
    is_fused = fused(*scores)
    dtype = torch.float32 if is_fused else score_source.dtype
    mass = graph.masses(alpha_chi, dtype)
    if keep is not None:
        mass = redistributed_mass(mass, graph, keep)
    if not is_fused:
        return reference_softmax(
            score_source, score_target, score_edge, graph, mass, keep, slope
        )

    tptr, _, tedge, _, tcuts = _transposed(graph, *scores)
    return torch.ops.fairgat.segment_softmax(
        score_source,
        score_target,
        score_edge,
        graph.rowptr,
        graph.segptr,
        mass,
        graph.source,
        graph.cuts(),
        tptr,
        tedge,
        tcuts,
        keep,
        slope,
    )


def sum_of_neighbours(alpha: Tensor, x: Tensor, graph: CSRGraph) -> Tensor:
    """z (M, H, C): each row's sum of its neighbours' x (N, H, C), times alpha (H, E).

    x may be (N, C) where all heads sum the same features.
    """
    if not fused(alpha, x):
        return reference_sum(alpha, x, graph)
    transposed = _transposed(graph, alpha, x)
    width = x.size(-1)
    padding = 0
    if x.device.type == "cpu":  # whose kernels take blocks of 16 columns
        padding = -width % 16
    if padding:
        x = pad(x, (0, padding))
    out = torch.ops.fairgat.sum_of_neighbours(
        alpha, x, graph.rowptr, graph.source, graph.cuts(), *transposed
    )
    return out[..., :width] if padding else out  # a slice has a gradient, which copies


def _transposed(graph: CSRGraph, *tensors: Tensor) -> tuple[Tensor | None, ...]:
    """The transposed graph where there will be a backward pass."""
    needed = torch.is_grad_enabled() and any(each.requires_grad for each in tensors)
    return graph.transposed() if needed else (None,) * 5


# ------------------------------------------- the operators, and what they do on the CPU


# Autograd and kernels get the arguments of the schema; some of them are for the other
# device, or for the gradient only.


def _softmax_setup(ctx, inputs, output):
    # Neither the mass nor `keep`, which alpha has in it.
    *arrays, _mass, source, cuts, tptr, tedge, tcuts, _keep, ctx.slope = inputs
    ctx.save_for_backward(output, *arrays, source, cuts, tptr, tedge, tcuts)


def _softmax_backward(ctx, grad):
    """Gradients by the operator's arguments: of the scores, and None for the others."""
    grad_source, grad_target, grad_edge = torch.ops.fairgat.segment_softmax_backward(
        grad, *ctx.saved_tensors, ctx.slope
    )
    if not ctx.needs_input_grad[2]:
        grad_edge = None
    no_others = (None,) * 10
    return grad_source, grad_target, grad_edge, *no_others


def _softmax_shape(score_source, _target, _edge, _rowptr, _segptr, _mass, source, *_):
    return score_source.new_empty(len(score_source), len(source))


@operator(
    "segment_softmax(Tensor score_source[H N], Tensor score_target[H M],"
    " Tensor? score_edge[H E], Tensor rowptr, Tensor segptr, Tensor mass[M S],"
    " Tensor source, Tensor cuts, Tensor? tptr, Tensor? tedge, Tensor? tcuts,"
    " Tensor? keep[E], float slope) -> Tensor",
    _softmax_shape,
    _softmax_backward,
    _softmax_setup,
)
def _softmax(
    score_source,
    score_target,
    score_edge,
    rowptr,
    segptr,
    mass,
    source,
    cuts,
    tptr,
    tedge,
    tcuts,
    keep,
    slope,
):
    """Attention (H, E): a softmax over each segment, times its mass (M, S).

    Scores are (H, N) of sources, (H, M) of targets and (H, E) of edges, or None.
    """
    alpha = score_source.new_empty(score_source.size(0), source.size(0))
    launch(
        kernels.softmax,
        rowptr.numpy(),
        segptr.numpy(),
        mass.numpy(),
        _unsigned(source),
        _array(keep),
        _array(score_source),
        _array(score_target),
        _array(score_edge),
        np.float32(slope),
        alpha.numpy(),
    )
    return alpha


@operator(
    "segment_softmax_backward(Tensor grad[H E], Tensor alpha[H E],"
    " Tensor score_source[H N], Tensor score_target[H M], Tensor? score_edge[H E],"
    " Tensor rowptr, Tensor segptr, Tensor source, Tensor cuts, Tensor tptr,"
    " Tensor tedge, Tensor tcuts, float slope) -> (Tensor, Tensor, Tensor)",
    lambda grad, alpha, s, t, *_: tuple(map(_like, (s, t, alpha))),
)
def _softmax_gradient(
    grad,
    alpha,
    score_source,
    score_target,
    score_edge,
    rowptr,
    segptr,
    source,
    cuts,
    tptr,
    tedge,
    tcuts,
    slope,
):
    """Gradients of the three scores, from alpha and its gradient (H, E)."""
    grad_source, grad_target = _like(score_source), _like(score_target)
    grad_edge = _like(alpha)
    launch(
        kernels.softmax_gradient,
        rowptr.numpy(),
        segptr.numpy(),
        _unsigned(source),
        _array(score_source),
        _array(score_target),
        _array(score_edge),
        np.float32(slope),
        _array(alpha),
        _array(grad),
        grad_edge.numpy(),
        grad_target.numpy(),
    )
    launch(
        kernels.sum_by_source,
        tptr.numpy(),
        _unsigned(tedge),
        grad_edge.numpy(),
        grad_source.numpy(),
    )
    return grad_source, grad_target, grad_edge


def _sum_setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _sum_backward(ctx, grad):
    """Gradients by the operator's arguments: of alpha and x, None for the others."""
    alpha, x, rowptr, source, cuts, *transposed = ctx.saved_tensors
    if ctx.needs_input_grad[1]:
        grads = torch.ops.fairgat.sum_of_neighbours_backward(
            grad, alpha, x, *transposed
        )
    else:  # no array of x's size, and no pass by source
        grads = torch.ops.fairgat.dot_products(grad, x, rowptr, source, cuts), None
    no_others = (None,) * 8
    return *grads, *no_others


@operator(
    "sum_of_neighbours(Tensor alpha[H E], Tensor x[N (H) C], Tensor rowptr,"
    " Tensor source, Tensor cuts, Tensor? tptr, Tensor? ttarget, Tensor? tedge,"
    " Tensor? position, Tensor? tcuts) -> Tensor",
    lambda alpha, x, rowptr, *_: x.new_empty(
        rowptr.size(0) - 1, alpha.size(0), x.size(-1)
    ),
    _sum_backward,
    _sum_setup,
)
def _sum(alpha, x, rowptr, source, *_):
    """Each row's sum (M, H, C), a block of columns at a time."""
    out = x.new_empty(rowptr.size(0) - 1, alpha.size(0), x.size(-1))
    for block in _blocks(alpha.size(0), x):
        launch(
            kernels.aggregate,
            rowptr.numpy(),
            _unsigned(source),
            _array(alpha)[block.head],
            _flat(x),
            block.x_column,
            _flat(out),
            block.out_column,
            block.size,
        )
    return out


@operator(
    "sum_of_neighbours_backward(Tensor grad[M H C], Tensor alpha[H E],"
    " Tensor x[N (H) C], Tensor tptr, Tensor ttarget, Tensor tedge, Tensor position,"
    " Tensor tcuts) -> (Tensor, Tensor)",
    lambda grad, alpha, x, *_: (_like(alpha), _like(x)),
)
def _sum_gradient(grad, alpha, x, tptr, ttarget, tedge, position, _tcuts):
    """Gradients of alpha (H, E) and of x, a block of columns at a time.

    The kernel reads the edges by source: `tedge` brings the weights into that order,
    `position` their gradients back.
    """
    grad_x, grad_weight = _like(x), _like(alpha)
    if not x.size(-1):
        return grad_weight.zero_(), grad_x
    weight = _take_columns(alpha, tedge)  # now by source
    for block in _blocks(alpha.size(0), x):
        # The gradient of x that all heads share sums over the heads,
        adds_to_x = x.dim() == 2 and block.head > 0
        # and that of an edge's weight over the blocks of its head.
        adds_to_weight = block.out_column > block.head * x.size(-1)
        launch(
            kernels.aggregate_gradient,
            tptr.numpy(),
            _unsigned(ttarget),
            weight.numpy()[block.head],
            _flat(x),
            block.x_column,
            _flat(grad),
            block.out_column,
            block.size,
            _flat(grad_x),
            adds_to_x,
            grad_weight.numpy()[block.head],
            adds_to_weight,
        )
    grad_alpha = _take_columns(grad_weight, position)  # back in the order of alpha
    return grad_alpha, grad_x


def _take_columns(values: Tensor, index: Tensor) -> Tensor:
    """values[:, index], row by row, which is faster."""
    out = torch.empty_like(values)
    for row, into in zip(values, out, strict=True):
        torch.index_select(row, 0, index, out=into)
    return out


@operator(
    "dot_products(Tensor grad[M H C], Tensor x[N (H) C], Tensor rowptr, Tensor source,"
    " Tensor cuts) -> Tensor",
    lambda grad, x, rowptr, source, cuts: grad.new_empty(grad.size(1), source.size(0)),
)
def _dot_products(grad, x, rowptr, source, cuts):
    """(H, E) each edge's product of its target's `grad` and its source's x."""
    out = grad.new_empty(grad.size(1), source.size(0))
    x = x if x.dim() == 3 else x[:, None]
    launch(
        kernels.dot_products,
        rowptr.numpy(),
        _unsigned(source),
        _array(x),
        _array(grad),
        out.numpy(),
    )
    return out


class _Block(NamedTuple):
    """Columns of one head that a kernel takes at a time.

    Unsigned, of which Numba knows that they aren't negative.
    """

    head: int
    size: np.uint64
    x_column: np.uint64  # where it begins in x
    out_column: np.uint64  # where it begins in the sums


def _blocks(heads: int, x: Tensor) -> Iterator[_Block]:
    """Cut each head's columns into blocks of 128, 64, 32 and 16.

    Raises:
        ValueError: what is no block of 16 would be left out.
    """
    width, is_shared = x.size(-1), x.dim() == 2
    if width % 16:
        raise ValueError(f"the columns of x must be a multiple of 16, got {width}")
    for head in range(heads):
        start = 0
        for size in (128, 64, 32, 16):
            while start + size <= width:
                out_column = np.uint64(head * width + start)
                x_column = np.uint64(start) if is_shared else out_column
                yield _Block(head, np.uint64(size), x_column, out_column)
                start += size


def _like(x: Tensor) -> Tensor:
    """An empty contiguous tensor of x's shape."""
    return x.new_empty(x.shape)


def _array(tensor: Tensor | None) -> np.ndarray | None:
    return None if tensor is None else tensor.detach().contiguous().numpy()


def _flat(tensor: Tensor) -> np.ndarray:
    """(N, H, C) as an array (N, H * C)."""
    return _array(tensor.flatten(1))


def _unsigned(indices: Tensor) -> np.ndarray:
    """int32 as uint32, of which Numba knows that they aren't negative."""
    return indices.numpy().view(np.uint32)
