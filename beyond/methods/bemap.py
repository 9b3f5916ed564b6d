"""BeMap (Lin et al., LoG 2023, arXiv 2306.04107): training on neighbourhoods with as many nodes of either group.

After `models.py` of xiaolin-cs/BeMap (408dc7d), on GAT. In every epoch a node with m neighbours in the rarer of the two
groups attends to m of the other group, m - 1 of its own and itself; a node without neighbours in the other group
attends to some of its own. Predictions are made on the whole graph.

Neighbours with a balanced neighbourhood themselves are drawn rather than others: with weights 1 / (1 + |n_1 - n_0|),
n_s counting the walks of two steps, self-loops among them, that end in group s. The released code counts its two steps
within either triangle of the adjacency matrix.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
import torch
from pydantic import Field
from scipy.sparse import csr_matrix
from torch import Tensor

from fairgat.config import Count, Model
from fairgat.methods.base import NodeMethod, OnDrawnEdges
from fairgat.tasks.device import tensor

OWN, OTHER = 0, 1


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
        sets = self._neighbourhoods
        # By weight and without replacement: the largest log(uniform) / weight (Efraimidis and Spirakis 2006).
        key = torch.rand(len(sets.segment)).log().numpy(force=True) / sets.weight
        order = np.lexsort((-key, sets.segment))
        place = np.empty(len(order), np.int64)
        first = np.searchsorted(sets.segment[order], np.arange(len(sets.quota)))
        place[order] = np.arange(len(order)) - first[sets.segment[order]]
        return tensor(sets.loops | (place < sets.quota[sets.segment]))

    @cached_property
    def _neighbourhoods(self) -> "Neighbourhoods":
        csr, sensitive = self.task.plain_csr, self.task.graph.sensitive
        nodes, source, target = (
            len(sensitive),
            csr.source.numpy(force=True),
            csr.target.numpy(force=True),
        )
        loops = source == target
        segment = 2 * target + np.where(
            sensitive[source] == sensitive[target], OWN, OTHER
        )
        sizes = np.bincount(segment[~loops], minlength=2 * nodes).reshape(nodes, 2)
        own, other = sizes[:, OWN], sizes[:, OTHER]
        rarer = np.minimum(own, other)
        alone = np.minimum(
            np.maximum(
                self.settings.at_least, ((own + 3) * self.settings.beta).astype(int)
            ),
            own,
        )
        quota = np.empty_like(sizes)
        quota[:, OWN] = np.where(other == 0, alone, np.maximum(rarer - 1, 0))
        quota[:, OTHER] = rarer
        steps = csr_matrix((np.ones(len(source)), (target, source)), (nodes, nodes))
        excess = steps @ (steps @ (2.0 * sensitive - 1))
        return Neighbourhoods(
            segment=np.where(loops, 2 * nodes, segment),
            loops=loops,
            quota=np.append(quota.ravel(), 0),
            weight=1 / (1 + np.abs(excess))[source],
        )


@dataclass(frozen=True)
class Neighbourhoods:
    """The sets of neighbours that are drawn from: two of each node, and one, the last, of all self-loops.

    Attributes:
        segment: (E',) the set of each edge: that of node i's own group is 2 i + OWN, the other one 2 i + OTHER.
        loops: (E',) whether it is a self-loop.
        quota: (2N + 1,) how many of each set are drawn; none of the last, as self-loops all stay.
        weight: (E',) by which an edge is drawn.
    """

    segment: np.ndarray
    loops: np.ndarray
    quota: np.ndarray
    weight: np.ndarray
