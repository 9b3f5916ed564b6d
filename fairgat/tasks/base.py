"""Hold what both tasks share: the graph that messages are passed on, as tensors, and the score of an epoch.

Nodes are renumbered for the attention kernels (`nn.bandwidth_order`); what leaves a task is in the graph's own order.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fairgat import nn
from fairgat.data.graph import Graph

PARTS = ("validation", "test")


class Task:
    """A graph in training."""

    graph: Graph
    """Renumbered; its edges are those of training."""
    order: np.ndarray
    """(N,): node `order[k]` of the data set is node k here."""
    rank: np.ndarray
    """(N,): the inverse of `order`."""

    def __init__(self, graph: Graph) -> None:
        self.order = nn.bandwidth_order(graph.edge_index, graph.num_nodes)
        self.rank = np.empty_like(self.order)
        self.rank[self.order] = np.arange(len(self.order))
        self.graph = graph.permute(self.order)

    @cached_property
    def features(self) -> Tensor:
        """(N, F) float32."""
        return torch.from_numpy(self.graph.features)

    @cached_property
    def sensitive(self) -> Tensor:
        """(N,) int64."""
        return torch.from_numpy(self.graph.sensitive)

    @cached_property
    def edge_index(self) -> Tensor:
        """(2, E) int64 training edges, both directions."""
        return torch.from_numpy(self.graph.edge_index)

    @cached_property
    def plain_csr(self) -> "nn.CSRGraph":
        """The training graph with self-loops, one segment per node."""
        return nn.CSRGraph.from_edge_index(self.edge_index, self.graph.num_nodes)

    @cached_property
    def segmented_csr(self) -> "nn.CSRGraph":
        """The training graph with self-loops, rows cut into intra- and inter-edges."""
        return nn.CSRGraph.from_edge_index(self.edge_index, self.graph.num_nodes, self.sensitive)


@dataclass(frozen=True)
class Score:
    """How good a model is on validation: the epoch with the largest `key` is kept, the earliest of equals."""

    key: tuple[float, ...]
    metrics: dict[str, float]
