"""What a perfect prediction scores, counted by hand from the labels."""

import pytest
from dense import small_graph

from fairgat.config import LinkTraining, NodeTraining, Splits
from fairgat.data import splits
from fairgat.scores import perfect


def judged(training, graph):
    """The scores of two splits, a column for each measure."""
    parts = {n: splits.make(graph, training.task, Splits(), 0, "d", n) for n in (0, 1)}
    frame = perfect.scores("d", training, graph, parts)
    assert set(frame["dataset"]) == {"d"}
    return parts, frame.pivot(index="split", columns="metric", values="value")


def test_of_nodes_it_is_right_and_has_the_gap_of_the_labels():
    graph = small_graph(nodes=200)
    parts, scores = judged(NodeTraining(), graph)
    assert (scores[["accuracy", "auc"]] == 1).all(axis=None)
    assert (scores["equal_opportunity"] == 0).all()
    for number, split in parts.items():
        labels, groups = graph.labels[split["test"]], graph.sensitive[split["test"]]
        rates = [labels[groups == group].mean() for group in (0, 1)]
        gap = abs(rates[0] - rates[1])
        assert scores.loc[number, "statistical_parity"] == pytest.approx(gap)


def test_of_links_it_is_right_and_has_the_gap_of_the_links():
    graph = small_graph(nodes=100, edges=600)
    parts, scores = judged(LinkTraining(), graph)
    assert (scores[["accuracy", "auc"]] == 1).all(axis=None)
    assert (scores["eo_mixed"] == 0).all()
    for number, split in parts.items():
        (u, v), labels = splits.pairs_of(split, "test")
        mixed = graph.sensitive[u] != graph.sensitive[v]
        gap = abs(labels[mixed].mean() - labels[~mixed].mean())
        assert scores.loc[number, "dp_mixed"] == pytest.approx(gap)
