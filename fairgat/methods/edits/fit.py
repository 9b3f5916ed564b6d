"""Debias a graph: optimise features and adjacency against a critic of the groups.

It is a Wasserstein critic, which reads [X s, Ã X s, Ã² X s], with X the
column-normalised features, s their learned scale and Ã the dense adjacency matrix,
which begins as A + I. X s and Ã change once per round, so Ã X and Ã² X are computed
once per round, and s is applied to them afterwards. The gradient of the critic's
distance by Ã has rank two and is never stored in full.
"""

from collections.abc import Callable
from typing import Annotated

import numpy as np
import torch
from pydantic import Field
from threadpoolctl import threadpool_limits
from torch import Tensor
from torch.nn.functional import softshrink

from fairgat.config import Count, Model
from fairgat.data.graph import Graph
from fairgat.methods.edits import kernels
from fairgat.methods.edits.result import Debiased
from fairgat.nn.parallel import launch

Weight = Annotated[float, Field(ge=0)]


class Debias(Model):
    """Settings of the debiasing.

    The defaults are those of EDITS's repository for `bail`, which is Recidivism.
    """

    epochs: Count = 500
    """Rounds of one feature step, one structure step and `critic_steps` critic
    steps."""
    epochs_of: dict[str, Count] = {}
    """Rounds on single data sets, in place of `epochs`."""
    learning_rate: Annotated[float, Field(gt=0)] = 0.003
    """Of all three optimisers."""
    late_learning_rate: Annotated[float, Field(gt=0)] = 0.001
    """The learning rate after `late_after` rounds."""
    late_after: Count = 401
    """Rounds at the first learning rate."""
    weight_decay: Weight = 1e-7
    """L2 factor on the feature scale and on the critic."""
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.9
    """Of the structure step."""
    feature_weight: Weight = 0.03
    """Weight of the features' change, relative to the critic's distance."""
    structure_weight: Weight = 15.0
    """Weight of the critic's distance, relative to the adjacency matrix's squared
    change."""
    feature_l1: Weight = 5e-6
    """Soft threshold on the feature scale, per unit of learning rate."""
    structure_l1: Weight = 5e-4
    """Soft threshold on the adjacency matrix, per unit of learning rate."""
    critic_steps: Count = 8
    """Critic steps per round."""
    critic_clip: Annotated[float, Field(gt=0)] = 0.02
    """Bound on the critic's weights, which makes it a Wasserstein critic."""
    critic_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.2
    """Dropout on the critic's output."""
    max_density_factor: Annotated[float, Field(gt=1)] = 10.0
    """A cell whose threshold gives the graph more than this many times its edges is not
    trained."""


Progress = Callable[[int, dict[str, float]], None]
"""Called with the round and its losses."""


