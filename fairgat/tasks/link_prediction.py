"""Link prediction: tell edges from non-edges; validation chooses the epoch by the area under the ROC curve."""

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from fairgat import nn
from fairgat.config import LinkTraining
from fairgat.data.graph import Graph
from fairgat.data.splits import HELD_OUT, pairs_of
from fairgat.tasks.base import Task
from fairgat.tasks.device import tensor
from fairgat.tasks.epochs import largest_area, last
from fairgat.tasks.rates import area_under_roc


class LinkTask(Task):
    """Link prediction on one split, as FairDrop's notebook does it; labels of nodes are not used.

    The split has training edges, and edges and non-edges held out (`fairgat.data.splits.edge_split`).
    """

    name = LinkTraining.task
    rules = {"validation": largest_area, "fairdrop": last}
    decisive = "auc"
    returns = False

    def __init__(
        self,
        graph: Graph,
        split: Mapping[str, np.ndarray],
        training: LinkTraining,
        seed: int,
    ) -> None:
        super().__init__(graph.with_edges(split["train_edges"]), split, training, seed)
        self._random = np.random.default_rng(seed)
        held_out = {part: pairs_of(split, part) for part in HELD_OUT}
        self._pairs = {
            part: tensor(self.rank[pairs]) for part, (pairs, _) in held_out.items()
        }
        self._labels = held_out["validation"][1]
        n = self.graph.num_nodes
        self._codes = self.graph.edge_index[0] * n + self.graph.edge_index[1]  # sorted

    def sample_non_edges(self) -> Tensor:
        """Draw (2, m) pairs that are neither training edges nor self-loops."""
        n, count = (
            self.graph.num_nodes,
            int(self.graph.num_edges * self.training.negatives),
        )
        chosen = np.zeros(0, dtype=np.int64)
        while len(chosen) < count:
            codes = self._random.integers(n * n, size=count + count // 8 + 8)
            known = (
                self._codes[
                    np.searchsorted(self._codes, codes).clip(max=len(self._codes) - 1)
                ]
                == codes
            )
            codes = codes[~known & (codes // n != codes % n)]
            chosen = np.concatenate([chosen, codes])
        chosen = chosen[:count]
        return tensor(np.stack([chosen // n, chosen % n]))

    def network(
        self, layer: Callable[[int, int], torch.nn.Module], **options
    ) -> nn.LinkEncoder:
        """Make two attention layers, whose embeddings a dot product decodes."""
        return nn.LinkEncoder(layer, self.graph.num_features, self.training.hidden)

    def loss(self, output: Tensor) -> Tensor:
        """Compute the binary cross-entropy on the training edges and freshly sampled non-edges."""
        return link_loss(output, self.edge_index, self.sample_non_edges())

    def validate(self, output: Tensor) -> dict[str, float]:
        """Measure embeddings (N, hidden) on the validation edges: the area under the ROC curve, of probabilities.

        In float32 these tie at 1 above a logit of 17, where no cut-off can tell pairs apart. Ranked by logits, FairGAT
        on Pubmed was best in epochs 2 to 4, with 60 % accuracy at the best cut-off in place of 72 %.
        """
        logits = nn.LinkEncoder.decode(output, self._pairs["validation"])
        return {"auc": area_under_roc(logits.sigmoid().numpy(force=True), self._labels)}

    def predictions(self, output: Tensor) -> dict[str, np.ndarray]:
        """Collect per part `*_logits` (m,)."""
        return {
            f"{part}_logits": nn.LinkEncoder.decode(output, self._pairs[part]).numpy(
                force=True
            )
            for part in HELD_OUT
        }


def link_loss(z: Tensor, edges: Tensor, non_edges: Tensor) -> Tensor:
    """Compute the binary cross-entropy of the dot products of edges (2, m) against non-edges (2, k)."""
    logits = nn.LinkEncoder.decode(z, torch.cat([edges, non_edges], dim=1))
    labels = torch.zeros_like(logits)
    labels[: edges.size(1)] = 1
    return binary_cross_entropy_with_logits(logits, labels)
