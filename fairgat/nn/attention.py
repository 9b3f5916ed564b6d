"""The one operator behind every attention layer: softmax attention over segments of a CSR graph.

For a target i with sources j, per head,

    e_ij     = LeakyReLU(score_source_j + score_target_i)
    alpha_ij = mass_ij * exp(e_ij) / sum of exp(e_ij') over the j' in j's segment of row i
    out_i    = sum_j alpha_ij x_j

A row has two segments, intra- and inter-edges, with masses 1 - alpha_chi and alpha_chi (equation fairatt of the
paper); a row with one of them alone gives it all. GAT is the case without inter-edges.

`segment_attention` is a `torch.library` operator. On the CPU with Numba it runs the kernels of `fairgat.nn.kernels`;
elsewhere the plain PyTorch form below, which makes an array of size E x F, takes over.
"""

import torch
from torch import Tensor

from fairgat.nn.arrays import array, like, number, optional, served, unsigned
from fairgat.nn.csr import CSRGraph
from fairgat.nn.operator import fake, gradient, operator
from fairgat.nn.parallel import over_rows

try:
    from fairgat.nn import kernels
except ImportError:  # Numba is not there, or does not know this Python
    kernels = None


def attend(
    x: Tensor,
    score_source: Tensor,
    score_target: Tensor,
    graph: CSRGraph,
    alpha_chi: float = 0.0,
    negative_slope: float = 0.2,
    keep: Tensor | None = None,
    factor: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Segment attention over a CSR graph.

    Args:
        x: (N, H, C) features to aggregate, or (N, 1, C) shared by all heads.
        score_source: (H, N) score of each node as a source.
        score_target: (H, N) score of each node as a target.
        graph: the graph.
        alpha_chi: attention that a row with both kinds of edges gives to its inter-edges.
        negative_slope: of the LeakyReLU.
        keep: (E,) bool in the order of the CSR; edges that are False are not there.
        factor: (H, E) in the order of the CSR; multiplies alpha after the softmax (attention dropout).

    Returns:
        out (N, H, C) and alpha (H, E) in the order of the CSR, before `factor`.
    """
    return segment_attention(x, score_source, score_target, *graph.tensors, keep, factor, alpha_chi, negative_slope)


@operator
def segment_attention(
    x: Tensor, score_source: Tensor, score_target: Tensor,
    rowptr: Tensor, middle: Tensor, source: Tensor, tptr: Tensor, ttarget: Tensor, tedge: Tensor,
    keep: Tensor | None, factor: Tensor | None, alpha_chi: float, negative_slope: float,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """See `attend`."""
    if not served(kernels, x):
        return reference_forward(
            x, score_source, score_target, rowptr, middle, source, keep, factor, alpha_chi, negative_slope
        )
    heads, width = score_target.size(0), x.size(2)
    out = x.new_empty(len(rowptr) - 1, heads, width)
    alpha = x.new_empty(heads, len(source))
    rows, sources, a = rowptr.numpy(), unsigned(source), alpha.numpy()
    over_rows(
        kernels.softmax, rows, heads, rows, middle.numpy(), sources, optional(keep),
        array(score_source), array(score_target), number(alpha_chi, x), number(negative_slope, x), a,
    )  # fmt: skip
    over_rows(kernels.aggregate, rows, heads * width, rows, sources, optional(factor), array(x), a, out.numpy())
    return out, alpha


@fake(segment_attention)
def _(x, score_source, score_target, rowptr, middle, source, *_):
    heads = score_target.size(0)
    return x.new_empty(rowptr.size(0) - 1, heads, x.size(2)), x.new_empty(heads, source.size(0))


@operator
def segment_attention_backward(
    grad: Tensor, extra: Tensor | None, alpha: Tensor, x: Tensor, score_source: Tensor, score_target: Tensor,
    rowptr: Tensor, middle: Tensor, source: Tensor, tptr: Tensor, ttarget: Tensor, tedge: Tensor,
    keep: Tensor | None, factor: Tensor | None, alpha_chi: float, negative_slope: float, needs_x: bool,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Gradients of x (empty where not needed), score_source and score_target."""
    if not served(kernels, x):
        return reference_backward(
            grad, extra, alpha, x, score_source, score_target, rowptr, middle, source, keep, factor, alpha_chi,
            negative_slope, needs_x,
        )  # fmt: skip
    heads, width = grad.size(1), grad.size(2)
    g, values, s_source, s_target = array(grad), array(x), array(score_source), array(score_target)
    a, multiplier = alpha.numpy(), optional(factor)
    rows, sources, columns, edges = rowptr.numpy(), unsigned(source), tptr.numpy(), unsigned(tedge)
    grad_x = like(x) if needs_x else x.new_empty(0)
    grad_alpha = torch.empty_like(alpha)
    grad_source, grad_target = torch.empty_like(score_source), torch.empty_like(score_target)
    ga = grad_alpha.numpy()
    if needs_x:
        over_rows(
            kernels.backward_features, columns, heads * width, columns, unsigned(ttarget), edges, values, a, multiplier,
            g, grad_x.numpy(), ga,
        )  # fmt: skip
    else:
        over_rows(kernels.backward_alpha, rows, heads * width, rows, sources, values, g, ga)
    over_rows(
        kernels.backward_scores, rows, heads, rows, middle.numpy(), sources, optional(keep),
        multiplier, s_source, s_target, number(alpha_chi, x), number(negative_slope, x), a,
        optional(extra), ga, grad_target.numpy(),
    )  # fmt: skip
    over_rows(kernels.sum_by_source, columns, heads, columns, edges, ga, grad_source.numpy())
    return grad_x, grad_source, grad_target


@fake(segment_attention_backward)
def _(grad, extra, alpha, x, score_source, score_target, *rest):
    needs_x = rest[-1]
    grad_x = like(x) if needs_x else x.new_empty(0)
    return grad_x, torch.empty_like(score_source), torch.empty_like(score_target)


def _setup_context(ctx, inputs, output):
    x, score_source, score_target, *graph, keep, factor, alpha_chi, negative_slope = inputs
    ctx.save_for_backward(output[1], x, score_source, score_target, *graph, keep, factor)
    ctx.settings = alpha_chi, negative_slope
    ctx.set_materialize_grads(False)


def _backward(ctx, grad, extra):
    if grad is None and extra is None:
        return (None,) * 13
    alpha, x, *rest = ctx.saved_tensors
    if grad is None:  # only alpha was used further on
        grad = x.new_zeros(rest[2].size(0) - 1, alpha.size(0), x.size(2))
    grad_x, grad_source, grad_target = segment_attention_backward(
        grad, extra, alpha, x, *rest, *ctx.settings, ctx.needs_input_grad[0]
    )
    return grad_x if ctx.needs_input_grad[0] else None, grad_source, grad_target, *(None,) * 10


gradient(segment_attention, _backward, _setup_context)


def reference_forward(
    x, score_source, score_target, rowptr, middle, source, keep, factor, alpha_chi, negative_slope
):  # fmt: skip
    """`segment_attention` in plain PyTorch, on any device and in any floating type; O(E x F) memory."""
    target, segment, mass = _segments(rowptr, middle, keep, alpha_chi, x.dtype)
    rows = rowptr.size(0) - 1
    score = score_source[:, source] + score_target[:, target]
    score = torch.where(score < 0, score * negative_slope, score)
    if keep is not None:
        score = score.masked_fill(~keep, -torch.inf)
    top = score.new_full((score.size(0), 2 * rows), -torch.inf)
    top = top.scatter_reduce(1, segment.expand_as(score), score, "amax")
    weight = (score - top[:, segment]).exp()
    if keep is not None:
        weight = weight.masked_fill(~keep, 0)  # a segment without kept edges: -inf minus -inf
    total = torch.zeros_like(top).index_add(1, segment, weight)
    alpha = mass[segment] * weight / total[:, segment].clamp_min(torch.finfo(x.dtype).tiny)
    message = (alpha if factor is None else alpha * factor).t()[:, :, None] * x[source]
    out = x.new_zeros(rows, score.size(0), x.size(2)).index_add(0, target, message)
    return out, alpha


def reference_backward(
    grad, extra, alpha, x, score_source, score_target, rowptr, middle, source, keep, factor, alpha_chi,
    negative_slope, needs_x,
):  # fmt: skip
    """The gradients of `reference_forward`, in plain PyTorch."""
    target, segment, mass = _segments(rowptr, middle, keep, alpha_chi, x.dtype)
    weighted = alpha if factor is None else alpha * factor
    grad_alpha = (grad[target] * x[source]).sum(-1).t()
    if factor is not None:
        grad_alpha = grad_alpha * factor
    if extra is not None:
        grad_alpha = grad_alpha + extra
    mean = alpha.new_zeros(alpha.size(0), mass.size(0)).index_add(1, segment, alpha * grad_alpha)
    mean = mean / mass.clamp_min(torch.finfo(x.dtype).tiny)
    grad_score = alpha * (grad_alpha - mean[:, segment])
    negative = score_source[:, source] + score_target[:, target] < 0
    grad_score = torch.where(negative, grad_score * negative_slope, grad_score)
    grad_x = x.new_empty(0)
    if needs_x:
        message = weighted.t()[:, :, None] * grad[target]
        if x.size(1) == 1:
            message = message.sum(1, keepdim=True)
        grad_x = torch.zeros_like(x).index_add(0, source, message)
    return (
        grad_x,
        torch.zeros_like(score_source).index_add(1, source, grad_score),
        torch.zeros_like(score_target).index_add(1, target, grad_score),
    )


def _segments(rowptr, middle, keep, alpha_chi, dtype):
    """Target (E,) and segment (E,) of each edge, and the mass (2N,) of each segment; segment 2i is i's intra one."""
    rows = rowptr.size(0) - 1
    nodes = torch.arange(rows, device=rowptr.device)
    target = nodes.repeat_interleave(rowptr.diff())
    edges = torch.arange(target.size(0), device=rowptr.device)
    segment = 2 * target + (edges >= middle[target])
    kept = torch.ones_like(edges) if keep is None else keep.long()
    count = kept.new_zeros(2 * rows).index_add(0, segment, kept).view(rows, 2)
    both = (count > 0).all(1, keepdim=True)
    split = torch.tensor([1 - alpha_chi, alpha_chi], dtype=dtype, device=rowptr.device)
    return target, segment, torch.where(both, split, (count > 0).to(dtype)).flatten()
