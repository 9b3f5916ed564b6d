"""Graphs in the files that NetworkX reads, with attributes as columns."""

import inspect
from pathlib import Path

import networkx
import pytest
from obtain import obtain

from fairgat.config import Dataset
from fairgat.errors import DataError

WRITE = {
    "graph.graphml": networkx.write_graphml,
    "graph.gml": networkx.write_gml,
    "graph.gexf": networkx.write_gexf,
}


def club(**attributes):
    """Eight people in a ring, with a chord that is listed in both directions."""
    graph = networkx.DiGraph(
        networkx.cycle_graph([f"p{row}" for row in range(8)]).edges()
    )
    graph.add_edges_from([("p0", "p4"), ("p4", "p0")])
    for row, node in enumerate(graph):
        graph.nodes[node].update(
            {
                "age": 20 + row,
                "sex": "fm"[row % 3 > 0],
                "won": row % 2 == 0,
                **attributes,
            }
        )
    return graph


@pytest.fixture
def prepare(tmp_path):
    def run(
        content, name="graph.graphml", task="node_classification", edges=None, **options
    ):
        """Prepare the graph of a file: a graph, a function that writes it, or a text."""
        path = tmp_path / name
        if inspect.isfunction(content):
            content(path)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        else:
            WRITE[name](content, str(path))
        options = {
            "path": {"file": str(path), **(edges or {})},
            "label": "won",
            "sensitive": "sex",
        } | options
        options = {"positive": "True", "negative": "False"} | options
        return obtain(
            "mine",
            Dataset(task=task, source="networkx", options=options),
            tmp_path / "raw",
        )

    return run


def gml(name="", more=""):
    """A GML by hand, with comments: a ring of four people."""
    people = [
        f'node [ id {row} {name.format(row=row)}sex "{"fm"[row % 2]}" won {row // 2} ]'
        for row in range(4)
    ]
    edges = [f"edge [ source {row} target {(row + 1) % 4} ]" for row in range(4)]
    return "\n".join(
        ["# made by hand", "graph [", "# nodes", *people, *edges, more, "]", ""]
    )


NUMBERS = {"positive": 1, "negative": 0}


@pytest.mark.parametrize("name", WRITE)
def test_attributes_are_columns(prepare, name):
    won = NUMBERS if ".gml" in name else {}
    graph = prepare(club(), name, scaling="none", **won)
    assert graph.features.tolist() == [[20 + row] for row in range(8)]
    assert graph.labels.tolist() == [1, 0] * 4 and graph.group_names == [
        "sex=f",
        "sex=m",
    ]
    assert graph.num_edges == 18 and graph.facts["first_edge"] == "p0 – p1"


def test_an_edge_that_gml_lists_twice_is_one_and_letters_may_be_of_any_language(
    prepare,
):
    text = gml('label "Zoë {row}" ', "edge [ source 0 target 1 ]")
    graph = prepare(text, "graph.gml", graph_features=["degree"], **NUMBERS)
    assert graph.num_nodes == 4 and graph.num_edges == 8


def test_nodes_of_a_gml_may_have_no_names(prepare):
    assert (
        prepare(gml(), "graph.gml", graph_features=["degree"], **NUMBERS).num_features
        == 1
    )
    with pytest.raises(
        DataError, match=r"no column is left as a feature; `graph_features: \[degree\]`"
    ):
        prepare(gml(), "graph.gml", **NUMBERS)


def test_how_a_file_names_dates_and_draws_a_node_is_no_feature_unless_asked_for(
    prepare,
):
    graph = club(label="Ann", start=3, end="x", x=0.5, y=1.5, size=3, r=1, g=2, b=3)
    for row, node in enumerate(graph):
        graph.nodes[node].update({"start": row, "x": row})
    assert prepare(graph).facts["feature_names"] == ["age"]
    assert prepare(graph, features=["age", "start"]).facts["feature_names"] == [
        "age",
        "start",
    ]


