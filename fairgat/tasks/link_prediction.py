"""Link prediction: tell edges from non-edges, and judge accuracy and fairness between groups of edges."""

import math
from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from fairgat import measures, nn
from fairgat.config import LinkTraining
from fairgat.data.graph import Graph
from fairgat.measures.metrics import Decisions, area_under_roc
from fairgat.tasks.base import PARTS, Score, Scores, Task, best, last


class LinkTask(Task):
    """Link prediction on one split, as FairDrop's notebook does it; labels of nodes are not used.

    The split has training edges, and edges and non-edges held out (`fairgat.data.splits.edge_split`).
    """

    name = LinkTraining.task
    rules = {"validation": best, "fairdrop": last}
    returns = False

    def __init__(self, graph: Graph, split: Mapping[str, np.ndarray], training: LinkTraining, seed: int) -> None:
        super().__init__(graph.with_edges(split["train_edges"]), split, training, seed)
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

    def network(self, layer: Callable[[int, int], torch.nn.Module], **options) -> nn.LinkEncoder:
        """Make two attention layers, whose embeddings a dot product decodes."""
        return nn.LinkEncoder(layer, self.graph.num_features, self.training.hidden)

    def loss(self, output: Tensor) -> Tensor:
        """Compute the binary cross-entropy on the training edges and freshly sampled non-edges."""
        return link_loss(output, self.edge_index, self.sample_non_edges())

    def validate(self, output: Tensor) -> Score:
        """Measure embeddings (N, hidden) on the validation edges: the area under the ROC curve, of probabilities.

        In float32 these tie at 1 above a logit of 17, where no cut-off can tell pairs apart. Ranked by logits, FairGAT
        on Pubmed was best in epochs 2 to 4, with 60 % accuracy at the best cut-off in place of 72 %.
        """
        logits = nn.LinkEncoder.decode(output, self._edges["validation"]).numpy()
        return self.score({"auc": area_under_roc(_probabilities(logits), self._labels["validation"])})

    def score(self, metrics: dict[str, float]) -> Score:
        """Rank by the area under the ROC curve."""
        return Score((metrics["auc"],), metrics)

    def predictions(self, output: Tensor) -> dict[str, np.ndarray]:
        """Collect per part `*_logits` (m,)."""
        return {f"{part}_logits": nn.LinkEncoder.decode(output, self._edges[part]).numpy() for part in PARTS}

    def truth(self) -> dict[str, np.ndarray]:
        """Collect per part `*_edges` (2, m) and `*_labels` (m,)."""
        edges = {f"{part}_edges": self.order[self._edges[part].numpy()] for part in PARTS}
        return edges | {f"{part}_labels": self._labels[part] for part in PARTS}

    def judge(self, predictions: Mapping[str, np.ndarray], protocol: str) -> Scores:
        """Compute every measure at the protocol's cut-off; FairDrop's notebook counts a rate over nobody as 0."""
        notebook = protocol == "fairdrop"
        logits = {part: predictions[f"{part}_logits"] for part in PARTS}
        probabilities = {part: _probabilities(values) for part, values in logits.items()}
        chosen_on = "test" if notebook else "validation"
        values, labels = probabilities[chosen_on], self._labels[chosen_on]
        # max() keeps the first of equals, as the notebook does
        cutoff = max(self.training.cutoffs, key=lambda value: ((values >= value) == labels).mean())
        nobody = 0.0 if notebook else math.nan
        return {
            part: measures.compute(
                self.name, self._decisions(logits[part], probabilities[part] >= cutoff, part, cutoff, nobody)
            )
            for part in PARTS
        }

    def _decisions(self, logits: np.ndarray, decided: np.ndarray, part: str, cutoff: float, nobody: float) -> Decisions:
        groups = self.graph.sensitive[self._edges[part].numpy()]
        # Logits rank the pairs: in float32 every probability above a logit of 17 is 1
        return Decisions(logits, cutoff, decided, self._labels[part] == 1, groups, self.num_groups, nobody)


def link_loss(z: Tensor, edges: Tensor, non_edges: Tensor) -> Tensor:
    """Compute the binary cross-entropy of the dot products of edges (2, m) against non-edges (2, k)."""
    logits = nn.LinkEncoder.decode(z, torch.cat([edges, non_edges], dim=1))
    labels = torch.zeros_like(logits)
    labels[: edges.size(1)] = 1
    return binary_cross_entropy_with_logits(logits, labels)


def _probabilities(logits: np.ndarray) -> np.ndarray:
    return torch.from_numpy(logits).sigmoid().numpy()
