"""GAT with one threshold for everyone, the control of `thresholds`.

It is the most accurate on validation nodes. Whatever it changes is due to tuning a
threshold, without regard to groups.
"""

import numpy as np
from torch import Tensor

from fairgat.config import Model
from fairgat.methods.base import NodeMethod
from fairgat.methods.thresholds import thresholds


class Settings(Model):
    """It has no settings beyond the protocol's."""


class NodeClassification(NodeMethod):
    def cuts(self, output: Tensor) -> np.ndarray:
        """Find the threshold, the same for every group."""
        graph, nodes = self.task.graph, self.task.validation
        logits = output.numpy(force=True)
        group = np.zeros(len(nodes), dtype=np.int64)  # one, of everyone
        counted = np.ones(len(nodes), dtype=bool)
        threshold = thresholds(
            logits[nodes], graph.labels[nodes], group, counted, limit=1.0, groups=1
        )
        return threshold.repeat(graph.num_groups)
