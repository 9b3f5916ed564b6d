"""What a method learns from and is judged by: a graph, a split and the scores of its predictions.

Nodes are renumbered for the attention kernels (`nn.bandwidth_order`); what leaves a task is in the graph's own order.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fairgat import nn
from fairgat.config import LinkTraining, NodeTraining
from fairgat.data.graph import Graph
from fairgat.tasks.metrics import area_under_roc, link_metrics, node_metrics

PARTS = ("validation", "test")


class _Task:
    """What both tasks share: the graph that messages are passed on, as tensors."""

    graph: Graph
    """Renumbered; its edges are those of training."""
    order: np.ndarray
    """(N,) node `order[k]` of the data set is node k here."""

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
    """How good a model is on validation: `key` decides which epoch is kept (larger wins, the earlier of equals)."""

    key: tuple[float, ...]
    metrics: dict[str, float]


class NodeTask(_Task):
    """Node classification on one split.

    Args:
        graph: binary labels, one sensitive attribute.
        split: `train`, `validation` and `test` node numbers (`fairgat.data.splits.node_split`).
        training: the protocol.
    """

    name = "node_classification"

    def __init__(self, graph: Graph, split: dict[str, np.ndarray], training: NodeTraining) -> None:
        super().__init__(graph)
        self.training = training
        self.split = {part: self.rank[nodes] for part, nodes in split.items()}
        self.train = torch.from_numpy(np.sort(self.split["train"]))  # (n,) nodes trained on
        self.labels = torch.from_numpy(self.graph.labels).float()  # (N,) 0/1

    def validate(self, logits: Tensor) -> Score:
        """Score (N,) logits on the validation nodes; ties go to the fairer."""
        metrics = self._metrics(logits, "validation")
        return Score((metrics["accuracy"], -metrics["statistical_parity"] - metrics["equal_opportunity"]), metrics)

    def evaluate(self, logits: Tensor) -> dict[str, dict[str, float]]:
        """Validation and test metrics of the selected epoch's logits."""
        return {part: self._metrics(logits, part) for part in PARTS}

    def predictions(self, logits: Tensor) -> dict[str, np.ndarray]:
        """What predictions.npz holds: `logits` (N,) in the data set's own order."""
        return {"logits": logits.numpy()[self.rank]}

    def _metrics(self, logits: Tensor, part: str) -> dict[str, float]:
        nodes = self.split[part]
        predicted = logits.numpy()[nodes] > 0
        return node_metrics(predicted, self.graph.labels[nodes], self.graph.sensitive[nodes])


class LinkTask(_Task):
    """Link prediction on one split, as FairDrop's notebook does it.

    Args:
        graph: the whole graph; its labels play no part.
        split: training edges, and edges and non-edges held out (`fairgat.data.splits.edge_split`).
        training: the protocol.
        seed: of the non-edges sampled in training.
    """

    name = "link_prediction"

    def __init__(self, graph: Graph, split: dict[str, np.ndarray], training: LinkTraining, seed: int) -> None:
        super().__init__(graph.with_edges(split["train_edges"]))
        self.training = training
        self._random = np.random.default_rng(seed)
        self._edges, self._labels = {}, {}
        for part in PARTS:
            positive, negative = self.rank[split[f"{part}_edges"]], self.rank[split[f"{part}_non_edges"]]
            self._edges[part] = torch.from_numpy(np.concatenate([positive, negative], axis=1))
            self._labels[part] = np.repeat([1, 0], [positive.shape[1], negative.shape[1]])
        n = self.graph.num_nodes
        self._codes = self.graph.edge_index[0] * n + self.graph.edge_index[1]  # sorted

    def sample_non_edges(self) -> Tensor:
        """(2, m) pairs that are no training edges and no self-loops, drawn anew at every call."""
        n, count = self.graph.num_nodes, int(self.graph.num_edges * self.training.negatives)
        chosen = np.zeros(0, dtype=np.int64)
        while len(chosen) < count:
            codes = self._random.integers(n * n, size=count + count // 8 + 8)
            known = self._codes[np.searchsorted(self._codes, codes).clip(max=len(self._codes) - 1)] == codes
            codes = codes[~known & (codes // n != codes % n)]
            chosen = np.concatenate([chosen, codes])
        chosen = chosen[:count]
        return torch.from_numpy(np.stack([chosen // n, chosen % n]))

    def validate(self, z: Tensor) -> Score:
        """Score embeddings z (N, hidden) by the validation edges' area under the ROC curve."""
        auc = area_under_roc(self._probabilities(z, "validation"), self._labels["validation"])
        return Score((auc,), {"auc": auc})

    def evaluate(self, z: Tensor, protocol: str | None = None) -> dict[str, dict[str, float]]:
        """Validation and test metrics at the cut-off that the protocol chooses; the configured one unless named."""
        chosen_on = "test" if (protocol or self.training.protocol) == "fairdrop" else "validation"
        probabilities, labels = self._probabilities(z, chosen_on), self._labels[chosen_on]
        # max() keeps the first of equals, as the notebook does
        cutoff = max(self.training.cutoffs, key=lambda value: ((probabilities >= value) == labels).mean())
        return {part: self._metrics(z, part, cutoff) for part in PARTS}

    def predictions(self, z: Tensor) -> dict[str, np.ndarray]:
        """What predictions.npz holds: per part `*_edges` (2, m), `*_labels` (m,) and `*_logits` (m,)."""
        arrays = {}
        for part in PARTS:
            arrays[f"{part}_edges"] = self.order[self._edges[part].numpy()]
            arrays[f"{part}_labels"] = self._labels[part]
            arrays[f"{part}_logits"] = nn.LinkEncoder.decode(z, self._edges[part]).numpy()
        return arrays

    def _probabilities(self, z: Tensor, part: str) -> np.ndarray:
        return nn.LinkEncoder.decode(z, self._edges[part]).sigmoid().numpy()

    def _metrics(self, z: Tensor, part: str, cutoff: float) -> dict[str, float]:
        probabilities, labels = self._probabilities(z, part), self._labels[part]
        metrics = link_metrics(probabilities >= cutoff, labels, self._edges[part].numpy(), self.graph.sensitive)
        return metrics | {"auc": area_under_roc(probabilities, labels), "cutoff": cutoff}
