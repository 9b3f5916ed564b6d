"""Attention layers and the networks built of them."""

from fairgat.nn.conv import FairGATConv, GATConv
from fairgat.nn.csr import CSRGraph
from fairgat.nn.models import LinkEncoder, NodeClassifier
from fairgat.nn.reorder import bandwidth_order
from fairgat.nn.threads import set_num_threads

__all__ = [
    "CSRGraph",
    "FairGATConv",
    "GATConv",
    "LinkEncoder",
    "NodeClassifier",
    "bandwidth_order",
    "set_num_threads",
]
