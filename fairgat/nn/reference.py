"""The equations of `fairgat.nn.attention` in plain PyTorch, for any device and type."""

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from fairgat.nn.csr import CSRGraph


def reference_softmax(
    score_source: Tensor,
    score_target: Tensor,
    score_edge: Tensor | None,
    graph: CSRGraph,
    mass: Tensor,
    keep: Tensor | None,
    slope: float,
) -> Tensor:
    """Attention coefficients (H, E) in plain PyTorch, of the segments' masses."""
    segments = torch.arange(mass.numel(), device=mass.device)
    segment = segments.repeat_interleave(graph.segptr.diff())
    index = segment.expand(len(score_source), -1)  # (H, E)

    score = score_source[:, graph.source.long()] + score_target[:, graph.target]
    if score_edge is not None:
        score = score + score_edge
    score = leaky_relu(score, slope)
    if keep is not None:
        score = score.masked_fill(~keep, -torch.inf)

    top = score.new_full((len(score), mass.numel()), -torch.inf)
    top = top.scatter_reduce(1, index, score.detach(), "amax")
    finite_top = top.masked_fill(top == -torch.inf, 0)
    weight = (score - finite_top.gather(1, index)).exp()
    total = torch.zeros_like(top).scatter_add(1, index, weight)
    total = total.masked_fill(total == 0, 1)
    return mass.flatten()[segment] * weight / total.gather(1, index)


def reference_sum(alpha: Tensor, x: Tensor, graph: CSRGraph) -> Tensor:
    """`sum_of_neighbours` in plain PyTorch."""
    shared = x if x.dim() == 3 else x[:, None]
    message = alpha.t()[:, :, None] * shared[graph.source.long()]
    sums = message.new_zeros(graph.num_rows, *message.shape[1:])
    return sums.index_add(0, graph.target, message)
