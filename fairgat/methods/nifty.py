"""NIFTY (Agarwal et al., 2021): representations that agree between views of a graph.

One of two views is counterfactual, and both are perturbed. After chirag126/nifty,
`nifty_sota_gnn.py` and `models/ssf.py`. Unlike the other methods, NIFTY reads the
sensitive attribute, in the first column of its features: in view two everyone has the
other value. The authors have two groups; with more, each has a column, and view two
draws another group for everyone.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import binary_cross_entropy_with_logits, normalize
from torch.nn.utils.parametrizations import spectral_norm

from fairgat.config import Count, Model
from fairgat.methods.base import NodeMethod, attention_layer, glorot_linear
from fairgat.methods.membership import membership, num_columns
from fairgat.nn import CSRGraph, FairGATConv, GATConv, NodeClassifier
from fairgat.tasks.node_classification import NodeTask

View = tuple[Tensor, list[Tensor]]
"""Features (N, G + F), and for each layer which of its edges are kept, bool."""
Rate = Annotated[float, Field(ge=0, lt=1)]


class Settings(Model):
    similarity_weight: Annotated[float, Field(ge=0, le=1)] = 0.5
    """lambda: weight of the similarity of the views; 1 - lambda is the classifier's."""
    edge_drop_rate: Rate = 0.001
    """Probability with which a view drops an edge; the two directions are drawn
    separately."""
    feature_noise_rate: Rate = 0.1
    """Probability with which a view adds its noise to a feature column."""
    projector_width: Count = 16
    """Width between the projector's two layers."""
    accumulate: bool = True
    """Whether the classifier's step also has the encoder's gradient of the similarity,
    which the authors' code doesn't clear."""


