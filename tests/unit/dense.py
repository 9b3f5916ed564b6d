"""What tests of methods compare with: attention over a dense adjacency matrix, written out, and small tasks."""

import copy
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from fairgat import measures, methods
from fairgat.config import LinkTraining, NodeTraining, Splits
from fairgat.data import splits
from fairgat.data.graph import Graph, symmetrise
from fairgat.plan import Run
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
    return Graph(
        x, labels, sensitive, symmetrise(rng.integers(nodes, size=(2, edges)), nodes)
    )


def three_groups(**options: int) -> Graph:
    """The small graph with a third group, and with edges within and between all of them."""
    graph = small_graph(**options)
    return replace(graph, sensitive=np.arange(graph.num_nodes) % 3)


def make(
    module: str, graph: Graph, protocol: NodeTraining | LinkTraining = NODE, **settings
):
    """A method on one split."""
    split = splits.make(graph, protocol.task, Splits(), 0, "test", 0)
    return training.build(
        module, methods.settings(module, settings), graph, split, protocol, 0
    )


def judged(
    method, graph: Graph, output: Tensor, protocol: str = ""
) -> dict[str, dict[str, float]]:
    """The scores of an output of what `make` made on the graph."""
    task = method.task
    split = splits.make(graph, task.name, Splits(), 0, "test", 0)
    return measures.judge(
        task.training, graph, split, task.predictions(output), protocol
    )


def write_graph(
    folder: Path, graph: Graph, task="node_classification", count: int = 1
) -> tuple[Path, list[Path]]:
    """Write graph.npz and split-{k}.npz as the workflow does; their paths."""
    graph.save(folder / "graph.npz")
    paths = [folder / f"split-{k}.npz" for k in range(count)]
    for k, path in enumerate(paths):
        splits.save(path, splits.make(graph, task, Splits(), 0, "test", k))
    return folder / "graph.npz", paths


def run_job(
    folder: Path,
    name: str,
    module: str = "gat",
    protocol=NODE,
    *,
    graph: Graph,
    settings=(),
    **changes,
):
    """Train a method on split 0 of a graph, from files to files in folder/name; what run.json holds."""
    file, (split,) = write_graph(folder, graph, protocol.task)
    arguments = {
        "job": Run(protocol.task, "test", module, "default", 0),
        "module": module,
        "settings": dict(settings),
        "training": protocol.model_dump(),
        "threads": 1,
        "seed": 0,
        "graph": file,
        "split": split,
        "directory": folder / name,
    }
    return training.run(**arguments | changes)


def assert_train_alike(one, other, epochs: int = 10, atol: float = 1e-5) -> None:
    """Two methods give the same output before and after each of some epochs."""
    for epoch in range(epochs + 1):
        outputs = [method.forward() for method in (one, other)]
        torch.testing.assert_close(*outputs, rtol=0, atol=atol)
        for method, output in zip((one, other), outputs, strict=True):
            if epoch < epochs:
                method.update(output)


def adjacency(edges: Tensor, nodes: int) -> Tensor:
    """(N, N) bool, [target, source], with self-loops."""
    matrix = torch.eye(nodes, dtype=torch.bool)
    matrix[edges[1], edges[0]] = True
    return matrix


def layer(conv, x: Tensor, matrix: Tensor, weight: Tensor | None = None) -> Tensor:
    """A GATConv with one head: x (N, F), matrix (N, N) bool."""
    c = x @ (conv.weight() if weight is None else weight).t()
    scores = leaky_relu(
        (c @ conv.att_dst[0, 0])[:, None] + (c @ conv.att_src[0, 0])[None, :], 0.2
    )
    return scores.masked_fill(~matrix, -torch.inf).softmax(1) @ c + conv.bias


def scaled(values: Tensor, eta: float, center: bool = False) -> Tensor:
    """S3 as the paper's equations have it."""
    return eta * (values - values.mean(0) * center) / values.std(0, correction=0)


