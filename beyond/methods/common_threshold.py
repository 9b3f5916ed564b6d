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
        nodes = self.task.validation
        everyone = np.zeros(len(nodes), dtype=np.int64)
        logits = output.numpy(force=True)
        threshold = thresholds(
            logits[nodes],
            self.task.graph.labels[nodes],
            everyone,
            everyone == 0,
            limit=1.0,
            groups=1,
        )
        return threshold.repeat(self.task.graph.num_groups)
