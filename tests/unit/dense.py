"""What tests of methods compare with: small tasks, and attention written out.

It is over a dense adjacency matrix.
"""

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
    """Two groups, with labels that depend on the group, and features on the label.

    Features have PyTorch's default type.
    """
    rng = np.random.default_rng(0)
    sensitive = rng.integers(2, size=nodes)
    labels = (rng.random(nodes) < 0.3 + 0.4 * sensitive).astype(np.int64)
    x = torch.from_numpy(rng.normal(size=(nodes, features)) + labels[:, None])
    edge_index = symmetrise(rng.integers(nodes, size=(2, edges)), nodes)
    x = x.to(torch.get_default_dtype())
    return Graph(x.numpy(), labels, sensitive, edge_index)


def three_groups(**options: int) -> Graph:
    """The small graph with a third group; edges lie within and between all groups."""
    graph = small_graph(**options)
    return replace(graph, sensitive=np.arange(graph.num_nodes) % 3)


def sparse_graph(features: int = 5) -> Graph:
    """A graph with nodes of every kind.

    They have neighbours in one group, in the other, in both, and none at all.
    """
    graph = small_graph(features=features)
    rng = np.random.default_rng(1)
    few = rng.integers(graph.num_nodes - 2, size=(2, 30))
    return graph.with_edges(symmetrise(few, graph.num_nodes))


def split_of(graph: Graph, task: str = "node_classification", number: int = 0) -> dict:
    """One of the splits that the tests train on."""
    return splits.make(graph, task, Splits(), 0, "test", number)


def make(
    module: str, graph: Graph, protocol: NodeTraining | LinkTraining = NODE, **settings
):
    """A method on one split."""
    validated = methods.settings(module, settings)
    split = split_of(graph, protocol.task)
    return training.build(module, validated, graph, split, protocol, 0)


def judged(
    method, graph: Graph, output: Tensor, protocol: str = ""
) -> dict[str, dict[str, float]]:
    """The scores of an output of what `make` made on the graph."""
    task = method.task
    split = split_of(graph, task.name)
    predictions = task.predictions(output)
    return measures.judge(task.training, graph, split, predictions, protocol)


def write_graph(
    folder: Path, graph: Graph, task="node_classification", count: int = 1
) -> tuple[Path, list[Path]]:
    """Write graph.npz and split-{k}.npz as the workflow does; their paths."""
    graph.save(folder / "graph.npz")
    paths = []
    for number in range(count):
        path = folder / f"split-{number}.npz"
        splits.save(path, split_of(graph, task, number))
        paths.append(path)
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
    """Train a method on split 0 of a graph, from files to files in folder/name.

    Gives what run.json holds.
    """
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
    if weight is None:
        weight = conv.weight()
    c = x @ weight.t()
    scores = leaky_relu(scores_of(conv, c, 0), 0.2)
    alpha = scores.masked_fill(~matrix, -torch.inf).softmax(1)
    return alpha @ c + conv.bias


def scores_of(conv, c: Tensor, head: int) -> Tensor:
    """(N, N) what a head's target and source, in c (N, C), give an edge in sum."""
    of_target = c @ conv.att_dst[0, head]
    of_source = c @ conv.att_src[0, head]
    return of_target[:, None] + of_source[None, :]


def scaled(values: Tensor, eta: float, center: bool = False) -> Tensor:
    """S3 as the paper's equations have it."""
    deviation = values.std(0, correction=0)
    if center:
        values = values - values.mean(0)
    return eta * values / deviation


