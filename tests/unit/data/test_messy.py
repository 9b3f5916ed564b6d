"""Messy CSV files: nothing is silently wrong, and all that is wrong is said at once."""

import numpy as np
import pytest
from obtain import graph_of

from fairgat.errors import DataError

NODES = (
    "id,age,job,paid,sex\n"
    "a,20,x,Yes,f\nb,30,y,No,m\nc,40,y,Yes,f\nd,50,z,No,m\ne,25,x,No,f\nf,35,x,Yes,m\n"
)
EDGES = "from,to\na,b\nb,c\nc,d\nd,e\ne,f\n"
OPTIONS = {
    "id": "id",
    "label": "paid",
    "positive": "Yes",
    "negative": "No",
    "sensitive": "sex",
    "exclude": "job",
}


@pytest.fixture
def make(tmp_path):
    def run(people=NODES, ties=EDGES, **options):
        return graph_of(tmp_path, people, ties, **OPTIONS | options)

    return run


@pytest.fixture
def refused(make):
    """The lines of the message."""

    def run(*tables, **options):
        with pytest.raises(DataError) as error:
            make(*tables, **options)
        return str(error.value).splitlines()

    return run


# ------------------------------------------------------- what is declared occurs


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"positive": "Yess", "negative": "*"}, "'Yess', which `positive` lists; did"),
        (
            {"positive": "*", "negative": "Noo"},
            "'Noo', which `negative` lists; did you",
        ),
        (
            {"positive": "Yes", "negative": "*", "unlabelled": "?"},
            "'?', which `unlabelled` lists; it has No, Yes",
        ),
        (
            {"groups": {"w": "F", "o": "*"}},
            "'sex' is nowhere 'F', which `groups` lists",
        ),
        ({"groups": {"w": ["f", "female"], "o": "*"}}, "nowhere 'female'"),
        ({"groups": ["f", "m", "d"]}, "nowhere 'd', which `groups` lists; it has f, m"),
    ],
)
def test_a_value_that_is_declared_occurs(refused, options, said):
    assert said in refused(**options)[0]


def test_an_empty_cell_may_be_declared_where_there_is_none(make):
    assert make(unlabelled=[""]).labels.tolist() == [1, 0, 1, 0, 0, 1]


@pytest.mark.parametrize(
    ("written", "as_"),
    [("Yes", "Yes\u200b"), ("Yes", "\u202aYes"), ("f", "f\u200e"), ("f", "f\ufeff")],
)
def test_what_nobody_sees_makes_no_other_value(make, written, as_):
    graph = make(NODES.replace(written, as_, 1), negative="*")
    assert graph.labels.tolist() == [1, 0, 1, 0, 0, 1]
    assert graph.group_names == ["sex=f", "sex=m"]


def test_blanks_within_a_text_are_joined(make):
    nodes = (
        NODES.replace(",f", ",a  b").replace("a  b", "a b", 1).replace("e,", "e  e,")
    )
    graph = make(nodes, EDGES.replace("e", "e e"), groups=["a   b", "m"])
    assert graph.group_names == ["sex=a b", "sex=m"]
    assert graph.num_edges == 10


def test_ids_that_look_alike_are_one(refused):
    said, *_ = refused(
        NODES.replace("b,30", "a\u200b,30"), EDGES.replace("b", "a\u200b")
    )
    assert "which is the id of a node above (row 2" in said


# --------------------------------------------------------------- rows and columns


@pytest.mark.parametrize(
    ("nodes", "row"),
    [
        (NODES.replace("a,20,x", 'a,20,"5"" tall').replace("b,30,y", 'b,30,"6"" y'), 1),
        (NODES.replace("b,30,y", 'b,30,"5"" tall').replace("e,25,x", 'e,25,"y"'), 2),
        (NODES.replace("a,20,x,Yes,f", 'a,20,x,Yes,"f').replace("No,m", 'No,m"', 1), 1),
    ],
)
def test_a_cell_that_swallowed_rows_is_refused(refused, nodes, row):
    said = refused(nodes)[0]
    assert "which has a row within it" in said
    assert f"(row {row} of the data)" in said


def test_a_cell_of_several_lines_is_a_cell(make):
    poem = '"Roses, red\nand violets,\nblue"'
    assert make(NODES.replace(",x,", f",{poem},")).num_nodes == 6


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("23,900", "`read: {thousands: ','}` reads such numbers"),
        ("1.023.900,5", "`read: {thousands: '.', decimal: ','}` reads such numbers"),
        ("30,5", "`read: {decimal: ','}` reads such numbers"),
        ("2024-01-31", "write a date as a number"),
        ("31.1.2024 10:30", "write a date as a number"),
        ("$1200", "write the number without its unit"),
        ("1,200 EUR", "write the number without its unit"),
        ("unknown", "list the column in `categories`, or in `exclude`"),
    ],
)
def test_what_is_no_number_comes_with_what_makes_it_one(refused, cell, advice):
    (said,) = refused(NODES.replace("20", f'"{cell}"'))
    assert f"column 'age' is '{cell}', which is not a number: {advice}" in said


def test_each_way_out_is_said(refused):
    nodes = NODES.replace("20", '"23,900"').replace("30", "old").replace("40", "")
    first, second, third = refused(nodes)
    assert "'23,900', which is not a number: `read: {thousands" in first
    assert "'old', which is not a number: list the column" in second
    assert "is empty, and is a feature: `fill: mean`" in third


