"""Counts beside the paper's, each with its mark, and notes where they differ."""

from dataclasses import replace

import numpy as np
import pytest

from fairgat.config import Splits
from fairgat.data import statistics
from fairgat.data.graph import Graph, symmetrise
from fairgat.data.sources import synthetic
from fairgat.data.splits import edge_split

NODE, LINK = "node_classification", "link_prediction"


@pytest.fixture
def social():
    """A ring of four and an isolated node, in two groups."""
    return Graph(
        np.ones((5, 2), np.float32),
        np.array([0, 1, 0, 1, 1]),
        np.array([0, 0, 1, 1, 1]),
        symmetrise(np.array([[0, 1, 2, 0], [1, 2, 3, 3]]), 5),
    )


def describe(graph, task=NODE, published=(), **more):
    return statistics.describe(
        graph, "x", task, dict(published), splits=Splits(), seed=0, **more
    )


# --------------------------------------------------------------------------- of a graph


def test_a_graph_is_counted(social):
    assert statistics.counts(social) == {
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


def test_three_groups_are_counted_and_have_no_cap(social):
    three = replace(social, sensitive=np.array([0, 0, 1, 1, 2]))

    counts = statistics.counts(three)

    assert counts["groups"] == 3
    assert (counts["s0"], counts["s1"], counts["s2"]) == (2, 2, 1)
    assert set(counts["r_chi"]) == {"0", "1", "2"}
    assert counts["cap"] is None


def test_the_label_gap_is_that_of_labelled_nodes(social):
    unlabelled = replace(social, labels=np.array([0, 1, -1, -1, 1]))
    assert statistics.counts(unlabelled)["label_gap"] == 0.5


def test_there_is_no_label_gap_of_other_labels_than_0_and_1(social):
    others = replace(social, labels=social.labels + 1)
    assert statistics.counts(others)["label_gap"] is None


# --------------------------------------------------------------------- beside the paper


def test_each_published_number_is_checked(social):
    published = {
        "s0": 2,
        "s1": 3,
        "inter_edges": 2,
        "intra_edges": 4,
        "features": 59,
    }

    stats = describe(social, published=published)

    assert stats["checks"] == [
        {"quantity": "s0", "ours": 2, "paper": 2, "equal": True},
        {"quantity": "s1", "ours": 3, "paper": 3, "equal": True},
        {"quantity": "inter_edges", "ours": 4, "paper": 2, "equal": False},
        {"quantity": "intra_edges", "ours": 4, "paper": 4, "equal": True},
        {"quantity": "features", "ours": 2, "paper": 59, "equal": False},
    ]
    of_edges, of_features = stats["notes"]
    assert "8 directed edges, the paper counts 6" in of_edges
    assert of_features == "The paper's F = 59; these features are 2."


def test_a_data_set_that_the_paper_lacks_has_no_checks(social):
    stats = describe(social)

    assert stats["paper"] is None
    assert stats["checks"] == []
    assert stats["notes"] == []


def test_a_data_set_that_stands_for_another_is_not_compared_in_its_features(social):
    stats = describe(social, published={"s0": 2, "features": 59}, stands_for="pokec-z")

    assert [check["quantity"] for check in stats["checks"]] == ["s0"]
    first, *_ = stats["notes"]
    assert first.startswith("Compared with the paper's pokec-z")


@pytest.fixture(scope="module")
def citations():
    return synthetic.load("demo-citation", None, synthetic.Options(), 0)


def test_link_prediction_counts_the_training_graph_of_split_0(citations):
    counts = describe(citations, LINK)["counts"]

    source, target = edge_split(citations, Splits(), 0, "x", 0)["train_edges"]
    is_inter = citations.sensitive[source] != citations.sensitive[target]
    assert counts["inter_edges"] == is_inter.sum()
    assert counts["intra_edges"] == (~is_inter).sum()
    whole = counts["whole_inter_edges"] + counts["whole_intra_edges"]
    assert whole == counts["edges"] == citations.num_edges
    assert counts["cap"] is None  # there R_chi caps no attention


def test_of_a_random_training_graph_the_number_of_edges_is_checked(citations):
    train_edges = edge_split(citations, Splits(), 0, "x", 0)["train_edges"]
    published = {
        "nodes": 400,
        "groups": 4,
        "inter_edges": 0,
        "intra_edges": train_edges.shape[1],
    }

    stats = describe(citations, LINK, published)

    equal = {check["quantity"] for check in stats["checks"] if check["equal"]}
    assert equal == {"nodes", "groups", "train_edges"}
    assert "one random training graph" in stats["notes"][0]
