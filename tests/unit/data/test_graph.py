"""The graph's promises, its file, and what is counted in it."""

import numpy as np
import pandas as pd
import pytest

from fairgat.data.graph import Graph, alpha_chi, load_npz, r_chi, save_npz, symmetrise
from fairgat.errors import DataError, NotDefined


def graph(**changed):
    """0 - 1 - 2 - 3 and an isolated node; groups 0 0 1 1 1."""
    parts = {
        "features": np.arange(10, dtype=np.float32).reshape(5, 2),
        "labels": np.array([0, 1, 0, 1, 1]),
        "sensitive": np.array([0, 0, 1, 1, 1]),
        "edge_index": np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]),
    }
    return Graph(**parts | changed)


def test_alpha_chi_follows_the_closed_form_for_two_groups():
    assert [alpha_chi({0: 1.0, 1: 1.0}, limit) for limit in (0.75, 0.25, 0, 1)] == [
        0.5,
        0.25,
        0,
        0.5,
    ]
    assert alpha_chi({0: 0.0, 1: 0.0}, 0.75) == 0.75
    for groups in (1, 3):
        with pytest.raises(
            NotDefined, match=f"for two sensitive groups; there are {groups}"
        ):
            alpha_chi(dict.fromkeys(range(groups), 0.5), 0.75)


@pytest.mark.parametrize(
    "made", [list, pd.Series, pd.Categorical, lambda texts: np.array(texts, object)]
)
def test_groups_may_be_texts_and_edges_that_come_in_count_as_attention_reads_them(made):
    assert r_chi(made([*"aab"]), [[0, 2], [2, 0]]) == {"a": 0.5, "b": 1.0}
    assert r_chi(made([*"aab"]), [[], []]) == {"a": 0.0, "b": 0.0}
    assert r_chi(made([*"abb"]), [[0, 0], [1, 2]]) == {"a": 0.0, "b": 1.0}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda: alpha_chi({0: 1.0, 1: 1.0}, -1),
            r"alpha_chi_max must be .* in \[0, 1\], got -1",
        ),
        (lambda: alpha_chi({0: 0.0, 1: 0.0}, 2), r"\[0, 1\], got 2"),
        (lambda: r_chi([0, 1], [[0, 1], [1, 0], [0, 0]]), r"got \(2,\) and \(3, 2\)"),
        (
            lambda: r_chi([0, 1], [[0, 2], [2, 0]]),
            r"outside 0 \.\. 1, where sensitive ends",
        ),
        (lambda: r_chi([0.5, 1.5], [[0, 1], [1, 0]]), "integers, bool or strings"),
        (
            lambda: r_chi([0, np.nan], [[0, 1], [1, 0]]),
            "sensitive is missing for 1 nodes",
        ),
        (lambda: r_chi(pd.Series(["a", None]), [[0, 1], [1, 0]]), "missing"),
        (
            lambda: r_chi(pd.Series(["a", pd.NA], dtype="string"), [[0, 1], [1, 0]]),
            "missing",
        ),
    ],
)
def test_shares_of_what_does_not_fit_are_refused(call, expected):
    with pytest.raises(ValueError, match=expected):
        call()


def test_symmetrise_drops_self_loops_and_duplicates_and_sorts():
    assert symmetrise(np.array([[2, 0, 1, 1], [1, 0, 2, 0]]), 3).tolist() == [
        [0, 1, 1, 2],
        [1, 0, 2, 1],
    ]
    assert symmetrise(np.zeros((2, 0)), 3).shape == (2, 0)
    with pytest.raises(DataError, match=r"outside 0 \.\. 2"):
        symmetrise(np.array([[0], [3]]), 3)


