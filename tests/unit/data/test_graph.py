"""The graph's promises, its file, and what is counted in it."""

import numpy as np
import pandas as pd
import pytest

from fairgat.data.graph import Graph, alpha_chi, load_npz, r_chi, save_npz, symmetrise
from fairgat.errors import DataError, NotDefined

ARRAYS = ("features", "labels", "sensitive", "edge_index")


def graph(**changed):
    """0 - 1 - 2 - 3 and an isolated node; groups 0 0 1 1 1."""
    parts = {
        "features": np.arange(10, dtype=np.float32).reshape(5, 2),
        "labels": np.array([0, 1, 0, 1, 1]),
        "sensitive": np.array([0, 0, 1, 1, 1]),
        "edge_index": np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]),
    }
    return Graph(**parts | changed)


def assert_equal(first, second):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


# --------------------------------------------------------------------- what is counted


@pytest.mark.parametrize(
    ("r_chi", "limit", "expected"),
    [
        ({0: 1.0, 1: 1.0}, 0.75, 0.5),
        ({0: 1.0, 1: 1.0}, 0.25, 0.25),
        ({0: 1.0, 1: 1.0}, 0, 0),
        ({0: 1.0, 1: 1.0}, 1, 0.5),
        ({0: 0.0, 1: 0.0}, 0.75, 0.75),
        ({0: 1.0, 1: 0.25}, 1, 0.8),
    ],
)
def test_alpha_chi_follows_the_closed_form_for_two_groups(r_chi, limit, expected):
    assert alpha_chi(r_chi, limit) == expected


@pytest.mark.parametrize("groups", [1, 3])
def test_alpha_chi_is_defined_for_two_groups(groups):
    shares = dict.fromkeys(range(groups), 0.5)
    said = f"for two sensitive groups; there are {groups}"
    with pytest.raises(NotDefined, match=said):
        alpha_chi(shares, 0.75)


@pytest.mark.parametrize(
    "made",
    [list, pd.Series, pd.Categorical, lambda texts: np.array(texts, object)],
    ids=["list", "series", "categorical", "array"],
)
@pytest.mark.parametrize(
    ("groups", "edge_index", "expected"),
    [
        ("aab", [[0, 2], [2, 0]], {"a": 0.5, "b": 1.0}),
        ("aab", [[], []], {"a": 0.0, "b": 0.0}),
        ("abb", [[0, 0], [1, 2]], {"a": 0.0, "b": 1.0}),  # edges that come in
    ],
    ids=["one edge", "none", "directed"],
)
def test_r_chi_is_the_share_of_a_group_with_an_edge_from_another(
    made, groups, edge_index, expected
):
    assert r_chi(made(list(groups)), edge_index) == expected


BOTH_WAYS = [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("r_chi", "limit", "expected"),
    [
        ({0: 1.0, 1: 1.0}, -1, r"alpha_chi_max must be .* in \[0, 1\], got -1"),
        ({0: 0.0, 1: 0.0}, 2, r"\[0, 1\], got 2"),
    ],
)
def test_alpha_chi_max_is_a_share(r_chi, limit, expected):
    with pytest.raises(ValueError, match=expected):
        alpha_chi(r_chi, limit)


@pytest.mark.parametrize(
    ("groups", "edge_index", "expected"),
    [
        ([0, 1], [[0, 1], [1, 0], [0, 0]], r"got \(2,\) and \(3, 2\)"),
        ([0, 1], [[0, 2], [2, 0]], r"outside 0 \.\. 1, where sensitive ends"),
        ([0.5, 1.5], BOTH_WAYS, "integers, bool or strings"),
        ([0, np.nan], BOTH_WAYS, "sensitive is missing for 1 nodes"),
        (pd.Series(["a", None]), BOTH_WAYS, "missing"),
        (pd.Series(["a", pd.NA], dtype="string"), BOTH_WAYS, "missing"),
    ],
    ids=["three ends", "no such node", "fractions", "a NaN", "a None", "pandas' NA"],
)
def test_r_chi_of_what_does_not_fit_is_refused(groups, edge_index, expected):
    with pytest.raises(ValueError, match=expected):
        r_chi(groups, edge_index)


# --------------------------------------------------------------------------- the graph


