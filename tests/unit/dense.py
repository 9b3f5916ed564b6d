"""What the methods' tests compare with: attention over a dense adjacency matrix, written out, and small tasks."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from fairgat import methods
from fairgat.config import LinkTraining, NodeTraining, Splits
from fairgat.data import splits
from fairgat.data.graph import Graph, symmetrise
from fairgat.training import job as training

NODE = NodeTraining(epochs=10, hidden=6)
LINK = LinkTraining(epochs=10, hidden=6)


def small_graph(nodes: int = 40, edges: int = 120, features: int = 5) -> Graph:
    """Two groups, with labels that depend on the group and features, of PyTorch's type, that depend on the label."""
    rng = np.random.default_rng(0)
    sensitive = rng.integers(2, size=nodes)
    labels = (rng.random(nodes) < 0.3 + 0.4 * sensitive).astype(np.int64)
    x = rng.normal(size=(nodes, features)) + labels[:, None]
    x = torch.from_numpy(x).to(torch.get_default_dtype()).numpy()
    return Graph(x, labels, sensitive, symmetrise(rng.integers(nodes, size=(2, edges)), nodes))


def three_groups(**options: int) -> Graph:
    """The small graph with a third group, and with edges within and between all of them."""
    graph = small_graph(**options)
    return replace(graph, sensitive=np.arange(graph.num_nodes) % 3)


def make(module: str, graph: Graph, protocol: NodeTraining | LinkTraining = NODE, **settings):
    """A method on one split."""
    task = "node_classification" if isinstance(protocol, NodeTraining) else "link_prediction"
    split = splits.make(graph, task, Splits(), 0, "test", 0)
    return training.build(module, methods.settings(module, settings), graph, split, protocol, 0)


def assert_train_alike(one, other, epochs: int = 10) -> None:
    """Two methods give the same output after some epochs."""
    for _ in range(epochs):
        one.update(one.forward())
        other.update(other.forward())
    torch.testing.assert_close(one.forward().detach(), other.forward().detach(), rtol=0, atol=1e-5)


def adjacency(edges: Tensor, nodes: int) -> Tensor:
    """(N, N) bool, [target, source], with self-loops."""
    matrix = torch.eye(nodes, dtype=torch.bool)
    matrix[edges[1], edges[0]] = True
    return matrix


def attention(x: Tensor, weight: Tensor, source: Tensor, target: Tensor, bias: Tensor, matrix: Tensor) -> Tensor:
    """A GAT layer with one head: x (N, F), weight (C, F), source, target and bias (C,), matrix (N, N) bool."""
    c = x @ weight.t()
    scores = leaky_relu((c @ target)[:, None] + (c @ source)[None, :], 0.2)
    return scores.masked_fill(~matrix, -torch.inf).softmax(1) @ c + bias


def layer(conv, x: Tensor, matrix: Tensor, weight: Tensor | None = None) -> Tensor:
    """`attention` with the parameters of a GATConv."""
    weight = conv.weight() if weight is None else weight
    return attention(x, weight, conv.att_src[0, 0], conv.att_dst[0, 0], conv.bias, matrix)


def adam(parameters, protocol=NODE) -> torch.optim.Adam:
    return torch.optim.Adam(list(parameters), lr=protocol.learning_rate, weight_decay=protocol.weight_decay)


def bce(logits: Tensor, labels: Tensor) -> Tensor:
    """Binary cross-entropy from its definition."""
    p = logits.sigmoid()
    return -(labels * p.log() + (1 - labels) * (1 - p).log()).mean()


def cross_entropy(logits: Tensor, shares: Tensor) -> Tensor:
    """Cross-entropy of logits (N, K) against probabilities (N, K) of the groups, from its definition."""
    p = logits.exp() / logits.exp().sum(1, keepdim=True)
    return -(shares * p.log()).sum(1).mean()
