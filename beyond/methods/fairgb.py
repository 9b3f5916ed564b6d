"""FairGB (Li et al., 2024): training on mixtures of two nodes that share either the label or the group.

After ZhixunLEE/FairGB, `mixup.py` and `main.py`. Each training node i is mixed with a partner p into a synthetic node
with neighbours of i; the groups (label, sensitive attribute) that contribute more to the gradient weigh less. Defined
for two sensitive groups.
"""

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
    """Probability that an epoch's partners have the other label and the same sensitive attribute; otherwise they have
    the same label and the other attribute."""
    weights: Literal["definition", "released"] = "definition"
    """Whether node i's loss has the weight of i's group, or, as in the authors' code, that of i's label with the
    partner's attribute. The two differ where the attributes do."""
    warmup: Annotated[int, Field(ge=0)] = 5
    """Epochs of plain training before."""
    concentration: Annotated[float, Field(gt=0)] = 2.0
    """Both parameters of the beta distribution of the mixing ratio."""


class Mixture(NamedTuple):
    """An epoch's synthetic nodes, one for each of the n training nodes.

    Attributes:
        partner: (n,) position of each training node's partner among the training nodes.
        ratio: (n,) lambda, the share of the training node; 1 - lambda is the partner's.
        graph: n rows over N + n sources; row k is source N + k, and has a self-loop and neighbours of node k.
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
        self.group = (
            2 * self.labels + task.sensitive[task.train]
        ).long()  # (n,) 0 .. 3
        self.members = [
            (self.group == group).nonzero().squeeze(1) for group in range(4)
        ]
        for group, members in enumerate(self.members):
            if not len(members):
                raise NotDefined(
                    f"FairGB mixes nodes of all labels and groups; no training node of group {group % 2} has label "
                    f"{group // 2}"
                )
        graph = task.plain_csr
        self.degree = graph.rowptr.diff()
        self.neighbours = graph.source[
            torch.isin(graph.target, task.train)
        ]  # of one training node after the other

    def embed(self) -> Tensor:
        model, graph = self.model, self.task.plain_csr
        self.h = model.conv1(self.task.features, graph).relu()
        return model.classify(model.conv2(self.h, graph).relu())

    def loss(self, output: Tensor) -> Tensor:
        """Compute the cross-entropy of the training nodes until the warm-up is over, then of the epoch's mixtures."""
        if self.epoch <= self.settings.warmup:
            return super().loss(output)
        mixture = self.draw()
        return self.balanced(self.classify(mixture), mixture.partner, mixture.ratio)

    def draw(self) -> Mixture:
        """Draw partners, ratios and neighbours."""
        flipped = (
            2 if torch.rand(()) < self.settings.eta else 1
        )  # the bit of a group's number: label, or attribute
        partner = torch.empty_like(self.group)
        for group, members in enumerate(self.members):
            others = self.members[group ^ flipped]
            partner[members] = others[torch.randint(len(others), members.shape)]
        beta = torch.distributions.Beta(
            *torch.full((2, len(partner)), self.settings.concentration)
        )
        return Mixture(partner, beta.sample(), self.draw_neighbours())

    def draw_neighbours(self) -> CSRGraph:
        """Draw as many neighbours of each training node as a random node has, or all if it has fewer.

        As in the authors' `neighbor_sampling`, the node's own self-loop is one of them.
        """
        nodes, train, available = (
            len(self.degree),
            self.task.train,
            self.degree[self.task.train],
        )
        wanted = torch.minimum(
            self.degree[torch.randint(nodes, train.shape)], available
        )
        uniform = torch.rand(len(self.neighbours), dtype=torch.float32)
        rowptr = torch.zeros(len(train) + 1, dtype=torch.int64)
        rowptr[1:] = (wanted + 1).cumsum(0)
        arrays = (
            each.numpy(force=True)
            for each in (self.neighbours, available, wanted, uniform)
        )
        source = tensor(sample_rows(*arrays, nodes))
        return CSRGraph(
            nodes + len(train), 1, rowptr, rowptr, source, torch.arange(len(source))
        )

    def classify(self, mixture: Mixture) -> Tensor:
        """(n,) logits of the synthetic nodes, which receive messages and send none."""
        train = self.task.train
        x, ratio = self.task.features, mixture.ratio[:, None]
        mixed = ratio * x[train] + (1 - ratio) * x[train[mixture.partner]]
        mixed = _at_rows(self.model.conv1, torch.cat([x, mixed]), mixture.graph)
        return self.model.classify(
            _at_rows(self.model.conv2, torch.cat([self.h, mixed]), mixture.graph)
        )

    def balanced(self, logits: Tensor, partner: Tensor, ratio: Tensor) -> Tensor:
        """Mix the cross-entropies of logits (n,) with both nodes' labels, each weighted by its group.

        A group's contribution is the sum of its nodes' |dBCE/dlogit| times their ratios, and its weight the least
        contribution of any group over its own.
        """
        group, other = self.group, self.group[partner]
        loss, other_loss = (
            binary_cross_entropy_with_logits(logits, labels, reduction="none")
            for labels in (self.labels, self.labels[partner])
        )
        with torch.no_grad():
            contribution = logits.new_zeros(4)
            contribution.index_add_(0, group, ratio * (1 - (-loss).exp()))
            contribution.index_add_(0, other, (1 - ratio) * (1 - (-other_loss).exp()))
            weight = contribution.min() / (contribution + 1e-6)
        if self.settings.weights == "released":
            group = 2 * (group // 2) + other % 2
        return (
            ratio * weight[group] * loss + (1 - ratio) * weight[other] * other_loss
        ).mean()


def _at_rows(conv: GATConv, x: Tensor, graph: CSRGraph) -> Tensor:
    """ReLU of the layer at the last n nodes of x (N + n, F), which are the graph's rows: (n, hidden)."""
    rows = torch.arange(len(x) - graph.num_rows, len(x))
    return conv.aggregate(x, graph, rows=rows)[0].relu()


@compiled(nogil=True)
def sample_rows(neighbours, available, wanted, uniform, nodes):
    """Draw the sources (E,) int32 of the rows: `nodes` + k, then `wanted` (n,) of row k's `available` (n,) neighbours.

    All neighbours are equally likely: selection sampling (Knuth, The Art of Computer Programming, 3.4.2, algorithm S),
    with one of `uniform` for each of the neighbours (m,). On Recidivism a draw takes 2.6 ms; sorting random keys takes
    12.
    """
    source = np.empty(wanted.sum() + wanted.size, np.int32)
    free, e = 0, 0
    for row in range(wanted.size):
        source[free] = nodes + row
        free += 1
        needed = wanted[row]
        for left in range(available[row], 0, -1):
            if uniform[e] * np.float64(left) < needed:
                source[free] = neighbours[e]
                free += 1
                needed -= 1
            e += 1
    return source
