"""FairGB (Li et al., 2024): training on mixtures of two nodes.

They share either the label or the group. After ZhixunLEE/FairGB, `mixup.py` and
`main.py`. Each training node i is mixed with a partner p into a synthetic node with
neighbours of i; the groups (label, sensitive attribute) that contribute more to the
gradient weigh less. Defined for two sensitive groups.
"""

from functools import partial
from typing import Annotated, Literal, NamedTuple

import numpy as np
import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from fairgat.config import Model
from fairgat.errors import NotDefined
from fairgat.methods.base import NodeMethod
from fairgat.nn import CSRGraph, GATConv
from fairgat.nn.parallel import compiled
from fairgat.tasks.device import tensor
from fairgat.tasks.node_classification import NodeTask


class Settings(Model):
    eta: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Probability that an epoch's partners have the other label and the same sensitive
    attribute; otherwise they have the same label and the other attribute."""
    weights: Literal["definition", "released"] = "definition"
    """Whether node i's loss has the weight of i's group, or, as in the authors' code,
    that of i's label with the partner's attribute. The two differ where the attributes
    do."""
    warmup: Annotated[int, Field(ge=0)] = 5
    """Epochs of plain training before."""
    concentration: Annotated[float, Field(gt=0)] = 2.0
    """Both parameters of the beta distribution of the mixing ratio."""


class Mixture(NamedTuple):
    """An epoch's synthetic nodes, one for each of the n training nodes.

    Attributes:
        partner: (n,) position of each training node's partner among the training nodes.
        ratio: (n,) lambda, the share of the training node; 1 - lambda is the partner's.
        graph: n rows over N + n sources; row k is source N + k, and has a self-loop and
            neighbours of node k.
    """

    partner: Tensor
    ratio: Tensor
    graph: CSRGraph


class NodeClassification(NodeMethod):
    settings: Settings
    for_two_groups = "FairGB"
    h: Tensor
    """(N, hidden) first layer of the last pass, which synthetic nodes read."""

    def __init__(self, task: NodeTask, settings: Settings) -> None:
        super().__init__(task, settings)
        self.labels = task.labels[task.train].to(task.features.dtype)
        # (n,) 2 y + s
        self.group = (2 * self.labels + task.sensitive[task.train]).long()
        self.members = []
        for group in range(4):
            members = (self.group == group).nonzero().squeeze(1)
            if not len(members):
                raise NotDefined(
                    "FairGB mixes nodes of all labels and groups; no training node of "
                    f"group {group % 2} has label {group // 2}"
                )
            self.members.append(members)
        graph = task.plain_csr
        self.degree = graph.rowptr.diff()
        # The neighbours of one training node after the other.
        self.neighbours = graph.source[torch.isin(graph.target, task.train)]

    def embed(self) -> Tensor:
        model, graph = self.model, self.task.plain_csr
        self.h = model.conv1(self.task.features, graph).relu()
        h = model.conv2(self.h, graph).relu()
        return model.classify(h)

    def loss(self, output: Tensor) -> Tensor:
        """Compute the cross-entropy of the training nodes, or of the epoch's mixtures.

        The latter when the warm-up is over.
        """
        if self.epoch <= self.settings.warmup:
            return super().loss(output)
        mixture = self.draw()
        logits = self.classify(mixture)
        return self.balanced(logits, mixture.partner, mixture.ratio)

    def draw(self) -> Mixture:
        """Draw partners, ratios and neighbours."""
        flips_label = torch.rand(()) < self.settings.eta
        flipped = 2 if flips_label else 1  # the bit of a group's number, 2 y + s
        partner = torch.empty_like(self.group)
        for group, members in enumerate(self.members):
            others = self.members[group ^ flipped]
            drawn = torch.randint(len(others), members.shape)
            partner[members] = others[drawn]
        concentration = torch.full((len(partner),), self.settings.concentration)
        ratio = torch.distributions.Beta(concentration, concentration).sample()
        return Mixture(partner, ratio, self.draw_neighbours())

    def draw_neighbours(self) -> CSRGraph:
        """Draw as many neighbours of each training node as a random node has.

        Or all, if it has fewer. As in the authors' `neighbor_sampling`, the node's own
        self-loop is one of them.
        """
        nodes, train = len(self.degree), self.task.train
        available = self.degree[train]
        others = torch.randint(nodes, train.shape)
        wanted = torch.minimum(self.degree[others], available)
        uniform = torch.rand(len(self.neighbours), dtype=torch.float32)
        source = sample_rows(
            self.neighbours.numpy(force=True),
            available.numpy(force=True),
            wanted.numpy(force=True),
            uniform.numpy(force=True),
            nodes,
        )
        rowptr = torch.zeros(len(train) + 1, dtype=torch.int64)
        rowptr[1:] = (wanted + 1).cumsum(0)  # with each row's own self-loop
        return CSRGraph(
            num_nodes=nodes + len(train),
            segments=1,
            rowptr=rowptr,
            segptr=rowptr,
            source=tensor(source),
            permutation=torch.arange(len(source)),
        )

    def classify(self, mixture: Mixture) -> Tensor:
        """Give logits (n,) of the synthetic nodes, which receive messages only."""
        model, train = self.model, self.task.train
        x, ratio = self.task.features, mixture.ratio[:, None]
        own, partners = x[train], x[train[mixture.partner]]
        mixed = ratio * own + (1 - ratio) * partners
        mixed = _at_rows(model.conv1, torch.cat([x, mixed]), mixture.graph)
        mixed = _at_rows(model.conv2, torch.cat([self.h, mixed]), mixture.graph)
        return model.classify(mixed)

    def balanced(self, logits: Tensor, partner: Tensor, ratio: Tensor) -> Tensor:
        """Mix the cross-entropies of logits (n,) with both nodes' labels.

        Each is weighted by its group. A group's contribution is the sum of its nodes'
        |dBCE/dlogit| times their ratios, and its weight the least contribution of any
        group over its own.
        """
        cross_entropy = partial(binary_cross_entropy_with_logits, reduction="none")
        group, loss = self.group, cross_entropy(logits, self.labels)
        other, other_loss = group[partner], cross_entropy(logits, self.labels[partner])

        with torch.no_grad():
            slope = 1 - (-loss).exp()  # |dBCE/dlogit|
            other_slope = 1 - (-other_loss).exp()
            contribution = logits.new_zeros(4)
            contribution.index_add_(0, group, ratio * slope)
            contribution.index_add_(0, other, (1 - ratio) * other_slope)
            weight = contribution.min() / (contribution + 1e-6)

        if self.settings.weights == "released":
            group = 2 * (group // 2) + other % 2
        own_part = ratio * weight[group] * loss
        other_part = (1 - ratio) * weight[other] * other_loss
        return (own_part + other_part).mean()


def _at_rows(conv: GATConv, x: Tensor, graph: CSRGraph) -> Tensor:
    """Pass x (N + n, F) through a layer and ReLU, for the synthetic nodes only.

    They are the graph's rows and the last n of x; gives (n, hidden).
    """
    rows = torch.arange(len(x) - graph.num_rows, len(x))
    h, *_ = conv.aggregate(x, graph, rows=rows)
    return h.relu()


@compiled(nogil=True)
def sample_rows(neighbours, available, wanted, uniform, nodes):
    """Draw the sources (E,) int32 of the rows.

    Those of row k are `nodes` + k, then `wanted` (n,) of its `available` (n,)
    neighbours. All are equally likely: selection sampling (Knuth, The Art of Computer
    Programming, 3.4.2, algorithm S), with one of `uniform` for each of the neighbours
    (m,). On Recidivism a draw takes 2.6 ms; sorting random keys takes 12.
    """
    source = np.empty(wanted.sum() + wanted.size, np.int32)
    free = 0  # the next place of `source`
    edge = 0  # the next of the neighbours
    for row in range(wanted.size):
        source[free] = nodes + row
        free += 1
        needed = wanted[row]
        for remaining in range(available[row], 0, -1):
            if uniform[edge] * np.float64(remaining) < needed:
                source[free] = neighbours[edge]
                free += 1
                needed -= 1
            edge += 1
    return source
