"""Small graphs for the tests of the layers."""

import torch
from torch import Tensor


def random_graph(
    nodes: int = 30, edges: int = 120, groups: int = 2, seed: int = 0
) -> tuple[Tensor, Tensor]:
    """(2, E) unsorted directed edges and (N,) groups.

    There are duplicates and self-loops, and node 0 has no neighbours.
    """
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(1, nodes, (2, edges), generator=generator)
    loop = torch.tensor([[5], [5]])
    edge_index = torch.cat([drawn, drawn[:, :7], loop], dim=1)
    return edge_index, torch.randint(groups, (nodes,), generator=generator)


def features(width: int = 5, seed: int = 3, nodes: int = 30) -> Tensor:
    """(N, width) random features that need a gradient."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(nodes, width, generator=generator, requires_grad=True)


def edge_features(edge_index: Tensor, width: int = 3) -> Tensor:
    """(E, width) random features that need a gradient."""
    generator, edges = torch.Generator().manual_seed(5), edge_index.size(1)
    return torch.randn(edges, width, generator=generator, requires_grad=True)


def with_self_loops(edge_index: Tensor, nodes: int) -> Tensor:
    """The edges less their self-loops, then one self-loop per node."""
    loops = torch.arange(nodes).expand(2, -1)
    source, target = edge_index
    others = edge_index[:, source != target]
    return torch.cat([others, loops], dim=1)
