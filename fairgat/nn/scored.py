"""Attention whose scores are read off the features that it aggregates: one operator, one gradient of them.

Apart, the scores and the aggregation would each write a gradient of the features' size, to be added up afterwards.
"""

import torch
from torch import Tensor

from fairgat.nn.arrays import like
from fairgat.nn.attention import segment_attention, segment_attention_backward
from fairgat.nn.csr import CSRGraph
from fairgat.nn.operator import fake, gradient, operator
from fairgat.nn.scaling import as_operators_take, score_gradients, scores_of_scaled


def attend_scored(
    c: Tensor,
    att: Tensor,
    graph: CSRGraph,
    alpha_chi: float = 0.0,
    negative_slope: float = 0.2,
    keep: Tensor | None = None,
    factor: Tensor | None = None,
    eta: float | None = None,
    targets: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """`attend` over c, the scores of its nodes being <att, c>.

    Args:
        c: (N, H, C) features to aggregate.
        att: (2, H, C) attention vectors, source and target.
        graph: n rows, whose sources are among the N nodes.
        alpha_chi, negative_slope, keep, factor: as for `fairgat.nn.attention.attend`.
        eta: S3's factor: scores are those of c as S3 scales it; c itself is aggregated as it is.
        targets: (n,) int64 node of each row; None where row i is node i.

    Returns:
        out (n, H, C); alpha (H, E); and with `eta` the (H, C) factors that S3 gives to c.

    Raises:
        ValueError: att has another shape.
    """
    if att.shape != (2, *c.shape[1:]):
        raise ValueError(f"att must have shape {(2, *c.shape[1:])}, got {tuple(att.shape)}")
    settings = alpha_chi, negative_slope, *as_operators_take(eta)
    out, alpha, gain, *_ = scored_attention(c, att, *graph.tensors, targets, keep, factor, *settings)
    return out, alpha, None if eta is None else gain


@operator
def scored_attention(
    c: Tensor, att: Tensor,
    rowptr: Tensor, middle: Tensor, source: Tensor, tptr: Tensor, ttarget: Tensor, tedge: Tensor,
    targets: Tensor | None, keep: Tensor | None, factor: Tensor | None, alpha_chi: float, negative_slope: float,
    eta: float, scaled: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """The operator behind `attend_scored`: out, alpha, gain; and scores (2, H, N), mean and variance (H, C) of c."""
    scores, gain, mean, variance = scores_of_scaled(c, att, eta, scaled)
    out, alpha = segment_attention.function(
        c, *_ends(scores, targets), rowptr, middle, source, tptr, ttarget, tedge, keep, factor, alpha_chi,
        negative_slope,
    )  # fmt: skip
    return out, alpha, gain, scores, mean, variance


@fake(scored_attention)
def _(c, att, rowptr, middle, source, *_):
    nodes, heads, width = c.shape
    return (
        c.new_empty(rowptr.size(0) - 1, heads, width),
        c.new_empty(heads, source.size(0)),
        c.new_empty(heads, width),
        c.new_empty(2, heads, nodes),
        c.new_empty(heads, width),
        c.new_empty(heads, width),
    )


@operator
def scored_attention_backward(
    grad: Tensor, extra: Tensor | None, grad_gain: Tensor | None, alpha: Tensor, gain: Tensor, scores: Tensor,
    mean: Tensor, variance: Tensor, c: Tensor, att: Tensor,
    rowptr: Tensor, middle: Tensor, source: Tensor, tptr: Tensor, ttarget: Tensor, tedge: Tensor,
    targets: Tensor | None, keep: Tensor | None, factor: Tensor | None, alpha_chi: float, negative_slope: float,
    eta: float, scaled: bool, needs_c: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Gradients of c (empty where not needed) and att."""
    grad_c, grad_source, grad_target = segment_attention_backward.function(
        grad, extra, alpha, c, *_ends(scores, targets), rowptr, middle, source, tptr, ttarget, tedge, keep, factor,
        alpha_chi, negative_slope, needs_c,
    )  # fmt: skip
    if targets is not None:
        grad_target = torch.zeros_like(grad_source).index_add_(1, targets, grad_target)
    both = torch.stack([grad_source, grad_target])
    return score_gradients(both, grad_gain, c, att, gain, mean, variance, eta, scaled, grad_c if needs_c else None)


@fake(scored_attention_backward)
def _(grad, extra, grad_gain, alpha, gain, scores, mean, variance, c, att, *rest):
    return like(c) if rest[-1] else c.new_empty(0), like(att)


def _ends(scores: Tensor, targets: Tensor | None) -> tuple[Tensor, Tensor]:
    return scores[0], scores[1] if targets is None else scores[1][:, targets]


def _setup(ctx, inputs, output):
    *tensors, alpha_chi, negative_slope, eta, scaled = inputs
    ctx.save_for_backward(*output[1:], *tensors)
    ctx.settings = alpha_chi, negative_slope, eta, scaled
    ctx.set_materialize_grads(False)


def _gradient(ctx, grad, extra, grad_gain, *_):
    if grad is None and extra is None and grad_gain is None:
        return (None,) * 15
    alpha, gain, scores, mean, variance, c, *rest = ctx.saved_tensors
    if grad is None:  # only alpha or the gain was used further on
        grad = c.new_zeros(rest[1].size(0) - 1, c.size(1), c.size(2))
    needs_c = ctx.needs_input_grad[0]
    grad_c, grad_att = scored_attention_backward(
        grad, extra, grad_gain, alpha, gain, scores, mean, variance, c, *rest, *ctx.settings, needs_c
    )
    return grad_c if needs_c else None, grad_att, *(None,) * 13


gradient(scored_attention, _gradient, _setup)
