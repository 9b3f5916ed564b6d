"""Both operators of attention with their gradients, for tests of kernels."""

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
    """Scores of the sources, the targets and perhaps the edges, and features.

    All of float32; heads may share the features.
    """
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape):
        return torch.randn(shape, generator=generator).to(graph.source.device)

    nodes = graph.num_nodes
    source, target = drawn(heads, nodes), drawn(heads, nodes)
    edge = drawn(heads, graph.num_edges)
    x = drawn(nodes, width) if shared else drawn(nodes, heads, width)
    return [source, target, edge if edges else None, x]


def passes(
    graph: CSRGraph,
    given: list[Tensor | None],
    dtypes,
    share: float = 0.3,
    keep: Tensor | None = None,
    constant: bool = False,
) -> list[list[Tensor]]:
    """(alpha, z, gradients) of both operators for each type.

    Those of float64 are by the reference.

    Args:
        constant: whether the features are, which then have no gradient.
    """
    results = []
    for dtype in dtypes:
        source, target, edge, x = [copied(each, dtype) for each in given]
        x.requires_grad_(not constant)

        alpha = segment_softmax(source, target, graph, share, 0.2, keep, edge)
        z = sum_of_neighbours(alpha, x, graph)

        generator = torch.Generator().manual_seed(1)
        weights = torch.randn(z.shape, generator=generator, dtype=torch.float64)
        weighted = z * weights.to(z.device, dtype)
        (weighted.sum() + alpha.square().sum()).backward()
        learned = [source, target]
        if edge is not None:
            learned.append(edge)
        if not constant:
            learned.append(x)
        results.append([alpha, z, *(each.grad for each in learned)])
    return results


def copied(array: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """Of this type, with a gradient of its own."""
    if array is None:
        return None
    return array.detach().to(dtype, copy=True).requires_grad_()