def middle(values: Tensor) -> Tensor:
    """The median of each column; of two middle values the lower one."""
    return values.sort(0).values[(len(values) - 1) // 2]


def robustly(values: Tensor, eta: float) -> Tensor:
    """S3 by the median distance from the median, which for a normal column is 0.6745 deviations."""
    return eta * values / (middle((values - middle(values)).abs()) / 0.6745)


def clipped(values: Tensor, eta: float) -> Tensor:
    """S3 of values that are at most three such deviations away from the median."""
    centre = middle(values)
    reach = 3 * middle((values - centre).abs()) / 0.6745
    return scaled(
        centre
        + (values - centre).sign() * torch.minimum((values - centre).abs(), reach),
        eta,
    )


def constantly(values: Tensor, eta: float) -> Tensor:
    """S3 by a deviation that has no gradient."""
    return eta * values / values.std(0, correction=0).detach()


def fair_layer(
    conv,
    x: Tensor,
    count: Tensor,
    groups: Tensor,
    *,
    share=False,
    unscaled=False,
    equal=False,
    scale=scaled,
) -> Tensor:
    """A FairGATConv as Algorithm 1 has it, and its variants; count (N, N) is how often an edge stands [target, source].

    Args:
        share: rows with one kind of neighbours give it its share, too.
        unscaled, equal: scores of C before S3; scores of 0.
        scale: what is done in the place of S3.
    """

    def step_three(values: Tensor) -> Tensor:
        if conv.eta is None:
            return values
        return (
            scaled(values, conv.eta, conv.center)
            if scale is scaled
            else scale(values, conv.eta)
        )

    c = x @ (conv.lin.weight / torch.linalg.matrix_norm(conv.lin.weight, 2)).t()
    c = (c if unscaled else step_three(c)).view(len(x), conv.heads, -1)
    same, heads = groups[:, None] == groups[None, :], []
    for h in range(conv.heads):
        scores = (c[:, h] @ conv.att_dst[0, h])[:, None] + (
            c[:, h] @ conv.att_src[0, h]
        )[None, :]
        weights = leaky_relu(scores * (not equal), conv.negative_slope).exp() * count
        both = ((count * same).any(1) & (count * ~same).any(1))[:, None]
        alpha = torch.zeros_like(scores)
        for part, mass in (
            (weights * same, 1 - conv.alpha_chi),
            (weights * ~same, conv.alpha_chi),
        ):
            softmax = part / part.sum(1, keepdim=True).clamp_min(
                1e-300
            )  # a row without such edges: 0
            alpha = alpha + softmax * (
                mass if share else torch.where(both, x.new_tensor(mass), 1.0)
            )
        heads.append(alpha @ c[:, h])
    z = torch.cat(heads, 1) if conv.concat else torch.stack(heads).mean(0)
    return step_three(z) + conv.bias


def neighbours(method) -> Tensor:
    """The adjacency matrix of a method's graph."""
    return adjacency(method.task.edge_index, method.task.graph.num_nodes)


def hidden(model, x: Tensor, matrix: Tensor) -> Tensor:
    """(N, C) outputs of both layers of a NodeClassifier."""
    return layer(model.conv2, layer(model.conv1, x, matrix).relu(), matrix).relu()


def logits_of(model, x: Tensor, matrix: Tensor) -> Tensor:
    """(N,) logits of a NodeClassifier."""
    return hidden(model, x, matrix) @ model.linear.weight[0] + model.bias


def adam(parameters, protocol=NODE) -> torch.optim.Adam:
    return torch.optim.Adam(
        list(parameters), lr=protocol.learning_rate, weight_decay=protocol.weight_decay
    )


def step(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def assert_trains_by(method, loss_of, epochs: int = 2) -> None:
    """Each epoch has the loss that `loss_of` gives of a model with the same weights, and takes Adam's step of it."""
    model = copy.deepcopy(method.model)
    optimizer = adam(model.parameters())
    for _ in range(epochs):
        loss = loss_of(model)
        step(optimizer, loss)
        assert method.update(method.forward())["loss"] == pytest.approx(
            loss.item(), abs=1e-7
        )
    torch.testing.assert_close(
        method.model.state_dict(), model.state_dict(), rtol=1e-6, atol=1e-7
    )


def assert_same_pass(ours: Tensor, theirs: Tensor, inputs: Iterable[Tensor]) -> None:
    """Two outputs are equal, and so are the gradients of a weighted sum of either by the inputs."""
    weights, inputs = (
        torch.randn(ours.shape, generator=torch.Generator().manual_seed(0)),
        list(inputs),
    )
    results = [
        [
            out,
            *torch.autograd.grad((out * weights).sum(), inputs, materialize_grads=True),
        ]
        for out in (ours, theirs)
    ]
    torch.testing.assert_close(*results, rtol=1e-6, atol=1e-7)


def bce(logits: Tensor, labels: Tensor) -> Tensor:
    """Binary cross-entropy from its definition."""
    p = logits.sigmoid()
    return -(labels * p.log() + (1 - labels) * (1 - p).log()).mean()


def cross_entropy(logits: Tensor, shares: Tensor) -> Tensor:
    """Cross-entropy of logits (N, K) against probabilities (N, K) of the groups, from its definition."""
    p = logits.exp() / logits.exp().sum(1, keepdim=True)
    return -(shares * p.log()).sum(1).mean()


def sparse_graph(features=5):
    """A graph with nodes of every kind.

    They have neighbours in one group, in the other, in both, and none at all.
    """
    graph = small_graph(features=features)
    few = symmetrise(
        np.random.default_rng(1).integers(len(graph.labels) - 2, size=(2, 30)),
        len(graph.labels),
    )
    return graph.with_edges(few)


def dense_pass(method, matrix, **options):
    """FairGAT's whole network on dense matrices."""
    model, x = method.model, method.task.features
    sensitive = options.pop("sensitive", method.task.sensitive)
    logit = options.pop("logit", True)
    h = fair_layer(model.conv1, x, matrix, sensitive, **options).relu()
    h = fair_layer(model.conv2, h, matrix, sensitive, **options)
    if method.task.name == "link_prediction":
        return h
    z = h.relu() @ torch.nn.functional.normalize(model.linear.weight[0], dim=0)
    if logit:
        z = options.get("scale", scaled)(z, model.conv1.eta)
    return z + model.bias
