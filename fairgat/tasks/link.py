"""Link prediction: tell edges from non-edges, and judge accuracy and fairness between groups of edges."""

import numpy as np
import torch
from torch import Tensor

from fairgat import nn
from fairgat.config import LinkTraining
from fairgat.data.graph import Graph
from fairgat.tasks.base import PARTS, Score, Task, best, last
from fairgat.tasks.metrics import area_under_roc, link_metrics


class LinkTask(Task):
    """Link prediction on one split, as FairDrop's notebook does it.

    Args:
        graph: the whole graph; labels are not used.
        split: training edges, and edges and non-edges held out (`fairgat.data.splits.edge_split`).
        training: the protocol.
        seed: for the non-edges sampled in training.
    """

    name = "link_prediction"
    rules = {"validation": best, "fairdrop": last}
    returns = False

    def __init__(self, graph: Graph, split: dict[str, np.ndarray], training: LinkTraining, seed: int) -> None:
        super().__init__(graph.with_edges(split["train_edges"]))
        self.training = training
        self.protocol = training.protocol
        self._random = np.random.default_rng(seed)
        self._edges, self._labels = {}, {}
        for part in PARTS:
            positive, negative = self.rank[split[f"{part}_edges"]], self.rank[split[f"{part}_non_edges"]]
            self._edges[part] = torch.from_numpy(np.concatenate([positive, negative], axis=1))
            self._labels[part] = np.repeat([1, 0], [positive.shape[1], negative.shape[1]])
        n = self.graph.num_nodes
        self._codes = self.graph.edge_index[0] * n + self.graph.edge_index[1]  # sorted

    def sample_non_edges(self) -> Tensor:
        """Draw (2, m) pairs that are neither training edges nor self-loops."""
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
        """Compute validation and test metrics at the cut-off of a protocol; by default the configured one."""
        chosen_on = "test" if (protocol or self.training.protocol) == "fairdrop" else "validation"
        probabilities, labels = self._probabilities(z, chosen_on), self._labels[chosen_on]
        # max() keeps the first of equals, as the notebook does
        cutoff = max(self.training.cutoffs, key=lambda value: ((probabilities >= value) == labels).mean())
        return {part: self._metrics(z, part, cutoff) for part in PARTS}

    def predictions(self, z: Tensor) -> dict[str, np.ndarray]:
        """Collect what predictions.npz holds: per part `*_edges` (2, m), `*_labels` (m,) and `*_logits` (m,)."""
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
