"""Node classification: predict a binary label, and judge accuracy and the fairness of the decisions."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from fairgat.config import NodeTraining
from fairgat.data.graph import Graph
from fairgat.errors import NotDefined
from fairgat.tasks import epochs
from fairgat.tasks.base import PARTS, Score, Task, best
from fairgat.tasks.metrics import area_under_roc, group_rates, node_metrics


class NodeTask(Task):
    """Node classification on one split.

    Args:
        graph: binary labels, one sensitive attribute.
        split: `train`, `validation` and `test` node numbers (`fairgat.data.splits.node_split`).
        training: the protocol.

    Raises:
        NotDefined: there is a third class.
    """

    name = "node_classification"
    rules = {"": best} | epochs.RULES
    protocol = ""
    returns = True

    def __init__(self, graph: Graph, split: dict[str, np.ndarray], training: NodeTraining) -> None:
        if graph.labels.max() > 1:
            raise NotDefined(f"node classification is defined for the labels 0 and 1; found {graph.labels.max()}")
        super().__init__(graph)
        self.training = training
        self.split = {part: self.rank[nodes] for part, nodes in split.items()}
        self.train = torch.from_numpy(np.sort(self.split["train"]))  # (n,) nodes trained on
        self.labels = torch.from_numpy(self.graph.labels).float()  # (N,) 0/1

    def validate(self, logits: Tensor) -> Score:
        """Score (N,) logits on the validation nodes by accuracy; ties go to the fairer."""
        metrics = self._metrics(logits, "validation")
        nodes = self.split["validation"]
        metrics["loss"] = float(binary_cross_entropy_with_logits(logits[nodes], self.labels[nodes]))
        return Score((metrics["accuracy"], -metrics["statistical_parity"] - metrics["equal_opportunity"]), metrics)

    def evaluate(self, logits: Tensor, protocol: str | None = None) -> dict[str, dict[str, float]]:
        """Compute validation and test metrics of a selected epoch's logits, the same for every protocol."""
        return {
            part: self._metrics(logits, part) | group_rates(logits.numpy()[self.split[part]] > 0, *self._truth(part))
            for part in PARTS
        }

    def predictions(self, logits: Tensor) -> dict[str, np.ndarray]:
        """Collect what predictions.npz holds: `logits` (N,) in the data set's own order."""
        return {"logits": logits.numpy()[self.rank]}

    def _metrics(self, logits: Tensor, part: str) -> dict[str, float]:
        values = logits.numpy()[self.split[part]]
        labels, sensitive = self._truth(part)
        return node_metrics(values > 0, labels, sensitive) | {"auc": area_under_roc(values, labels)}

    def _truth(self, part: str) -> tuple[np.ndarray, np.ndarray]:
        nodes = self.split[part]
        return self.graph.labels[nodes], self.graph.sensitive[nodes]
