"""Counts beside the paper's, each with its mark, and notes where they differ."""

from dataclasses import replace

import numpy as np
import pytest

from fairgat.config import Splits
from fairgat.data import statistics
from fairgat.data.graph import Graph, symmetrise
from fairgat.data.sources import synthetic
from fairgat.data.splits import edge_split


def social():
    edges = symmetrise(np.array([[0, 1, 2, 0], [1, 2, 3, 3]]), 5)
    return Graph(
        np.ones((5, 2), np.float32),
        np.array([0, 1, 0, 1, 1]),
        np.array([0, 0, 1, 1, 1]),
        edges,
    )


def describe(graph, task="node_classification", published=(), **more):
    return statistics.describe(
        graph, "x", task, dict(published), splits=Splits(), seed=0, **more
    )


def test_three_groups_are_counted_and_have_no_cap():
    three = replace(social(), sensitive=np.array([0, 0, 1, 1, 2]))
    counts = statistics.counts(three)
    assert (counts["groups"], counts["s0"], counts["s1"], counts["s2"]) == (3, 2, 2, 1)
    assert set(counts["r_chi"]) == {"0", "1", "2"} and counts["cap"] is None


def test_counts():
    assert statistics.counts(social()) == {
        "nodes": 5,
        "features": 2,
        "groups": 2,
        "s0": 2,
        "s1": 3,
        "labels": {"0": 2, "1": 3},
        "unlabelled_nodes": 0,
        "edges": 8,
        "inter_edges": 4,
        "intra_edges": 4,
        "isolated_nodes": 1,
        "label_homophily": 0.0,
        "group_homophily": 0.5,
        "without_other_group": pytest.approx(0.2),
        "label_gap": pytest.approx(1 / 6),
        "by_group": {
            "s=0": {
                "nodes": 2,
                "labelled": 2,
                "label_1": 1,
                "r_chi": 1.0,
                "homophily": 0.5,
            },
            "s=1": {
                "nodes": 3,
                "labelled": 3,
                "label_1": 2,
                "r_chi": pytest.approx(2 / 3),
                "homophily": 0.5,
            },
        },
        "tau": pytest.approx(2 / 3 + 7 / 9 - 1),
        "r_chi": {"0": 1.0, "1": pytest.approx(2 / 3)},
        "cap": pytest.approx(0.6),
    }


def test_the_label_gap_is_that_of_labelled_nodes_and_of_two_labels():
    graph = social()
    unlabelled, others = (
        replace(graph, labels=each)
        for each in (np.array([0, 1, -1, -1, 1]), graph.labels + 1)
    )
    assert (
        statistics.counts(unlabelled)["label_gap"] == 0.5
        and statistics.counts(others)["label_gap"] is None
    )


def test_each_published_number_is_checked():
    stats = describe(
        social(),
        published={
            "s0": 2,
            "s1": 3,
            "inter_edges": 2,
            "intra_edges": 4,
            "features": 59,
        },
    )
    assert stats["checks"] == [
        {"quantity": "s0", "ours": 2, "paper": 2, "equal": True},
        {"quantity": "s1", "ours": 3, "paper": 3, "equal": True},
        {"quantity": "inter_edges", "ours": 4, "paper": 2, "equal": False},
        {"quantity": "intra_edges", "ours": 4, "paper": 4, "equal": True},
        {"quantity": "features", "ours": 2, "paper": 59, "equal": False},
    ]
    assert "8 directed edges, the paper counts 6" in stats["notes"][0]
    assert stats["notes"][1] == "The paper's F = 59; these features are 2."
    other = describe(social())  # which the paper lacks
    assert (other["paper"], other["checks"], other["notes"]) == (None, [], [])
    stand_in = describe(
        social(), published={"s0": 2, "features": 59}, stands_for="pokec-z"
    )
    assert [check["quantity"] for check in stand_in["checks"]] == ["s0"]
    assert stand_in["notes"][0].startswith("Compared with the paper's pokec-z")


def test_link_prediction_counts_the_training_graph_of_split_0():
    graph = synthetic.load("demo-citation", None, synthetic.Options(), 0)
    edges = edge_split(graph, Splits(), 0, "x", 0)["train_edges"]
    inter = int((graph.sensitive[edges[0]] != graph.sensitive[edges[1]]).sum())
    published = {
        "nodes": 400,
        "groups": 4,
        "inter_edges": 0,
        "intra_edges": edges.shape[1],
    }
    stats = describe(graph, "link_prediction", published)
    counts = stats["counts"]
    assert (counts["inter_edges"], counts["intra_edges"]) == (
        inter,
        edges.shape[1] - inter,
    )
    assert (
        counts["whole_inter_edges"] + counts["whole_intra_edges"]
        == counts["edges"]
        == graph.num_edges
    )
    assert counts["cap"] is None  # there R_chi caps no attention
    assert {check["quantity"] for check in stats["checks"] if check["equal"]} == {
        "nodes",
        "groups",
        "train_edges",
    }
    assert "one random training graph" in stats["notes"][0]
