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
    """The graph of two tables, with these options."""

    def run(people=NODES, links=EDGES, **options):
        return graph_of(tmp_path, people, links, **OPTIONS | options)

    return run


@pytest.fixture
def refused(make):
    """The lines of the message."""

    def run(*tables, **options):
        with pytest.raises(DataError) as error:
            make(*tables, **options)
        return str(error.value).splitlines()

    return run


# ------------------------------------------------------------- what is declared occurs


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
    ids=["positive", "negative", "unlabelled", "a group", "of two", "of a list"],
)
def test_a_value_that_is_declared_and_occurs_nowhere_is_refused(refused, options, said):
    first, *_ = refused(**options)
    assert said in first


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


APART = "e\u0301"  # as a Mac writes é


def test_accents_apart_from_their_letter_make_no_other_value(make):
    """Neither an id, a label, a group, nor a category."""
    nodes = NODES.replace("a,20,x,Yes,f", "é,20,é,é,é")
    nodes = nodes.replace("c,40,y,Yes,f", f"c,40,{APART},{APART},{APART}")
    nodes = nodes.replace("b,30,y", "b,30,é")
    edges = EDGES.replace("a", APART)

    graph = make(
        nodes, edges, positive=["Yes", "é"], categories="job", exclude=(), groups=None
    )

    assert graph.labels.tolist() == [1, 0, 1, 0, 0, 1]
    assert graph.group_names == ["sex=f", "sex=m", "sex=é"]
    assert graph.facts["feature_names"] == ["age", "job=x", "job=z", "job=é"]


def test_blanks_within_a_text_are_joined(make):
    nodes = NODES.replace(",f", ",a b", 1)
    nodes = nodes.replace(",f", ",a  b").replace("e,", "e  e,")
    edges = EDGES.replace("e", "e e")

    graph = make(nodes, edges, groups=["a   b", "m"])

    assert graph.group_names == ["sex=a b", "sex=m"]
    assert graph.num_edges == 10


def test_ids_that_look_alike_are_one(refused):
    nodes = NODES.replace("b,30", "a\u200b,30")
    edges = EDGES.replace("b", "a\u200b")

    first, *_ = refused(nodes, edges)

    assert "which is the id of a node above (row 2" in first


# --------------------------------------------------------------- rows and columns


@pytest.mark.parametrize(
    ("nodes", "row"),
    [
        (NODES.replace("a,20,x", 'a,20,"5"" tall').replace("b,30,y", 'b,30,"6"" y'), 1),
        (NODES.replace("b,30,y", 'b,30,"5"" tall').replace("e,25,x", 'e,25,"y"'), 2),
        (NODES.replace("a,20,x,Yes,f", 'a,20,x,Yes,"f').replace("No,m", 'No,m"', 1), 1),
    ],
    ids=["from row 1", "from row 2 far below", "in the last column"],
)
def test_a_cell_that_swallowed_rows_is_refused(refused, nodes, row):
    first, *_ = refused(nodes)

    assert "which has a row within it" in first
    assert f"(row {row} of the data)" in first


SWALLOWED = NODES.replace("a,20,x", 'a,20,"5"" tall').replace("b,30,y", 'b,30,"6"" y')


def test_a_cell_that_swallowed_rows_is_refused_however_cells_are_parted(refused):
    parted = {"file": "n.csv", "read": {"delimiter": ";"}}
    first, *_ = refused(SWALLOWED.replace(",", ";"), nodes=parted)
    assert "which has a row within it" in first


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=ascii)
def test_a_cell_that_swallowed_rows_is_refused_however_lines_end(refused, end):
    first, *_ = refused(SWALLOWED.replace("\n", end))
    assert "which has a row within it" in first


def test_a_cell_of_several_lines_is_a_cell(make):
    poem = '"Roses, red\nand violets,\nblue"'
    assert make(NODES.replace(",x,", f",{poem},")).num_nodes == 6


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("23,900", "`read: {thousands: ','}` reads such numbers"),
        ("1.023.900,5", "`read: {thousands: '.', decimal: ','}` reads such numbers"),
        ("23\xa0900", "`read: {thousands: ' '}` reads such numbers"),
        ("23\u202f900,5", "`read: {thousands: ' ', decimal: ','}` reads such num"),
        ("23'900", """`read: {thousands: "'"}` reads such numbers"""),
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
    assert f"column 'age' is {cell!r}, which is not a number: {advice}" in said


def test_each_way_out_is_said(refused):
    nodes = NODES.replace("20", '"23,900"').replace("30", "old").replace("40", "")

    first, second, third = refused(nodes)

    assert "'23,900', which is not a number: `read: {thousands" in first
    assert "'old', which is not a number: list the column" in second
    assert "is empty, and is a feature: `fill: mean`" in third


