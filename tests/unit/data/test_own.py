"""A user's own two tables become a graph: every column has a role."""

import re
from pathlib import Path

import pytest
import yaml
from obtain import graph_of, pairs
from own_tables import EDGES, features_by_name, with_column

from fairgat.errors import DataError

DOCS = Path(__file__).parents[3] / "docs/data.md"


# --------------------------------------------------------------------------- the graph


def test_two_tables_become_a_graph(make):
    graph = make(scaling="none")

    assert features_by_name(graph) == {
        "age": [20, 30, 40, 50, 25, 35],
        "job=x": [1, 0, 0, 0, 1, 1],
        "job=y": [0, 1, 1, 0, 0, 0],
        "job=z": [0, 0, 0, 1, 0, 0],
    }
    assert graph.labels.tolist() == [1, 0, 1, 0, 0, 1]
    assert graph.sensitive.tolist() == [0, 1, 0, 1, 0, 1]
    assert graph.group_names == ["sex=f", "sex=m"]
    assert pairs(graph) == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]


def test_features_lie_between_minus_1_and_1_unless_it_is_said_otherwise(make):
    ages = features_by_name(make())["age"]
    assert ages == pytest.approx([-1, -1 / 3, 1 / 3, 1, -2 / 3, 0])


def test_what_each_column_was_taken_for_is_kept(make):
    ages = ["20", "", "40", "50", "25", "35"]
    facts = make(with_column("age", ages), fill="mean", exclude=[]).facts

    assert facts["columns"] == {
        "person": "id: a, b, c, d, e, f",
        "age": "feature: 20 to 50, all different; 1 empty",
        "job": "categories: x, y, z",
        "paid": "label: 0, 1",
        "sex": "sensitive: f, m",
    }
    assert facts["edge_columns"] == "'from' and 'to' are the ends"
    assert facts["first_edge"] == "a – b"


def test_a_column_that_is_not_used_is_kept_as_such(make):
    facts = make(features=["age"], categories=[]).facts
    assert facts["columns"]["job"] == "not used: x, y, z"


def test_the_full_example_of_the_docs(tmp_path):
    example = re.search(r"```yaml\n(.*?)```", DOCS.read_text(), re.DOTALL)[1]
    entry = yaml.safe_load(example)["datasets"]["my-network"]
    people = (
        "person;name;age;job;gender;employed\n"
        "007;A;30,5;x;F;yes\n7;B;;y;M;no\n8;C;20;y;female;?\n9;D;50;y;X;yes\n"
    )
    links = (
        "from,to,close,since\n007,7,1,2001\n7,8,0,2002\n8,9,2,2003\n9,nobody,1,2004\n"
    )

    graph = graph_of(tmp_path, people, links, **entry["options"])

    assert graph.labels.tolist() == [1, 0, -1, 1]
    assert graph.group_names == ["gender=f", "gender=others"]
    assert graph.facts["feature_names"] == ["age", "job=x", "job=y"]
    assert pairs(graph) == [[0, 1], [2, 3]]


# ----------------------------------------------------------------------- ids and edges


def test_ids_are_texts(make):
    nodes = with_column("person", ["007", "7", "NA", "1.0", "1", "x y"])
    as_written = {"keep_default_na": False}

    graph = make(
        nodes,
        "from,to\n007,7\nNA,1.0\n1,x y\n",
        nodes={"file": "n.csv", "read": as_written},
        edges={"file": "e.csv", "read": as_written},
    )

    assert pairs(graph) == [[0, 1], [2, 3], [4, 5]]


BY_ROW = {"id": None, "exclude": ["person"]}


def test_without_ids_edges_give_row_numbers_from_0(make):
    graph = make(links="from,to\n0,5\n1.0,2\n", **BY_ROW)
    assert pairs(graph) == [[0, 5], [1, 2]]


def test_where_no_edge_has_row_0_it_is_said_from_where_rows_are_counted(make):
    from_1 = make(links="from,to\n1,5\n1,2\n", **BY_ROW).facts
    from_0 = make(links="from,to\n0,5\n1,2\n", **BY_ROW).facts

    assert "rows are counted from 0" in from_1["first_edge"]
    assert "counted" not in from_0["first_edge"]


@pytest.mark.parametrize("wrong", ["6", "-1", "0.5", "x", ""])
def test_an_end_that_is_no_row_is_refused(make, wrong):
    said = rf"column 'to' is .*{wrong}.*rows are counted from 0.*row 2"
    with pytest.raises(DataError, match=said):
        make(links=f"from,to\n0,1\n0,{wrong}\n", **BY_ROW)


