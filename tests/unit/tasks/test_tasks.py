"""What is learned: the losses by their definitions, the non-edges that are drawn, and the order of predictions."""

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


def test_the_losses(graph):
    z = torch.randn(90, 6)
    edges, non_edges = (
        torch.tensor([[0, 1, 2], [3, 4, 5]]),
        torch.tensor([[0, 7], [8, 9]]),
    )
    logits = torch.cat([(z[u] * z[v]).sum(1) for u, v in (edges, non_edges)])
    torch.testing.assert_close(
        link_loss(z, edges, non_edges), bce(logits, torch.tensor([1.0, 1, 1, 0, 0]))
    )
    task, output = make("gat", graph).task, torch.randn(90)
    nodes = splits.make(graph, "node_classification", Splits(), 0, "test", 0)["train"]
    labels = torch.from_numpy(graph.labels[nodes]).float()
    torch.testing.assert_close(task.loss(output), bce(output[task.rank[nodes]], labels))


def test_predictions_are_in_the_data_sets_own_order(graph):
    method = make("gat", graph)
    result = fit(method)
    output = result.kept[""].output
    logits = method.task.predictions(output)["logits"]
    test = splits.make(graph, "node_classification", Splits(), 0, "test", 0)["test"]
    accuracy = ((logits[test] > 0) == graph.labels[test]).mean()
    assert accuracy == judged(method, graph, output)["test"]["accuracy"]


def test_a_logit_of_zero_predicts_label_0(graph):
    validated = splits.make(graph, "node_classification", Splits(), 0, "test", 0)[
        "validation"
    ]
    accuracy = make("gat", graph).task.validate(torch.zeros(90))["accuracy"]
    assert accuracy == (graph.labels[validated] == 0).mean()


def test_sampled_non_edges(graph):
    task = make("gat", graph, LINK).task
    known = set(map(tuple, task.graph.edge_index.T.tolist()))
    drawn = [task.sample_non_edges() for _ in range(3)]
    for pairs in drawn:
        assert pairs.shape[1] == task.graph.num_edges // 2
        assert (
            not known & set(map(tuple, pairs.T.tolist()))
            and (pairs[0] != pairs[1]).all()
        )
    assert not torch.equal(drawn[0], drawn[1])
