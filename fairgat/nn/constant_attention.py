"""Attention over features that need no gradient, as a network's features do not: its scores' gradient in one pass.

`fairgat.nn.attention` gives the gradient of every node's scores, for which each source sums over its edges. Here the
scores are products of the features with two directions per head, W^T a, whose gradients a target's edges can be added
to at once.
"""

import numpy as np
import torch
from torch import Tensor

from fairgat.nn.arrays import array, like, number, optional, served, unsigned
from fairgat.nn.attention import attend, segment_attention, segment_attention_backward
from fairgat.nn.csr import CSRGraph
from fairgat.nn.operator import fake, gradient, operator
from fairgat.nn.parallel import over_range, row_cuts
from fairgat.nn.scaling import scores_of

try:
    from fairgat.nn import kernels
except ImportError:  # Numba is not there, or does not know this Python
    kernels = None

_PARTS = 16  # of the rows, of about as much work each, whose sums are added up last: as many threads at the most


def attend_features(
    x: Tensor,
    weight: Tensor,
    att: Tensor,
    graph: CSRGraph,
    alpha_chi: float = 0.0,
    negative_slope: float = 0.2,
    keep: Tensor | None = None,
    factor: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """`attend` over x (N, F), shared by all heads, the scores of its nodes being <att, x W^T>.

    Args:
        x: (N, F) features to aggregate.
        weight: W, (H, C, F).
        att: (2, H, C) attention vectors, source and target.
        graph, alpha_chi, negative_slope, keep, factor: as for `fairgat.nn.attention.attend`.

    Returns:
        out (N, H, F) and alpha (H, E).
    """
    fits = weight.shape[2:] == x.shape[1:] and weight.dtype == x.dtype
    if x.requires_grad or torch.compiler.is_compiling() or not fits:
        scores = torch.einsum("nf,khf->khn", x, _directions(weight, att))
        return attend(x[:, None, :], *scores, graph, alpha_chi, negative_slope, keep, factor)
    return constant_attention(x, weight, att, *graph.tensors, keep, factor, alpha_chi, negative_slope)[:2]


def _directions(weight: Tensor, att: Tensor) -> Tensor:
    """W^T a (2, H, F)."""
    return (att.transpose(0, 1) @ weight).transpose(0, 1)


@operator
def constant_attention(
    x: Tensor, weight: Tensor, att: Tensor,
    rowptr: Tensor, middle: Tensor, source: Tensor, tptr: Tensor, ttarget: Tensor, tedge: Tensor,
    keep: Tensor | None, factor: Tensor | None, alpha_chi: float, negative_slope: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """The operator behind `attend_features`: out, alpha, and scores (2, H, N). There is no gradient of x."""
    shared = x[:, None, :]
    scores = scores_of(shared, _directions(weight, att))
    out, alpha = segment_attention.function(
        shared, *scores, rowptr, middle, source, tptr, ttarget, tedge, keep, factor, alpha_chi, negative_slope
    )
    return out, alpha, scores


@fake(constant_attention)
def _(x, weight, att, rowptr, middle, source, *_):
    heads, rows = att.size(1), rowptr.size(0) - 1
    alpha = x.new_empty(heads, source.size(0))
    return x.new_empty(rows, heads, x.size(1)), alpha, x.new_empty(2, heads, x.size(0))


@operator
def constant_attention_backward(
    grad: Tensor, extra: Tensor | None, alpha: Tensor, scores: Tensor, x: Tensor, weight: Tensor, att: Tensor,
    rowptr: Tensor, middle: Tensor, source: Tensor, tptr: Tensor, ttarget: Tensor, tedge: Tensor,
    keep: Tensor | None, factor: Tensor | None, alpha_chi: float, negative_slope: float,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Gradients of weight and att."""
    along = _directions_gradient(
        grad, extra, alpha, scores, x, rowptr, middle, source, tptr, ttarget, tedge, keep, factor, alpha_chi,
        negative_slope,
    ).transpose(0, 1)  # fmt: skip
    return att.permute(1, 2, 0) @ along, (along @ weight.mT).transpose(0, 1).contiguous()


def _directions_gradient(
    grad, extra, alpha, scores, x, rowptr, middle, source, tptr, ttarget, tedge, keep, factor, alpha_chi, negative_slope
):
    """(2, H, F)."""
    if not served(kernels, x):
        both = segment_attention_backward.function(
            grad, extra, alpha, x[:, None, :], *scores, rowptr, middle, source, tptr, ttarget, tedge, keep, factor,
            alpha_chi, negative_slope, False,
        )[1:]  # fmt: skip
        return torch.einsum("khn,nf->khf", torch.stack(both), x)
    rows, heads, width = rowptr.numpy(), alpha.size(0), x.size(1)
    bounds = np.array(row_cuts(rows, [1] * _PARTS))  # whatever the number of threads
    parts = np.zeros((_PARTS, 2, heads, width), array(x).dtype)
    over_range(
        kernels.backward_directions, _PARTS, source.size(0) * heads * width // _PARTS, bounds, rows, middle.numpy(),
        unsigned(source), optional(keep), optional(factor), *scores.numpy(), number(alpha_chi, x),
        number(negative_slope, x), alpha.numpy(), optional(extra), array(x), array(grad),
        torch.empty_like(alpha).numpy(), parts,
    )  # fmt: skip
    return torch.from_numpy(parts.sum(0))


@fake(constant_attention_backward)
def _(grad, extra, alpha, scores, x, weight, att, *_):
    return like(weight), like(att)


def _setup(ctx, inputs, output):
    *tensors, alpha_chi, negative_slope = inputs
    ctx.save_for_backward(*output[1:], *tensors)
    ctx.settings = alpha_chi, negative_slope
    ctx.mark_non_differentiable(output[2])
    ctx.set_materialize_grads(False)


def _backward(ctx, grad, extra, _):
    if grad is None and extra is None:
        return (None,) * 13
    alpha, scores, x, weight, att, rowptr, *rest = ctx.saved_tensors
    if grad is None:  # only alpha was used further on
        grad = x.new_zeros(rowptr.size(0) - 1, alpha.size(0), x.size(1))
    found = constant_attention_backward(grad, extra, alpha, scores, x, weight, att, rowptr, *rest, *ctx.settings)
    return None, *found, *(None,) * 10


gradient(constant_attention, _backward, _setup)
