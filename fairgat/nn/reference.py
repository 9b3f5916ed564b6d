"""The equations of `fairgat.nn.attention` in plain PyTorch, for any device and type.

What edges read of their ends is taken by `index_select` with int64, whose gradient sums
in float32 at least. That of `x[index]` sums in x's type: 3000 ones are 256 in bfloat16.
"""

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
    """Attention coefficients (H, E): `segment_softmax` for given masses (M, S)."""
    segments = torch.arange(mass.numel(), device=mass.device)
    segment = segments.repeat_interleave(graph.segptr.diff())  # (E,)
    index = segment.expand(len(score_source), -1)  # (H, E)

    of_source = score_source.index_select(1, graph.source.long())
    score = of_source + score_target.index_select(1, graph.target)
    if score_edge is not None:
        score = score + score_edge
    score = leaky_relu(score, slope)
    if keep is not None:
        score = score.masked_fill(~keep, -torch.inf)

    # Less the largest score of its segment, an exponential cannot overflow.
    largest = score.new_full((len(score), mass.numel()), -torch.inf)
    largest = largest.scatter_reduce(1, index, score.detach(), "amax")
    largest = largest.masked_fill(largest == -torch.inf, 0)  # no edge is kept
    weight = (score - largest.gather(1, index)).exp()
    total = torch.zeros_like(largest).scatter_add(1, index, weight)
    total = total.masked_fill(total == 0, 1)
    return mass.flatten()[segment] * weight / total.gather(1, index)


def reference_sum(alpha: Tensor, x: Tensor, graph: CSRGraph) -> Tensor:
    """`sum_of_neighbours` in plain PyTorch."""
    by_head = x if x.dim() == 3 else x[:, None]  # (N, H, C), or (N, 1, C)
    of_source = by_head.index_select(0, graph.source.long())
    message = alpha.t()[:, :, None] * of_source
    sums = message.new_zeros(graph.num_rows, *message.shape[1:])
    return sums.index_add(0, graph.target, message)
