"""What is learned: losses by definition, non-edges that are drawn, predictions."""

import pytest
import torch
from dense import LINK, bce, judged, make, small_graph

from fairgat.config import Splits
from fairgat.data import splits
from fairgat.tasks.link_prediction import link_loss
from fairgat.training.loop import fit


@pytest.fixture
def graph():
    return small_graph(nodes=90, edges=400)


def part(graph, name):
    """The nodes of a part of the split that `make` makes."""
    return splits.make(graph, "node_classification", Splits(), 0, "test", 0)[name]


def test_the_losses(graph):
    z = torch.randn(90, 6)
    edges = torch.tensor([[0, 1, 2], [3, 4, 5]])
    non_edges = torch.tensor([[0, 7], [8, 9]])
    logits = torch.cat([(z[u] * z[v]).sum(1) for u, v in (edges, non_edges)])
    expected = bce(logits, torch.tensor([1.0, 1, 1, 0, 0]))
    torch.testing.assert_close(link_loss(z, edges, non_edges), expected)

    task, output = make("gat", graph).task, torch.randn(90)
    nodes = part(graph, "train")
    labels = torch.from_numpy(graph.labels[nodes]).float()
    expected = bce(output[task.rank[nodes]], labels)
    torch.testing.assert_close(task.loss(output), expected)


def test_predictions_are_in_the_data_sets_own_order(graph):
    method = make("gat", graph)
    result = fit(method)
    output = result.reported[""].output
    logits = method.task.predictions(output)["logits"]
    test = part(graph, "test")
    positive = logits[test] > 0
    accuracy = (positive == graph.labels[test]).mean()
    assert judged(method, graph, output)["test"]["accuracy"] == accuracy


def test_a_logit_of_zero_predicts_label_0(graph):
    labels = graph.labels[part(graph, "validation")]
    scores = make("gat", graph).task.validate(torch.zeros(90))
    assert scores["accuracy"] == (labels == 0).mean()


def test_sampled_non_edges(graph):
    task = make("gat", graph, LINK).task
    known = set(zip(*task.graph.edge_index.tolist(), strict=True))
    drawn = [task.sample_non_edges() for _ in range(3)]
    for source, target in drawn:
        assert len(source) == task.graph.num_edges // 2
        assert known.isdisjoint(zip(source.tolist(), target.tolist(), strict=True))
        assert (source != target).all()
    assert not torch.equal(drawn[0], drawn[1])


def test_non_edges_of_a_seed_stay_those_of_published_runs(graph):
    task = make("gat", graph, LINK).task
    first, second = task.sample_non_edges(), task.sample_non_edges()
    assert first[:, :4].tolist() == [[76, 57, 46, 24], [50, 29, 0, 25]]
    assert second[:, -4:].tolist() == [[35, 82, 6, 40], [20, 51, 57, 66]]
