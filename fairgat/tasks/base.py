"""Hold what tasks share: the graph that messages are passed on, as tensors, and how an epoch is scored and kept.

Nodes are renumbered for the attention kernels (`nn.bandwidth_order`); what leaves a task is in the graph's own order.
"""

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from fairgat import nn
from fairgat.config import Training
from fairgat.data.graph import Graph, load_npz
from fairgat.errors import DataError

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


Scores = dict[str, dict[str, float]]
"""The value of every measure by part; NaN where it is missing."""


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
    returns: bool
    """Whether one of the rules may go back to an epoch that it has passed over before."""
    training: Training
    graph: Graph
    """Renumbered; its edges are those of training."""
    order: np.ndarray
    """(N,): node `order[k]` of the data set is node k here."""
    rank: np.ndarray
    """(N,): the inverse of `order`."""
    num_groups: int

    def __init__(self, graph: Graph, split: Mapping[str, np.ndarray], training: Training, seed: int) -> None:
        self.training = training
        self.order = nn.bandwidth_order(graph.edge_index, graph.num_nodes)
        self.rank = np.empty_like(self.order)
        self.rank[self.order] = np.arange(len(self.order))
        self.graph = graph.permute(self.order)
        self.num_groups = int(graph.sensitive.max()) + 1

    @abstractmethod
    def network(self, layer: Callable[[int, int], torch.nn.Module], **options) -> torch.nn.Module:
        """Make the task's network of attention layers, freshly initialised.

        Args:
            layer: input and output width in, a layer out.
            options: of the layers that are not attention.
        """

    @abstractmethod
    def loss(self, output: Tensor) -> Tensor:
        """Compute the loss of a pass of the network on what is trained on."""

    @abstractmethod
    def validate(self, output: Tensor) -> Score:
        """Score an epoch's output on validation."""

    @abstractmethod
    def score(self, metrics: dict[str, float]) -> Score:
        """Rank an epoch by its validation metrics."""

    @abstractmethod
    def predictions(self, output: Tensor) -> dict[str, np.ndarray]:
        """Collect what predictions.npz keeps of an epoch's output, in the data set's own order."""

    def truth(self) -> dict[str, np.ndarray]:
        """Collect what predictions.npz holds beside them, once for all epochs."""
        return {}

    @abstractmethod
    def judge(self, predictions: Mapping[str, np.ndarray], protocol: str) -> Scores:
        """Compute every measure on validation and test from an epoch's predictions, under a protocol."""

    def evaluate(self, output: Tensor, protocol: str | None = None) -> Scores:
        """Judge an epoch's output; by default under the configured protocol."""
        return self.judge(self.predictions(output), self.training.reported if protocol is None else protocol)

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


def nulled(scores: Scores) -> dict[str, dict[str, float | None]]:
    """Replace missing scores by None, as JSON has no NaN."""
    return {
        part: {name: None if math.isnan(value) else value for name, value in values.items()}
        for part, values in scores.items()
    }


def task_class(name: str) -> type[Task]:
    """Import the class of a task from the module of its name in fairgat/tasks."""
    module = importlib.import_module(f"fairgat.tasks.{name}")
    return next(value for value in vars(module).values() if getattr(value, "name", None) == name)


def pack(predictions: Mapping[int, Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Stack the predictions of several epochs: `epochs` (E,), and each array with E rows."""
    epochs = sorted(predictions)
    names = predictions[epochs[0]]
    return {"epochs": np.array(epochs)} | {name: np.stack([predictions[e][name] for e in epochs]) for name in names}


def unpack(arrays: Mapping[str, np.ndarray], epoch: float | None) -> dict[str, np.ndarray]:
    """Take the predictions of an epoch from predictions.npz.

    Raises:
        KeyError: the epoch was not kept.
    """
    (rows,) = np.nonzero(arrays["epochs"] == epoch)
    if not len(rows):
        raise KeyError(f"epoch {epoch}")
    return {name: array[rows[0]] for name, array in arrays.items() if name.endswith("logits")}


def reported_logits(path: str | Path, epoch: float | None) -> np.ndarray:
    """Read the logits (N,) of an epoch from a run's predictions.npz.

    Raises:
        DataError: the file is missing or damaged, or lacks the epoch; None is one that metrics.json does not name.
    """
    try:
        return unpack(load_npz(path), epoch)["logits"]
    except KeyError as error:
        raise DataError(f"{path} lacks the reported epoch ({error}): train this run again") from None