def middle(values: Tensor) -> Tensor:
    """The median of each column; of two middle values the lower one."""
    ranked = values.sort(0).values
    return ranked[(len(values) - 1) // 2]


def robust_deviation(values: Tensor) -> Tensor:
    """The median distance from the median, over that of a normal column, 0.6745."""
    distances = (values - middle(values)).abs()
    return middle(distances) / 0.6745


def robustly(values: Tensor, eta: float) -> Tensor:
    """S3 by the robust deviation."""
    return eta * values / robust_deviation(values)


def clipped(values: Tensor, eta: float) -> Tensor:
    """S3 of values that are at most three robust deviations away from the median."""
    centre = middle(values)
    reach = 3 * robust_deviation(values)
    distances = torch.minimum((values - centre).abs(), reach)
    return scaled(centre + (values - centre).sign() * distances, eta)


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
    """A FairGATConv as Algorithm 1 has it, and its variants.

    Args:
        count: (N, N), how often an edge stands [target, source].
        share: rows with one kind of neighbours give it its share, too.
        unscaled, equal: scores of C before S3; scores of 0.
        scale: what is done in the place of S3.
    """

    def step_three(values: Tensor) -> Tensor:
        if conv.eta is None:
            return values
        if scale is scaled:
            return scaled(values, conv.eta, conv.center)
        return scale(values, conv.eta)

    norm = torch.linalg.matrix_norm(conv.lin.weight, 2)
    c = x @ (conv.lin.weight / norm).t()
    if not unscaled:
        c = step_three(c)
    c = c.view(len(x), conv.heads, -1)

    same = groups[:, None] == groups[None, :]
    heads = []
    for head in range(conv.heads):
        scores = scores_of(conv, c[:, head], head)
        if equal:
            scores = torch.zeros_like(scores)
        weights = leaky_relu(scores, conv.negative_slope).exp() * count
        alpha = divided(weights, same, conv.alpha_chi, share)
        heads.append(alpha @ c[:, head])
    z = torch.cat(heads, 1) if conv.concat else torch.stack(heads).mean(0)
    return step_three(z) + conv.bias


def divided(weights: Tensor, same: Tensor, alpha_chi: float, always: bool) -> Tensor:
    """S1: (N, N) weights normalised within a row's own group and within the others.

    Args:
        same: (N, N) bool, whether target and source are of one group.
        alpha_chi: the share of the others.
        always: whether a row that has only one kind gives it no more than its share.
    """
    own, other = weights * same, weights * ~same
    of_own, of_other = own.sum(1, keepdim=True), other.sum(1, keepdim=True)
    own_share = torch.full_like(of_own, 1 - alpha_chi)
    other_share = torch.full_like(of_other, alpha_chi)
    if not always:
        own_share[of_other == 0] = 1
        other_share[of_own == 0] = 1
    tiny = 1e-300  # a row without such edges has 0
    softmax_of_own = own / of_own.clamp_min(tiny)
    softmax_of_other = other / of_other.clamp_min(tiny)
    return softmax_of_own * own_share + softmax_of_other * other_share


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
        step_three = options.get("scale", scaled)
        z = step_three(z, model.conv1.eta)
    return z + model.bias


def neighbours(method) -> Tensor:
    """The adjacency matrix of a method's graph."""
    return adjacency(method.task.edge_index, method.task.graph.num_nodes)


def hidden(model, x: Tensor, matrix: Tensor) -> Tensor:
    """(N, C) outputs of both layers of a NodeClassifier."""
    h = layer(model.conv1, x, matrix).relu()
    return layer(model.conv2, h, matrix).relu()


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
    """Each epoch has the loss that `loss_of` gives, and takes Adam's step of it.

    `loss_of` gets a model with the same weights.
    """
    model = copy.deepcopy(method.model)
    optimizer = adam(model.parameters())
    for _ in range(epochs):
        loss = loss_of(model)
        step(optimizer, loss)
        losses = method.update(method.forward())
        assert losses["loss"] == pytest.approx(loss.item(), abs=1e-7)
    assert_same_weights(method.model, model)


def assert_same_weights(ours, theirs) -> None:
    """Two networks have the same parameters, up to rounding in float64."""
    torch.testing.assert_close(
        ours.state_dict(), theirs.state_dict(), rtol=1e-6, atol=1e-7
    )


def assert_same_pass(ours: Tensor, theirs: Tensor, inputs: Iterable[Tensor]) -> None:
    """Two outputs are equal, and so are their gradients by the inputs.

    These are of a weighted sum of each output.
    """
    inputs = list(inputs)
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(ours.shape, generator=generator)
    gradients = []
    for output in (ours, theirs):
        total = (output * weights).sum()
        gradients.append(torch.autograd.grad(total, inputs, materialize_grads=True))
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(*gradients, rtol=1e-6, atol=1e-7)


def bce(logits: Tensor, labels: Tensor) -> Tensor:
    """Binary cross-entropy from its definition."""
    p = logits.sigmoid()
    return -(labels * p.log() + (1 - labels) * (1 - p).log()).mean()


def cross_entropy(logits: Tensor, shares: Tensor) -> Tensor:
    """Cross-entropy from its definition.

    Of logits (N, K) against probabilities (N, K) of the groups.
    """
    p = logits.exp() / logits.exp().sum(1, keepdim=True)
    return -(shares * p.log()).sum(1).mean()
