"""FairSIN (Yang et al., 2024): features plus an estimate of the other group's.

After BUPT-GAMMA/FairSIN, `in-train.py` (full), `pretrain.py` (F) and `reweight.py` (G).
phi, a small MLP, learns from a node's features the mean features h of its neighbours in
the other group; the network reads x + delta phi(x). Variant G has no phi and gives
inter-edges more weight. The authors have two groups; with more, all others are the
other group.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from fairgat.config import Count, Model
from fairgat.errors import NotDefined
from fairgat.methods.base import Adam, NodeMethod, attention_layer
from fairgat.methods.membership import group_loss, membership, num_columns
from fairgat.nn import CSRGraph, GATConv
from fairgat.tasks.node_classification import NodeTask

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]


class Settings(Model):
    delta: NotNegative = 1.0
    """How much of phi(x) is added to the features. In G, what an inter-edge weighs
    beyond an intra-edge's 1."""
    variant: Literal["full", "F", "G"] = "full"
    """Whether phi is fitted further in every epoch, or beforehand and then fixed (F),
    or edges reweighted (G)."""
    discriminator: Literal["none", "adversarial", "released"] = "none"
    """Whether a linear layer learns the group from the representations, and the encoder
    hides it (adversarial), or shows it, as in the authors' code (released)."""
    apply_at_test: bool = True
    """Whether phi(x) is added in evaluation, too. The authors' code adds it in training
    only."""
    phi_width: Count = 18
    """Width of phi's two hidden layers."""
    phi_steps: Count = 2
    """Full: steps of phi per epoch. The authors take 20 for 10 of the classifier."""
    phi_first_steps: Count = 200
    """F: steps of phi before training."""
    phi_learning_rate: Positive = 0.1
    """Of phi's Adam. The authors have 0.01 in F."""
    phi_weight_decay: NotNegative = 0.001
    """Of phi's Adam. The authors have 0 in F."""
    held_out: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """Share of the nodes with an h that phi is not fitted on. As in the authors' code,
    nothing is chosen on them."""
    discriminator_every: Count = 2
    """Epochs between two steps of the discriminator. The authors take 5 for 10 of the
    classifier."""
    discriminator_learning_rate: Positive = 0.01
    """Of the discriminator's Adam."""

    @model_validator(mode="after")
    def _without_phi(self) -> "Settings":
        is_set = self.discriminator != "none" or not self.apply_at_test
        if self.variant == "G" and is_set:
            raise ValueError(
                "variant G has no discriminator and the same graph at test: leave out "
                "both settings"
            )
        return self


