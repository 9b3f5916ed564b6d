"""Node classification: predict a binary label, and judge accuracy and the fairness of the decisions."""

import numpy as np
import torch
from torch import Tensor

from fairgat.config import NodeTraining
from fairgat.data.graph import Graph
from fairgat.errors import NotDefined
from fairgat.tasks.base import PARTS, Score, Task
from fairgat.tasks.metrics import node_metrics


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
        return Score((metrics["accuracy"], -metrics["statistical_parity"] - metrics["equal_opportunity"]), metrics)

    def evaluate(self, logits: Tensor) -> dict[str, dict[str, float]]:
        """Compute validation and test metrics of the selected epoch's logits."""
        return {part: self._metrics(logits, part) for part in PARTS}

    def predictions(self, logits: Tensor) -> dict[str, np.ndarray]:
        """Collect what predictions.npz holds: `logits` (N,) in the data set's own order."""
        return {"logits": logits.numpy()[self.rank]}

    def _metrics(self, logits: Tensor, part: str) -> dict[str, float]:
        nodes = self.split[part]
        predicted = logits.numpy()[nodes] > 0
        return node_metrics(predicted, self.graph.labels[nodes], self.graph.sensitive[nodes])
