"""A user's own two tables: every column has a role, and what is not declared is refused in one sentence."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from obtain import graph_of, pairs

from fairgat.errors import ConfigError, DataError

NODES = "person,age,job,paid,sex\na,20,x,1,f\nb,30,y,0,m\nc,40,y,1,f\nd,50,z,0,m\ne,25,x,0,f\nf,35,x,1,m\n"
EDGES = "from,to\na,b\nb,c\nc,d\nd,e\ne,f\n"
OPTIONS = {"id": "person", "label": "paid", "sensitive": "sex", "categories": "job"}


@pytest.fixture
def make(tmp_path):
    def run(people=NODES, ties=EDGES, **options):
        return graph_of(tmp_path, people, ties, **OPTIONS | options)

    return run


def cell(row, column, value, text=NODES):
    """The table with another cell, rows from 1."""
    lines = [line.split(",") for line in text.splitlines()]
    lines[row][lines[0].index(column)] = value
    return "\n".join(map(",".join, lines)) + "\n"


def each(column, values, text=NODES):
    """The table with these values in a column, which is new or not."""
    for row, value in enumerate(values, 1):
        text = cell(row, column, value, text)
    return text


def added(name, values, text=NODES):
    """The table with one more column."""
    lines = [
        f"{line},{value}"
        for line, value in zip(text.splitlines(), [name, *values], strict=True)
    ]
    return "\n".join(lines) + "\n"


def test_two_tables_become_a_graph(make):
    graph = make(scaling="none")
    assert graph.features.tolist() == [
        [20, 1, 0, 0],
        [30, 0, 1, 0],
        [40, 0, 1, 0],
        [50, 0, 0, 1],
        [25, 1, 0, 0],
        [35, 1, 0, 0],
    ]
    assert graph.facts["feature_names"] == ["age", "job=x", "job=y", "job=z"]
    assert graph.labels.tolist() == [1, 0, 1, 0, 0, 1] and graph.sensitive.tolist() == [
        0,
        1,
        0,
        1,
        0,
        1,
    ]
    assert graph.group_names == ["sex=f", "sex=m"]
    assert pairs(graph) == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
    assert make().features[:, 0].tolist() == pytest.approx(
        [-1, -1 / 3, 1 / 3, 1, -2 / 3, 0]
    )


def test_what_each_column_was_taken_for_is_kept(make):
    facts = make(
        each("age", ["20", "", "40", "50", "25", "35"]), fill="mean", exclude=[]
    ).facts
    assert facts["columns"] == {
        "person": "id: a, b, c, d, e, f",
        "age": "feature: 20 to 50, all different; 1 empty",
        "job": "categories: x, y, z",
        "paid": "label: 0, 1",
        "sex": "sensitive: f, m",
    }
    assert (
        facts["edge_columns"] == "'from' and 'to' are the ends"
        and facts["first_edge"] == "a – b"
    )
    assert (
        make(features=["age"], categories=[]).facts["columns"]["job"]
        == "not used: x, y, z"
    )


def test_the_full_example_of_the_docs(tmp_path):
    page = (Path(__file__).parents[3] / "docs/data.md").read_text()
    example = yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])[
        "datasets"
    ]["my-network"]["options"]
    people = "person;name;age;job;gender;employed\n007;A;30,5;x;F;yes\n7;B;;y;M;no\n8;C;20;y;female;?\n9;D;50;y;X;yes\n"
    ties = (
        "from,to,close,since\n007,7,1,2001\n7,8,0,2002\n8,9,2,2003\n9,nobody,1,2004\n"
    )
    graph = graph_of(tmp_path, people, ties, **example)
    assert graph.labels.tolist() == [1, 0, -1, 1] and graph.group_names == [
        "gender=f",
        "gender=others",
    ]
    assert graph.facts["feature_names"] == ["age", "job=x", "job=y"] and pairs(
        graph
    ) == [[0, 1], [2, 3]]


# ------------------------------------------------------------------------------------------------------ ids and edges


def test_ids_are_texts(make):
    nodes = each("person", ["007", "7", "NA", "1.0", "1", "x y"])
    kept = {"nodes": {"file": "n.csv", "read": {"keep_default_na": False}}}
    edges = {"edges": {"file": "e.csv", "read": {"keep_default_na": False}}}
    assert pairs(make(nodes, "from,to\n007,7\nNA,1.0\n1,x y\n", **kept, **edges)) == [
        [0, 1],
        [2, 3],
        [4, 5],
    ]


def test_without_ids_edges_give_row_numbers_from_0(make):
    rows = {"id": None, "exclude": ["person"]}
    assert pairs(make(ties="from,to\n0,5\n1.0,2\n", **rows)) == [[0, 5], [1, 2]]
    assert (
        "rows are counted from 0"
        in make(ties="from,to\n1,5\n1,2\n", **rows).facts["first_edge"]
    )
    assert "counted" not in make(ties="from,to\n0,5\n1,2\n", **rows).facts["first_edge"]
    for wrong in ("6", "-1", "0.5", "x", ""):
        with pytest.raises(
            DataError,
            match=rf"column 'to' is .*{wrong}.*rows are counted from 0.*row 2",
        ):
            make(ties=f"from,to\n0,1\n0,{wrong}\n", **rows)
    with pytest.raises(
        DataError, match=r"its first line names two nodes.*`read: \{header: null\}`"
    ):
        make(ties="0,1\n1,2\n", **rows)


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        (
            EDGES + "a,zed\n",
            r"column 'to' is 'zed', which names nobody.*`drop: \[unknown_ids\]` \(row 6 of the data\)",
        ),
        (
            EDGES + "zed,a\nyet,a\n",
            r"column 'from' is 'zed', which names nobody.*\(row 6 of the data, and 1 more\)",
        ),
        (EDGES + "a,\n", "column 'to' is empty, which names nobody"),
        (
            EDGES + "b,b\n",
            r"column 'from' is 'b', as is the other end.*`drop: \[self_loops\]` \(row 6",
        ),
        ("a,b\nb,c\n", r"its first line names two nodes.*`read: \{header: null\}`"),
        (
            "from,to,since\na,b,1999\n",
            "which two of its 3 columns are the ends of an edge",
        ),
        (
            "from;to\na;b\n",
            "which two of its 1 columns .* It has one column, read with `sep: ','`",
        ),
    ],
)
def test_an_edge_joins_two_nodes(make, edges, said):
    with pytest.raises(DataError, match=rf"^e\.csv: {said}"):
        make(ties=edges)


def test_edges_may_be_left_out_and_are_counted(make):
    graph = make(
        ties=EDGES + "a,zed\nb,b\nb,a\na,b\n", drop=["unknown_ids", "self_loops"]
    )
    assert pairs(graph) == pairs(make())
    facts = graph.facts
    assert (
        facts["left_out_edges"],
        facts["repeated_edges"],
        facts["edges_listed_both_ways"],
    ) == (2, 1, 1)
    assert (facts["listed_inter_edges"], facts["listed_intra_edges"]) == (6, 0)
    with pytest.raises(DataError, match="no edge joins two nodes that are left"):
        make(ties="from,to\na,zed\n", drop=["unknown_ids"])


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (["1", "0", "2.5", "0.0", "-1"], {}),
        (["TRUE", "FALSE", "yes", "no", "True"], {}),
        (["1", "", "1", "0e3", "1"], {}),
        (
            ["0,5", "0,0", "1.000,5", "0", "1"],
            {"sep": ";", "decimal": ",", "thousands": "."},
        ),
    ],
)
def test_a_row_of_0_is_no_edge(make, values, read):
    rows = zip(EDGES.splitlines(), ["w", *values], strict=True)
    ties = "".join(";".join([*row.split(","), value]) + "\n" for row, value in rows)
    edges = {
        "file": "e.csv",
        "ends": ["from", "to"],
        "link_if": "w",
        "read": {"sep": ";"} | read,
    }
    graph = make(ties=ties, edges=edges)
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
            "there is no column 'ww', which the option `exclude` names; did you mean 'w",
        ),
        ("11111", {"link_if": "ww"}, "column 'ww', which the option `link_if` names"),
        (
            "11111",
            {"exclude": "w", "ends": ["from", "til"]},
            "there is no column 'til', which the option `ends` names",
        ),
    ],
)
def test_a_further_column_of_edges_has_a_role(make, values, given, said):
    with pytest.raises(DataError, match=said):
        make(
            ties=added("w", values, EDGES),
            edges={"file": "e.csv", "ends": ["from", "to"]} | given,
        )


# ------------------------------------------------------------------------------------------------- groups and labels


def test_groups_are_in_order_listed_merged_or_cut(make):
    """Cuts of large numbers keep their digits, and the last has no end."""
    nodes = each("sex", ["10", "9", "10", "9", "2", "2"])
    assert make(nodes).group_names == ["sex=2", "sex=9", "sex=10"]
    graph = make(nodes, groups=[9, 2, 10])
    assert graph.group_names == [
        "sex=9",
        "sex=2",
        "sex=10",
    ] and graph.sensitive.tolist() == [2, 0, 2, 0, 1, 1]
    graph = make(nodes, groups={"low": [2], "high": "*"})
    assert graph.group_names == [
        "sex=low",
        "sex=high",
    ] and graph.sensitive.tolist() == [1, 1, 1, 1, 0, 0]
    graph = make(sensitive="age", bins=[30, 40], exclude=["sex"])
    assert graph.group_names == [
        "age=below 30",
        "age=30 to below 40",
        "age=40 and above",
    ]
    assert graph.sensitive.tolist() == [0, 1, 2, 2, 0, 1]
    dates = each(
        "age", ["19991201", "19991204", "19991214", "19991215", "19991231", "inf"]
    )
    graph = make(
        dates, sensitive="age", bins=[19991203, 19991213, 19991221], exclude=["sex"]
    )
    assert graph.sensitive.tolist() == [0, 1, 2, 2, 3, 3]
    assert graph.group_names[:2] == [
        "age=below 19991203",
        "age=19991203 to below 19991213",
    ]


def test_several_attributes_are_combined_as_they_are(make):
    graph = make(each("age", "010101"), sensitive=["sex", "age"])
    assert graph.group_names == ["sex=f, age=0", "sex=m, age=1"]
    graph = make(each("age", "010010"), sensitive=["sex", "age"])
    assert graph.group_names == [
        "sex=f, age=0",
        "sex=f, age=1",
        "sex=m, age=0",
        "sex=m, age=1",
    ]
    assert graph.sensitive.tolist() == [0, 3, 0, 2, 1, 2]


@pytest.mark.parametrize(
    ("nodes", "options", "said"),
    [
        (
            cell(3, "person", "a"),
            {},
            r"column 'person' is 'a', which is the id of a node above \(row 3 of",
        ),
        (
            cell(2, "person", " "),
            {},
            r"column 'person' is empty, and is the id; .*keep_default_na.* \(row 2",
        ),
        (
            cell(2, "sex", ""),
            {},
            r"column 'sex' is empty, and should name a group.*unknown_groups.* \(row 2 of",
        ),
        (
            cell(2, "sex", "#N/A"),
            {},
            "column 'sex' is empty, and should name a group.*keep_default_na: false",
        ),
        (
            cell(2, "sex", "d"),
            {"groups": ["f", "m"]},
            r"column 'sex' is 'd', which is none of `groups`.*\(row 2",
        ),
        (
            cell(2, "sex", "M"),
            {},
            r"column 'sex' is 'm', which is 'M' elsewhere: .*list both in `groups` \(row 4",
        ),
        (
            cell(2, "sex", "F"),
            {"groups": {"f": "f", "others": "*"}},
            "column 'sex' is 'F', which is 'f' elsewhere",
        ),
        (
            cell(2, "sex", "F"),
            {"groups": ["f", "m"], "drop": ["unknown_groups"]},
            "'F', which is 'f' elsewhere",
        ),
        (
            each("sex", ["1", "2", "1.0", "2", "1", "2"]),
            {},
            "column 'sex' is '1.0', which is '1' elsewhere",
        ),
        (
            each("sex", "ffffff"),
            {},
            r"1 groups are left \(sex=f\), and there should be 2 to 12",
        ),
        (
            NODES,
            {"sensitive": "age", "bins": [100], "exclude": ["sex"]},
            r"1 groups are left \(age=below 100\)",
        ),
        (
            NODES,
            {"sensitive": "job", "bins": [1], "categories": []},
            "column 'job' is 'x', which is not a number: correct it, as it has `bins`",
        ),
        (
            cell(1, "paid", "2"),
            {},
            r"column 'paid' is '2', which is none of `positive`, `negative` .*\(row 1",
        ),
        (
            cell(1, "paid", "\u22121"),
            {},
            "column 'paid' is '\u22121', which is none of",
        ),
        (
            cell(1, "paid", ""),
            {"negative": "*"},
            "column 'paid' is empty, which is none of",
        ),
        (
            each("paid", ["yes", "Yes", *"abcd"]),
            {"positive": "yes", "negative": "*"},
            "'Yes', which is 'yes'",
        ),
        (
            NODES,
            {"categories": []},
            r"column 'job' is 'x', which is not a number: list .*`categories`, .* \(row 1",
        ),
        (
            cell(2, "age", "3O"),
            {},
            r"column 'age' is '3O', which is not a number.*\(row 2 of the data\)",
        ),
        (
            cell(2, "age", "30,5").replace("30,5", '"30,5"'),
            {},
            "column 'age' is '30,5', which is not a number",
        ),
        (
            cell(2, "age", ""),
            {},
            r"column 'age' is empty, and is a feature: `fill: mean`.*\(row 2",
        ),
        (
            cell(2, "job", ""),
            {},
            r"column 'job' is empty, and is a feature: with `fill: zero`",
        ),
        (cell(2, "age", "1e39"), {}, "feature 'age' should be a number below 1e38"),
        (
            NODES,
            {"exclude": ["agee"]},
            "no column 'agee', which the option `exclude` names; did you mean 'age'",
        ),
        (NODES, {"categories": ["jobs"]}, "'jobs', which the option `categories` na"),
        (NODES, {"id": "id"}, "no column 'id', which the option `id` names"),
        (NODES, {"label": "y"}, "no column 'y', which the option `label` names"),
        (NODES, {"sensitive": "g"}, "no column 'g', which the option `sensitive` na"),
        (NODES, {"features": ["f"]}, "no column 'f', which the option `features` na"),
        (
            NODES,
            {"exclude": ["age", "job"], "categories": []},
            "no column is left as a feature",
        ),
        (
            added("female", "101010"),
            {},
            "feature 'female' is the groups in other words",
        ),
        (added("wage", "505005"), {}, "feature 'wage' is 'paid' in other words"),
        (
            added("wage", "505055", each("paid", ["1", "0", "1", "0", "-1", "1"])),
            {"unlabelled": -1},
            "'wage' is 'p",
        ),
        (
            each("sex", "001122", added("first", "110000")),
            {},
            "feature 'first' is the groups in other words",
        ),
        (
            each("sex", "001122", added("detail", "001122")),
            {"groups": {"a": 0, "b": "*"}},
            "feature 'detail' is 'sex'",
        ),
    ],
)
def test_what_is_not_as_declared_is_refused(make, nodes, options, said):
    with pytest.raises(DataError, match=rf"^n\.csv: .*{said}"):
        make(nodes, **options)


def test_blanks_around_true_and_false_mean_nothing(make):
    flags = ["true", " false", "true ", " TRUE ", "False\t", "false"]
    graph = make(added("flag", flags), scaling="none")
    column = graph.facts["feature_names"].index("flag")
    assert graph.features[:, column].tolist() == [1, 0, 1, 1, 0, 0]
    for other in ("yes", "5"):
        with pytest.raises(DataError, match=r"'flag' is .*, which is not a number"):
            make(added("flag", [other, *flags[1:]]))


def test_more_than_twelve_groups_are_refused(tmp_path):
    def count(groups):
        nodes = "id,age,g,y\n" + "".join(
            f"{row},{row % 7},{row % groups},{row % 2}\n" for row in range(26)
        )
        return graph_of(
            tmp_path, nodes, "a,b\n0,1\n2,3\n", id="id", sensitive="g", label="y"
        ).num_groups

    assert count(12) == 12
    with pytest.raises(
        DataError,
        match=r"13 groups are left \(g=0; g=1.*g=11\), and there should be 2 to 12",
    ):
        count(13)


def test_a_word_for_missing_is_a_group_where_it_is_declared(make):
    nodes = each("sex", ["NA", "EU", "NA", "EU", "NA", "EU"])
    read = {"file": "n.csv", "read": {"keep_default_na": False}}
    assert make(nodes, nodes=read, groups=["EU", "NA"]).group_names == [
        "sex=EU",
        "sex=NA",
    ]
    for groups in (None, {"eu": "EU", "others": "*"}):
        with pytest.raises(DataError, match=r"column 'sex' is 'NA', .*\(row 1"):
            make(nodes, nodes=read, groups=groups)


def test_labels_are_what_is_declared(make):
    nodes = each("paid", ["yes", "no", "?", "", "no", "maybe"])
    graph = make(nodes, positive="yes", negative=["no", "maybe"], unlabelled=["?", ""])
    assert graph.labels.tolist() == [1, 0, -1, -1, 0, 0]
    assert make(
        nodes, positive="*", negative="no", unlabelled=["?", ""]
    ).labels.tolist() == [1, 0, -1, -1, 0, 1]
    assert make(label=None, exclude=["paid"]).labels.tolist() == [0, 1, 0, 1, 0, 1]


def test_nodes_may_be_left_out(make):
    nodes = cell(
        6,
        "job",
        "q",
        cell(6, "sex", "d", each("paid", ["1", "1", "-1", "0", "0", "0"])),
    )
    options = {"unlabelled": -1, "groups": ["f", "m"], "drop": ["unknown_groups"]}
    graph = make(nodes, **options)
    assert graph.num_nodes == 5 and graph.facts["left_out_nodes"] == 1
    assert graph.facts["feature_names"] == ["age", "job=x", "job=y", "job=z"]
    options |= {"exclude": ["job"], "categories": []}
    graph = make(nodes, **options, labelled_only=True)
    assert graph.labels.tolist() == [1, 1, 0, 0] and pairs(graph) == [[0, 1], [2, 3]]
    graph = make(
        nodes,
        EDGES.replace("b,c", "a,c"),
        **options,
        labelled_only=True,
        largest_component=True,
    )
    assert graph.num_nodes == 2


# ----------------------------------------------------------------------------------------------------------- features


def test_empty_cells_are_filled_as_declared(make):
    nodes = cell(2, "job", "", cell(2, "age", ""))
    assert make(nodes, fill="mean", scaling="none").features[1].tolist() == [
        34,
        0,
        0,
        0,
    ]
    assert make(nodes, fill="zero", scaling="none").features[1].tolist() == [0, 0, 0, 0]
    flags = each("age", ["True", "", "False", "False", "True", "True"])
    assert make(flags, fill="zero", scaling="none").features[:, 0].tolist() == [
        1,
        0,
        0,
        0,
        1,
        1,
    ]


def test_rows_are_divided_by_their_sum_as_pytorch_geometric_does(make):
    nodes = added("debt", ["-10", "0", "10", "0", "0", "0"])
    ours = make(nodes, categories=[], exclude="job", scaling="row").features
    pyg = pytest.importorskip("torch_geometric")
    x = torch.tensor([[20.0, -10], [30, 0], [40, 10], [50, 0], [25, 0], [35, 0]])
    np.testing.assert_allclose(
        ours, pyg.transforms.NormalizeFeatures()(pyg.data.Data(x=x)).x
    )


def test_features_made_of_the_graph(make):
    graph = make(
        exclude=["age", "job"], categories=[], graph_features=["degree", "constant"]
    )
    np.testing.assert_allclose(
        graph.features, [[-1, 1], [1, 1], [1, 1], [1, 1], [1, 1], [-1, 1]]
    )


# -------------------------------------------------------------------------------------------------------- the options


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"id": ...}, "options.id: this key is missing"),
        (
            {"positive": [True]},
            "write quotes around the value, as the file has it: YAML reads this one as True",
        ),
        ({"groups": [None, "m"]}, "write quotes around the value.*None"),
        (
            {"sensitive": ["sex", "age"], "groups": ["f", "m"]},
            "are for a single attribute: recode several in the file",
        ),
        ({"sensitive": "age", "bins": [30], "groups": ["f"]}, "leave one out"),
        ({"sensitive": "age", "bins": [40, 30]}, "must rise"),
        ({"sensitive": ["sex", "sex"]}, "'sex' is listed twice in `sensitive`"),
        ({"positive": 0}, "'0' is listed twice in the values of labels"),
        ({"exclude": "sex"}, "column 'sex' is in both `sensitive` and `exclude`"),
        (
            {"features": ["paid", "age"]},
            "column 'paid' is in both `label` and `features`",
        ),
        (
            {"edges": {"file": "e.csv", "weight": "w"}},
            "`weight` is now `link_if: w`.*amounts are not used",
        ),
        (
            {"nodes": {"url": "https://x.org/n.csv"}},
            "a file with a `url` needs its `sha256`",
        ),
        ({"nodes": {"sha256": 64 * "0"}}, "give the path of a `file`, or the `url`"),
        ({"edges": {"file": "e.csv", "ends": ["from"]}}, "edges.ends"),
        (
            {
                key: {
                    "file": f"{key}/1.csv",
                    "url": "https://x.org/1.csv",
                    "sha256": 64 * "0",
                }
                for key in ("nodes", "edges")
            },
            "both files are called 1.csv",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(make, options, said):
    with pytest.raises(ConfigError, match=said):
        make(**options)