class NodeClassification(NodeMethod):
    settings: Settings
    # Prediction reads the unperturbed graph, which training never does.
    starts_from_forward = False

    def __init__(self, task: NodeTask, settings: Settings) -> None:
        super().__init__(task, settings)
        groups = self.columns_of(task.sensitive)
        self.sensitive_columns = groups.size(1)  # G: 1 of two groups, K of more
        self.features = torch.cat([groups, task.features], dim=1)  # (N, G + F)
        hidden, width = task.training.hidden, settings.projector_width
        self.projector = nn.Sequential(
            *_block(hidden, width), _linear(width, hidden), nn.BatchNorm1d(hidden)
        )
        self.predictor = nn.Sequential(*_block(hidden, hidden), _linear(hidden, hidden))
        # All but the classifier, which the views' similarity does not depend on.
        encoders = nn.ModuleList(
            [self.model.conv1, self.model.conv2, self.projector, self.predictor]
        )
        self.similarity_optimizer = self.adam(encoders.parameters())
        # (E,) bool in CSR order, like all masks here
        self.loops = task.plain_csr.permutation >= task.edge_index.size(1)
        self.training_layers = layers_of(task.plain_csr, task.train)

    def build(self) -> nn.Module:
        """Make encoder and classifier, spectrally normalised."""
        # FairGAT's layer with step 2 only: None leaves out steps 1 and 3.
        layer = attention_layer(
            FairGATConv, self.task, alpha_chi=None, spectral_norm=True, eta=None
        )
        inputs = num_columns(self.task.graph.num_groups) + self.task.graph.num_features
        return NodeClassifier(
            layer, inputs, self.task.training.hidden, spectral_norm=True
        )

    def columns_of(self, sensitive: Tensor) -> Tensor:
        """Write groups (N,) as columns (N, G)."""
        groups = membership(sensitive, self.task.graph.num_groups, torch.float32)
        return groups.view(len(sensitive), -1)

    def embed(self) -> Tensor:
        return self.model(self.features, self.task.plain_csr)

    def update(self, output: Tensor | None) -> dict[str, float]:
        """Step on the views' similarity, then on their classification.

        Each step passes the same views anew.
        """
        self.model.train()
        views = [self._at_training_nodes(*self.view(flip)) for flip in (False, True)]
        self.similarity_optimizer.zero_grad()
        self.optimizer.zero_grad()
        similarity = self.similarity_loss(views)
        similarity.backward()
        self.similarity_optimizer.step()
        if not self.settings.accumulate:
            self.optimizer.zero_grad()
        classification = self.classification_loss(views)
        classification.backward()
        self.optimizer.step()
        return {"loss": similarity.item() + classification.item()}

    def view(self, flip: bool) -> tuple[Tensor, Tensor]:
        """Perturb the graph: features (N, G + F) and kept edges (E,).

        These are the authors' `drop_feature` and `dropout_adj`. One N(0, 1) number is
        added to every picked column, never to the sensitive ones, which `flip` changes.
        """
        picked = torch.rand(self.features.size(1)) < self.settings.feature_noise_rate
        picked[: self.sensitive_columns] = False
        x = self.features + picked * torch.randn(1)
        if flip:
            x[:, : self.sensitive_columns] = self.columns_of(self.flipped())
        keep = torch.ones_like(self.loops)
        dropped = occurrences(self.settings.edge_drop_rate, len(keep))
        keep[dropped] = False
        return x, keep | self.loops

    def flipped(self) -> Tensor:
        """Draw another group for each node, (N,); of two groups it is the other one."""
        num_groups, sensitive = self.task.graph.num_groups, self.task.sensitive
        if num_groups == 2:
            return 1 - sensitive
        steps = torch.randint(1, num_groups, sensitive.shape)
        return (sensitive + steps) % num_groups

    def _at_training_nodes(self, x: Tensor, keep: Tensor) -> View:
        """A view's features, and its kept edges among those of each layer's rows."""
        return x, [keep.index_select(0, rows.edges) for rows in self.training_layers]

    def encode(self, views: list[View]) -> list[Tensor]:
        """Encode the training nodes in each view, (n, hidden).

        No other nodes enter a loss. The first layer is computed at them and their
        neighbours, the second only at them.
        """
        first_rows, second_rows = self.training_layers
        encoded = []
        for x, (first_keep, second_keep) in views:
            h = attend_rows(self.model.conv1, x, first_rows, first_keep)
            h = attend_rows(self.model.conv2, h, second_rows, second_keep)
            encoded.append(h)
        return encoded

    def similarity_loss(self, views: list[View]) -> Tensor:
        """Compute lambda L_s = lambda/2 (D(q_1, p_2) + D(q_2, p_1)).

        These are l1 and l2 of the authors' code; q is predicted from p.
        """
        p1, p2 = (self.projector(h) for h in self.encode(views))
        q1, q2 = self.predictor(p1), self.predictor(p2)
        distances = distance(q1, p2) + distance(q2, p1)
        return self.settings.similarity_weight / 2 * distances

    def classification_loss(self, views: list[View]) -> Tensor:
        """Compute (1 - lambda) L_c, by the mean cross-entropy of both views.

        These are l3 and l4 of the authors' code.
        """
        labels = self.task.labels[self.task.train]
        logits = [self.model.classify(h) for h in self.encode(views)]
        losses = [binary_cross_entropy_with_logits(values, labels) for values in logits]
        return (1 - self.settings.similarity_weight) / 2 * sum(losses)


def distance(predicted: Tensor, projected: Tensor) -> Tensor:
    """Compute D, the mean negative cosine of rows (n, hidden).

    No gradient flows through the second argument.
    """
    return _Distance.apply(predicted, normalize(projected.detach()))


