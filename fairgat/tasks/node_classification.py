"""Node classification: predict a binary label, and judge accuracy and the fairness of the decisions."""

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from fairgat import measures, nn
from fairgat.config import NodeTraining
from fairgat.data.graph import Graph
from fairgat.errors import NotDefined
from fairgat.measures.metrics import Decisions
from fairgat.tasks import epochs
from fairgat.tasks.base import PARTS, Score, Scores, Task, best


class NodeTask(Task):
    """Node classification on one split: `train`, `validation` and `test` node numbers.

    Raises:
        NotDefined: there is a third class.
    """

    name = NodeTraining.task
    rules = {"": best} | epochs.RULES
    returns = True

    def __init__(self, graph: Graph, split: Mapping[str, np.ndarray], training: NodeTraining, seed: int = 0) -> None:
        if graph.labels.max() > 1:
            raise NotDefined(f"node classification is defined for the labels 0 and 1; found {graph.labels.max()}")
        super().__init__(graph, split, training, seed)
        self.split = {part: self.rank[nodes] for part, nodes in split.items()}
        self.train = torch.from_numpy(np.sort(self.split["train"]))  # (n,) nodes trained on
        labels = torch.from_numpy(self.graph.labels).float()
        self.labels = torch.full_like(labels, torch.nan)  # (N,) 0/1 of the nodes trained on, and NaN of all others
        self.labels[self.train] = labels[self.train]
        self._validated = labels[self.split["validation"]]
        known = self.graph.attributes if len(self.graph.attributes) > 1 else {}
        self.attributes = {name: values for name, (values, _) in known.items()}  # (N,) each

    def network(self, layer: Callable[[int, int], torch.nn.Module], **options) -> nn.NodeClassifier:
        """Make two attention layers and a linear layer."""
        return nn.NodeClassifier(layer, self.graph.num_features, self.training.hidden, **options)

    def loss(self, output: Tensor) -> Tensor:
        """Compute the binary cross-entropy of (N,) logits on the training nodes."""
        labels = self.labels.index_select(0, self.train)
        return binary_cross_entropy_with_logits(output.index_select(0, self.train), labels)  # faster than output[train]

    def validate(self, output: Tensor) -> Score:
        """Measure (N,) logits on the validation nodes."""
        scores = measures.compute(self.name, self._decisions(output.numpy(), "validation"), apart=False)
        scores["loss"] = float(binary_cross_entropy_with_logits(output[self.split["validation"]], self._validated))
        return self.score(scores)

    def score(self, metrics: dict[str, float]) -> Score:
        """Rank by accuracy; ties go to the smaller sum of gaps.

        A gap that is missing is left out: it is missing in every epoch, as it depends on who the validation nodes are.
        """
        return Score((metrics["accuracy"], -float(epochs.gaps([metrics])[0])), metrics)

    def predictions(self, output: Tensor) -> dict[str, np.ndarray]:
        """Collect `logits` (N,)."""
        return {"logits": output.numpy()[self.rank]}

    def judge(self, predictions: Mapping[str, np.ndarray], protocol: str) -> Scores:
        logits = predictions["logits"][self.order]
        return {part: measures.compute(self.name, self._decisions(logits, part)) for part in PARTS}

    def _decisions(self, logits: np.ndarray, part: str) -> Decisions:
        nodes, graph = self.split[part], self.graph
        values = logits[nodes]
        groups, attributes = graph.sensitive[nodes], {name: each[nodes] for name, each in self.attributes.items()}
        return Decisions(
            values, 0.0, values > 0, graph.labels[nodes] == 1, groups, self.num_groups, attributes=attributes
        )
