"""Features of the self-loops that a layer adds, found from those of the other edges."""

import torch
from torch import Tensor

from fairgat.nn.attention import sum_of_neighbours
from fairgat.nn.csr import CSRGraph

# Names of PyTorch Geometric to those of `scatter_reduce`.
FILLS = {
    "mean": "mean",
    "add": "sum",
    "sum": "sum",
    "min": "amin",
    "max": "amax",
    "mul": "prod",
}

Fill = float | Tensor | str


def with_loops(values: Tensor, graph: CSRGraph, fill: Fill) -> Tensor:
    """(E', D) features of a graph's edges, those of added self-loops last.

    Args:
        values: (E, D) those of the edges that the graph was made from.
        fill: features of a self-loop, or how they are found from those of the other
            edges into its node; 0 (of "mul": 1) where there are none.
    """
    if not graph.add_self_loops:
        return values
    if graph.given is not None:
        values = values.index_select(0, graph.given)
    return torch.cat([values, _filled(values, graph, fill)])


def _filled(values: Tensor, graph: CSRGraph, fill: Fill) -> Tensor:
    """(N, D) the self-loops' features: the fill, or what it makes of the others'."""
    shape = graph.num_rows, values.size(1)
    if not isinstance(fill, str):
        fill = torch.as_tensor(fill, dtype=values.dtype, device=values.device)
        return fill.expand(shape)

    # A graph whose sources are edges, and whose targets are the nodes they go into.
    edges = graph.edges_without_loops()
    reduce = FILLS[fill]
    if reduce in ("sum", "mean"):
        degree = edges.rowptr.diff().to(values.dtype)
        weight = 1 / degree if reduce == "mean" else torch.ones_like(degree)
        alpha = weight[edges.target][None]  # one head
        return sum_of_neighbours(alpha, values, edges)[:, 0]

    edge = edges.source.long()
    target = torch.empty_like(edges.target).index_copy(0, edge, edges.target)
    index = target[:, None].expand(-1, values.size(1))
    is_product = reduce == "prod"
    start = values.new_full(shape, float(is_product))
    return start.scatter_reduce(0, index, values, reduce, include_self=is_product)
