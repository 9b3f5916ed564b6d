"""Data of the user's own in two CSV files, and everything that can be wrong with them."""

import errno
import os

import numpy as np
import pytest
from obtain import obtain

from fairgat.config import Dataset
from fairgat.errors import DataError

NODES = "person,income,age,employed,gender\na,10,20,1,f\nb,20,40,0,m\nc,30,30,1,f\nd,40,20,0,m\n"
EDGES = "from,to,since\na,b,1999\nb,c,2001\nd,a,2002\n"


@pytest.fixture
def prepare(tmp_path):
    """Write both files, bring them in and make the graph."""

    def run(nodes=NODES, edges=EDGES, task="node_classification", **options):
        (tmp_path / "nodes.csv").write_text(nodes)
        (tmp_path / "edges.csv").write_text(edges)
        paths = {"nodes": str(tmp_path / "nodes.csv"), "edges": str(tmp_path / "edges.csv")}
        columns = {"id": "person", "label": "employed", "sensitive": "gender"}
        settings = Dataset(task=task, source="tables", options=paths | columns | options)
        return obtain("mine", settings, tmp_path / "raw")

    return run


def test_two_tables_become_a_graph(prepare):
    graph = prepare()
    np.testing.assert_allclose(graph.features, [[-1, -1], [-1 / 3, 1], [1 / 3, 0], [1, -1]], atol=1e-6)
    assert graph.labels.tolist() == [1, 0, 1, 0]
    assert graph.sensitive.tolist() == [0, 1, 0, 1]
    assert graph.edge_index.tolist() == [[0, 0, 1, 1, 2, 3], [1, 3, 0, 2, 1, 0]]


def test_ids_that_pandas_takes_for_missing_values_are_ids(prepare):
    graph = prepare(nodes=NODES.replace("\na,", "\nNA,"), edges=EDGES.replace("a", "NA"), drop=["unknown_ids"])
    assert graph.edge_index.tolist() == [[0, 0, 1, 1, 2, 3], [1, 3, 0, 2, 1, 0]]


def test_groups_are_names_or_numbers_as_a_whole(prepare):
    def groups(*values, **options):
        rows = [f"{'abcd'[i]},{20 + i},{i % 2},{value}\n" for i, value in enumerate(values)]
        nodes = "person,age,employed,gender\n" + "".join(rows)
        return prepare(nodes=nodes, task="link_prediction", **options).sensitive.tolist()

    assert groups("NA", "EU", "NA", "None") == [1, 0, 1, 2]
    assert groups("0", "b", "10", "9") == [0, 3, 1, 2]  # as text
    assert groups("10", "9", "9.0", "10") == [1, 0, 0, 1]
    assert groups("1", "0", "1.0", "0", groups=[1, 0]) == [0, 1, 0, 1]
    assert groups("0.5", "0", "1", "0") == [1, 0, 2, 0]
    assert groups("02", "01", "02", "01", groups=["02", "01"]) == [0, 1, 0, 1]
    assert groups("1.0", "0.0", "1", "0", groups=["0.0", "1.0"]) == [1, 0, 1, 0]
    huge = str(2**64)
    assert groups(huge + "1", huge + "2", huge + "1", "0") == [1, 2, 1, 0]
    with pytest.raises(DataError, match=r"nodes\.csv, line 4: column 'gender' is empty or NaN"):
        groups("1", "0", "NA", "0")
    with pytest.raises(DataError, match=r"line 3: gender is '1\.50', which is not among the groups 1, 2"):
        groups("1", "1.50", "2", "1", groups=[1, 2])


def test_a_cell_may_hold_the_separator(prepare):
    nodes = 'person, income, age, employed, gender\na,10,20,1, "f, she"\nb,20,40,0,m\nc,1,2,1,m\nd,4,2,0,m\n'
    assert prepare(nodes=nodes).sensitive.tolist() == [0, 1, 1, 1]


def test_groups_features_and_numeric_ids_can_be_chosen(prepare):
    graph = prepare(
        nodes=NODES.replace("a,", "7,", 1).replace("\nb,", "\n8,").replace("\nc,", "\n9,").replace("\nd,", "\n5,"),
        edges="x;a;b\n1;7;8\n2;5;9\n".replace(";", ","),
        groups=["m", "f"],
        features=["age"],
        ends=["a", "b"],
        scaling="none",
        task="link_prediction",
    )
    assert graph.sensitive.tolist() == [1, 0, 1, 0]
    assert graph.features.tolist() == [[20], [40], [30], [20]]
    assert graph.edge_index.tolist() == [[0, 1, 2, 3], [1, 0, 3, 2]]