class Debiasing:
    """The state of the optimisation.

    Args:
        graph: the whole graph.
        train: (n,) training nodes; the critic is judged on them only.
        settings: with the data set's own number of rounds.

    Attributes:
        x: (N, F) X; `one_hop` is Ã X and `two_hops` Ã² X.
        contrast: (n,) weights of the training nodes, by which a product with values is
            group 1's mean less group 0's.
        scale: (F,) s.
        critic: from [X s, Ã X s, Ã² X s] to a number for each node.
        adjacency: (N, N) float32 Ã; with its momentum, which is as large, it takes up
            the memory.
        rowptr: (N + 1,) where each source's edges begin in the graph's edge_index.
    """

    def __init__(self, graph: Graph, train: np.ndarray, settings: Debias) -> None:
        graph.require_two_groups("EDITS")
        self.graph = graph
        self.settings = settings

        # The features, with columns of length 1.
        features = torch.from_numpy(graph.features)
        tiny = torch.finfo(features.dtype).tiny
        self.x = features / features.norm(dim=0).clamp_min(tiny)

        # The groups of the training nodes.
        self.train = torch.from_numpy(train)
        in_group_1 = torch.from_numpy(graph.sensitive)[self.train] > 0
        size_1, size_0 = in_group_1.sum(), (~in_group_1).sum()
        self.contrast = torch.where(in_group_1, 1 / size_1, -1 / size_0)

        # The two players, and their optimisers.
        self.scale = torch.ones(graph.num_features, requires_grad=True)
        self.critic = torch.nn.Linear(3 * graph.num_features, 1)
        options = {
            "lr": settings.learning_rate,
            "eps": 1e-4,
            "weight_decay": settings.weight_decay,
        }
        self.scale_optimizer = torch.optim.RMSprop([self.scale], **options)
        self.critic_optimizer = torch.optim.RMSprop(self.critic.parameters(), **options)

        # The dense graph with self-loops; edge_index is sorted by source.
        nodes = graph.num_nodes
        source, target = graph.edge_index
        self.adjacency = np.zeros((nodes, nodes), dtype=np.float32)
        self.adjacency[source, target] = 1
        np.fill_diagonal(self.adjacency, 1)
        self.adjacency_momentum = np.zeros_like(self.adjacency)
        self.rowptr = np.searchsorted(source, np.arange(nodes + 1))
        self.propagate()

    def propagate(self) -> None:
        """Compute Ã X and Ã² X."""
        # NumPy's product takes two thirds of the time of PyTorch's, but does not keep
        # to its threads.
        with threadpool_limits(torch.get_num_threads(), "blas"):
            one_hop = self.adjacency @ self.x.numpy()
            two_hops = self.adjacency @ one_hop
        self.one_hop = torch.from_numpy(one_hop)
        self.two_hops = torch.from_numpy(two_hops)

    def round(self, number: int) -> dict[str, float]:
        """Do one round, `optimize` of the authors' `model.py`.

        Returns:
            the critic's `distance`.
        """
        settings = self.settings
        rate = settings.learning_rate
        if number > settings.late_after:
            rate = settings.late_learning_rate
        for optimizer in (self.scale_optimizer, self.critic_optimizer):
            optimizer.param_groups[0]["lr"] = rate
        self.feature_step()
        self.structure_step(rate)
        with torch.no_grad():
            self.scale.clamp_(0, 1)
        self.propagate()
        for _ in range(settings.critic_steps):
            distance = self.critic_step()
        return {"distance": distance}

    def distance(self, weights: Tensor) -> Tensor:
        """Compute the critic's mean over group 0 minus its mean over group 1.

        `weights` (n,) of the training nodes are `contrast`, perhaps under dropout.
        """
        s = self.scale
        hops = [hop[self.train] * s for hop in (self.x, self.one_hop, self.two_hops)]
        output = self.critic(torch.cat(hops, dim=1)).squeeze(1)
        return -(weights @ output)

    def contrast_with_dropout(self) -> Tensor:
        """(n,) `contrast` under dropout of the critic's output, which it multiplies."""
        return torch.dropout(self.contrast, self.settings.critic_dropout, train=True)

    def feature_step(self) -> None:
        """min over s of feature_weight ||X s - X|| + distance."""
        settings = self.settings
        change = (self.x * self.scale - self.x).norm()
        distance = self.distance(self.contrast_with_dropout())
        loss = settings.feature_weight * change + distance
        self.scale_optimizer.zero_grad()
        loss.backward()
        self.scale_optimizer.step()
        # The authors' proximal step keeps the first learning rate.
        threshold = settings.feature_l1 * settings.learning_rate
        with torch.no_grad():
            self.scale.copy_(softshrink(self.scale, threshold))

    def structure_step(self, rate: float) -> None:
        """min over Ã of ||Ã - A||² + structure_weight distance.

        Ã is then clamped to [0, 1] and symmetrised.

        With critic weights w and node weights c, distance = -c^T (X w_0 + Ã X w_1 + Ã²
        X w_2), so its gradient by Ã is -c (X w_1 + Ã X w_2)^T - Ã^T c (X w_2)^T; Ã is
        symmetric.
        """
        settings = self.settings
        with torch.no_grad():
            # The gradient is u a^T + v b^T.
            u = torch.zeros(self.graph.num_nodes)
            u[self.train] = -self.contrast_with_dropout()
            weights = self.critic.weight[0].view(3, -1) * self.scale
            _, w1, w2 = weights.unbind()
            v = torch.from_numpy(self.adjacency) @ u
            b = self.x @ w2
            a = self.x @ w1 + self.one_hop @ w2
        _, target = self.graph.edge_index
        vectors = u.numpy(), a.numpy(), v.numpy(), b.numpy()
        threshold = settings.structure_l1 * settings.learning_rate
        launch(
            kernels.structure_step,
            self.rowptr,
            target,
            *vectors,
            np.float32(settings.structure_weight),
            np.float32(settings.momentum),
            np.float32(rate),
            np.float32(threshold),
            self.adjacency,
            self.adjacency_momentum,
        )
        launch(kernels.symmetrise, self.adjacency)

    def critic_step(self) -> float:
        """Step the critic to raise the distance, and clip its weights."""
        loss = -self.distance(self.contrast_with_dropout())
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        limit = self.settings.critic_clip
        with torch.no_grad():
            for parameter in self.critic.parameters():
                parameter.clamp_(-limit, limit)
        return -loss.item()

    def result(self) -> Debiased:
        """Extract how edges weakened and which pairs gained most, with the scale.

        This uses up `adjacency`: its edges are set to 0, which leaves the gains.
        """
        # Changes of self-loops, and of edges, each once.
        source, target = self.graph.edge_index
        upper = source < target
        diagonal = np.diagonal(self.adjacency) - 1
        weakening = self.adjacency[source[upper], target[upper]] - 1
        lowest = min(diagonal.min(), weakening.min(initial=0), 0)
        limit = int(self.settings.max_density_factor * len(weakening))

        self.adjacency[source, target] = 0
        np.fill_diagonal(self.adjacency, 0)
        pairs, floor = self.largest_gains(limit)
        return Debiased(
            scale=self.scale.detach().numpy(),
            weakening=weakening,
            pairs=pairs,
            gain=self.adjacency[pairs[0], pairs[1]],
            highest=self.adjacency.max(),
            lowest=np.float32(lowest),
            floor=floor,
            limit=np.int64(limit),
        )

    def largest_gains(self, limit: int) -> tuple[np.ndarray, np.float32]:
        """Find the pairs with the largest gains, at most `limit`.

        `adjacency` must hold gains only: `result` has set its edges to 0. Non-negative
        floats have the order of their leading bits: pairs are counted in bins of these,
        and the topmost bins are taken that together have at most `limit` pairs.

        Returns:
            (2, M) the pairs, and the least gain of their bins, 0 where these are all.
        """
        gains = self.adjacency
        bits = gains.view(np.uint32)
        counts = kernels.histogram(bits)
        counts[0] = 0  # no gain
        in_bin_or_above = counts[::-1].cumsum()[::-1]
        too_many = in_bin_or_above > limit
        first_bin = max(1, int(too_many.sum()))

        pairs = np.empty((2, in_bin_or_above[first_bin]), dtype=np.int32)
        source, target = pairs
        kernels.collect(bits, first_bin, source, target)
        if first_bin == 1:  # all that gained
            return pairs, np.float32(0)
        least_bits = np.uint32(first_bin << kernels.BIN_BITS)
        return pairs, least_bits.view(np.float32)


def debias(
    graph: Graph,
    train: np.ndarray,
    settings: Debias,
    seed: int,
    progress: Progress | None = None,
) -> Debiased:
    """Debias a graph for one split.

    Memory: two (N, N) float32 matrices.

    Args:
        graph: the whole graph.
        train: (n,) training nodes.
        settings: with the data set's own number of rounds.
        seed: of the critic's initial weights and its dropout.
        progress: called after every round.

    Raises:
        NotDefined: there are not exactly two groups.
    """
    torch.manual_seed(seed)
    state = Debiasing(graph, train, settings)
    for number in range(1, settings.epochs + 1):
        losses = state.round(number)
        if progress is not None:
            progress(number, losses)
    return state.result()
