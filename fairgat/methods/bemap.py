"""BeMap (Lin et al., LoG 2023, arXiv 2306.04107): training on neighbourhoods with as many nodes of either group.

After `models.py` of xiaolin-cs/BeMap (408dc7d), on GAT. In every epoch a node with m neighbours in the rarer of the two
groups attends to m of the other group, m - 1 of its own and itself; a node without neighbours in the other group
attends to some of its own. Predictions are made on the whole graph.

Neighbours with a balanced neighbourhood themselves are drawn rather than others: with weights 1 / (1 + |n_1 - n_0|),
n_s counting the walks of up to two steps that end in group s. The released code counts its two steps within either
triangle of the adjacency matrix.
"""

from functools import cached_property
from typing import Annotated

import numpy as np
import torch
from pydantic import Field
from scipy.sparse import csr_matrix
from torch import Tensor

from fairgat.config import Count, Model
from fairgat.methods.base import NodeMethod, OnDrawnEdges


class Settings(Model):
    beta: Annotated[float, Field(gt=0, le=1)] = 0.25
    """Share of its neighbours that a node keeps whose neighbours are all of its own group."""
    at_least: Count = 4
    """How many such a node keeps at least, where it has them."""


class NodeClassification(OnDrawnEdges, NodeMethod):
    settings: Settings
    for_two_groups = "BeMap"

    def drawn(self) -> Tensor:
        """Draw the edges of a balanced graph."""
        segment, loops, quota, weight = self._neighbourhoods
        # By weight and without replacement: the largest log(uniform) / weight (Efraimidis and Spirakis 2006).
        key = torch.rand(len(segment)).log().numpy() / weight
        order = np.lexsort((-key, segment))
        place = np.empty(len(order), np.int64)
        first = np.searchsorted(segment[order], np.arange(len(quota)))
        place[order] = np.arange(len(order)) - first[segment[order]]
        return torch.from_numpy(loops | (place < quota[segment]))

    @cached_property
    def _neighbourhoods(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Find the sets of neighbours that are drawn from: two of each node, its own group's and the other's.

        Returns:
            segment (E',) the set of each edge; loops (E',) whether it is a self-loop; quota (2N + 1,) how many of each
            set are drawn, 0 of the last, which has the self-loops; weight (E',).
        """
        csr, sensitive = self.task.plain_csr, self.task.graph.sensitive
        nodes, source, target = len(sensitive), csr.source.numpy(), csr.target.numpy()
        loops = source == target
        segment = 2 * target + (sensitive[source] != sensitive[target])
        own, other = np.bincount(segment[~loops], minlength=2 * nodes).reshape(nodes, 2).T
        rarer = np.minimum(own, other)
        part = np.minimum(np.maximum(self.settings.at_least, ((own + 3) * self.settings.beta).astype(int)), own)
        quota = np.stack([np.where(other == 0, part, np.maximum(rarer - 1, 0)), rarer], axis=1).ravel()
        segment = np.where(loops, 2 * nodes, segment)  # a set of their own, last
        steps = csr_matrix((np.ones(len(source)), (target, source)), (nodes, nodes))
        excess = steps @ (steps @ (2.0 * sensitive - 1))
        return segment, loops, np.append(quota, 0), 1 / (1 + np.abs(excess))[source]