@pytest.mark.parametrize("mark", ["", ","])
def test_a_category_in_nearly_every_row_is_refused(tmp_path, mark):
    def wages(rows):
        return [f'"{1 + row % different}{mark}{row % 7:03}"' for row in range(rows)]

    different = 40
    rows = "".join(
        f"{row},{wage},{row % 2},{row % 3 % 2}\n" for row, wage in enumerate(wages(40))
    )
    with pytest.raises(DataError, match=r"'wage' has 40 categories in 40 .*thousands"):
        graph_of(
            tmp_path,
            "id,wage,y,s\n" + rows,
            "from,to\n0,1\n1,2\n",
            id="id",
            label="y",
            sensitive="s",
            categories="wage",
        )


def test_a_column_of_amounts_says_that_they_are_not_used(make):
    ties = "from,to,amount\na,b,0\nb,c,250\nc,d,1\n"
    edges = {"file": "e.csv", "ends": ["from", "to"], "link_if": "amount"}
    said = make(ties=ties, edges=edges).facts["edge_columns"]
    assert (
        "1 rows where 'amount' is 0 are no edges, and its amounts are not use" in said
    )
    said = make(ties=ties.replace("250", "1"), edges=edges).facts["edge_columns"]
    assert "amounts" not in said


# ----------------------------------------------------------------- all of it at once


def test_what_is_wrong_with_both_files_is_one_message(refused):
    nodes = (
        NODES.replace("20", '"23,900"').replace("b,30", "b,").replace("d,50", "c,50")
    )
    nodes = nodes.replace("No,f", "maybe,")
    lines = refused(nodes, EDGES + "a,a\nzed,b\n", exclude=["job", "height"])
    expected = [
        "n.csv: there is no column 'height', which the option `exclude` names",
        "n.csv: column 'id' is 'c', which is the id of a node above",
        "n.csv: column 'age' is '23,900', which is not a number: `read: {thousands",
        "n.csv: column 'age' is empty, and is a feature: `fill: mean`",
        "n.csv: column 'sex' is empty, and should name a group",
        "n.csv: column 'paid' is 'maybe', which is none of `positive`",
        "e.csv: column 'from' is 'd', which names nobody",
        "e.csv: column 'to' is 'd', which names nobody",
        "e.csv: column 'from' is 'a', as is the other end",
    ]
    for sentence in expected:
        assert any(line.startswith(sentence) for line in lines), sentence
    assert len(lines) == len(expected)


def test_what_is_wrong_with_a_whole_file_hides_nothing_of_the_other(refused):
    lines = refused(NODES.replace("20", "old"), "from,to\na,b,c,d\n")
    assert [line[:6] for line in lines] == ["n.csv:", "e.csv:"]
    lines = refused(NODES.replace("a,20", "a,20,20"), "from,to,since\na,b,1\n")
    assert [line[:6] for line in lines] == ["n.csv:", "e.csv:"]
    lines = refused(NODES, "from,to,since\na,b,1\n", id="who")
    assert "no column 'who', which the option `id` names" in lines[0]
    assert "which two of its 3 columns" in lines[-1]


def test_at_most_ten_problems_are_told(refused):
    columns = ",".join(f"c{place}" for place in range(12))
    nodes = NODES.replace("sex\n", f"sex,{columns}\n").replace(
        ",f\n", ",f" + 12 * ",?" + "\n"
    )
    nodes = nodes.replace(",m\n", ",m" + 12 * ",1" + "\n")
    lines = refused(nodes)
    assert len(lines) == 11
    assert lines[-1] == "... and 2 more problems"


def test_a_messy_file_is_right_in_two_rounds_of_messages(make, refused):
    """Thousands, an unknown gender, dates, amounts, a self-loop, an edge to nobody."""
    random = np.random.default_rng(0)
    rows = ["client;income;born;town;gender;repaid"]
    for client in range(40):
        income = f"{random.integers(1, 90)},{random.integers(100, 999)}"
        gender = "FM?"[client % 13 // 6]
        born = f"19{60 + client % 40}-01-{10 + client % 9}"
        repaid = ["yes", "no", ""][client % 5 // 2]
        town = "ABC"[client % 3] if client % 9 else ""
        rows.append(f"{client:03};{income};{born};{town};{gender};{repaid}")
    ties = ["payer;payee;amount"]
    for payer in range(39):
        ties.append(f"{payer:03};{payer + 1:03};{random.integers(0, 3) * 100}")
    ties += ["003;003;50", "004;999;20"]
    tables = ("\n".join(rows) + "\n", "\n".join(ties) + "\n")
    options = {
        "nodes": {"file": "n.csv", "read": {"sep": ";"}},
        "edges": {"file": "e.csv", "read": {"sep": ";"}},
        "id": "client",
        "label": "repaid",
        "positive": "Yes",
        "negative": "no",
        "sensitive": "gender",
        "groups": ["F", "M"],
        "exclude": (),
    }
    first = "\n".join(refused(*tables, **options))
    for word in (
        "nowhere 'Yes'",
        "thousands: ','",
        "date",
        "categories",
        "drop: [unkn",
    ):
        assert word in first
    assert "which two of its 3 columns" in first

    options |= {
        "nodes": {"file": "n.csv", "read": {"sep": ";", "thousands": ","}},
        "edges": {
            "file": "e.csv",
            "read": {"sep": ";"},
            "ends": ["payer", "payee"],
            "link_if": "amount",
        },
        "positive": "yes",
        "unlabelled": "",
        "categories": "town",
        "exclude": "born",
        "drop": ["unknown_groups"],
    }
    second = "\n".join(refused(*tables, **options))
    for word in ("fill: zero", "drop: [self_loops]", "drop: [unknown_ids]"):
        assert word in second

    options["drop"] = ["unknown_groups", "self_loops", "unknown_ids"]
    graph = make(*tables, **options, fill="zero")
    assert graph.facts["feature_names"] == ["income", "town=A", "town=B", "town=C"]
