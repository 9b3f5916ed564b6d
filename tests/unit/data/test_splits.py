"""Splits: sizes, disjointness, independence, and the same for every method."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgat.config import Splits
from fairgat.data import splits
from fairgat.data.graph import Graph, save_npz, symmetrise
from fairgat.data.sources import synthetic
from fairgat.errors import DataError

SHARES = Splits()
NODE, LINK = "node_classification", "link_prediction"
NO_EDGES = np.zeros((2, 0), int)


@pytest.fixture(scope="module")
def graph():
    return synthetic.load("demo-citation", None, synthetic.Options(), 0)


def bare(nodes, edges):
    """A graph of edges, listed as pairs of nodes, and nothing else."""
    nothing = np.zeros(nodes, int)
    edge_index = symmetrise(np.array(edges).T, nodes)
    return Graph(np.ones((nodes, 1)), nothing, nothing, edge_index)


def with_groups(sizes):
    """A graph without edges, of (label 0, label 1) nodes of each group."""
    kinds = np.repeat(np.arange(2 * len(sizes)), np.ravel(sizes))
    kinds = np.random.default_rng(0).permutation(kinds)
    labels, groups = kinds % 2, kinds // 2
    return Graph(np.ones((len(kinds), 1), np.float32), labels, groups, NO_EDGES)


def pairs(edge_index):
    """The undirected edges, as a set of pairs."""
    return {tuple(sorted(edge)) for edge in edge_index.T.tolist()}


def assert_rises(nodes):
    assert all(first < second for first, second in pairwise(nodes))


def assert_parts_of(parts, count):
    """Each node is in one part, and each part is in order."""
    everyone = np.concatenate(list(parts.values()))
    assert sorted(everyone) == list(range(count))
    for part in parts.values():
        assert_rises(part)


# ---------------------------------------------------------------------------- of nodes


@given(st.integers(5, 500), st.integers(0, 2**32), st.integers(0, 9))
def test_a_node_split_divides_all_nodes(count, seed, split):
    parts = splits.node_split(count, SHARES, seed, "x", split)

    assert_parts_of(parts, count)
    assert len(parts["train"]) == int(0.4 * count)
    assert len(parts["validation"]) == int(0.3 * count)


def trained_on(seed, name, split):
    return splits.node_split(200, SHARES, seed, name, split)["train"].tolist()


def test_a_split_is_the_same_each_time():
    assert trained_on(0, "x", 0) == trained_on(0, "x", 0)


@pytest.mark.parametrize(
    "other",
    [(1, "x", 0), (0, "y", 0), (0, "x", 1)],
    ids=["seed", "data set", "number"],
)
def test_splits_differ_by_seed_data_set_and_number(other):
    assert trained_on(*other) != trained_on(0, "x", 0)


def test_splits_stay_as_they_are():
    """Another NumPy, or an edit here, must not quietly change every result."""
    nodes = splits.node_split(20, SHARES, 0, "recidivism", 0)
    ring = bare(12, [(u, (u + step) % 12) for u in range(12) for step in (1, 2)])
    edges = splits.edge_split(ring, SHARES, 0, "cora", 0)

    assert nodes["train"].tolist() == [0, 2, 8, 9, 11, 12, 16, 17]
    assert edges["test_edges"].tolist() == [[0, 0, 9, 3], [10, 11, 11, 4]]


# ---------------------------------------------------------------------------- of edges


def test_an_edge_split_holds_out_as_many_edges_as_pyg_does(graph):
    parts = splits.edge_split(graph, SHARES, 0, "demo-citation", 0)

    undirected = graph.num_edges // 2
    validation, test = int(0.1 * undirected), int(0.2 * undirected)
    assert {name: part.shape for name, part in parts.items()} == {
        "train_edges": (2, 2 * (undirected - validation - test)),
        "validation_edges": (2, validation),
        "validation_non_edges": (2, validation),
        "test_edges": (2, test),
        "test_non_edges": (2, test),
    }


def test_an_edge_split_divides_all_edges(graph):
    parts = splits.edge_split(graph, SHARES, 0, "demo-citation", 0)

    train = pairs(parts["train_edges"])
    validation = pairs(parts["validation_edges"])
    test = pairs(parts["test_edges"])
    assert train | validation | test == pairs(graph.edge_index)
    assert len(train) + len(validation) + len(test) == graph.num_edges // 2


def test_a_method_trains_on_edges_in_both_directions(graph):
    train = splits.edge_split(graph, SHARES, 0, "demo-citation", 0)["train_edges"]
    np.testing.assert_array_equal(train, symmetrise(train, graph.num_nodes))


def test_non_edges_are_none_of_the_whole_graph_and_all_different(graph):
    parts = splits.edge_split(graph, SHARES, 3, "demo-citation", 1)

    drawn = np.hstack([parts["validation_non_edges"], parts["test_non_edges"]])
    source, target = drawn
    assert (source < target).all()
    assert len(pairs(drawn)) == drawn.shape[1]
    assert not pairs(drawn) & pairs(graph.edge_index)


def test_non_edges_are_drawn_evenly():
    """Of a path of five nodes, each of the six non-edges is equally likely."""
    path = bare(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    shares = Splits(edge_validation=0.25, edge_test=0.25)

    drawn = []
    for seed in range(1200):
        parts = splits.edge_split(path, shares, seed, "x", 0)
        drawn.append(parts["validation_non_edges"])

    _, counts = np.unique(np.hstack(drawn), axis=1, return_counts=True)
    assert len(counts) == 6
    assert counts.min() > 140
    assert counts.max() < 260


# ------------------------------------------------------------------------- too little


def test_too_few_nodes_to_divide_are_refused():
    with pytest.raises(DataError, match="x: 2 nodes are too few"):
        splits.node_split(2, SHARES, 0, "x", 0)


def test_too_few_edges_to_divide_are_refused():
    path = bare(4, [(0, 1), (1, 2), (2, 3)])
    with pytest.raises(DataError, match="x: 3 edges are too few"):
        splits.edge_split(path, SHARES, 0, "x", 0)


def test_a_graph_without_enough_non_edges_is_refused():
    clique = bare(6, [(u, v) for u in range(6) for v in range(u)])
    with pytest.raises(DataError, match="x: the graph is too dense to sample 4 pairs"):
        splits.edge_split(clique, SHARES, 0, "x", 0)


# ---------------------------------------------------------------------------- its file


def assert_reads_back(parts, path):
    splits.save(path, parts)
    back = splits.load(path)
    assert list(back) == list(parts)
    for name, part in parts.items():
        np.testing.assert_array_equal(back[name], part)


def test_a_split_reads_back(graph, tmp_path):
    of_nodes = splits.node_split(50, SHARES, 0, "x", 0)
    of_edges = splits.edge_split(graph, SHARES, 0, "x", 0)

    assert_reads_back(of_nodes, tmp_path / "split.npz")
    assert_reads_back(of_edges, tmp_path / "split.npz")


def test_a_file_that_is_no_split_is_refused(tmp_path):
    save_npz(tmp_path / "other.npz", train=np.arange(3))
    with pytest.raises(DataError, match=r"other\.npz is not a split: it holds train"):
        splits.load(tmp_path / "other.npz")


# ------------------------------------------------------------------- groups and labels


def test_a_part_without_one_of_the_groups_is_refused():
    two_in_group_1 = (np.arange(40) < 2).astype(int)
    graph = Graph(np.ones((40, 1)), np.arange(40) % 2, two_in_group_1, NO_EDGES)

    said = "x: none of the 12 test nodes of split 0 is in group 1"
    with pytest.raises(DataError, match=said):
        splits.make(graph, NODE, SHARES, 0, "x", 0)


def test_in_link_prediction_a_part_may_be_without_one_of_the_groups():
    two_in_group_1 = (np.arange(40) < 2).astype(int)
    edges = symmetrise(np.arange(80).reshape(2, 40) % 39, 40)
    graph = Graph(np.ones((40, 1)), np.arange(40) % 2, two_in_group_1, edges)

    splits.make(graph, LINK, SHARES, 0, "x", 0)


@pytest.mark.parametrize("split", range(20))
def test_each_group_and_label_that_is_large_enough_is_in_each_part(split):
    graph = with_groups([(100, 60), (30, 3), (4, 5)])

    parts = splits.make(graph, NODE, SHARES, 0, "x", split)

    kind_of_each = splits.groups_and_labels(graph)
    for nodes in parts.values():
        assert set(kind_of_each[nodes]) == {0, 1, 2, 3, 4, 5}
    assert_parts_of(parts, graph.num_nodes)
    drawn = splits.node_split(graph.num_nodes, SHARES, 0, "x", split)
    for name, part in drawn.items():
        assert len(parts[name]) == len(part)


@pytest.mark.parametrize("split", range(20))
def test_splits_of_two_groups_stay_as_they_are(split):
    graph = with_groups([(100, 60), (30, 3)])

    parts = splits.make(graph, NODE, SHARES, 0, "x", split)

    drawn = splits.node_split(graph.num_nodes, SHARES, 0, "x", split)
    for name, part in drawn.items():
        np.testing.assert_array_equal(parts[name], part)


@pytest.mark.parametrize("split", range(30))
def test_splits_of_two_groups_change_where_they_would_be_refused(split):
    few = with_groups([(40, 30), (2, 2)])

    parts = splits.make(few, NODE, SHARES, 0, "x", split)

    for nodes in parts.values():
        assert set(few.sensitive[nodes]) == {0, 1}
