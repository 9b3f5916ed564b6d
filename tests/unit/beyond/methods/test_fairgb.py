"""FairGB's mixtures, loss and steps, against one graph with the synthetic nodes."""

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
DRAWS = 400


def group_of(method, node):
    """The label and the group of a node."""
    return int(method.task.labels[node]), int(method.task.sensitive[node])


def dense_logits(method, model, mixture):
    """All N + n nodes in one graph.

    Messages pass from the N to the n, and each synthetic node is its own neighbour.
    """
    task, nodes = method.task, method.task.graph.num_nodes
    matrix = torch.eye(nodes + len(task.train), dtype=torch.bool)
    matrix[:nodes, :nodes] = neighbours(method)
    matrix[mixture.graph.target + nodes, mixture.graph.source.long()] = True

    own = task.features[task.train]
    partners = own[mixture.partner]
    ratio = mixture.ratio[:, None]
    x = torch.cat([task.features, ratio * own + (1 - ratio) * partners])
    return logits_of(model, x, matrix)[nodes:]


def dense_loss(method, logits, mixture, released):
    """Pair by pair; the weights are constants."""
    train = method.task.train
    pairs = []
    for place, partner in enumerate(mixture.partner):
        ratio = float(mixture.ratio[place])
        own = group_of(method, train[place])
        other = group_of(method, train[partner])
        pairs.append((logits[place], ratio, own, other))

    contribution = {(0, 0): 0.0, (0, 1): 0.0, (1, 0): 0.0, (1, 1): 0.0}
    for logit, ratio, own, other in pairs:
        probability = logit.sigmoid().item()
        contribution[own] += ratio * abs(probability - own[0])
        contribution[other] += (1 - ratio) * abs(probability - other[0])
    least = min(contribution.values())
    weight = {group: least / (own + 1e-6) for group, own in contribution.items()}

    total = 0
    for logit, ratio, own, other in pairs:
        weighed_as = (own[0], other[1]) if released else own
        total += ratio * weight[weighed_as] * loss_of(logit, own[0])
        total += (1 - ratio) * weight[other] * loss_of(logit, other[0])
    return total / len(pairs)


def loss_of(logit, label):
    return bce(logit[None], torch.tensor([float(label)]))


@pytest.mark.parametrize("weights", ["definition", "released"])
@pytest.mark.parametrize("eta", [0.0, 1.0])
def test_two_epochs_on_mixtures(double, monkeypatch, weights, eta):
    method = make(FAIRGB, small_graph(), eta=eta, weights=weights, warmup=0)
    mixtures = [method.draw(), method.draw()]
    monkeypatch.setattr(method, "draw", iter(mixtures).__next__)
    drawn = iter(mixtures)

    def loss(model):
        mixture = next(drawn)
        logits = dense_logits(method, model, mixture)
        return dense_loss(method, logits, mixture, weights == "released")

    assert_trains_by(method, loss)


@pytest.mark.parametrize("eta", [0.0, 0.3, 1.0])
def test_an_epochs_partners_have_the_other_label_or_the_other_group(eta):
    """The other label and the same group with probability eta, or the reverse."""
    method = make(FAIRGB, small_graph(), eta=eta)
    train = method.task.train

    with_other_label = 0
    for _ in range(DRAWS):
        kinds = set()
        for node, partner in zip(train, train[method.draw().partner], strict=True):
            label, group = group_of(method, node)
            other_label, other_group = group_of(method, partner)
            kinds.add((label != other_label, group != other_group))
        assert kinds in ({(True, False)}, {(False, True)})
        with_other_label += kinds == {(True, False)}

    tolerance = 0.12 if 0 < eta < 1 else 0
    assert with_other_label / DRAWS == pytest.approx(eta, abs=tolerance)


@pytest.mark.parametrize("eta", [0.0, 0.3, 1.0])
def test_all_partners_of_one_kind_are_equally_likely(eta):
    method = make(FAIRGB, small_graph(), eta=eta)
    train = method.task.train
    count = len(train)
    labels, groups = method.labels, method.task.sensitive[train]

    drawn = torch.zeros(count, count)
    for _ in range(DRAWS):
        drawn[torch.arange(count), method.draw().partner] += 1

    for counts, label, group in zip(drawn, labels, groups, strict=True):
        with_other_label = (labels != label) & (groups == group)
        with_other_group = (labels == label) & (groups != group)
        for kind, there in ((with_other_label, eta > 0), (with_other_group, eta < 1)):
            assert bool(counts[kind].any()) == there
            if there and kind.sum() > 1:
                assert chisquare(counts[kind].numpy()).pvalue > 1e-4


def test_ratios_are_beta_distributed():
    method = make(FAIRGB, small_graph())

    ratios = torch.cat([method.draw().ratio for _ in range(DRAWS)])

    assert ratios.mean() == pytest.approx(0.5, abs=0.02)
    assert ratios.var() == pytest.approx(1 / 20, abs=0.003)  # of Beta(2, 2)


def row_of(graph, place):
    """The sources of a row, as a list."""
    return graph.source[graph.rowptr[place] : graph.rowptr[place + 1]].tolist()


def test_a_synthetic_node_has_itself_and_some_of_its_nodes_neighbours():
    method = make(FAIRGB, small_graph(), warmup=0)
    graph, train = method.task.plain_csr, method.task.train.tolist()
    nodes = graph.num_nodes

    for _ in range(20):
        drawn = method.draw_neighbours()
        assert drawn.num_nodes == nodes + len(train)
        assert drawn.num_edges == drawn.rowptr[-1]
        for place, node in enumerate(train):
            itself, *others = row_of(drawn, place)
            assert itself == nodes + place
            assert len(set(others)) == len(others)
            assert set(others) <= set(row_of(graph, node))


def test_a_synthetic_node_has_as_many_neighbours_as_a_random_node_or_all():
    method = make(FAIRGB, small_graph(), warmup=0)
    train, degree, draws = method.task.train.tolist(), method.degree, 500
    most = int(degree.max()) + 1

    sizes = torch.zeros(len(train), most)
    for _ in range(draws):
        drawn = method.draw_neighbours()
        for place in range(len(train)):
            sizes[place, len(row_of(drawn, place)) - 1] += 1

    for found, node in zip(sizes.numpy(), train, strict=True):
        possible = torch.minimum(degree, degree[node])
        counts = possible.bincount(minlength=most).numpy()
        expected = counts * draws / len(degree)
        is_possible = expected > 0
        assert (found[~is_possible] == 0).all()
        if is_possible.sum() > 1:
            test = chisquare(found[is_possible], expected[is_possible])
            assert test.pvalue > 1e-4


def test_the_warm_up_is_gat(double):
    method = make(FAIRGB, small_graph(), warmup=5)

    assert_train_alike(method, make("gat", small_graph()), epochs=5)


def test_prediction_reads_the_clean_graph(double):
    method, plain = make(FAIRGB, small_graph(), warmup=0), make("gat", small_graph())
    method.update(method.forward())

    plain.model.load_state_dict(method.model.state_dict())

    torch.testing.assert_close(method.forward(), plain.forward())


def test_a_graph_without_a_label_in_a_group_is_refused():
    graph = small_graph()
    labels = np.where(graph.sensitive == 0, graph.labels, 0)

    with pytest.raises(NotDefined, match="no training node of group 1 has label 1"):
        make(FAIRGB, replace(graph, labels=labels))
