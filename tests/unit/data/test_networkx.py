"""Graphs in the files that NetworkX reads, with attributes as columns."""

from pathlib import Path

import networkx
import numpy as np
import pytest
from obtain import obtain

from fairgat.config import Dataset
from fairgat.errors import DataError

WRITE = {
    "graph.graphml": networkx.write_graphml,
    "graph.gml": networkx.write_gml,
    "graph.gexf": networkx.write_gexf,
    "graph.graphml.gz": networkx.write_graphml,
    "graph.gml.bz2": networkx.write_gml,
}


LISTED = ("é#1", "b#2", "c#3", "d#4")


def club(**attributes):
    """Eight people in a ring, with a chord that is listed in both directions."""
    graph = networkx.DiGraph(networkx.cycle_graph([f"p{row}" for row in range(8)]).edges())
    graph.add_edges_from([("p0", "p4"), ("p4", "p0")])
    for row, node in enumerate(graph):
        graph.nodes[node].update({"age": 20 + row, "sex": "fm"[row % 3 > 0], "won": row % 2 == 0, **attributes})
    return graph


@pytest.fixture
def prepare(tmp_path):
    def run(write, graph, name, nodes=None, task="node_classification", **options):
        path = tmp_path / name
        write(graph, str(path))
        options = {"path": str(path), "label": "won", "positive": "True", "sensitive": "sex"} | options
        if nodes:
            (tmp_path / "nodes.csv").write_text(nodes, encoding=options.get("encoding"))
            options["nodes"] = str(tmp_path / "nodes.csv")
        return obtain("mine", Dataset(task=task, source="networkx", options=options), tmp_path / "raw")

    return run


def written(text, encoding="utf-8"):
    """Write a text in place of a graph."""
    return lambda _, path: Path(path).write_text(text, encoding=encoding)


def gml(name=""):
    """Write a GML by hand, with comments: a ring of four people."""
    people = [f'node [ id {row} {name.format(row=row)}sex "{"fm"[row % 2]}" won {row // 2} ]' for row in range(4)]
    edges = [f"edge [ source {row} target {(row + 1) % 4} ]" for row in range(4)]
    return written("\n".join(["# made by hand", "graph [", "# nodes", *people, *edges, "]", ""]))


@pytest.mark.parametrize("name", WRITE)
def test_attributes_are_columns(prepare, name):
    won = {"positive": 1} if ".gml" in name else {"positive": "True"}
    graph = prepare(WRITE[name], club(), name, scaling="none", **won)
    assert graph.features.tolist() == [[20 + row] for row in range(8)]
    assert graph.labels.tolist() == [1, 0] * 4 and graph.group_names == ["sex=f", "sex=m"]
    assert graph.num_edges == 18


def test_an_edge_that_gml_lists_twice_is_one(prepare):
    def write(graph, path):
        networkx.write_gml(graph.to_undirected(), path)
        text = Path(path).read_text()
        edge = text[text.index("  edge [") : text.index("]", text.index("  edge [")) + 2]
        Path(path).write_text(text.replace(edge, edge + edge, 1))

    assert prepare(write, club(), "graph.gml", positive=1).num_edges == 18


def test_two_vertices_of_one_name_are_not_one(prepare):
    text = '*Vertices 3\n1 "Ann" sex f\n2 "Ann" sex m\n3 "Bob" sex m\n*Edges\n1 3\n2 3\n'
    with pytest.raises(DataError, match=r"\*Vertices announces 3 nodes, and 2 names were read"):
        prepare(written(text), None, "graph.net")


def test_pajek_and_lists_take_their_columns_from_a_table(prepare):
    nodes = "who,sex,won,age\n" + "".join(f"p{row},{'fm'[row % 3 > 0]},{row % 2},{20 + row}\n" for row in range(8))
    shared = {"nodes": nodes, "id": "who", "positive": 1}
    pajek = prepare(networkx.write_pajek, networkx.MultiGraph(club()), "graph.net", **shared)
    edges = prepare(networkx.write_edgelist, club(), "graph.edgelist", **shared)
    lists = prepare(networkx.write_adjlist, club(), "graph.txt", format="adjlist", **shared)
    for graph in (edges, lists):
        np.testing.assert_array_equal(graph.edge_index, pajek.edge_index)
    with pytest.raises(DataError, match=r"its nodes have no attributes.*`nodes: nodes\.csv`"):
        prepare(networkx.write_edgelist, club(), "graph.edgelist")


def test_nodes_of_a_gml_may_have_no_names(prepare):
    graph = prepare(gml(), None, "graph.gml", positive=1, graph_features=["degree"])
    assert graph.num_nodes == 4 and graph.num_edges == 8 and graph.num_features == 1
    with pytest.raises(DataError, match=r"no column is left as a feature.*`graph_features: \[degree\]`"):
        prepare(gml(), None, "graph.gml", positive=1)