def test_symmetrise_drops_self_loops_and_duplicates_and_sorts():
    edges = np.array([[2, 0, 1, 1], [1, 0, 2, 0]])
    expected = [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert symmetrise(edges, 3).tolist() == expected


def test_symmetrise_leaves_no_edges_as_none():
    assert symmetrise(np.zeros((2, 0)), 3).shape == (2, 0)


def test_symmetrise_refuses_an_edge_to_nobody():
    with pytest.raises(DataError, match=r"outside 0 \.\. 2"):
        symmetrise(np.array([[0], [3]]), 3)


def test_a_permuted_graph_is_the_same_graph():
    original, order = graph(), np.array([3, 1, 4, 0, 2])

    permuted = original.permute(order)

    permuted.check()
    first = permuted.features[0].tolist()
    assert first == original.features[3].tolist()
    assert permuted.r_chi() == original.r_chi()
    assert_equal(permuted.permute(np.argsort(order)), original)


BROKEN = {
    "a feature is no number": (
        {"features": np.full((5, 2), np.nan, np.float32)},
        "finite",
    ),
    "features are a vector": ({"features": np.ones(5)}, r"\(N, F\)"),
    "features are a number": ({"features": np.array(1.0)}, r"\(N, F\)"),
    "features are doubles": (
        {"features": np.ones((5, 2))},
        r"features must be float32, got float64; .*astype\(np\.float32\)",
    ),
    "labels are short": (
        {"labels": np.ones(5, dtype=np.int32)},
        r"labels must be int64, got int32",
    ),
    "edges are short": (
        {"edge_index": np.array(BOTH_WAYS, dtype=np.int32)},
        r"edge_index must be int64, got int32",
    ),
    "a label is below -1": (
        {"labels": np.array([0, 1, 0, -2, 1])},
        "labels are numbered from 0, -1 is unlabelled; found -2",
    ),
    "a group between is missing": (
        {"sensitive": np.array([0, 0, 2, 2, 2])},
        r"numbered from 0 without a gap; found \[0, 2\]",
    ),
    "the first group is missing": (
        {"sensitive": np.ones(5, dtype=int)},
        r"numbered from 0 without a gap; found \[1\]",
    ),
    "a label is missing": (
        {"labels": np.ones(4, dtype=int)},
        r"labels must have shape \(5,\), got \(4,\)",
    ),
    "groups are fractions": (
        {"sensitive": np.ones(5)},
        "sensitive must be int64, got float64",
    ),
    "a group is negative": (
        {"sensitive": np.array([0, 0, 1, 1, -1])},
        r"found \[-1, 0, 1\]",
    ),
    "a group has no name": (
        {"groups": ({"sex": "f"},)},
        "there are 2 sensitive groups, and 1 of them have names",
    ),
    "a group's name is a number": (
        {"groups": ({"sex": "0"}, {"sex": 1})},
        r"has a text for every sensitive attribute.*found \{'sex': 1\}",
    ),
    "a group lacks an attribute": (
        {"groups": ({"sex": "f", "age": "1"}, {"sex": "m"})},
        r"has a text for every sensitive attribute.*found \{'sex': 'm'\}",
    ),
    "a fact is NumPy's": (
        {"facts": {"rows": np.int64(5)}},
        "facts must be texts, numbers.*int64 is not JSON",
    ),
    "an edge has three ends": (
        {"edge_index": np.zeros((3, 2), dtype=int)},
        r"shape \(2, E\)",
    ),
    "an edge leads to nobody": (
        {"edge_index": np.array([[0, 5], [5, 0]])},
        r"outside 0 \.\. 4",
    ),
    "an edge is a self-loop": ({"edge_index": np.array([[0], [0]])}, "self-loops"),
    "edges are not sorted": (
        {"edge_index": np.array([[1, 0], [0, 1]])},
        "not sorted",
    ),
    "edges are there twice": (
        {"edge_index": np.array([[0, 0, 1, 1], [1, 1, 0, 0]])},
        "duplicates",
    ),
    "an edge has one direction": (
        {"edge_index": np.array([[0], [1]])},
        "one direction only",
    ),
}


@pytest.mark.parametrize(("changed", "expected"), BROKEN.values(), ids=BROKEN)
def test_a_graph_that_breaks_a_promise_is_not_written(changed, expected, tmp_path):
    with pytest.raises(DataError, match=expected):
        graph(**changed).save(tmp_path / "graph.npz")

    assert list(tmp_path.iterdir()) == []


def test_one_class_and_one_group_are_a_graph():
    graph(labels=np.full(5, 3), sensitive=np.zeros(5, dtype=int)).check()


def test_no_nodes_are_a_graph():
    none = np.zeros(0, dtype=int)
    no_edges = np.zeros((2, 0), dtype=int)
    Graph(np.zeros((0, 2), np.float32), none, none, no_edges).check()


def test_two_groups_are_what_two_groups_are_needed_for():
    graph(sensitive=np.array([0, 1, 0, 1, 0])).require_two_groups("This")


def test_where_two_groups_are_needed_others_are_named():
    three = graph(sensitive=np.array([0, 1, 2, 1, 0]))

    has = "this graph has 3: s=0; s=1; s=2"
    with pytest.raises(
        NotDefined, match=f"This is defined for two sensitive groups; {has}"
    ):
        three.require_two_groups("This")


# ---------------------------------------------------------------------------- its file


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "new" / "graph.npz"
    graph().save(path)
    return path


def test_the_file_is_plain_arrays_that_others_may_read(saved):
    with np.load(saved, allow_pickle=False) as archive:
        assert set(archive) == {*ARRAYS, "about", "format_version"}
        assert archive["format_version"] == 1
    assert saved.stat().st_mode & 0o044


def test_a_graph_reads_back(saved):
    assert_equal(Graph.load(saved), graph())


WHOLE = {
    **{name: getattr(graph(), name) for name in ARRAYS},
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
            WHOLE | {"format_version": np.int64(2)},
            "has graph format 2; this version reads 1",
        ),
        (WHOLE | {"sensitive": np.array([0, 0, 1, 1, -1])}, "without a gap"),
    ],
    ids=["something else", "of a later version", "broken"],
)
def test_another_file_is_refused(tmp_path, arrays, expected):
    save_npz(tmp_path / "graph.npz", **arrays)
    with pytest.raises(DataError, match=rf"graph\.npz.*{expected}"):
        Graph.load(tmp_path / "graph.npz")


def test_a_damaged_file_is_named(saved):
    whole = saved.read_bytes()
    saved.write_bytes(whole[: len(whole) // 2])

    with pytest.raises(DataError, match=r"cannot be read .* Delete it and run again"):
        Graph.load(saved)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        Graph.load(tmp_path / "none.npz")


def test_pickled_objects_are_never_read(tmp_path):
    np.savez(tmp_path / "objects.npz", x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(DataError, match="cannot be read"):
        load_npz(tmp_path / "objects.npz")
