"""FairGNN (Dai and Wang, 2021): a classifier against an adversary.

The adversary predicts the sensitive attribute from what the classifier has learned.
After EnyanDai/FairGNN, `src/models/FairGNN.py` (`optimize`) and `src/train_sens.py`.
Where the sensitive attribute is unknown, an estimator f_E supplies it, which is trained
beforehand and then fixed. The authors have two groups. With more, adversary and
estimator predict the group by the cross-entropy, and the covariance is the mean over
the groups of that of membership.
"""

from typing import Annotated, Literal

import numpy as np
import torch
from pydantic import Field
from scipy.sparse import csr_matrix, diags, identity
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from fairgat.config import Count, Model
from fairgat.errors import NotDefined
from fairgat.methods.base import Adam, NodeMethod
from fairgat.methods.membership import (
    group_loss,
    membership,
    num_columns,
    probabilities,
)
from fairgat.tasks.device import tensor
from fairgat.tasks.node_classification import NodeTask


class Settings(Model):
    adversary_weight: Annotated[float, Field(ge=0)] = 0.01
    """Weight of the adversary's loss: beta in the authors' code."""
    covariance_weight: Annotated[float, Field(ge=0)] = 4.0
    """Weight of the covariance: alpha in the authors' code. 4 is its default; its
    script for Pokec-z has 10."""
    sensitive_known: Literal["train", "all"] | Count = "train"
    """The nodes whose sensitive attribute is known: the training nodes, all nodes, or
    this many training nodes."""
    estimator_epochs: Count = 200
    """Epochs of f_E's training. The authors take the best of 800 on validation nodes,
    unknown here."""
    estimator_learning_rate: Annotated[float, Field(gt=0)] = 0.001
    """Of f_E's Adam."""
    estimator_weight_decay: Annotated[float, Field(ge=0)] = 1e-5
    """Of f_E's Adam."""
    estimator_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.5
    """Dropout between f_E's two convolutions."""


class NodeClassification(NodeMethod):
    settings: Settings
    h: Tensor
    """(N, hidden) representations of the last pass."""

    def __init__(self, task: NodeTask, settings: Settings) -> None:
        super().__init__(task, settings)
        self.adversary = nn.Linear(
            task.training.hidden, num_columns(task.graph.num_groups)
        )
        self.adversary_optimizer = self.adam(self.adversary.parameters())
        self.sensitive = self.estimate_sensitive()

    def embed(self) -> Tensor:
        self.h = self.model.embed(self.task.features, self.task.plain_csr)
        return self.model.classify(self.h)

    def loss(self, output: Tensor) -> Tensor:
        """Compute cls_loss + alpha cov - beta adv_loss of `optimize`.

        They are the paper's L_C, L_R and L_A.
        """
        adversary = group_loss(self.adversary(self.h), self.sensitive)
        covariance = absolute_covariance(self.sensitive, output.sigmoid())
        settings = self.settings
        return (
            super().loss(output)
            + settings.covariance_weight * covariance
            - settings.adversary_weight * adversary
        )

    def update(self, output: Tensor) -> dict[str, float]:
        """Step the classifier, then the adversary.

        The adversary reads the representations of the classifier's step.
        """
        losses = super().update(output)
        loss = group_loss(self.adversary(self.h.detach()), self.sensitive)
        # The classifier's step left gradients here.
        self.adversary_optimizer.zero_grad()
        loss.backward()
        self.adversary_optimizer.step()
        return losses | {"adversary_loss": loss.item()}

    def estimate_sensitive(self) -> Tensor:
        """Write the groups as `membership` does, estimated where they are unknown.

        There f_E's probabilities stand for them.
        """
        task = self.task
        groups = task.graph.num_groups
        sensitive = membership(task.sensitive, groups, task.features.dtype)
        if self.settings.sensitive_known == "all":
            return sensitive

        known_nodes = self.known_nodes()
        estimator = self.trained_estimator(known_nodes, sensitive[known_nodes])
        with torch.no_grad():
            estimate = probabilities(estimator.eval()())
        estimate[known_nodes] = sensitive[known_nodes]
        return estimate

    def known_nodes(self) -> Tensor:
        """Draw the training nodes whose sensitive attribute is known: all, or some.

        Raises:
            NotDefined: there are fewer of them than should be known.
        """
        nodes, count = self.task.train, self.settings.sensitive_known
        if count == "train":
            return nodes
        if count > len(nodes):
            raise NotDefined(
                f"sensitive_known is {count}, but there are {len(nodes)} training nodes"
            )
        drawn = torch.randperm(len(nodes))[:count]
        return nodes[drawn]

    def trained_estimator(
        self, nodes: Tensor, sensitive: Tensor
    ) -> "SensitiveEstimator":
        """Train f_E on nodes (n,) by their groups, as `membership` writes them."""
        task, settings = self.task, self.settings
        estimator = SensitiveEstimator(
            task.features,
            task.edge_index,
            task.training.hidden,
            settings.estimator_dropout,
            num_columns(task.graph.num_groups),
        )
        optimizer = Adam(
            estimator.parameters(),
            lr=settings.estimator_learning_rate,
            weight_decay=settings.estimator_weight_decay,
        )
        for _ in range(settings.estimator_epochs):
            logits = estimator()[nodes]
            optimizer.zero_grad()
            group_loss(logits, sensitive).backward()
            optimizer.step()
        return estimator


