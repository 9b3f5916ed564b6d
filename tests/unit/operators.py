"""Both operators of attention with their gradients, as the tests of the kernels on the CPU and on a GPU take them."""

import torch
from torch import Tensor

from fairgat.nn import CSRGraph
from fairgat.nn.attention import segment_softmax, sum_of_neighbours


def scores_and_features(
    graph: CSRGraph,
    heads: int,
    width: int,
    shared: bool = False,
    edges: bool = False,
    seed: int = 0,
) -> list[Tensor | None]:
    """Scores of the sources, the targets and perhaps the edges, and features, which heads may share; all of float32."""
    draw = torch.Generator().manual_seed(seed)
    shapes = [(heads, graph.num_nodes)] * 2 + [(heads, graph.num_edges)]
    shapes.append(
        (graph.num_nodes, width) if shared else (graph.num_nodes, heads, width)
    )
    given = [
        torch.randn(shape, generator=draw).to(graph.source.device) for shape in shapes
    ]
    return [*given[:2], given[2] if edges else None, given[3]]


def passes(
    graph: CSRGraph,
    given,
    dtypes,
    share: float = 0.3,
    keep: Tensor | None = None,
    constant=False,
):
    """(alpha, z, gradients) of both operators for each type; of float64 by the reference. `constant`: features are."""
    results = []
    for dtype in dtypes:
        own = [
            None if each is None else each.to(dtype, copy=True).requires_grad_()
            for each in given
        ]
        s, t, u, x = own
        x.requires_grad_(not constant)
        alpha = segment_softmax(s, t, graph, share, 0.2, keep, u)
        z = sum_of_neighbours(alpha, x, graph)
        weights = torch.randn(
            z.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64
        )
        ((z * weights.to(z.device, dtype)).sum() + alpha.square().sum()).backward()
        results.append(
            [
                alpha,
                z,
                *(each.grad for each in own if each is not None and each.requires_grad),
            ]
        )
    return results
