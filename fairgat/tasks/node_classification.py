"""Node classification: predict a binary label.

Validation chooses the epoch by accuracy, then by the gaps.
"""

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from fairgat import nn
from fairgat.config import NodeTraining
from fairgat.data.graph import Graph
from fairgat.tasks import epochs, rates
from fairgat.tasks.base import Task
from fairgat.tasks.device import tensor


class NodeTask(Task):
    """Node classification on one split, of `train`, `validation` and `test` nodes."""

    name = NodeTraining.task
    rules = {"": epochs.most_accurate} | epochs.RULES
    decisive = "accuracy"
    returns = True

    def __init__(
        self,
        graph: Graph,
        split: Mapping[str, np.ndarray],
        training: NodeTraining,
        seed: int = 0,
    ) -> None:
        super().__init__(graph, split, training, seed)
        labels = tensor(self.graph.labels).float()
        train = self.rank[split["train"]]
        self.train = tensor(np.sort(train))  # (n,) nodes trained on
        # (N,) NaN of the nodes that are not trained on
        self.labels = torch.full_like(labels, torch.nan)
        self.labels[self.train] = labels[self.train]
        self.validation = self.rank[split["validation"]]  # (m,) they choose the epoch
        self._validation_labels = labels[self.validation]
        self._num_groups = graph.num_groups  # counted once, and not in every epoch

    def network(
        self, layer: Callable[[int, int], torch.nn.Module], **options
    ) -> nn.NodeClassifier:
        """Make two attention layers and a linear layer."""
        return nn.NodeClassifier(
            layer, self.graph.num_features, self.training.hidden, **options
        )

    def loss(self, output: Tensor) -> Tensor:
        """Compute the binary cross-entropy of (N,) logits on the training nodes."""
        logits = output.index_select(0, self.train)  # faster than output[train]
        labels = self.labels.index_select(0, self.train)
        return binary_cross_entropy_with_logits(logits, labels)

    def validate(self, output: Tensor) -> dict[str, float]:
        """Measure (N,) logits on the validation nodes."""
        loss = binary_cross_entropy_with_logits(
            output[self.validation], self._validation_labels
        )

        logits = output[self.validation].numpy(force=True)
        positive = logits > 0
        labels = self._validation_labels.numpy(force=True) == 1
        groups = self.graph.sensitive[self.validation]
        counts = rates.counted(positive, labels, groups, self._num_groups)
        return {
            "accuracy": rates.accuracy(positive, labels),
            "statistical_parity": rates.gap(rates.positive_rates(counts)),
            "equal_opportunity": rates.gap(rates.true_positive_rates(counts)),
            "f1": rates.f1(positive, labels),
            "auc": rates.area_under_roc(logits, labels),
            "loss": float(loss),
        }

    def predictions(self, output: Tensor) -> dict[str, np.ndarray]:
        """Collect `logits` (N,)."""
        return {"logits": output.numpy(force=True)[self.rank]}
