"""BeMap (Lin et al., LoG 2023, arXiv 2306.04107): training on balanced neighbourhoods.

They have as many nodes of either group. After `models.py` of xiaolin-cs/BeMap
(408dc7d), on GAT. In every epoch a node with m neighbours in the rarer of the two
groups attends to m of the other group, m - 1 of its own and itself; a node without
neighbours in the other group attends to some of its own. Predictions are made on the
whole graph.

Neighbours with a balanced neighbourhood themselves are drawn rather than others: with
weights 1 / (1 + |n_1 - n_0|), n_s counting the walks of two steps, self-loops among
them, that end in group s. The released code counts its two steps within either triangle
of the adjacency matrix.
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
    """Share of its neighbours that a node keeps whose neighbours are all of its own
    group."""
    at_least: Count = 4
    """How many such a node keeps at least, where it has them."""


class NodeClassification(OnDrawnEdges, NodeMethod):
    settings: Settings
    for_two_groups = "BeMap"

    def drawn(self) -> Tensor:
        """Draw the edges of a balanced graph."""
        sets = self._neighbourhoods
        # By weight and without replacement: those with the largest
        # log(uniform) / weight (Efraimidis and Spirakis 2006).
        uniform = torch.rand(len(sets.number))
        key = uniform.log().numpy(force=True) / sets.weight
        order = np.lexsort((-key, sets.number))

        in_order = sets.number[order]
        first = np.searchsorted(in_order, np.arange(len(sets.quota)))
        rank = np.empty(len(order), np.int64)  # of an edge in its set
        rank[order] = np.arange(len(order)) - first[in_order]
        is_drawn = rank < sets.quota[sets.number]
        return tensor(sets.loops | is_drawn)

    @cached_property
    def _neighbourhoods(self) -> "Neighbourhoods":
        graph, sensitive = self.task.plain_csr, self.task.graph.sensitive
        nodes = len(sensitive)
        source = graph.source.numpy(force=True)
        target = graph.target.numpy(force=True)
        loops = source == target
        kind = np.where(sensitive[source] == sensitive[target], OWN, OTHER)
        number = 2 * target + kind

        sizes = np.bincount(number[~loops], minlength=2 * nodes).reshape(nodes, 2)
        rarer = sizes.min(axis=1)
        quota = np.empty_like(sizes)
        quota[:, OWN] = np.maximum(rarer - 1, 0)
        quota[:, OTHER] = rarer
        alone = sizes[:, OTHER] == 0
        quota[alone, OWN] = self._kept_alone(sizes[alone, OWN])

        ones = np.ones(len(source))
        adjacency = csr_matrix((ones, (target, source)), (nodes, nodes))
        signs = 2.0 * sensitive - 1
        excess = adjacency @ (adjacency @ signs)  # n_1 - n_0 of each node
        return Neighbourhoods(
            number=np.where(loops, 2 * nodes, number),
            loops=loops,
            quota=np.append(quota.ravel(), 0),
            weight=1 / (1 + np.abs(excess))[source],
        )

    def _kept_alone(self, neighbours: np.ndarray) -> np.ndarray:
        """Say how many nodes keep whose neighbours (n,) are all of their own group."""
        share = ((neighbours + 3) * self.settings.beta).astype(int)
        wanted = np.maximum(self.settings.at_least, share)
        return np.minimum(wanted, neighbours)


@dataclass(frozen=True)
class Neighbourhoods:
    """The sets of neighbours that are drawn from.

    Two of each node, and one, the last, of all self-loops.

    Attributes:
        number: (E',) the set of each edge: that of node i's own group is 2 i + OWN, the
            other one 2 i + OTHER.
        loops: (E',) whether it is a self-loop.
        quota: (2N + 1,) how many of each set are drawn; none of the last, as self-loops
            all stay.
        weight: (E',) by which an edge is drawn.
    """

    number: np.ndarray
    loops: np.ndarray
    quota: np.ndarray
    weight: np.ndarray