def test_an_edge_of_weight_0_is_none(prepare):
    graph = club()
    networkx.set_edge_attributes(
        graph, {edge: float(edge[0] != "p1") for edge in graph.edges}, "weight"
    )
    with pytest.raises(
        DataError,
        match=r"graph\.graphml: 'weight' of the edges has no role: it says which are edges",
    ):
        prepare(graph)
    assert (
        prepare(graph, edges={"weight": "weight"}).num_edges == 16
    )  # p1 - p2 is left out
    assert prepare(graph, edges={"exclude": "weight"}).num_edges == 18
    del graph.edges["p2", "p3"]["weight"]  # which files leave out where it is 1
    assert prepare(graph, edges={"weight": "weight"}).num_edges == 16


def test_what_is_drawn_of_a_node_is_no_feature(prepare):
    drawn = prepare(
        club(viz={"size": 2.0, "color": {"r": 1, "g": 2, "b": 3, "a": 1.0}}),
        "graph.gexf",
    )
    assert drawn.facts["feature_names"] == ["age"]
    nested = prepare(
        gml("graphics [ x {row} ] age {row} "),
        "graph.gml",
        exclude="graphics",
        **NUMBERS,
    )
    assert nested.facts["feature_names"] == ["age"]


def test_an_edge_that_names_a_node_which_is_not_described_is_named(prepare):
    graph = club()
    graph.add_edge("p3", "ghost")
    with pytest.raises(
        DataError,
        match=r"the edge \('p3', 'ghost'\) names node 'ghost', which the file does not desc",
    ):
        prepare(graph)


def test_a_missing_attribute_is_said_of_its_node(prepare):
    graph = club()
    del graph.nodes["p2"]["age"]
    with pytest.raises(
        DataError, match=r"column 'age' is empty, and is a feature.* \(node 'p2'\)"
    ):
        prepare(graph)
    assert prepare(graph, fill="mean").num_nodes == 8
    graph.add_edge("p3", "p3")
    with pytest.raises(
        DataError, match=r"column 'source' is 'p3', as is the other end.*\(edge \d+\)"
    ):
        prepare(graph, fill="mean")


def test_a_value_that_is_the_files_default_is_read(prepare):
    head = '<graphml><key id="w" for="node" attr.name="won" attr.type="int"><default>0</default></key>'
    head += '<key id="s" for="node" attr.name="sex" attr.type="string"/><graph edgedefault="undirected">'
    won = ["" if row < 5 else '<data key="w">1</data>' for row in range(8)]
    nodes = "".join(
        f'<node id="{row}"><data key="s">{"fm"[row % 2]}</data>{won[row]}</node>'
        for row in range(8)
    )
    edges = "".join(
        f'<edge source="{row}" target="{(row + 1) % 8}"/>' for row in range(8)
    )
    graph = prepare(
        f"{head}{nodes}{edges}</graph></graphml>", graph_features=["degree"], **NUMBERS
    )
    assert graph.labels.tolist() == [0] * 5 + [1] * 3


def twice(path: Path) -> None:
    networkx.write_graphml(club(), path)
    text = path.read_text()
    start, end = text.index("<graph "), text.index("</graph>") + len("</graph>")
    path.write_text(text[:end] + text[start:end] + text[end:])


@pytest.mark.parametrize(
    ("name", "content", "options", "expected"),
    [
        (
            "graph.xyz",
            gml(),
            {},
            r"its name ends in none of \.graphml.*`format: graphml`",
        ),
        (
            "graph.xyz",
            gml(),
            {"format": "gexf"},
            r"graph\.xyz was not read as gexf: .*Is its `format` another",
        ),
        (
            "graph.graphml",
            club(),
            NUMBERS,
            r"column 'won' is 'True', which is none of .*\(node 'p0', and 7 more\)",
        ),
        ("graph.graphml", twice, {}, "holds several graphs, or one within another"),
        (
            "graph.graphml",
            networkx.DiGraph([(0, 1)]),
            {},
            "its nodes have no attributes; `source: tables` takes them",
        ),
    ],
)
def test_what_networkx_would_misread_is_refused(
    prepare, name, content, options, expected
):
    with pytest.raises(DataError, match=expected):
        prepare(content, name, **options)


def test_a_number_that_a_node_lacks_leaves_the_others_as_they_are(prepare):
    text = gml().replace(" won 1 ]", " ]", 1)
    graph = prepare(
        text, "graph.gml", graph_features=["degree"], unlabelled=[""], **NUMBERS
    )
    assert graph.labels.tolist() == [0, 0, -1, 1]
