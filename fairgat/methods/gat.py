"""GAT: the plain graph attention network, the baseline of every table."""

from torch import nn

from fairgat.config import Model
from fairgat.methods.base import LinkMethod, NodeMethod, attention_layer
from fairgat.nn import GATConv, LinkEncoder, NodeClassifier


class Settings(Model):
    """GAT has no settings beyond the protocol's."""


class NodeClassification(NodeMethod):
    def build(self) -> nn.Module:
        return NodeClassifier(
            attention_layer(GATConv, self.task), self.task.graph.num_features, self.task.training.hidden
        )


class LinkPrediction(LinkMethod):
    def build(self) -> nn.Module:
        return LinkEncoder(attention_layer(GATConv, self.task), self.task.graph.num_features, self.task.training.hidden)