def test_a_gml_may_have_letters_beyond_ascii(prepare):
    graph = prepare(gml('label "Zoë {row}" '), None, "graph.gml", positive=1, graph_features=["degree"])
    assert graph.num_nodes == 4


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": "graph.xyz"}, r"Its name ends in none of .*`format: graphml`"),
        ({"name": "graph.xyz", "format": "gexf"}, "graph.xyz was not read as gexf"),
        ({"positive": []}, r"graph\.graphml: node 'p0': column 'won' holds 'True', .*`positive: \['True'\]`"),
    ],
)
def test_what_is_wrong_is_said(prepare, change, expected):
    change = {"name": "graph.graphml", "features": ["age"]} | change
    with pytest.raises(DataError, match=expected):
        prepare(networkx.write_graphml, club(), **change)


def test_of_several_graphs_none_is_left_out_silently(prepare):
    def twice(graph, path):
        networkx.write_graphml(graph, path)
        text = Path(path).read_text()
        start, end = text.index("<graph"), text.index("</graph>") + len("</graph>")
        Path(path).write_text(text[:end] + text[start:end] + text[end:])

    with pytest.raises(DataError, match="several graphs, or one within another"):
        prepare(twice, club(), "graph.graphml")


def test_a_self_loop_is_named_by_its_nodes(prepare):
    graph = club()
    graph.add_edge("p3", "p3")
    with pytest.raises(DataError, match=r"edge \('p3', 'p3'\) joins a node to itself"):
        prepare(networkx.write_graphml, graph, "graph.graphml")
    assert prepare(networkx.write_graphml, graph, "graph.graphml", drop=["self_loops"]).num_edges == 18


# People whose names have the sign of comments.
NODES = "who,sex,won,age\n" + "".join(
    f"{name},{'fm'[row % 2]},{row // 2 % 2},{20 + row}\n" for row, name in enumerate(LISTED)
)


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        ("# from a to b\né#1 b#2 {}\nb#2   c#3 {'weight': 1, 'x': 2}\n c#3\td#4\n", {}),
        ("é#1 b#2 0.5\nb#2 c#3 1\nc#3 d#4 2\n", {}),
        ("é#1 b#2 0.5\nb#2 c#3\nc#3 d#4 2\n", {"format": "edgelist"}),
        ("é#1,b#2,{}\nb#2,c#3,{'weight': 1}\nc#3,d#4,{}\n", {"separator": ","}),
        ("é#1 b#2\n# two\nb#2 c#3\nc#3 d#4\n", {"comment": "#"}),
        ("é#1, b#2\nb#2 ,c#3\nc#3,d#4\n", {"separator": ","}),
        ("é#1 b#2\nb#2 c#3\nc#3 d#4\n", {"comment": "", "separator": " ", "encoding": "latin-1"}),
        ("é#1 b#2\nb#2 c#3 é#1\n\nd#4 c#3\n", {"format": "adjlist"}),
    ],
)
def test_lists_are_read_as_other_files_are(prepare, lines, options):
    shared = {"nodes": NODES.replace(",", options.get("separator", ",")), "id": "who", "positive": 1}
    graph = prepare(written(lines, options.get("encoding", "utf-8")), None, "graph.edgelist", **shared, **options)
    assert graph.edge_index.tolist() == [[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]
    assert graph.features.shape == (4, 1)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("graph.edgelist", "é#1 b#2\nb#2\nc#3 d#4\n", r"graph\.edgelist, line 2: 'b#2' lacks a node"),
        ("commas.edgelist", "é#1,b#2\nb#2,\nc#3,d#4\n", r"commas\.edgelist, line 2: 'b#2,' lacks a node"),
        ("graph.edgelist", "é#1 b#2 c#3\nb#2 d#4\n", r"its lines have 2 or 3 cells.*`format: adjlist`"),
        ("graph.edgelist", "é#1 b#2\n# two\nb#2 d#4\n", r"line 2: it begins with '#': is it a comment, `comment: '#'`"),
        ("graph.net", '*Vertices 2\n1 "a"\n2 "b"\n*Arcslist\n1 2\n', r"line 4: \*Arcslist is not read"),
    ],
)
def test_what_networkx_would_misread_is_refused(prepare, name, text, expected):
    options = {"separator": ","} if "commas" in name else {}
    with pytest.raises(DataError, match=expected):
        prepare(written(text), None, name, nodes=NODES, id="who", **options)


def test_a_value_that_is_the_files_default_is_read(prepare):
    head = '<graphml><key id="w" for="node" attr.name="won" attr.type="int"><default>0</default></key>'
    head += '<key id="s" for="node" attr.name="sex" attr.type="string"/><graph edgedefault="undirected">'
    won = ["" if row < 5 else '<data key="w">1</data>' for row in range(8)]
    nodes = "".join(f'<node id="{row}"><data key="s">{"fm"[row % 2]}</data>{won[row]}</node>' for row in range(8))
    edges = "".join(f'<edge source="{row}" target="{(row + 1) % 8}"/>' for row in range(8))
    text = f"{head}{nodes}{edges}</graph></graphml>"
    graph = prepare(written(text), None, "graph.graphml", positive=1, graph_features=["degree"])
    assert graph.labels.tolist() == [0] * 5 + [1] * 3
