"""A user's own two tables: every column has a role, and what has none is refused."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from obtain import graph_of, pairs

from fairgat.errors import ConfigError, DataError

DOCS = Path(__file__).parents[3] / "docs/data.md"
NODES = (
    "person,age,job,paid,sex\n"
    "a,20,x,1,f\nb,30,y,0,m\nc,40,y,1,f\nd,50,z,0,m\ne,25,x,0,f\nf,35,x,1,m\n"
)
EDGES = "from,to\na,b\nb,c\nc,d\nd,e\ne,f\n"
OPTIONS = {"id": "person", "label": "paid", "sensitive": "sex", "categories": "job"}


@pytest.fixture
def make(tmp_path):
    """The graph of two tables, with these options."""

    def run(people=NODES, links=EDGES, **options):
        return graph_of(tmp_path, people, links, **OPTIONS | options)

    return run


def with_column(name, values, text=NODES):
    """The table with these values in a column, which is new or not."""
    header, *rows = [line.split(",") for line in text.splitlines()]
    if name not in header:
        header.append(name)
        rows = [[*row, ""] for row in rows]
    for row, value in zip(rows, values, strict=True):
        row[header.index(name)] = value
    return as_csv([header, *rows])


def with_cell(row, column, value, text=NODES):
    """The table with another cell; rows are counted from 1."""
    lines = [line.split(",") for line in text.splitlines()]
    lines[row][lines[0].index(column)] = value
    return as_csv(lines)


def as_csv(lines):
    return "\n".join(map(",".join, lines)) + "\n"


def features_by_name(graph):
    """The columns of the features."""
    names = graph.facts["feature_names"]
    return dict(zip(names, graph.features.T.tolist(), strict=True))


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


# ------------------------------------------------------------------------------ groups

NUMBERED = with_column("sex", ["10", "9", "10", "9", "2", "2"])


@pytest.mark.parametrize(
    ("groups", "names", "sensitive"),
    [
        (None, ["sex=2", "sex=9", "sex=10"], [2, 1, 2, 1, 0, 0]),
        ([9, 2, 10], ["sex=9", "sex=2", "sex=10"], [2, 0, 2, 0, 1, 1]),
        ({"low": [2], "high": "*"}, ["sex=low", "sex=high"], [1, 1, 1, 1, 0, 0]),
    ],
    ids=["in order", "as listed", "merged"],
)
def test_groups_are_the_values_of_a_column(make, groups, names, sensitive):
    graph = make(NUMBERED, groups=groups)

    assert graph.group_names == names
    assert graph.sensitive.tolist() == sensitive


def test_groups_may_be_bins_of_a_number(make):
    graph = make(sensitive="age", bins=[30, 40], exclude=["sex"])

    names = ["age=below 30", "age=30 to below 40", "age=40 and above"]
    assert graph.group_names == names
    assert graph.sensitive.tolist() == [0, 1, 2, 2, 0, 1]


def test_bins_of_large_numbers_keep_their_digits_and_the_last_has_no_end(make):
    dates = ["19991201", "19991204", "19991214", "19991215", "19991231", "inf"]
    cuts = [19991203, 19991213, 19991221]

    graph = make(with_column("age", dates), sensitive="age", bins=cuts, exclude=["sex"])

    assert graph.sensitive.tolist() == [0, 1, 2, 2, 3, 3]
    first, second, *_ = graph.group_names
    assert first == "age=below 19991203"
    assert second == "age=19991203 to below 19991213"


def test_several_attributes_are_combined(make):
    graph = make(with_column("age", "010010"), sensitive=["sex", "age"])

    assert graph.group_names == [
        "sex=f, age=0",
        "sex=f, age=1",
        "sex=m, age=0",
        "sex=m, age=1",
    ]
    assert graph.sensitive.tolist() == [0, 3, 0, 2, 1, 2]


def test_only_combinations_that_occur_are_groups(make):
    graph = make(with_column("age", "010101"), sensitive=["sex", "age"])
    assert graph.group_names == ["sex=f, age=0", "sex=m, age=1"]


def graph_with_groups(folder, count):
    nodes = "id,age,g,y\n"
    for row in range(26):
        nodes += f"{row},{row % 7},{row % count},{row % 2}\n"
    roles = {"id": "id", "sensitive": "g", "label": "y"}
    return graph_of(folder, nodes, "a,b\n0,1\n2,3\n", **roles)


def test_there_may_be_twelve_groups(tmp_path):
    assert graph_with_groups(tmp_path, 12).num_groups == 12


def test_more_than_twelve_groups_are_refused(tmp_path):
    said = r"13 groups are left \(g=0; g=1.*g=11\), and there should be 2 to 12"
    with pytest.raises(DataError, match=said):
        graph_with_groups(tmp_path, 13)


EUROPE = with_column("sex", ["NA", "EU", "NA", "EU", "NA", "EU"])
AS_WRITTEN = {"file": "n.csv", "read": {"keep_default_na": False}}


def test_a_word_for_missing_is_a_group_where_it_is_declared(make):
    graph = make(EUROPE, nodes=AS_WRITTEN, groups=["EU", "NA"])
    assert graph.group_names == ["sex=EU", "sex=NA"]


@pytest.mark.parametrize("groups", [None, {"eu": "EU", "others": "*"}])
def test_a_word_for_missing_is_no_group_where_it_is_not_declared(make, groups):
    with pytest.raises(DataError, match=r"column 'sex' is 'NA', .*\(row 1"):
        make(EUROPE, nodes=AS_WRITTEN, groups=groups)


# -------------------------------------------------------------- what is not as declared

THREE_GROUPS = with_column("sex", "001122")
NO_NUMBER = "which is not a number"
REFUSED = {
    "an id twice": (
        with_cell(3, "person", "a"),
        {},
        r"column 'person' is 'a', which is the id of a node above \(row 3 of",
    ),
    "no id": (
        with_cell(2, "person", " "),
        {},
        r"column 'person' is empty, and is the id; .*keep_default_na.* \(row 2",
    ),
    "no group": (
        with_cell(2, "sex", ""),
        {},
        "column 'sex' is empty, and should name a group.*"
        r"unknown_groups.* \(row 2 of",
    ),
    "a word for no group": (
        with_cell(2, "sex", "#N/A"),
        {},
        "column 'sex' is empty, and should name a group.*keep_default_na: false",
    ),
    "another group": (
        with_cell(2, "sex", "d"),
        {"groups": ["f", "m"]},
        r"column 'sex' is 'd', which is none of `groups`.*\(row 2",
    ),
    "a group in capitals": (
        with_cell(2, "sex", "M"),
        {},
        "column 'sex' is 'm', which is 'M' elsewhere: .*"
        r"list both in `groups` \(row 4",
    ),
    "a group in capitals beside others": (
        with_cell(2, "sex", "F"),
        {"groups": {"f": "f", "others": "*"}},
        "column 'sex' is 'F', which is 'f' elsewhere",
    ),
    "a group in capitals that would be dropped": (
        with_cell(2, "sex", "F"),
        {"groups": ["f", "m"], "drop": ["unknown_groups"]},
        "'F', which is 'f' elsewhere",
    ),
    "one number written in two ways": (
        with_column("sex", ["1", "2", "1.0", "2", "1", "2"]),
        {},
        "column 'sex' is '1.0', which is '1' elsewhere",
    ),
    "one group": (
        with_column("sex", "ffffff"),
        {},
        r"1 groups are left \(sex=f\), and there should be 2 to 12",
    ),
    "one bin": (
        NODES,
        {"sensitive": "age", "bins": [100], "exclude": ["sex"]},
        r"1 groups are left \(age=below 100\)",
    ),
    "bins of words": (
        NODES,
        {"sensitive": "job", "bins": [1], "categories": []},
        f"column 'job' is 'x', {NO_NUMBER}: correct it, as it has `bins`",
    ),
    "another label": (
        with_cell(1, "paid", "2"),
        {},
        r"column 'paid' is '2', which is none of `positive`, `negative` .*\(row 1",
    ),
    "another minus": (
        with_cell(1, "paid", "\u22121"),
        {},
        "column 'paid' is '\u22121', which is none of",
    ),
    "no label": (
        with_cell(1, "paid", ""),
        {"negative": "*"},
        "column 'paid' is empty, which is none of",
    ),
    "a label in capitals": (
        with_column("paid", ["yes", "Yes", *"abcd"]),
        {"positive": "yes", "negative": "*"},
        "'Yes', which is 'yes'",
    ),
    "a feature of words": (
        NODES,
        {"categories": []},
        rf"column 'job' is 'x', {NO_NUMBER}: list .*`categories`, .* \(row 1",
    ),
    "a letter in a number": (
        with_cell(2, "age", "3O"),
        {},
        rf"column 'age' is '3O', {NO_NUMBER}.*\(row 2 of the data\)",
    ),
    "a comma in a number": (
        with_cell(2, "age", "30,5").replace("30,5", '"30,5"'),
        {},
        f"column 'age' is '30,5', {NO_NUMBER}",
    ),
    "no number": (
        with_cell(2, "age", ""),
        {},
        r"column 'age' is empty, and is a feature: `fill: mean`.*\(row 2",
    ),
    "no category": (
        with_cell(2, "job", ""),
        {},
        "column 'job' is empty, and is a feature: with `fill: zero`",
    ),
    "too large a number": (
        with_cell(2, "age", "1e39"),
        {},
        "feature 'age' should be a number below 1e38",
    ),
    "no such column to exclude": (
        NODES,
        {"exclude": ["agee"]},
        "no column 'agee', which the option `exclude` names; did you mean 'age'",
    ),
    "no such categories": (
        NODES,
        {"categories": ["jobs"]},
        "'jobs', which the option `categories` na",
    ),
    "no such id": (NODES, {"id": "id"}, "no column 'id', which the option `id` names"),
    "no such label": (
        NODES,
        {"label": "y"},
        "no column 'y', which the option `label` names",
    ),
    "no such attribute": (
        NODES,
        {"sensitive": "g"},
        "no column 'g', which the option `sensitive` na",
    ),
    "no such feature": (
        NODES,
        {"features": ["f"]},
        "no column 'f', which the option `features` na",
    ),
    "no feature": (
        NODES,
        {"exclude": ["age", "job"], "categories": []},
        "no column is left as a feature",
    ),
    "a feature that is the groups": (
        with_column("female", "101010"),
        {},
        "feature 'female' is the groups in other words",
    ),
    "a feature that is the label": (
        with_column("wage", "505005"),
        {},
        "feature 'wage' is 'paid' in other words",
    ),
    "a feature that is the label where it is known": (
        with_column(
            "wage", "505055", with_column("paid", ["1", "0", "1", "0", "-1", "1"])
        ),
        {"unlabelled": -1},
        "'wage' is 'p",
    ),
    "a feature that is one of three groups": (
        with_column("first", "110000", THREE_GROUPS),
        {},
        "feature 'first' is the groups in other words",
    ),
    "a feature that is the attribute": (
        with_column("detail", "001122", THREE_GROUPS),
        {"groups": {"a": 0, "b": "*"}},
        "feature 'detail' is 'sex'",
    ),
}


@pytest.mark.parametrize(("nodes", "options", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_as_declared_is_refused(make, nodes, options, said):
    with pytest.raises(DataError, match=rf"^n\.csv: .*{said}"):
        make(nodes, **options)


# --------------------------------------------------------- labels, nodes and features


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ({"positive": "yes", "negative": ["no", "maybe"]}, [1, 0, -1, -1, 0, 0]),
        ({"positive": "*", "negative": "no"}, [1, 0, -1, -1, 0, 1]),
    ],
    ids=["listed", "all others"],
)
def test_labels_are_what_is_declared(make, options, labels):
    nodes = with_column("paid", ["yes", "no", "?", "", "no", "maybe"])
    graph = make(nodes, unlabelled=["?", ""], **options)
    assert graph.labels.tolist() == labels


def test_without_a_label_the_groups_are_the_labels(make):
    graph = make(label=None, exclude=["paid"])
    assert graph.labels.tolist() == [0, 1, 0, 1, 0, 1]


SOME_UNKNOWN = with_column("paid", ["1", "1", "-1", "0", "0", "0"])
SOME_UNKNOWN = with_cell(6, "sex", "d", SOME_UNKNOWN)
SOME_UNKNOWN = with_cell(6, "job", "q", SOME_UNKNOWN)
DROPPED = {"unlabelled": -1, "groups": ["f", "m"], "drop": ["unknown_groups"]}
LABELLED = DROPPED | {"labelled_only": True, "exclude": ["job"], "categories": []}


def test_nodes_of_unknown_groups_may_be_left_out_with_their_categories(make):
    graph = make(SOME_UNKNOWN, **DROPPED)

    assert graph.num_nodes == 5
    assert graph.facts["left_out_nodes"] == 1
    assert graph.facts["feature_names"] == ["age", "job=x", "job=y", "job=z"]


def test_nodes_without_a_label_may_be_left_out(make):
    graph = make(SOME_UNKNOWN, **LABELLED)

    assert graph.labels.tolist() == [1, 1, 0, 0]
    assert pairs(graph) == [[0, 1], [2, 3]]


def test_the_largest_component_is_that_of_the_nodes_that_are_left(make):
    links = EDGES.replace("b,c", "a,c")
    graph = make(SOME_UNKNOWN, links, **LABELLED, largest_component=True)
    assert graph.num_nodes == 2


@pytest.mark.parametrize(("fill", "age"), [("mean", 34), ("zero", 0)])
def test_empty_cells_are_filled_as_declared(make, fill, age):
    nodes = with_cell(2, "job", "", with_cell(2, "age", ""))
    graph = make(nodes, fill=fill, scaling="none")
    assert graph.features[1].tolist() == [age, 0, 0, 0]


def test_an_empty_cell_among_true_and_false_is_filled(make):
    flags = with_column("age", ["True", "", "False", "False", "True", "True"])
    graph = make(flags, fill="zero", scaling="none")
    assert features_by_name(graph)["age"] == [1, 0, 0, 0, 1, 1]


FLAGS = ["true", " false", "true ", " TRUE ", "False\t", "false"]


def test_blanks_around_true_and_false_mean_nothing(make):
    graph = make(with_column("flag", FLAGS), scaling="none")
    assert features_by_name(graph)["flag"] == [1, 0, 1, 1, 0, 0]


@pytest.mark.parametrize("other", ["yes", "5"])
def test_true_and_false_stand_with_nothing_else(make, other):
    nodes = with_column("flag", [other, *FLAGS[1:]])
    with pytest.raises(DataError, match=r"'flag' is .*, which is not a number"):
        make(nodes)


def test_rows_are_divided_by_their_sum_as_pytorch_geometric_does(make):
    pyg = pytest.importorskip("torch_geometric")
    nodes = with_column("debt", ["-10", "0", "10", "0", "0", "0"])
    x = torch.tensor([[20.0, -10], [30, 0], [40, 10], [50, 0], [25, 0], [35, 0]])

    graph = make(nodes, categories=[], exclude="job", scaling="row")

    expected = pyg.transforms.NormalizeFeatures()(pyg.data.Data(x=x))
    np.testing.assert_allclose(graph.features, expected.x)


def test_features_may_be_made_of_the_graph(make):
    made = {"graph_features": ["degree", "constant"]}
    graph = make(exclude=["age", "job"], categories=[], **made)

    degree, constant = graph.features.T.tolist()
    assert degree == [-1, 1, 1, 1, 1, -1]
    assert constant == [1, 1, 1, 1, 1, 1]


# ------------------------------------------------------------------------- the options


def published(folder):
    return {"file": f"{folder}/1.csv", "url": "https://x.org/1.csv", "sha256": 64 * "0"}


WRONG_OPTIONS = {
    "no id": ({"id": ...}, "options.id: this key is missing"),
    "YAML's true": (
        {"positive": [True]},
        "write quotes around the value, as the file has it: "
        "YAML reads this one as True",
    ),
    "YAML's null": ({"groups": [None, "m"]}, "write quotes around the value.*None"),
    "groups of two attributes": (
        {"sensitive": ["sex", "age"], "groups": ["f", "m"]},
        "are for a single attribute: recode several in the file",
    ),
    "bins and groups": (
        {"sensitive": "age", "bins": [30], "groups": ["f"]},
        "leave one out",
    ),
    "bins that fall": ({"sensitive": "age", "bins": [40, 30]}, "must rise"),
    "an attribute twice": (
        {"sensitive": ["sex", "sex"]},
        "'sex' is listed twice in `sensitive`",
    ),
    "a label twice": ({"positive": 0}, "'0' is listed twice in the values of labels"),
    "a column in two roles": (
        {"exclude": "sex"},
        "column 'sex' is in both `sensitive` and `exclude`",
    ),
    "the label as a feature": (
        {"features": ["paid", "age"]},
        "column 'paid' is in both `label` and `features`",
    ),
    "a weight": (
        {"edges": {"file": "e.csv", "weight": "w"}},
        "`weight` is now `link_if: w`.*amounts are not used",
    ),
    "no checksum": (
        {"nodes": {"url": "https://x.org/n.csv"}},
        "a file with a `url` needs its `sha256`",
    ),
    "no place": (
        {"nodes": {"sha256": 64 * "0"}},
        "give the path of a `file`, or the `url`",
    ),
    "one end": ({"edges": {"file": "e.csv", "ends": ["from"]}}, "edges.ends"),
    "one name for both": (
        {"nodes": published("nodes"), "edges": published("edges")},
        "both files are called 1.csv",
    ),
}


@pytest.mark.parametrize(("options", "said"), WRONG_OPTIONS.values(), ids=WRONG_OPTIONS)
def test_options_that_do_not_fit_are_refused(make, options, said):
    with pytest.raises(ConfigError, match=said):
        make(**options)
