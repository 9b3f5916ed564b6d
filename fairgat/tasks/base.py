"""Hold what tasks share: the graph that messages are passed on, as tensors.

Nodes are renumbered for the attention kernels (`nn.bandwidth_order`); what leaves a
task is in the graph's own order.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fairgat import nn
from fairgat.config import Training
from fairgat.data.graph import Graph
from fairgat.tasks.device import tensor
from fairgat.tasks.epochs import EpochRule


class Task(ABC):
    """A graph in training.

    Args:
        graph: the whole graph.
        split: what `fairgat.data.splits.make` holds out of it.
        training: the protocol.
        seed: for what a task samples in training.
    """

    name: str
    rules: Mapping[str, EpochRule]
    """The epoch that each protocol reports."""
    decisive: str
    """The validation score that its own rule goes by."""
    returns: bool
    """Whether one of the rules may go back to an epoch that it has passed over
    before."""
    training: Training
    graph: Graph
    """Renumbered; its edges are those of training."""
    order: np.ndarray
    """(N,): node `order[k]` of the data set is node k here."""
    rank: np.ndarray
    """(N,): the inverse of `order`."""

    def __init__(
        self,
        graph: Graph,
        split: Mapping[str, np.ndarray],
        training: Training,
        seed: int,
    ) -> None:
        self.training = training
        self.order = nn.bandwidth_order(graph.edge_index, graph.num_nodes)
        self.rank = np.empty_like(self.order)
        self.rank[self.order] = np.arange(len(self.order))
        self.graph = graph.permute(self.order)

    @abstractmethod
    def network(
        self, layer: Callable[[int, int], torch.nn.Module], **options
    ) -> torch.nn.Module:
        """Make the task's network of attention layers, freshly initialised.

        Args:
            layer: input and output width in, a layer out.
            options: of the layers that are not attention.
        """

    @abstractmethod
    def loss(self, output: Tensor) -> Tensor:
        """Compute the loss of a pass of the network on what is trained on."""

    @abstractmethod
    def validate(self, output: Tensor) -> dict[str, float]:
        """Score an epoch's output on validation."""

    @abstractmethod
    def predictions(self, output: Tensor) -> dict[str, np.ndarray]:
        """Collect what predictions.npz keeps, in the data set's own order."""

    @cached_property
    def features(self) -> Tensor:
        """(N, F) float32."""
        return tensor(self.graph.features)

    @cached_property
    def sensitive(self) -> Tensor:
        """(N,) int64."""
        return tensor(self.graph.sensitive)

    @cached_property
    def edge_index(self) -> Tensor:
        """(2, E) int64 training edges, both directions."""
        return tensor(self.graph.edge_index)

    @cached_property
    def plain_csr(self) -> "nn.CSRGraph":
        """The training graph with self-loops, one segment per node."""
        return nn.CSRGraph.from_edge_index(self.edge_index, self.graph.num_nodes)

    @cached_property
    def segmented_csr(self) -> "nn.CSRGraph":
        """The training graph with self-loops, rows cut into intra- and inter-edges."""
        return nn.CSRGraph.from_edge_index(
            self.edge_index, self.graph.num_nodes, self.sensitive
        )


def task_class(name: str) -> type[Task]:
    """Import the class of a task from the module of its name in fairgat/tasks."""
    module = importlib.import_module(f"fairgat.tasks.{name}")
    for value in vars(module).values():
        if getattr(value, "name", None) == name:
            return value
    raise LookupError(f"no class in {module.__name__} has the name {name}")
