"""FairGB's mixtures, its loss and its steps against one dense graph with the synthetic nodes in it."""

from dataclasses import replace

import further
import numpy as np
import pytest
import torch
from dense import (
    assert_train_alike,
    assert_trains_by,
    bce,
    logits_of,
    make,
    neighbours,
    small_graph,
)
from scipy.stats import chisquare

from fairgat.errors import NotDefined

FAIRGB = further.method("fairgb")


def group_of(method, node):
    return int(method.task.labels[node]), int(method.task.sensitive[node])


def dense_logits(method, model, mixture):
    """All N + n nodes in one graph; messages pass from the N to the n, and each synthetic node is its own neighbour."""
    task, nodes = method.task, method.task.graph.num_nodes
    matrix = torch.eye(nodes + len(task.train), dtype=torch.bool)
    matrix[:nodes, :nodes] = neighbours(method)
    matrix[mixture.graph.target + nodes, mixture.graph.source.long()] = True
    mixed = [
        ratio * task.features[node] + (1 - ratio) * task.features[task.train[partner]]
        for node, partner, ratio in zip(
            task.train, mixture.partner, mixture.ratio, strict=True
        )
    ]
    x = torch.cat([task.features, torch.stack(mixed)])
    return logits_of(model, x, matrix)[nodes:]


def dense_loss(method, logits, mixture, released):
    """Pair by pair; the weights are constants."""
    pairs = []
    for k, (partner, ratio) in enumerate(
        zip(mixture.partner.tolist(), mixture.ratio.tolist(), strict=True)
    ):
        (y, s), (y_p, s_p) = (
            group_of(method, method.task.train[node]) for node in (k, partner)
        )
        losses = [
            bce(logits[k : k + 1], torch.tensor([float(label)])) for label in (y, y_p)
        ]
        pairs.append((ratio, losses, (y, s), (y_p, s_p)))
    contribution = {(y, s): 0.0 for y in (0, 1) for s in (0, 1)}
    for k, (ratio, _, group, other) in enumerate(pairs):
        probability = logits[k].sigmoid().item()
        contribution[group] += ratio * abs(probability - group[0])
        contribution[other] += (1 - ratio) * abs(probability - other[0])
    weight = {
        group: min(contribution.values()) / (value + 1e-6)
        for group, value in contribution.items()
    }
    total = 0
    for ratio, (loss, other_loss), group, other in pairs:
        own = (group[0], other[1]) if released else group
        total = (
            total
            + ratio * weight[own] * loss
            + (1 - ratio) * weight[other] * other_loss
        )
    return total / len(pairs)


@pytest.mark.parametrize("weights", ["definition", "released"])
@pytest.mark.parametrize("eta", [0.0, 1.0])
def test_two_epochs_on_mixtures(double, monkeypatch, weights, eta):
    method = make(FAIRGB, small_graph(), eta=eta, weights=weights, warmup=0)
    mixtures = [method.draw() for _ in range(2)]
    monkeypatch.setattr(method, "draw", iter(mixtures).__next__)
    drawn = iter(mixtures)

    def loss(model):
        mixture = next(drawn)
        return dense_loss(
            method, dense_logits(method, model, mixture), mixture, weights == "released"
        )

    assert_trains_by(method, loss)


@pytest.mark.parametrize("eta", [0.0, 0.3, 1.0])
def test_partners_and_ratios(eta):
    """All partners of an epoch have the other label and the same group, with probability eta, or the reverse."""
    method = make(FAIRGB, small_graph(), eta=eta)
    train, across, ratios = method.task.train, [], []
    seen = torch.zeros(len(train), len(train))
    for _ in range(400):
        partner, ratio, _ = method.draw()
        seen[torch.arange(len(train)), partner] += 1
        ratios.append(ratio)
        kinds = set()
        for node, other in zip(train, train[partner], strict=True):
            (y, s), (y_p, s_p) = group_of(method, node), group_of(method, other)
            kinds.add((y != y_p, s != s_p))
        assert kinds in ({(True, False)}, {(False, True)})
        across.append(int(kinds == {(True, False)}))
    assert np.mean(across) == pytest.approx(eta, abs=0.12 * (0 < eta < 1))
    for counts in seen:
        for one in (0, 1):  # of one label, all are equally likely
            found = counts[(method.labels == one) & (counts > 0)]
            assert not len(found) or chisquare(found.numpy()).pvalue > 1e-4
    ratios = torch.cat(ratios)  # Beta(2, 2)
    assert ratios.mean() == pytest.approx(
        0.5, abs=0.02
    ) and ratios.var() == pytest.approx(1 / 20, abs=0.003)


def test_neighbours():
    """A synthetic node has itself, and as many of its node's neighbours as a random node has, or all of them."""
    method = make(FAIRGB, small_graph(), warmup=0)
    graph, train = method.task.plain_csr, method.task.train
    nodes, degree = len(method.degree), method.degree
    sizes = torch.zeros(len(train), int(degree.max()) + 1)
    draws = 500
    for _ in range(draws):
        drawn = method.draw_neighbours()
        assert (
            drawn.num_nodes == nodes + len(train)
            and drawn.num_edges == drawn.rowptr[-1]
        )
        for k, node in enumerate(train.tolist()):
            row = drawn.source[drawn.rowptr[k] : drawn.rowptr[k + 1]].tolist()
            own = graph.source[graph.rowptr[node] : graph.rowptr[node + 1]].tolist()
            assert (
                row[0] == nodes + k
                and set(row[1:]) <= set(own)
                and len(set(row)) == len(row)
            )
            sizes[k, len(row) - 1] += 1
    for k, node in enumerate(train.tolist()):
        expected = (
            torch.minimum(degree, degree[node]).bincount(minlength=sizes.size(1))
            * draws
            / nodes
        )
        assert (sizes[k][expected == 0] == 0).all()
        drawn = expected > 0
        assert (
            drawn.sum() == 1
            or chisquare(sizes[k][drawn].numpy(), expected[drawn].numpy()).pvalue > 1e-4
        )


def test_the_warm_up_is_gat_and_prediction_reads_the_clean_graph(double):
    method, plain = make(FAIRGB, small_graph(), warmup=5), make("gat", small_graph())
    assert_train_alike(method, plain, epochs=5)
    method.update(method.forward())
    plain.model.load_state_dict(method.model.state_dict())
    torch.testing.assert_close(method.forward(), plain.forward())


def test_what_it_is_not_defined_for():
    graph = small_graph()
    with pytest.raises(NotDefined, match="no training node of group 1 has label 1"):
        make(FAIRGB, replace(graph, labels=graph.labels * (graph.sensitive == 0)))
