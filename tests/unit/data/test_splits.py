"""Splits: sizes, disjointness, independence, and the same for every method."""

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


@pytest.fixture(scope="module")
def graph():
    return synthetic.load("demo-citation", None, synthetic.Options(), 0)


def bare(nodes, edges):
    """A graph with edges and nothing else."""
    return Graph(
        np.ones((nodes, 1)),
        np.zeros(nodes, int),
        np.zeros(nodes, int),
        symmetrise(edges, nodes),
    )


def codes(edges):
    return {(int(min(u, v)), int(max(u, v))) for u, v in edges.T}


@given(st.integers(5, 500), st.integers(0, 2**32), st.integers(0, 9))
def test_a_node_split_divides_all_nodes(count, seed, split):
    parts = splits.node_split(count, SHARES, seed, "x", split)
    assert sorted(np.concatenate(list(parts.values()))) == list(range(count))
    assert (len(parts["train"]), len(parts["validation"])) == (
        int(0.4 * count),
        int(0.3 * count),
    )
    assert all((np.diff(part) > 0).all() for part in parts.values())


def test_splits_differ_by_seed_data_set_and_number_and_by_nothing_else():
    base = splits.node_split(200, SHARES, 0, "x", 0)
    np.testing.assert_array_equal(
        base["train"], splits.node_split(200, SHARES, 0, "x", 0)["train"]
    )
    others = [(1, "x", 0), (0, "y", 0), (0, "x", 1)]
    drawn = [splits.node_split(200, SHARES, *which)["train"] for which in others]
    assert all((part != base["train"]).any() for part in drawn)


def test_splits_stay_as_they_are():
    """Another NumPy, or an edit here, must not quietly change every result."""
    assert splits.node_split(20, SHARES, 0, "recidivism", 0)["train"].tolist() == [
        0,
        2,
        8,
        9,
        11,
        12,
        16,
        17,
    ]
    ring = bare(
        12, np.array([[u, (u + step) % 12] for u in range(12) for step in (1, 2)]).T
    )
    assert splits.edge_split(ring, SHARES, 0, "cora", 0)["test_edges"].tolist() == [
        [0, 0, 9, 3],
        [10, 11, 11, 4],
    ]


def test_an_edge_split_holds_out_edges_as_pyg_does(graph):
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
    np.testing.assert_array_equal(
        parts["train_edges"], symmetrise(parts["train_edges"], graph.num_nodes)
    )
    held = [
        codes(parts[name]) for name in ("train_edges", "validation_edges", "test_edges")
    ]
    assert held[0] | held[1] | held[2] == codes(graph.edge_index)
    assert sum(map(len, held)) == undirected


def test_non_edges_are_none_of_the_whole_graph_and_all_different(graph):
    parts = splits.edge_split(graph, SHARES, 3, "demo-citation", 1)
    sampled = np.hstack([parts["validation_non_edges"], parts["test_non_edges"]])
    assert (sampled[0] < sampled[1]).all()
    assert len(codes(sampled)) == sampled.shape[1]
    assert not codes(sampled) & codes(graph.edge_index)


def test_non_edges_are_drawn_evenly():
    """Of a path of five nodes, each of the six non-edges is equally likely."""
    graph = bare(5, np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))
    shares = Splits(edge_validation=0.25, edge_test=0.25)
    first = [
        splits.edge_split(graph, shares, seed, "x", 0)["validation_non_edges"]
        for seed in range(1200)
    ]
    _, counts = np.unique(np.hstack(first), axis=1, return_counts=True)
    assert len(counts) == 6 and (np.abs(counts - 200) < 60).all()


def test_too_little_to_divide_is_said():
    with pytest.raises(DataError, match="x: 2 nodes are too few"):
        splits.node_split(2, SHARES, 0, "x", 0)
    with pytest.raises(DataError, match="x: 3 edges are too few"):
        splits.edge_split(bare(4, np.array([[0, 1, 2], [1, 2, 3]])), SHARES, 0, "x", 0)
    clique = bare(6, np.array([[u, v] for u in range(6) for v in range(u)]).T)
    with pytest.raises(DataError, match="x: the graph is too dense to sample 4 pairs"):
        splits.edge_split(clique, SHARES, 0, "x", 0)


def test_a_split_reads_back(graph, tmp_path):
    for parts in (
        splits.node_split(50, SHARES, 0, "x", 0),
        splits.edge_split(graph, SHARES, 0, "x", 0),
    ):
        splits.save(tmp_path / "split.npz", parts)
        back = splits.load(tmp_path / "split.npz")
        assert list(back) == list(parts)
        assert all((back[name] == parts[name]).all() for name in parts)
    save_npz(tmp_path / "other.npz", train=np.arange(3))
    with pytest.raises(DataError, match=r"other\.npz is not a split: it holds train"):
        splits.load(tmp_path / "other.npz")


def test_a_part_without_one_of_the_groups_is_refused():
    graph = Graph(
        np.ones((40, 1)),
        np.arange(40) % 2,
        (np.arange(40) < 2).astype(int),
        np.zeros((2, 0), int),
    )
    with pytest.raises(
        DataError, match="x: none of the 12 test nodes of split 0 is in group 1"
    ):
        splits.make(graph, "node_classification", SHARES, 0, "x", 0)
    splits.make(
        graph.with_edges(symmetrise(np.arange(80).reshape(2, 40) % 39, 40)),
        "link_prediction",
        SHARES,
        0,
        "x",
        0,
    )


def three_groups(sizes, seed=0):
    """A graph without edges whose groups have (label 0, label 1) nodes as given."""
    cells = np.repeat(np.arange(2 * len(sizes)), np.ravel(sizes))
    cells = np.random.default_rng(seed).permutation(cells)
    return Graph(
        np.ones((len(cells), 1), np.float32),
        cells % 2,
        cells // 2,
        np.zeros((2, 0), int),
    )


def test_each_group_and_label_that_is_large_enough_is_in_each_part():
    graph = three_groups([(100, 60), (30, 3), (4, 5)])
    for split in range(20):
        parts = splits.make(graph, "node_classification", SHARES, 0, "x", split)
        kinds = [
            np.unique(splits.groups_and_labels(graph)[nodes]).tolist()
            for nodes in parts.values()
        ]
        assert kinds == [[0, 1, 2, 3, 4, 5]] * 3
        drawn = splits.node_split(graph.num_nodes, SHARES, 0, "x", split)
        assert [len(part) for part in parts.values()] == [
            len(part) for part in drawn.values()
        ]
        assert np.array_equal(
            np.sort(np.concatenate(list(parts.values()))), np.arange(graph.num_nodes)
        )
        assert all((np.diff(part) > 0).all() for part in parts.values())


def test_splits_of_two_groups_stay_as_they_are_unless_they_would_be_refused():
    few = three_groups([(40, 30), (2, 2)])
    for split in range(30):
        parts = splits.make(few, "node_classification", SHARES, 0, "x", split)
        assert all(set(few.sensitive[nodes]) == {0, 1} for nodes in parts.values())
    graph = three_groups([(100, 60), (30, 3)])
    for split in range(20):
        parts = splits.make(graph, "node_classification", SHARES, 0, "x", split)
        drawn = splits.node_split(graph.num_nodes, SHARES, 0, "x", split)
        assert all(np.array_equal(parts[key], drawn[key]) for key in drawn)
