"""What a perfect prediction scores, counted by hand from the labels."""

import pytest
from dense import small_graph

from fairgat.config import LinkTraining, NodeTraining, Splits
from fairgat.data import splits
from fairgat.scores import perfect


def two_splits(graph, task):
    return {
        number: splits.make(graph, task, Splits(), 0, "d", number) for number in (0, 1)
    }


def judged(training, graph, parts):
    """The scores: a row for each split, a column for each measure."""
    frame = perfect.scores("d", training, graph, parts)
    assert set(frame["dataset"]) == {"d"}
    return frame.pivot(index="split", columns="metric", values="value")


def test_of_nodes_it_is_right_and_has_the_gap_of_the_labels():
    graph = small_graph(nodes=200)
    parts = two_splits(graph, "node_classification")

    scores = judged(NodeTraining(), graph, parts)

    assert (scores["accuracy"] == 1).all()
    assert (scores["auc"] == 1).all()
    assert (scores["equal_opportunity"] == 0).all()
    for number, split in parts.items():
        labels = graph.labels[split["test"]]
        groups = graph.sensitive[split["test"]]
        gap = abs(labels[groups == 0].mean() - labels[groups == 1].mean())
        assert scores.loc[number, "statistical_parity"] == pytest.approx(gap)


def test_of_links_it_is_right_and_has_the_gap_of_the_links():
    graph = small_graph(nodes=100, edges=600)
    parts = two_splits(graph, "link_prediction")

    scores = judged(LinkTraining(), graph, parts)

    assert (scores["accuracy"] == 1).all()
    assert (scores["auc"] == 1).all()
    assert (scores["eo_mixed"] == 0).all()
    for number, split in parts.items():
        (u, v), labels = splits.pairs_of(split, "test")
        mixed = graph.sensitive[u] != graph.sensitive[v]
        gap = abs(labels[mixed].mean() - labels[~mixed].mean())
        assert scores.loc[number, "dp_mixed"] == pytest.approx(gap)