class _Distance(torch.autograd.Function):
    """-mean <q, d> / max(|q|, 1e-8) over the rows of q.

    Its gradient takes two passes instead of PyTorch's eight.
    """

    @staticmethod
    def forward(ctx, q: Tensor, d: Tensor) -> Tensor:
        length = q.norm(dim=1)
        divisor = length.clamp_min(1e-8)
        cosine = torch.linalg.vecdot(q, d) / divisor
        # Where the divisor is clamped, it is a constant and has no gradient.
        is_length = length == divisor
        ctx.save_for_backward(q, d, divisor, cosine * is_length)
        return -cosine.mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None]:
        q, d, divisor, cosine = ctx.saved_tensors
        rate = -grad / (len(q) * divisor)
        along_q = -rate * cosine / divisor
        gradient = d * rate[:, None]
        return gradient.addcmul_(q, along_q[:, None]), None


def occurrences(rate: float, trials: int) -> Tensor:
    """Draw which of some independent trials succeed, (k,) sorted numbers.

    They are drawn by the gaps between them, which is faster.
    """
    chunks, last = [torch.zeros(0, dtype=torch.int64)], -1
    while rate and last < trials - 1:  # until one lies beyond the end
        expected = int(rate * (trials - last))
        gaps = torch.empty(expected + 16, dtype=torch.int64).geometric_(rate)
        numbers = last + gaps.cumsum(0)
        chunks.append(numbers)
        last = int(numbers[-1])
    numbers = torch.cat(chunks)
    return numbers[numbers < trials]


@dataclass(frozen=True)
class Rows:
    """Some rows of a graph: the edges into some of its nodes.

    A layer gives its output at these nodes, from features of some nodes, its inputs.

    Attributes:
        graph: the edges; row k is the k-th of the nodes, and its sources are positions
            among the inputs.
        nodes: (n,) position of each node among the inputs.
        edges: (m,) position of each edge in the whole graph.
    """

    graph: CSRGraph
    nodes: Tensor
    edges: Tensor


def rows_of(graph: CSRGraph, nodes: Tensor, *, inputs: Tensor) -> Rows:
    """Take the rows of `nodes` (n,), sorted.

    `inputs` (k,) are these nodes and all their sources, sorted, too.
    """
    source, target = graph.source.long(), graph.target
    edges = torch.isin(target, nodes).nonzero().squeeze(1)
    sources = torch.searchsorted(inputs, source[edges])
    targets = torch.searchsorted(nodes, target[edges])
    edge_index = torch.stack([sources, targets])
    csr = CSRGraph.from_edge_index(edge_index, len(inputs), add_self_loops=False)
    rowptr = csr.rowptr[: len(nodes) + 1].clone()  # the rows beyond have no edges
    csr = replace(csr, rowptr=rowptr, segptr=rowptr)
    return Rows(csr, torch.searchsorted(inputs, nodes), edges)


def layers_of(graph: CSRGraph, nodes: Tensor) -> list[Rows]:
    """Take the rows of both layers that the second's output at `nodes` depends on.

    Nodes are (n,), sorted, and the graph has self-loops.
    """
    source, target = graph.source.long(), graph.target
    # With self-loops, so the nodes themselves are among their sources.
    neighbours = source[torch.isin(target, nodes)].unique()
    all_nodes = torch.arange(graph.num_nodes)
    first = rows_of(graph, neighbours, inputs=all_nodes)
    second = rows_of(graph, nodes, inputs=neighbours)
    return [first, second]


def attend_rows(conv: GATConv, x: Tensor, rows: Rows, keep: Tensor | None) -> Tensor:
    """Compute ReLU of `conv(x, ...)` at some rows only, (n, H * C).

    `keep` (m,) marks their kept edges; None keeps all.
    """
    out, _ = conv.aggregate(x, rows.graph, keep, rows=rows.nodes)
    return out.relu()


def _block(inputs: int, outputs: int) -> list[nn.Module]:
    """A linear layer with batch normalisation and ReLU."""
    return [_linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU(inplace=True)]


def _linear(inputs: int, outputs: int) -> nn.Linear:
    """A spectrally normalised linear layer."""
    return spectral_norm(glorot_linear(inputs, outputs))
