"""Tables as people have them: other labels, unlabelled people, texts, gaps, separators, encodings, repeated edges."""

import numpy as np
import pytest
from obtain import graph_of, pairs

from fairgat.errors import DataError

NODES = (
    "id,paid,job,age,height,country\n"
    "725731259612196864,-1,nurse,20,1.7,0\n"
    "725731259612196865,1,cook,30,,1\n"
    "3,0,nurse,50,1.9,0\n"
    "4,1,none,40,1.8,1\n"
    "5,,cook,60,2.0,1\n"
    "6,0,cook,10,1.8,0\n"
)
EDGES = "725731259612196864\t725731259612196865\n725731259612196865\t3\n3\t4.0\n4\t3\n3\t4\n"
OPTIONS = {"id": "id", "label": "paid", "unlabelled": -1, "sensitive": "country", "fill": "mean", "scaling": "none"}


@pytest.fixture
def make(tmp_path):
    def run(nodes=NODES, edges=EDGES, encoding="utf-8", table="n.csv", **changed):
        texts = (text.encode(encoding, "surrogateescape") for text in (nodes, edges))
        return graph_of(tmp_path, *texts, nodes=table, **OPTIONS | changed)

    return run


def test_people_without_a_label_stay_in_the_graph(make):
    graph = make()
    assert graph.labels.tolist() == [-1, 1, 0, 1, -1, 0]
    assert graph.sensitive.tolist() == [0, 1, 0, 1, 1, 0]
    assert pairs(graph) == [[0, 1], [1, 2], [2, 3]]  # ids of 18 digits that differ in the last; 4.0 is 4
    facts = graph.facts
    assert facts["listed_edges"] == 5 and facts["repeated_edges"] == 1 and facts["edges_listed_both_ways"] == 1
    assert facts["edges_read_as"].startswith("utf-8, separator '\\t'; 5 rows; ends: columns '0' and '1'")


def test_texts_become_a_column_each_and_gaps_are_filled(make):
    graph = make()
    assert graph.facts["one_hot"] == {"job": 3}  # cook, none, nurse: elsewhere none may be a name
    np.testing.assert_allclose(graph.features[:, :3].sum(axis=1), 1)
    np.testing.assert_allclose(graph.features[1], [1, 0, 0, 30, 1.84], rtol=1e-6)
    assert make(fill="zero").features[1, -1] == 0
    graph = make(categories=["age"], exclude=["job"], missing=[1.9])
    assert graph.facts["one_hot"] == {"age": 6} and graph.num_features == 7
    assert graph.features[2, -1] == pytest.approx((1.7 + 1.8 + 2.0 + 1.8) / 4)
    assert "missing_nowhere" not in graph.facts and make(missing=[1.9, -9]).facts["missing_nowhere"] == [-9]


def test_labels_are_declared_where_they_are_not_0_and_1(make):
    nodes = NODES.replace(",-1,", ",dropped,").replace(",1,", ",yes,").replace(",0,cook", ",no,cook")
    nodes = nodes.replace(",0,nurse", ",no,nurse")
    graph = make(nodes=nodes, positive="yes", unlabelled="dropped")
    assert graph.labels.tolist() == [-1, 1, 0, 1, -1, 0]
    graph = make(positive=[0], negative=[1, -1], unlabelled=[])
    assert graph.labels.tolist() == [0, 0, 1, 0, -1, 1]
    with pytest.raises(DataError, match=r"n\.csv, line 2: besides .* holds '-1' and '0'\. Which are negative"):
        make(positive=1, unlabelled=[])
    with pytest.raises(DataError, match=r"n\.csv, line 2: column 'paid' holds '-1': neither among .*`unlabelled"):
        make(positive=1, negative=0, unlabelled=[])
    with pytest.raises(DataError, match=r"n\.csv, line 2: in column 'paid' nobody has a label"):
        make(unlabelled=[-1, 0, 1])


def test_nodes_can_be_left_out(make):
    graph = make(labelled_only=True)
    assert graph.labels.tolist() == [1, 0, 1, 0] and graph.facts["left_out_nodes"] == 2
    graph = make(labelled_only=True, largest_component=True)
    assert graph.labels.tolist() == [1, 0, 1] and pairs(graph) == [[0, 1], [1, 2]]
    nodes = NODES.replace("2.0,1", "2.0,").replace("1.8,0", "1.8,7")
    graph = make(nodes=nodes, groups=[1, 0], drop=["unknown_groups"])
    assert graph.sensitive.tolist() == [1, 0, 1, 0]
    with pytest.raises(DataError, match=r"n\.csv, line 2: of the nodes that are left, all have one sensitive attr"):
        make(edges="3\t6\n", largest_component=True)


def test_nodes_that_are_left_out_make_no_mean_and_no_category(make):
    nodes = NODES.replace("-1,nurse,20", "-1,pilot,?").replace("1,cook,30", "1,cook,").replace("50", "20")
    nodes = nodes.replace(",,cook,60", ",,cook,many")
    graph = make(nodes=nodes, labelled_only=True, graph_features=["degree"])
    assert graph.facts["one_hot"] == {"job": 3} and graph.facts["filled"] == {"age": 1, "height": 1}
    assert graph.features[:, 3].tolist() == pytest.approx([70 / 3, 20, 40, 10])
    assert "constant_features" not in graph.facts
    with pytest.raises(DataError, match=r"n\.csv, line 3: column 'height' is empty"):
        make(labelled_only=True, fill=None)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
def test_encoding_and_separator_are_found(make, encoding, separator):
    nodes = NODES.replace("job", "métier").replace("1.7", "1.70").replace(",,", ",-,")
    graph = make(nodes=nodes.replace(",", separator), encoding=encoding, unlabelled=[-1, "-"], missing="-")
    assert graph.num_features == 5 and graph.facts["one_hot"] == {"métier": 3}
    assert graph.facts["nodes_read_as"] == f"{encoding.removesuffix('-sig')}, separator {separator!r}, a header; 6 rows"


def test_a_header_is_found_or_given(make):
    headed = "who\tto\tsince\n725731259612196864\t3\t1999\n"
    assert pairs(make(edges=headed)) == pairs(make(edges=headed.split("\n", 1)[1])) == [[0, 2]]
    assert pairs(make(edges="since;a;b\n1;3;4\n", ends=["a", "b"])) == [[2, 3]]
    headless = {"file": "n.csv", "header": False}
    assert make(nodes=NODES.split("\n", 1)[1], table=headless, id="0", label="1", sensitive="5").num_nodes == 6
    with pytest.raises(DataError, match=r"e\.csv, line 1 names a node that does not exist: '77' and '88'"):
        make(edges="77\t88\n3\t4\n")  # two numbers are no header


def test_a_text_in_an_unknown_encoding_is_refused_with_one_to_try(make):
    with pytest.raises(DataError, match=r"n\.csv, line 8: the text is not in cp1252.*`encoding: latin-1`"):
        make(nodes=NODES + "7,1,\udc81,1,1,0\n")