class NodeClassification(NodeMethod):
    settings: Settings
    x: Tensor
    """(N, F) features of training: x + delta phi(x)."""

    def __init__(self, task: NodeTask, settings: Settings) -> None:
        super().__init__(task, settings)
        self.starts_from_forward = settings.apply_at_test
        self.x = task.features
        if settings.variant == "G":
            return

        features, width = task.graph.num_features, settings.phi_width
        # A part of the model, to be kept with it, and not of what `optimizer` steps.
        self.model.phi = nn.Sequential(
            nn.Linear(features, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, features),
        )
        self.phi_optimizer = Adam(
            self.model.phi.parameters(),
            lr=settings.phi_learning_rate,
            weight_decay=settings.phi_weight_decay,
        )
        nodes, h = means_of_other_group(task.features, task.edge_index, task.sensitive)
        if not len(nodes):
            raise NotDefined(
                "FairSIN learns from neighbours of the other group; no node of this "
                "graph has one"
            )
        count = math.ceil((1 - settings.held_out) * len(nodes))
        fitted = torch.randperm(len(nodes))[:count]
        self.known, self.h = task.features[nodes[fitted]], h[fitted]

        outputs = num_columns(task.graph.num_groups)
        self.discriminator = nn.Linear(task.training.hidden, outputs)
        self.discriminator.requires_grad_(settings.discriminator != "none")
        rate = settings.discriminator_learning_rate
        self.discriminator_optimizer = Adam(self.discriminator.parameters(), lr=rate)

        is_fixed = settings.variant == "F"
        self.fit_phi(settings.phi_first_steps if is_fixed else settings.phi_steps)

    def build(self) -> nn.Module:
        """Make a GAT, in G with layers that give inter-edges more weight."""
        if self.settings.variant != "G":
            return super().build()
        task, graph = self.task, self.task.plain_csr
        inter = task.sensitive[graph.source.long()] != task.sensitive[graph.target]
        weight = 1 + self.settings.delta * inter.to(task.features.dtype)
        layer = attention_layer(ReweightedConv, task, edge_weight=weight)
        return task.network(layer)

    def load(self, state: Mapping[str, Tensor]) -> None:
        super().load(state)
        self.add()

    def embed(self) -> Tensor:
        added = self.settings.apply_at_test or self.model.training
        return self.model(self.x if added else self.task.features, self.task.plain_csr)

    def update(self, output: Tensor | None) -> dict[str, float]:
        """Step the classifier, in some epochs the discriminator, then phi.

        phi is then ready for the next epoch.
        """
        losses = super().update(output)
        settings = self.settings
        is_due = self.epoch % settings.discriminator_every == 0
        if settings.discriminator != "none" and is_due:
            losses["discriminator_loss"] = self.discriminate()
        if settings.variant == "full":
            losses["phi_loss"] = self.fit_phi(settings.phi_steps)
        return losses

    def fit_phi(self, steps: int) -> float:
        """Train phi for some steps to predict h; then add its output to the features.

        Gives the mean squared error of the last step.
        """
        for _ in range(steps):
            loss = mse_loss(self.model.phi(self.known), self.h)
            self.phi_optimizer.zero_grad()
            loss.backward()
            self.phi_optimizer.step()
        self.add()
        return loss.item()

    @torch.no_grad()
    def add(self) -> None:
        """Add phi's output, as it is now, to the features; G has no phi."""
        if self.settings.variant != "G":
            self.x = self.added()

    def added(self) -> Tensor:
        """Compute x + delta phi(x), (N, F)."""
        x = self.task.features
        return x + self.settings.delta * self.model.phi(x)

    def discriminate(self) -> float:
        """Step the discriminator on the groups of all nodes, and what it reads.

        Encoder and phi, which is fixed in F, step with it or against it.
        """
        task = self.task
        x = self.added() if self.settings.variant == "full" else self.x
        h = self.model.embed(x, task.plain_csr)
        if self.settings.discriminator == "adversarial":
            # Encoder and phi climb where the discriminator descends.
            h.register_hook(torch.neg)
        groups = membership(task.sensitive, task.graph.num_groups, h.dtype)
        loss = group_loss(self.discriminator(h), groups)

        self.model.zero_grad()
        self.discriminator.zero_grad()
        loss.backward()
        self.discriminator_optimizer.step()
        # Without a gradient, the classifier's linear layer and F's phi stay.
        self.optimizer.step()
        self.phi_optimizer.step()
        return loss.item()


class ReweightedConv(GATConv):
    """GAT whose edges (E,) weigh `edge_weight` in the softmax.

    As if log(edge_weight) were added to their scores.
    """

    def __init__(self, *arguments, edge_weight: Tensor, **options) -> None:
        super().__init__(*arguments, **options)
        self.edge_weight = edge_weight

    def attend(
        self, source: Tensor, target: Tensor, graph: CSRGraph, keep: Tensor | None
    ) -> Tensor:
        """Scale each row of attention (H, E) by the weights, and to sum 1 again."""
        attention = super().attend(source, target, graph, keep)
        alpha = attention * self.edge_weight
        zeros = alpha.new_zeros(len(alpha), graph.num_rows)
        total = zeros.index_add(1, graph.target, alpha)
        return alpha / total.index_select(1, graph.target)


def means_of_other_group(
    x: Tensor, edge_index: Tensor, sensitive: Tensor
) -> tuple[Tensor, Tensor]:
    """Find the nodes with a neighbour of another group, and those neighbours' mean.

    Returns:
        The nodes (n,), and the mean features h (n, F) of their neighbours of another
        group.
    """
    source, target = edge_index
    is_inter = sensitive[source] != sensitive[target]
    source, target = source[is_inter], target[is_inter]
    count = target.bincount(minlength=len(x))
    nodes = count.nonzero().squeeze(1)
    total = torch.zeros_like(x).index_add(0, target, x[source])
    return nodes, total[nodes] / count[nodes, None]