def test_a_permuted_graph_is_the_same_graph():
    g, order = graph(), np.array([3, 1, 4, 0, 2])
    permuted = g.permute(order)
    permuted.check()
    assert permuted.features[0].tolist() == g.features[3].tolist()
    back = permuted.permute(np.argsort(order))
    for name in ("features", "labels", "sensitive", "edge_index"):
        np.testing.assert_array_equal(getattr(back, name), getattr(g, name))
    assert permuted.r_chi() == g.r_chi()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"features": np.full((5, 2), np.nan, np.float32)}, "finite"),
        ({"features": np.ones(5)}, r"\(N, F\)"),
        ({"features": np.array(1.0)}, r"\(N, F\)"),
        (
            {"features": np.ones((5, 2))},
            r"features must be float32, got float64; .*astype\(np\.float32\)",
        ),
        ({"labels": np.ones(5, dtype=np.int32)}, r"labels must be int64, got int32"),
        (
            {"edge_index": np.array([[0, 1], [1, 0]], dtype=np.int32)},
            r"edge_index must be int64, got int32",
        ),
        (
            {"labels": np.array([0, 1, 0, -2, 1])},
            "labels are numbered from 0, -1 is unlabelled; found -2",
        ),
        (
            {"sensitive": np.array([0, 0, 2, 2, 2])},
            r"numbered from 0 without a gap; found \[0, 2\]",
        ),
        (
            {"sensitive": np.ones(5, dtype=int)},
            r"numbered from 0 without a gap; found \[1\]",
        ),
        (
            {"labels": np.ones(4, dtype=int)},
            r"labels must have shape \(5,\), got \(4,\)",
        ),
        ({"sensitive": np.ones(5)}, "sensitive must be int64, got float64"),
        ({"sensitive": np.array([0, 0, 1, 1, -1])}, r"found \[-1, 0, 1\]"),
        (
            {"groups": ({"sex": "f"},)},
            "there are 2 sensitive groups, and 1 of them have names",
        ),
        ({"edge_index": np.zeros((3, 2), dtype=int)}, r"shape \(2, E\)"),
        ({"edge_index": np.array([[0, 5], [5, 0]])}, r"outside 0 \.\. 4"),
        ({"edge_index": np.array([[0], [0]])}, "self-loops"),
        ({"edge_index": np.array([[1, 0], [0, 1]])}, "not sorted"),
        ({"edge_index": np.array([[0, 0, 1, 1], [1, 1, 0, 0]])}, "duplicates"),
        ({"edge_index": np.array([[0], [1]])}, "one direction only"),
    ],
)
def test_a_broken_promise_is_named(changed, expected, tmp_path):
    with pytest.raises(DataError, match=expected):
        graph(**changed).save(tmp_path / "graph.npz")
    assert list(tmp_path.iterdir()) == []


def test_one_class_one_group_and_no_nodes_are_graphs():
    graph(labels=np.full(5, 3), sensitive=np.zeros(5, dtype=int)).check()
    none = np.zeros(0, dtype=int)
    Graph(np.zeros((0, 2), np.float32), none, none, np.zeros((2, 0), dtype=int)).check()


def test_the_file_is_plain_arrays_and_reads_back(tmp_path):
    path = tmp_path / "new" / "graph.npz"
    graph().save(path)
    with np.load(path, allow_pickle=False) as archive:
        assert sorted(archive) == [
            "about",
            "edge_index",
            "features",
            "format_version",
            "labels",
            "sensitive",
        ]
        assert archive["format_version"] == 1
    back = Graph.load(path)
    for name in ("features", "labels", "sensitive", "edge_index"):
        np.testing.assert_array_equal(getattr(back, name), getattr(graph(), name))
    assert path.stat().st_mode & 0o044  # others in the group may read it


ARRAYS = {
    name: getattr(graph(), name)
    for name in ("features", "labels", "sensitive", "edge_index")
}
ARRAYS |= {
    "about": np.array('{"groups": [], "facts": {}}'),
    "format_version": np.int64(1),
}


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        (
            {"features": np.ones((2, 2))},
            "lacks labels, sensitive, edge_index, about, format_version",
        ),
        (
            ARRAYS | {"format_version": np.int64(2)},
            "has graph format 2; this version reads 1",
        ),
        (ARRAYS | {"sensitive": np.array([0, 0, 1, 1, -1])}, "without a gap"),
    ],
)
def test_another_file_is_refused(tmp_path, arrays, expected):
    save_npz(tmp_path / "graph.npz", **arrays)
    with pytest.raises(DataError, match=rf"graph\.npz.*{expected}"):
        Graph.load(tmp_path / "graph.npz")


def test_a_damaged_or_missing_file_is_named(tmp_path):
    graph().save(tmp_path / "graph.npz")
    whole = (tmp_path / "graph.npz").read_bytes()
    (tmp_path / "graph.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cannot be read .* Delete it and run again"):
        Graph.load(tmp_path / "graph.npz")
    with pytest.raises(DataError, match="does not exist"):
        Graph.load(tmp_path / "none.npz")
    # Pickled objects are never read.
    np.savez(tmp_path / "objects.npz", x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(DataError, match="cannot be read"):
        load_npz(tmp_path / "objects.npz")


def test_what_is_defined_for_two_groups_says_which_there_are():
    graph(sensitive=np.array([0, 1, 0, 1, 0])).require_two_groups("This")
    three = graph(sensitive=np.array([0, 1, 2, 1, 0]))
    with pytest.raises(
        NotDefined,
        match="This is defined for two sensitive groups; this graph has 3: s=0; s=1; s=2",
    ):
        three.require_two_groups("This")