def test_ids_are_text_whatever_else_their_column_holds(prepare):
    nodes = NODES.replace("\na,", "\n001,").replace("\nb,", "\n07,").replace("\nc,", "\n7,").replace("\nd,", "\nzoe ,")
    graph = prepare(nodes=nodes, edges="from,to\n001,07\n07, 7\n", drop=["unknown_ids"])
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert prepare(nodes=nodes, edges="from,to\n001,zoe\n7,zoe\n").edge_index.tolist() == [[0, 2, 3, 3], [3, 3, 0, 2]]
    digits = NODES.replace("\na,", "\n001,").replace("\nb,", "\n01,").replace("\nc,", "\n1,").replace("\nd,", "\n2,")
    graph = prepare(nodes=digits, edges="from,to\n001,x\n01,1\n", drop=["unknown_ids"])
    assert graph.edge_index.tolist() == [[1, 2], [2, 1]]


def test_row_numbers_are_numbers_whatever_else_their_column_holds(prepare):
    options = {"nodes": NODES.replace("person", "row"), "id": None, "features": ["age"], "drop": ["unknown_ids"]}
    for stranger in ("zoe", "1.5", "-1", "9", "inf"):
        graph = prepare(edges=f"u,v\n00,01\n2,{stranger}\n", **options)
        assert graph.edge_index.tolist() == [[0, 1], [1, 0]]


def test_link_prediction_needs_no_label(prepare):
    graph = prepare(task="link_prediction", label=None, features=["age"])
    assert graph.labels.tolist() == graph.sensitive.tolist()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"nodes": NODES.replace("gender", "sex")}, r"nodes\.csv, line 1: there is no column 'gender'"),
        ({"nodes": NODES.replace("20,40", "1e39,40")}, r"line 3: column 'income' is 1e39, which is infinite or too"),
        ({"nodes": NODES.replace(",0,", ",1,")}, r"line 2: in column 'employed' every label is 1"),
        ({"nodes": NODES.replace("0,m", "0,f")}, r"line 2: in column 'gender' all nodes are in one group"),
        ({"nodes": NODES.replace("\nb,", "\na,")}, r"line 3: the id 'a' already belongs to line 2"),
        ({"nodes": NODES + "e,50,20\n"}, r"nodes\.csv, line 6: 3 cells instead of the first row's 5, .*cut off"),
        ({"nodes": NODES + 'e,50,"20,1,f\n'}, r"nodes\.csv, line 6: 3 cells .*quotation mark left open"),
        ({"nodes": "person\n"}, r"nodes\.csv, line 1: a header and no rows"),
        ({"nodes": ""}, r"nodes\.csv, line 1: the file is empty"),
        (
            {"nodes": NODES.replace("gender", "age"), "sensitive": "age"},
            "several columns are called 'age'; rename all but one",
        ),
        ({"edges": EDGES + "a,zoe,2003\n"}, r"edges\.csv, line 5 names a node .*: 'zoe'\..*drop: \[unknown_ids\]"),
        ({"edges": EDGES + "\nc,c,2003\n"}, r"edges\.csv, line 6 joins a node to itself.*drop: \[self_loops\]"),
        ({"label": None}, r"mine: the labels are the sensitive groups themselves"),
        ({"edges": "from\na\n"}, r"edges\.csv, line 1: an edge needs two cells"),
    ],
)
def test_what_is_wrong_is_said(prepare, tmp_path, change, expected):
    with pytest.raises(DataError, match=expected):
        prepare(**change)


def test_a_missing_file_is_named_by_the_users_path(tmp_path):
    settings = Dataset(
        task="link_prediction", source="tables", options={"nodes": "no/n.csv", "edges": "no/e.csv", "sensitive": "s"}
    )
    with pytest.raises(DataError, match=r"no/n\.csv: there is no such file"):
        obtain("mine", settings, tmp_path / "raw")


def test_an_edited_file_is_taken_in_again(prepare):
    assert prepare().num_nodes == 4
    assert prepare(nodes=NODES + "e,50,20,1,m\n").num_nodes == 5


def test_a_full_disk_leaves_the_old_graph(prepare, tmp_path, monkeypatch):
    graph = prepare()
    graph.save(tmp_path / "graph.npz")
    before = (tmp_path / "graph.npz").read_bytes()
    there = sorted(tmp_path.iterdir())

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(DataError, match=r"graph\.npz cannot be written: No space left on device\. What was there"):
        graph.save(tmp_path / "graph.npz")
    assert (tmp_path / "graph.npz").read_bytes() == before
    assert sorted(tmp_path.iterdir()) == there
