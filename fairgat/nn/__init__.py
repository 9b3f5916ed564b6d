"""Attention layers and the networks built of them.

In come features (N, F) and edges (2, E), out come features. Begin with `attention.py`,
which opens with the equations; `kernels.py` and, for a GPU, `gpu.py` have them as
loops, `conv.py` and `fair.py` the layers, and `normalise.py` FairGAT's steps 2 and 3,
whose numbers `columns.py` finds (on a GPU, `gpu_normalise.py`).
"""

import importlib.util

import torch

from fairgat.nn.attributes import combined_groups
from fairgat.nn.conv import GATConv
from fairgat.nn.csr import CSRGraph
from fairgat.nn.edges import bandwidth_order
from fairgat.nn.fair import FairGATConv
from fairgat.nn.models import LinkEncoder, NodeClassifier
from fairgat.nn.parallel import keep_freed_memory
from fairgat.nn.shares import Shares, balanced_shares

# Triton comes with PyTorch for CUDA.
if torch.version.cuda and importlib.util.find_spec("triton"):
    from fairgat.nn import gpu, gpu_normalise

__all__ = [
    "CSRGraph",
    "FairGATConv",
    "GATConv",
    "LinkEncoder",
    "NodeClassifier",
    "Shares",
    "balanced_shares",
    "bandwidth_order",
    "combined_groups",
    "keep_freed_memory",
]
