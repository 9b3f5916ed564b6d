"""GAT: the plain graph attention network, the baseline of every table."""

from fairgat.config import Model
from fairgat.methods.base import LinkMethod, NodeMethod


class Settings(Model):
    """GAT has no settings beyond the protocol's."""


class NodeClassification(NodeMethod):
    """A node method as it comes: GAT, cross-entropy and Adam."""


class LinkPrediction(LinkMethod):
    """A link method as it comes: GAT, cross-entropy and Adam."""