class SensitiveEstimator(nn.Module):
    """f_E: two graph convolutions and a linear layer (`src/models/GCN.py`).

    ReLU and dropout lie between the convolutions. A = D^-1/2 (A + I) D^-1/2 is applied
    to the narrower side of each product: to X before W_1, and after W_2 and the linear
    layer, which no activation separates, so that an epoch aggregates as few columns as
    there are logits.
    """

    def __init__(
        self,
        features: Tensor,
        edge_index: Tensor,
        hidden: int,
        dropout: float,
        logits: int = 1,
    ) -> None:
        super().__init__()
        adjacency = normalised_adjacency(edge_index, len(features))
        self.adjacency = adjacency.astype(features.numpy(force=True).dtype)
        self.aggregated = _Propagate.apply(self.adjacency, features)
        self.dropout = dropout
        self.conv1 = nn.Linear(features.size(1), hidden)
        self.conv2 = nn.Linear(hidden, hidden)
        self.linear = nn.Linear(hidden, logits)
        for conv in (self.conv1, self.conv2):
            nn.init.xavier_uniform_(conv.weight)
            nn.init.zeros_(conv.bias)

    def forward(self) -> Tensor:
        """(N, logits) of the sensitive attribute."""
        h = self.conv1(self.aggregated).relu()
        weight = self.linear.weight @ self.conv2.weight  # (logits, hidden)
        if self.training and self.dropout:
            # These draws take a quarter of the time of torch.dropout's.
            h = h * torch.rand_like(h).ge_(self.dropout)
            weight = weight / (1 - self.dropout)
        propagated = _Propagate.apply(self.adjacency, h @ weight.t())
        return propagated + self.linear(self.conv2.bias)


class _Propagate(torch.autograd.Function):
    """A symmetric sparse matrix times x (N, F).

    PyTorch's product of a COO matrix takes thirty times as long.
    """

    @staticmethod
    def forward(ctx, matrix: csr_matrix, x: Tensor) -> Tensor:
        ctx.matrix = matrix
        return tensor(matrix @ x.numpy(force=True))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[None, Tensor]:
        return None, tensor(ctx.matrix @ grad.numpy(force=True))


def absolute_covariance(s: Tensor, y: Tensor) -> Tensor:
    """Compute L_R, cov of `optimize`, averaged over several groups.

    `s` is as `membership` writes groups, y (N,) are probabilities.
    """
    s = s.t()  # which leaves (N,) as it is
    products = (s - s.mean(-1, keepdim=True)) * (y - y.mean())
    return products.mean(-1).abs().mean()


def normalised_adjacency(edge_index: Tensor, num_nodes: int) -> csr_matrix:
    """(N, N) D^-1/2 (A + I) D^-1/2."""
    ones, shape = np.ones(edge_index.size(1)), (num_nodes, num_nodes)
    edges = csr_matrix((ones, edge_index.numpy(force=True)), shape)
    adjacency = edges + identity(num_nodes)
    degrees = adjacency.sum(axis=1).A1
    scale = diags(1 / np.sqrt(degrees))
    return csr_matrix(scale @ adjacency @ scale)
