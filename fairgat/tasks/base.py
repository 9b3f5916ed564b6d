"""Hold what both tasks share: the graph that messages are passed on, as tensors, and the score of an epoch.

Nodes are renumbered for the attention kernels (`nn.bandwidth_order`); what leaves a task is in the graph's own order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fairgat import nn
from fairgat.data.graph import Graph

PARTS = ("validation", "test")


@dataclass(frozen=True)
class Score:
    """How good a model is on validation; of two epochs, `key` says which is the better one."""

    key: tuple[float, ...]
    metrics: dict[str, float]


EpochRule = Callable[[Sequence[Score]], int]
"""Chooses the epoch to report, from the validation scores of all epochs: its position among them."""


def best(scores: Sequence[Score]) -> int:
    """Choose the epoch with the largest key, the earliest of equals."""
    return max(range(len(scores)), key=lambda epoch: scores[epoch].key)


def last(scores: Sequence[Score]) -> int:
    """Choose the last epoch."""
    return len(scores) - 1


class Task:
    """A graph in training."""

    rules: Mapping[str, EpochRule]
    """The epoch that each protocol reports."""
    protocol: str
    """The one whose scores and weights stand for a run."""
    returns: bool
    """Whether one of the rules may go back to an epoch that it has passed over before."""
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
