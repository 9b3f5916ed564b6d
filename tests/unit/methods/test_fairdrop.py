"""FairDrop's draws, and one step on the kept edges over dense matrices."""

import copy

import pytest
import torch
from dense import (
    LINK,
    adam,
    adjacency,
    assert_same_weights,
    bce,
    layer,
    make,
    neighbours,
    small_graph,
    step,
)

DRAWS = 400


@pytest.mark.parametrize("delta", [0.0, 0.16, 0.35])
@pytest.mark.parametrize(("kind", "sign"), [("inter", 1), ("intra", -1)])
def test_inter_edges_are_kept_more_often_than_intra_edges(delta, kind, sign):
    method = make("fairdrop", small_graph(), LINK, delta=delta)
    of_kind = torch.from_numpy(getattr(method.task.graph, f"{kind}_edges"))

    kept = sum(method.draw().double() for _ in range(DRAWS)) / DRAWS

    probability = 0.5 + sign * delta
    variance = probability * (1 - probability) / DRAWS  # of a single edge's share
    assert kept[of_kind].mean() == pytest.approx(probability, abs=0.01)
    assert kept[of_kind].std() == pytest.approx(variance**0.5, rel=0.35)


def embedded(model, x, matrix):
    h = layer(model.conv1, x, matrix).relu()
    return layer(model.conv2, h, matrix)


def inner_products(z, edges):
    return (z[edges[0]] * z[edges[1]]).sum(1)


def test_a_step_takes_messages_and_positives_from_the_kept_edges(double, monkeypatch):
    method = make("fairdrop", small_graph(), LINK)
    task, model = method.task, copy.deepcopy(method.model)
    non_edges = task.sample_non_edges()
    monkeypatch.setattr(task, "sample_non_edges", lambda: non_edges)

    method.update(None)

    kept = task.edge_index[:, method.kept_edges]
    assert 0 < kept.size(1) < task.edge_index.size(1)
    z = embedded(model, task.features, adjacency(kept, task.graph.num_nodes))
    positive, negative = inner_products(z, kept), inner_products(z, non_edges)
    labels = torch.cat([torch.ones_like(positive), torch.zeros_like(negative)])
    loss = bce(torch.cat([positive, negative]), labels)
    step(adam(model.parameters(), LINK), loss)
    assert_same_weights(method.model, model)


def test_evaluation_passes_messages_along_every_edge(double):
    method = make("fairdrop", small_graph(), LINK)
    method.update(None)

    with torch.no_grad():
        z = method.forward()

    expected = embedded(method.model, method.task.features, neighbours(method))
    torch.testing.assert_close(z, expected.detach())


@pytest.mark.parametrize(
    ("settings", "epochs"), [({}, [1, 10, 20, 30]), ({"every": 15}, [1, 15, 30])]
)
def test_edges_are_drawn_before_epoch_1_and_every_few(monkeypatch, settings, epochs):
    method = make("fairdrop", small_graph(), LINK, **settings)
    draw, drawn = method.draw, []

    def noted():
        drawn.append(method.epoch)
        return draw()

    monkeypatch.setattr(method, "draw", noted)
    for _ in range(31):
        method.update(method.forward())

    assert drawn == epochs
