"""FairDrop (Spinelli et al., 2021): link prediction on a graph that loses edges.

It loses intra-edges more often than inter-edges. After its notebook,
`fair_link_prediction.ipynb` of ispamm/FairDrop.
"""

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor

from fairgat.config import Count, Model
from fairgat.methods.base import LinkMethod, OnDrawnEdges
from fairgat.tasks.device import tensor
from fairgat.tasks.link_prediction import link_loss


class Settings(Model):
    delta: Annotated[float, Field(ge=0, le=0.5)] = 0.16
    """An inter-edge is kept with probability 1/2 + delta, an intra-edge with 1/2 -
    delta. 0 drops blindly."""
    every: Count = 10
    """Epochs between two draws of the dropped edges."""


class LinkPrediction(OnDrawnEdges, LinkMethod):
    settings: Settings
    kept_edges: Tensor
    """(E,) bool: the directed training edges that stay until the next draw."""

    def drawn(self) -> Tensor:
        """(E',) bool, the kept edges and all self-loops.

        They are drawn anew in epoch 1 and every `every` epochs.
        """
        if self.epoch == 1 or self.epoch % self.settings.every == 0:
            self.kept_edges = self.draw()
        loops = self.kept_edges.new_ones(self.task.graph.num_nodes)
        return self.task.plain_csr.reorder_edges(torch.cat([self.kept_edges, loops]))

    def loss(self, output: Tensor) -> Tensor:
        """Compute the cross-entropy of kept edges against non-edges.

        Of these there are as many as if no edge were dropped.
        """
        edges = self.task.edge_index[:, self.kept_edges]
        return link_loss(output, edges, self.task.sample_non_edges())

    def draw(self) -> Tensor:
        """Draw (E,) bool by randomised response (section III-B).

        An inter-edge is kept with probability 1/2 + delta, an intra-edge with 1/2 -
        delta. The two directions of an edge are drawn separately, as in the notebook.
        """
        inter = tensor(self.task.graph.inter_edges)
        truthful = torch.rand(len(inter)) < 0.5 + self.settings.delta
        return torch.where(truthful, inter, ~inter)
