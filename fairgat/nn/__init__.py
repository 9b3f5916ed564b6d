"""Attention layers and the networks built of them.

In come features (N, F) and edges (2, E), out come features. Begin with `attention.py`, which opens with the equations;
`kernels.py` has them as loops, `conv.py` the layers, and `normalise.py` FairGAT's steps S2 and S3.
"""

from fairgat.nn.conv import FairGATConv, GATConv
from fairgat.nn.csr import CSRGraph, bandwidth_order
from fairgat.nn.memory import keep_freed_memory
from fairgat.nn.models import LinkEncoder, NodeClassifier
from fairgat.nn.shares import Shares, balanced_shares

__all__ = [
    "CSRGraph", "FairGATConv", "GATConv", "LinkEncoder", "NodeClassifier", "Shares", "balanced_shares",
    "bandwidth_order", "keep_freed_memory",
]  # fmt: skip