@pytest.mark.parametrize("mark", ["", ","])
def test_a_category_in_nearly_every_row_is_refused(tmp_path, mark):
    nodes = "id,wage,y,s\n"
    for row in range(40):
        wage = f'"{1 + row}{mark}{row % 7:03}"'
        nodes += f"{row},{wage},{row % 2},{row % 3 % 2}\n"

    with pytest.raises(DataError, match=r"'wage' has 40 categories in 40 .*thousands"):
        graph_of(
            tmp_path,
            nodes,
            "from,to\n0,1\n1,2\n",
            id="id",
            label="y",
            sensitive="s",
            categories="wage",
        )


LINKS = {"file": "e.csv", "ends": ["from", "to"], "link_if": "amount"}


def test_a_column_of_amounts_says_that_they_are_not_used(make):
    graph = make(links="from,to,amount\na,b,0\nb,c,250\nc,d,1\n", edges=LINKS)

    said = graph.facts["edge_columns"]
    assert "1 rows where 'amount' is 0 are no edges" in said
    assert "its amounts are not use" in said


def test_a_column_of_0_and_1_has_no_amounts(make):
    graph = make(links="from,to,amount\na,b,0\nb,c,1\nc,d,1\n", edges=LINKS)
    assert "amounts" not in graph.facts["edge_columns"]


# ----------------------------------------------------------------- all of it at once


def test_what_is_wrong_with_both_files_is_one_message(refused):
    nodes = NODES.replace("20", '"23,900"').replace("b,30", "b,")
    nodes = nodes.replace("d,50", "c,50").replace("No,f", "maybe,")
    edges = EDGES + "a,a\nzed,b\n"

    lines = refused(nodes, edges, exclude=["job", "height"])

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


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        (NODES.replace("20", "old"), "from,to\na,b,c,d\n"),
        (NODES.replace("a,20", "a,20,20"), "from,to,since\na,b,1\n"),
    ],
    ids=["of the edges", "of the nodes"],
)
def test_what_is_wrong_with_a_whole_file_hides_nothing_of_the_other(
    refused, nodes, edges
):
    of_nodes, of_edges = refused(nodes, edges)

    assert of_nodes.startswith("n.csv:")
    assert of_edges.startswith("e.csv:")


def test_a_missing_id_hides_nothing_of_the_edges(refused):
    first, *_, last = refused(NODES, "from,to,since\na,b,1\n", id="who")

    assert "no column 'who', which the option `id` names" in first
    assert "which two of its 3 columns" in last


def test_at_most_ten_problems_are_told(refused):
    rows = NODES.splitlines()
    columns = ",".join(f"c{place}" for place in range(12))
    lines = [f"{rows[0]},{columns}"]
    for row in rows[1:]:
        value = "?" if row.endswith("f") else "1"
        lines.append(row + 12 * f",{value}")

    *problems, last = refused("\n".join(lines) + "\n")

    assert len(problems) == 10
    assert last == "... and 2 more problems"


# ------------------------------------------------------------ a file as banks have them


def messy_tables():
    """Thousands, an unknown gender, dates, amounts, a self-loop, an edge to nobody."""
    random = np.random.default_rng(0)
    nodes = "client;income;born;town;gender;repaid\n"
    for client in range(40):
        income = f"{random.integers(1, 90)},{random.integers(100, 999)}"
        born = f"19{60 + client % 40}-01-{10 + client % 9}"
        town = "ABC"[client % 3] if client % 9 else ""
        gender = "FM?"[client % 13 // 6]
        repaid = ["yes", "no", ""][client % 5 // 2]
        nodes += f"{client:03};{income};{born};{town};{gender};{repaid}\n"
    edges = "payer;payee;amount\n"
    for payer in range(39):
        amount = random.integers(0, 3) * 100
        edges += f"{payer:03};{payer + 1:03};{amount}\n"
    edges += "003;003;50\n004;999;20\n"
    return nodes, edges


def assert_said(lines, *words):
    text = "\n".join(lines)
    for word in words:
        assert word in text


def test_a_messy_file_is_right_in_two_rounds_of_messages(make, refused):
    tables = messy_tables()
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
    assert_said(
        refused(*tables, **options),
        "nowhere 'Yes'",
        "thousands: ','",
        "date",
        "categories",
        "drop: [unkn",
        "which two of its 3 columns",
    )

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
    assert_said(
        refused(*tables, **options),
        "fill: zero",
        "drop: [self_loops]",
        "drop: [unknown_ids]",
    )

    options["drop"] = ["unknown_groups", "self_loops", "unknown_ids"]
    graph = make(*tables, **options, fill="zero")
    assert graph.facts["feature_names"] == ["income", "town=A", "town=B", "town=C"]
