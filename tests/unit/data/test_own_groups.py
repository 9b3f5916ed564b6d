"""The groups of a user's own table, its labels and its features."""

import numpy as np
import pytest
import torch
from obtain import graph_of, pairs
from own_tables import EDGES, features_by_name, with_cell, with_column

from fairgat.errors import DataError

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
