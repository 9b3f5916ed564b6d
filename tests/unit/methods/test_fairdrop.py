"""FairDrop's draws, and one step on the kept edges over dense matrices."""

import copy

import pytest
import torch
from dense import LINK, adam, adjacency, bce, layer, make, neighbours, small_graph, step

DRAWS = 400


@pytest.mark.parametrize("delta", [0.0, 0.16, 0.35])
def test_keep_probabilities(delta):
    method = make("fairdrop", small_graph(), LINK, delta=delta)
    inter = torch.from_numpy(method.task.graph.inter_edges)
    kept = sum(method.draw().double() for _ in range(DRAWS)) / DRAWS
    for kind, probability in [(inter, 0.5 + delta), (~inter, 0.5 - delta)]:
        assert kept[kind].mean() == pytest.approx(probability, abs=0.01)
        error = (probability * (1 - probability) / DRAWS) ** 0.5  # of a single edge
        assert kept[kind].std() == pytest.approx(error, rel=0.35)


def embedded(model, x, matrix):
    return layer(model.conv2, layer(model.conv1, x, matrix).relu(), matrix)


def test_a_step_takes_messages_and_positives_from_the_kept_edges_and_evaluation_all(
    double, monkeypatch
):
    method = make("fairdrop", small_graph(), LINK)
    task, model = method.task, copy.deepcopy(method.model)
    non_edges = task.sample_non_edges()
    monkeypatch.setattr(task, "sample_non_edges", lambda: non_edges)
    method.update(None)
    kept = task.edge_index[:, method.kept_edges]
    assert 0 < kept.size(1) < task.edge_index.size(1)
    z = embedded(model, task.features, adjacency(kept, task.graph.num_nodes))
    scores = z @ z.t()
    logits = torch.cat([scores[kept[0], kept[1]], scores[non_edges[0], non_edges[1]]])
    labels = torch.cat([torch.ones(kept.size(1)), torch.zeros(non_edges.size(1))])
    step(adam(model.parameters(), LINK), bce(logits, labels))
    torch.testing.assert_close(
        method.model.state_dict(), model.state_dict(), rtol=1e-6, atol=1e-7
    )
    with torch.no_grad():
        torch.testing.assert_close(
            method.forward(), embedded(model, task.features, neighbours(method))
        )


def test_draws_before_epoch_1_and_every_10th(monkeypatch):
    method = make("fairdrop", small_graph(), LINK)
    drawn = []
    draw = method.draw
    monkeypatch.setattr(method, "draw", lambda: drawn.append(method.epoch) or draw())
    for _ in range(31):
        method.update(method.forward())
    assert drawn == [1, 10, 20, 30]
