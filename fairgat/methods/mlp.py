"""MLP: no graph at all, the control of what the edges add."""

from itertools import pairwise

from torch import Tensor, nn

from fairgat.config import Model
from fairgat.methods.base import NodeMethod, glorot_linear


class Settings(Model):
    """The MLP has no settings beyond the protocol's."""


class NodeClassification(NodeMethod):
    def build(self) -> nn.Module:
        """Make two hidden layers with ReLU, as wide as GAT's, and one for the logit."""
        training = self.task.training
        widths = [self.task.graph.num_features, training.hidden, training.hidden]
        layers = []
        for inputs, outputs in pairwise(widths):
            layers += [
                glorot_linear(inputs, outputs),
                nn.ReLU(),
                nn.Dropout(training.dropout),
            ]
        return nn.Sequential(*layers, glorot_linear(training.hidden, 1))

    def embed(self) -> Tensor:
        return self.model(self.task.features).squeeze(1)