def test_edges_of_row_numbers_need_a_header(make):
    said = r"its first line names two nodes.*`read: \{header: null\}`"
    with pytest.raises(DataError, match=said):
        make(links="0,1\n1,2\n", **BY_ROW)


WRONG_EDGES = {
    "to nobody": (
        EDGES + "a,zed\n",
        "column 'to' is 'zed', which names nobody.*"
        r"`drop: \[unknown_ids\]` \(row 6 of the data\)",
    ),
    "two from nobody": (
        EDGES + "zed,a\nyet,a\n",
        "column 'from' is 'zed', which names nobody.*"
        r"\(row 6 of the data, and 1 more\)",
    ),
    "no end": (EDGES + "a,\n", "column 'to' is empty, which names nobody"),
    "a self-loop": (
        EDGES + "b,b\n",
        r"column 'from' is 'b', as is the other end.*`drop: \[self_loops\]` \(row 6",
    ),
    "no header": (
        "a,b\nb,c\n",
        r"its first line names two nodes.*`read: \{header: null\}`",
    ),
    "three columns": (
        "from,to,since\na,b,1999\n",
        "which two of its 3 columns are the ends of an edge",
    ),
    "one column": (
        "from;to\na;b\n",
        "which two of its 1 columns .* It has one column, read with `sep: ','`",
    ),
}


@pytest.mark.parametrize(("links", "said"), WRONG_EDGES.values(), ids=WRONG_EDGES)
def test_an_edge_joins_two_nodes(make, links, said):
    with pytest.raises(DataError, match=rf"^e\.csv: {said}"):
        make(links=links)


def test_edges_may_be_left_out_and_are_counted(make):
    links = EDGES + "a,zed\nb,b\nb,a\na,b\n"
    graph = make(links=links, drop=["unknown_ids", "self_loops"])

    assert pairs(graph) == pairs(make())
    assert graph.facts["left_out_edges"] == 2
    assert graph.facts["repeated_edges"] == 1
    assert graph.facts["edges_listed_both_ways"] == 1
    assert graph.facts["listed_inter_edges"] == 6
    assert graph.facts["listed_intra_edges"] == 0


def test_a_file_without_edges_is_refused(make):
    with pytest.raises(DataError, match=r"e\.csv: no row is an edge"):
        make(links="from,to\n")
    with pytest.raises(DataError) as error:
        make(id="nobody")
    assert "no row is an edge" not in str(error.value)


def test_a_graph_of_which_all_edges_were_left_out_is_refused(make):
    with pytest.raises(DataError, match="no edge joins two nodes that are left"):
        make(links="from,to\na,zed\n", drop=["unknown_ids"])


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (["1", "0", "2.5", "0.0", "-1"], {}),
        (["TRUE", "FALSE", "yes", "no", "True"], {}),
        (["1", "", "1", "0e3", "1"], {}),
        (["0,5", "0,0", "1.000,5", "0", "1"], {"decimal": ",", "thousands": "."}),
    ],
    ids=["numbers", "words", "empty", "commas"],
)
def test_a_row_of_0_is_no_edge(make, values, read):
    links = "from;to;w\n"
    for edge, value in zip(EDGES.splitlines()[1:], values, strict=True):
        links += f"{edge.replace(',', ';')};{value}\n"
    options = {
        "file": "e.csv",
        "ends": ["from", "to"],
        "link_if": "w",
        "read": {"sep": ";"} | read,
    }

    graph = make(links=links, edges=options)

    assert pairs(graph) == [[0, 1], [2, 3], [4, 5]]
    assert "2 rows where 'w' is 0 are no edges" in graph.facts["edge_columns"]


@pytest.mark.parametrize(
    ("values", "given", "said"),
    [
        ("11111", {}, "'w' of the edges has no role: .* link_if: w}"),
        ("11m11", {"link_if": "w"}, r"'w' is 'm', which does not say .*row 3"),
        ("00000", {"link_if": "w"}, "no row is an edge"),
        (
            "11111",
            {"exclude": ["ww"]},
            "column 'ww', which the option `exclude` names; did you mean 'w",
        ),
        ("11111", {"link_if": "ww"}, "column 'ww', which the option `link_if` names"),
        (
            "11111",
            {"exclude": "w", "ends": ["from", "til"]},
            "there is no column 'til', which the option `ends` names",
        ),
    ],
    ids=["no role", "a word", "all 0", "exclude", "link_if", "ends"],
)
def test_a_further_column_of_edges_has_a_role(make, values, given, said):
    links = with_column("w", values, EDGES)
    options = {"file": "e.csv", "ends": ["from", "to"]} | given

    with pytest.raises(DataError, match=said):
        make(links=links, edges=options)
