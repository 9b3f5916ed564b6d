"""A-FAME (doi 10.1145/3699682.3728324): attention scores with a term of the groups.

Its factor b is learned.

.. math::
    e_{ij} = a_{src}^T c_j + a_{dst}^T c_i + b (s_i - s_j)

After `fame.py` of HannanJaved/GNNs-FAME (6374b65), in the network that all methods here
have. Its code has b (s_j - s_i): b, drawn from [0, 1), starts there with the other
sign, and may learn either. It takes the softmax over the edges out of a node, though
messages are summed over the edges into it: with `softmax: sources` as released. Over
the edges into a node, all that depends on i cancels, as its scores are linear: a
neighbour's weight depends on the neighbour only, and b moves weight between the groups.
With a `negative_slope` other than 1 it depends on both ends.
"""

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from fairgat.config import Model
from fairgat.methods.base import NodeMethod, attention_layer
from fairgat.nn import CSRGraph, GATConv
from fairgat.nn.normalise import Features


class Settings(Model):
    softmax: Literal["targets", "sources"] = "targets"
    """Whether the attention coefficients of the edges into a node add up to 1, or those
    of the edges out of it."""
    negative_slope: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Of the LeakyReLU of the scores: 1, none, as in its code; GAT has 0.2."""


class BiasedConv(GATConv):
    """A GAT layer with b (s_i - s_j) in its scores.

    Args:
        sensitive: (N,) groups, 0 and 1.
        over_sources: whether the softmax is taken over the edges out of each node.
    """

    def __init__(
        self, *arguments, sensitive: Tensor, over_sources: bool = False, **options
    ) -> None:
        super().__init__(*arguments, **options)
        self.over_sources = over_sources
        self.b = nn.Parameter(torch.rand(1))
        self.register_buffer("sensitive", sensitive, persistent=False)

    def scores(self, c: Features) -> tuple[Tensor, Tensor]:
        """Give scores (H, N) of sources, less b s_j, and of targets, with b s_i."""
        source, target = super().scores(c)
        group = self.b * self.sensitive.to(source.dtype)
        return source - group, target + group

    def attend(
        self, source: Tensor, target: Tensor, graph: CSRGraph, keep: Tensor | None
    ) -> Tensor:
        if not self.over_sources:
            return super().attend(source, target, graph, keep)
        if keep is not None:
            raise ValueError(
                "the softmax over sources is that of the whole graph: pass no `keep`"
            )
        nodes = graph.source.long()
        linear = source[:, nodes] + target[:, graph.target]
        e = leaky_relu(linear, self.negative_slope)

        # The softmax over each source's edges, less its largest score against overflow.
        index = nodes.expand_as(e)
        lowest = torch.full_like(source, -torch.inf)
        largest = lowest.scatter_reduce(1, index, e.detach(), "amax")
        weight = (e - largest[:, nodes]).exp()
        total = torch.zeros_like(source).scatter_add(1, index, weight)
        return weight / total[:, nodes]


class NodeClassification(NodeMethod):
    settings: Settings
    for_two_groups = "A-FAME"

    def build(self) -> nn.Module:
        """Make GAT's network of these layers."""
        layer = attention_layer(
            BiasedConv,
            self.task,
            sensitive=self.task.sensitive,
            over_sources=self.settings.softmax == "sources",
            negative_slope=self.settings.negative_slope,
        )
        return self.task.network(layer)
