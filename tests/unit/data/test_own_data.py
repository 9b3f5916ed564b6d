"""Odd files that people have: what is open is found in the file or asked for, and what a message suggests works."""

import bz2
import gzip
import io
import re
import tarfile
import zipfile

import numpy as np
import pytest
import yaml
from obtain import graph_of, pairs

from fairgat.errors import ConfigError, DataError, FairGATError

ROWS = [(f"p{row}", 20 + row, row % 2 ^ (row > 9), "fm"[row % 5 > 2]) for row in range(12)]
NODES = "person,age,paid,sex\n" + "".join(f"{p},{age},{paid},{sex}\n" for p, age, paid, sex in ROWS)
EDGES = "from,to\n" + "".join(f"p{row},p{(row + step) % 12}\n" for step in (1, 5) for row in range(12))
OPTIONS = {"id": "person", "label": "paid", "sensitive": "sex"}
NUMBERED = "age,paid,sex\n" + "".join(f"{age},{paid},{sex}\n" for _, age, paid, sex in ROWS)


def column(name, texts):
    """NODES with one more column."""
    lines = NODES.splitlines()
    added = [f"{lines[0]},{name}", *(f'{line},"{texts[row % len(texts)]}"' for row, line in enumerate(lines[1:]))]
    return "\n".join(added) + "\n"


@pytest.fixture
def make(tmp_path):
    def run(nodes=NODES, edges=EDGES, form="n.csv", **changed):
        return graph_of(tmp_path, nodes, edges, nodes=form, **OPTIONS | changed)

    return run


def suggestions(error):
    return [yaml.safe_load(text) for text in re.findall(r"`(\w+: [^`]+)`", str(error))]


BITS = "2,0,1\n" + NUMBERED.split("\n", 1)[1].replace("f", "0").replace("m", "1")
BY_R = "".join(f"{row or ''},{line}\n" for row, line in enumerate(NUMBERED.splitlines()))
FROM_1 = NODES.replace("\np", "\n").replace("person", "number").replace("\n0,", "\n12,")
JOBS = column("job", [f"job {row}" for row in range(13)]) + "p12,1,1,f,x\n"
DATES = column("born", [f"{row + 1}.5.2001" for row in range(12)]) + "p12,1,1,f,13.5.2001\n"
NEXT = column("new", [f"p{row + 1}" for row in range(12)])
WEIGHTS = "weight,source,target\n3,5,6\n2,6,7\n"
UNKNOWN = ["unknown_ids"]
BY_ROW = {"nodes": NUMBERED, "id": ...}
MATRIX = "".join(" ".join("01"[abs(row - other) == 1] for other in range(12)) + "\n" for row in range(12))
MANY = [f"q{row},{row},{row % 2},{'fm'[row % 5 > 2]},{'abcdefg'[row % 7]}\n" for row in range(40)]
DUMMIES = "".join(
    f"{line},{'job' if row == 0 else 'abc'[row % 3]},{'job_a' if row == 0 else int(row % 3 == 0)}\n"
    for row, line in enumerate(NODES.splitlines())
)
ASKED = {  # what is wrong, and how many ways out a message has to show
    "a header or a node": ({"nodes": BITS, "edges": "1,2\n3,4\n", "id": ..., "label": "1", "sensitive": "2"}, 2),
    "a counter before the ends": ({"edges": "n,a,b\n0,5,6\n1,6,7\n2,7,5\n", "id": ..., "nodes": NUMBERED}, 2),
    "a counter without a header": ({"edges": "0,5,6\n1,6,7\n2,7,5\n", "id": ..., "nodes": NUMBERED}, 2),
    "ends that are not the first columns": ({"edges": WEIGHTS, "id": ..., "nodes": NUMBERED}, 1),
    "a wave before the ends": ({"edges": "wave,ego,alter\n1,p1,p2\n2,p2,p3\n2,p9,zoe\n", "drop": UNKNOWN}, 1),
    "a layer before the ends": ({"edges": "1 3 7 1\n1 4 8 1\n2 3 9 1\n", "id": ..., "nodes": NUMBERED}, 2),
    "an index as R writes it": ({"nodes": BY_R, "edges": "a,b\n1,2\n3,12\n", "id": ...}, 1),
    "an index as R writes it, or row numbers": ({"nodes": BY_R, "edges": "a,b\n1,2\n3,4\n", "id": ...}, 2),
    "an index as R writes it, and strangers": (
        {"nodes": BY_R, "edges": "a,b\n1,2\n3,zoe\n", "id": ..., "drop": UNKNOWN}, 2,
    ),
    "row numbers beside an index as R writes it": (
        {"nodes": BY_R, "edges": "a,b\n0,1\n3,4\n", "id": "", "drop": UNKNOWN}, 1,
    ),
    "ids or row numbers": ({"nodes": FROM_1, "edges": "1,2\n3,4\n", "id": ...}, 2),
    "label yes": ({"nodes": NODES.replace(",0,", ",>50K,").replace(",1,", ",<=50K,")}, 2),
    "a label none": ({"nodes": column("ill", ["none", "mild", "bad"]), "label": "ill", "positive": "bad"}, 2),
    "label -1": ({"nodes": NODES.replace(",0,", ",-1,")}, 1),
    "label True": ({"nodes": NODES.replace(",0,", ",False,").replace(",1,", ",True,")}, 2),
    "label 2": ({"nodes": NODES.replace("p3,23,1", "p3,23,2").replace("p5,25,1", "p5,25,yes: no")}, 3),
    "an unknown label beside positive ones": ({"nodes": NODES.replace("p3,23,1", "p3,23,#N/A"), "positive": 1}, 2),
    "?": ({"nodes": column("x", "123").replace("p3,23", "p3,?")}, 3),
    "#N/A": ({"nodes": column("x", "123").replace("p3,23", "p3,#N/A"), "missing": ["?"]}, 3),
    "58,5": ({"nodes": column("height", ["58,5", "1", "2"])}, 3),
    "0,5": ({"nodes": column("height", ["0,5", "1,25"])}, 1),
    "1,234": ({"nodes": column("height", ["1,234", "2,345", "5,000"])}, 2),
    "1.234,5": ({"nodes": column("height", ["1.234,5", "2.345,25", "5.000,0"])}, 1),
    "1.250 beside 999": ({"nodes": column("pay", ["1.250", "999", "12.500"])}, 2),
    "1.234 beside 12,5": ({"nodes": column("pay", ["1.234", "12,5"]), "decimal": ","}, 3),
    "1 234, not broken": ({"nodes": column("pay", ["1\u00a0234", "2\u00a0345", "5"])}, 1),
    "dates with points": ({"nodes": DATES}, 2),
    "the label in other words": ({"nodes": column("pay", [["no", "yes"][paid] for _, _, paid, _ in ROWS])}, 2),
    "the label in other words, where it is known": (
        {"nodes": column("pay", [["no", "yes"][paid] for _, _, paid, _ in ROWS]).replace("p3,23,1", "p3,23,")}, 2
    ),
    "the label, but finer": ({"nodes": column("pay", [f"{'io'[p]}{r // 6}" for r, (*_, p, _) in enumerate(ROWS)])}, 2),
    "edges that count from 0": ({"nodes": FROM_1, "edges": "a,b\n0,1\n3,4\n", "id": "number", "drop": UNKNOWN}, 1),
    "ids of another kind": ({"nodes": column("UserID", [7 * row for row in range(12)])}, 2),
    "edges by another column": ({"nodes": column("new", [f"q{row}" for row in range(12)]), "edges": "a,b\nq1,q2\n"}, 1),
    "some edges by another column": ({"nodes": NEXT, "edges": "p1,p2\np9,p12\n", "drop": UNKNOWN}, 2),
    "nan as a group": ({"nodes": NODES.replace("p3,23,1,m", "p3,23,1,NaN")}, 1),
    "an empty cell": ({"nodes": column("x", ["1", "2", ""])}, 3),
    "names": ({"nodes": column("name", [f"N. {row}" for row in range(12)]) + "p12,1,1,f,N. 12\n"}, 2),
    "inf": ({"nodes": column("height", ["inf", "1"])}, 1),
    "age as sensitive": ({"nodes": NODES + "p12,90,1,f\n", "sensitive": "age", "features": ["sex"]}, 1),
    "many texts as sensitive": ({"nodes": JOBS, "sensitive": "job"}, 1),
    "many combinations": ({"nodes": column("job", list("abcdefg")) + "".join(MANY), "sensitive": ["sex", "job"]}, 2),
    "F and f": ({"nodes": NODES.replace("p3,23,1,m", "p3,23,1,M")}, 2),
    "f beside F in groups": ({"nodes": NODES.replace("p3,23,1,m", "p3,23,1,M"), "groups": {"men": ["m"], "x": "*"}}, 2),
    "f beside F without a rest": ({"nodes": NODES.replace("p3,23,1,m", "p3,23,1,M"), "groups": ["f", "m"]}, 2),
    "no beside No in positive": ({"nodes": column("won", ["No", "no", "yes"]), "label": "won", "positive": "No"}, 2),
    "no beside No, and a rest": (
        {"nodes": column("won", ["No", "no", "yes"]), "label": "won", "positive": "*", "negative": "No"}, 3,
    ),
    "an unknown group": ({"groups": ["f", "x"]}, 1),
    "an unknown group beside named ones": ({"groups": {"women": ["f"], "men": ["x"]}}, 1),
    "a group that is empty": ({"nodes": NODES.replace("p3,23,1,m", "p3,23,1,")}, 1),
    "unknown ids and self-loops": ({"edges": EDGES + "p1,zoe\np2,p2\n"}, 1),
    "comments among the rows": ({"nodes": NODES.replace("\np1,", "\n#p1,"), "edges": "#p1,p2\np2,p3\n#p1,p4\n"}, 2),
    "a comment in the middle": ({"edges": EDGES + "# end\n"}, 1),
    "no features": ({"exclude": ["age"]}, 1),
    "an unnamed column": ({"nodes": column("", ["1", "3"])}, 1),
}  # fmt: skip


@pytest.mark.parametrize("case", ASKED)
def test_what_a_message_suggests_works_when_pasted(make, case):
    change, count = ASKED[case]
    with pytest.raises(DataError) as error:
        make(**change)
    assert re.match(r"[ne]\.csv, line \d+", str(error.value))
    ways = suggestions(error.value)
    assert len(ways) >= count, str(error.value)
    for way in ways:
        try:
            make(**{**change, **{{"nodes": "form"}.get(key, key): value for key, value in way.items()}})
        except FairGATError as again:
            raise AssertionError(f"{error.value}\n{way}\n{again}") from again


WITH_GAP = column("node", [row + (row > 3) for row in range(12)])
SILENT = {
    "edges by a column with a gap": (
        {"nodes": WITH_GAP, "edges": "a,b\n0,1\n4,2\n9,8\n", "id": ...}, "do edges name nodes by their column 'node'"
    ),
    "a group that nobody has": ({"groups": {"women": ["fe"], "men": "*"}}, "`groups` lists 'fe', .* did you mean 'f'"),
    "a label that nobody has": ({"positive": [2], "negative": "*"}, "the options list 2, and column 'paid' never"),
    "a code for no label": ({"positive": [1], "negative": "*", "unlabelled": [-1]}, "the options list -1"),
    "one of three groups": ({"nodes": DUMMIES, "sensitive": "job"}, "'job_a' says of each node what 'job' says"),
    "a counter": ({"nodes": column("node", range(12))}, "column 'node' seems to hold ids"),
    "points beside commas": ({"nodes": column("x", ["1.5", "2.5"]), "decimal": ","}, "a number with a point"),
    "shares of a sum of 0": ({"nodes": column("x", ["-20", "2"]), "scaling": "row"}, "some features are negative"),
}  # fmt: skip


@pytest.mark.parametrize("case", SILENT)
def test_what_would_be_wrong_without_a_word_is_refused(make, case):
    change, expected = SILENT[case]
    with pytest.raises(DataError, match=expected):
        make(**change)


REFUSED = {
    "the label among the features": ({"features": ["age", "paid"]}, "`features` has 'paid', which is the `label`"),
    "a feature twice": ({"features": ["age", "age"]}, "'age' is listed twice"),
    "NO": ({"groups": [False, "SE", "DK"], "drop": ["unknown_groups"]}, r"put yes, no.* `groups: \['NO', SE, DK\]`"),
    "yes": ({"positive": True}, r"positive: put yes, no.*`positive: \['yes'\]` or .*\['True'\]`"),
    "null": ({"missing": [None]}, r"missing: put"),
    "groups in a list of lists": ({"groups": [["f"], ["m"]]}, "`groups` are lists of values, by the name of their"),
    "bins of one attribute of two": ({"sensitive": ["sex", "age"], "bins": [30]}, r"`bins: \{sex: \[30, 60\]\}`"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_options_alone_show_is_refused_before_anything_is_read(make, case):
    change, expected = REFUSED[case]
    with pytest.raises(ConfigError, match=expected) as error:
        make(**change)
    for way in suggestions(error.value):
        assert isinstance(next(iter(way.values())), list | dict)


def test_a_first_edge_is_no_header(make):
    for options in ({}, {"ends": ["0", "1"]}, {"ends": [0, 1]}):
        graph = make(nodes=NUMBERED, edges="0,1\n1,2\n2,3\n3,4\n", id=..., **options)
        assert pairs(graph) == [[0, 1], [1, 2], [2, 3], [3, 4]]
        assert "the first edge joins '0' and '1'" in graph.facts["edges_read_as"]
    assert pairs(make(edges="0,1\np1,p2\n", ends=["0", "1"])) == [[1, 2]]


def test_an_index_that_pandas_wrote_is_none_of_the_ends_nor_a_feature(make):
    edges = ",source,target\n0,5,6\n1,6,7\n2,7,5\n"
    nodes = "\n".join(f"{row - 1 if row else ''},{line}" for row, line in enumerate(NUMBERED.splitlines()))
    graph = make(nodes=nodes, edges=edges, id=...)
    assert pairs(graph) == [[5, 6], [5, 7], [6, 7]] and graph.num_features == 1
    assert "ends: columns 'source' and 'target'" in graph.facts["edges_read_as"]
    assert pairs(make(nodes=nodes.replace(",age", "Unnamed: 0,age", 1), edges=edges, id=...)) == pairs(graph)


def test_a_list_of_nodes_without_a_header_is_known_by_the_columns_numbers(make):
    graph = make(nodes=NODES.split("\n", 1)[1], id=0, label="2", sensitive="3")
    assert graph.num_nodes == 12 and "a header" not in graph.facts["nodes_read_as"]


@pytest.mark.parametrize(
    ("texts", "values", "unit"),
    [
        (["1%", "2 %", "3%"], [1, 2, 3], "%"),
        (["1,234,567", "5", "12,000"], [1234567, 5, 12000], ","),
        (["$1,200.50", "$ 7"], [1200.5, 7], "$,"),
        (["70 kg", "80.5 kg"], [70, 80.5], "kg"),
    ],
)
def test_numbers_with_a_sign_are_numbers_and_the_statistics_say_so(make, texts, values, unit):
    graph = make(nodes=column("x", texts), scaling="none")
    assert graph.features[: len(values), -1].tolist() == values
    assert graph.facts["units"] == {"x": unit} and graph.facts["one_hot"] == {}


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        bz2.compress,
        lambda raw: zipped({"__MACOSX/x": b"", "e.csv": raw}),
    ],
)
def test_packed_files_are_read(make, pack):
    assert pairs(make(edges=pack(EDGES.encode()))) == pairs(make())
    with pytest.raises(DataError, match=r"e\.csv, line 1: the file cannot be unpacked .* cut off"):
        make(edges=pack(EDGES.encode())[:-30])


def test_files_that_are_no_text_are_named(make, tmp_path):
    with tarfile.open(tmp_path / "e.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("e.csv"))
    for content, form in (((tmp_path / "e.tar").read_bytes(), "tar"), (b"PAR1\x15\0", "Parquet")):
        with pytest.raises(DataError, match=rf"e\.csv, line 1: this is not a text, but a {form} file. Save the table"):
            make(edges=gzip.compress(content))


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


UNREADABLE = {
    "an archive of two files": ({"edges": zipped({"a": b"1", "b": b"2"})}, "e", "this zip holds 2 files"),
    "a workbook": ({"nodes": zipped({"[Content_Types].xml": b"", "b": b"2"})}, "n", "this is a workbook"),
    "two separators": ({"edges": "p1,p4;p2\np2,p4;p3\n"}, "e", "',' and ';' .* `separator: ','` or `separator: ;`"),
    "an adjacency matrix": ({"edges": MATRIX} | BY_ROW, "e", "12 rows of 12 cells seem to be an adjacency matrix"),
    "rows from 1": (BY_ROW | {"edges": "1,2\n11,12\n", "drop": UNKNOWN}, "e", "12, but not node 0.* count from 1\\?"),
    "only unknown ids": ({"edges": "a,b\nb,c\n", "drop": UNKNOWN}, "e", "no edge is left that joins two known nodes"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_is_no_list_of_edges_or_nodes_is_refused(make, case):
    change, name, expected = UNREADABLE[case]
    with pytest.raises(DataError, match=rf"^{name}\.csv, line 1: .*{expected}"):
        make(**change)


def test_comments_are_found_or_given(make):
    head = "# Undirected graph: Enron\n# Nodes: 12 Edges: 24\n# FromNodeId\tToNodeId\n"
    rows = EDGES.split("\n", 1)[1].replace(",", "\t")
    graph = make(edges=head + rows)
    assert pairs(graph) == pairs(make()) and "3 lines that begin with '#' left out" in graph.facts["edges_read_as"]
    assert pairs(make(edges="// x\n" + rows, comment="//")) == pairs(graph)
    tags = {"nodes": NODES.replace("\np", "\n#p"), "edges": EDGES.split("\n", 1)[1].replace("p", "#p")}
    assert pairs(make(**tags)) == pairs(graph)


def test_values_can_be_merged_and_cut(make):
    nodes = NODES.replace("p3,23,1,m", "p3,23,1, M ").replace("p4,24,0,m", "p4,24,0,x")
    graph = make(nodes=nodes, groups={"women": ["f"], "men": "*"})
    assert graph.group_names == ["sex=women", "sex=men"] and graph.sensitive[3:5].tolist() == [1, 1]
    graph = make(sensitive="age", bins=[25, 28], features=["sex"])
    assert graph.group_names == ["age=below 25", "age=25 to below 28", "age=28 and above"]
    assert np.bincount(graph.sensitive).tolist() == [5, 3, 4]


def test_a_value_that_means_an_empty_cell_may_be_a_group(make):
    nodes = column("race", ["1", "2", "NA"])
    graph = make(nodes=nodes, sensitive="race", groups={"known": [1, 2], "unknown": ["NA"]})
    assert np.bincount(graph.sensitive).tolist() == [8, 4]
    with pytest.raises(DataError, match=r"n\.csv, line 4: column 'race' is empty or NaN"):
        make(nodes=nodes, sensitive="race", groups=[1, 2])


def test_none_may_be_an_answer_and_na_is_none(make):
    graph = make(nodes=column("ill", ["none", "mild", "bad"]), label="ill", positive="bad", negative="*")
    assert graph.labels.tolist() == [0, 0, 1] * 4
    assert make(nodes=column("ill", ["0", "None", "1"]), label="ill").labels.tolist() == [0, -1, 1] * 4
    nodes = column("ill", ["True", "None", "False"])
    assert make(nodes=nodes, label="ill", positive="True").labels.tolist() == [1, -1, 0] * 4
    nodes = column("ill", ["yes", "NA", "no"])
    assert make(nodes=nodes, label="ill", positive="yes", negative="*").labels.tolist() == [1, -1, 0] * 4


def test_what_is_cut_into_ranges_is_read_as_features_are(make):
    nodes = column("pay", ["1.250", "999", "2.000"])
    graph = make(nodes=nodes, sensitive="pay", bins=[1100], thousands=".")
    assert graph.sensitive.tolist() == [1, 0, 1] * 4
    with pytest.raises(DataError, match=r"'1\.250', and numbers without a point.*`thousands: \.` *, or fractions"):
        make(nodes=nodes, sensitive="pay", bins=[1100])
    nodes = column("pay", ["0,5", "1,5", "-9"])
    with pytest.raises(DataError, match=r"column 'pay' is empty, NaN or `missing`.*`drop: \[unknown_groups\]`"):
        make(nodes=nodes, sensitive="pay", bins=[1], decimal=",", missing=-9)
    graph = make(nodes=nodes, sensitive="pay", bins=[1], decimal=",", missing=-9, drop=["unknown_groups"])
    assert graph.num_nodes == 8 and graph.sensitive.tolist() == [0, 1] * 4


def test_an_accent_may_be_a_letter_or_a_mark_of_its_own(make):
    nodes = NODES.replace("p3,", "Zo\u00eb,").replace("sex\n", "s\u00e9x\n")
    graph = make(nodes=nodes, edges=EDGES.replace("p3", "Zoe\u0308"), sensitive="se\u0301x")
    assert pairs(graph) == pairs(make())


def test_edges_that_may_count_from_1_are_pointed_out(make):
    edges = "from,to\n" + "".join(f"{row},{row % 11 + 1}\n" for row in range(1, 12))
    assert "no edge names node 0: do edges count from 1?" in make(edges=edges, **BY_ROW).facts["edges_read_as"]
    assert "count from 1" not in make(edges=edges + "0,1\n", **BY_ROW).facts["edges_read_as"]


def test_several_attributes_make_a_group_of_each_combination_that_occurs(make):
    nodes = column("race", [0, 1, 1])
    graph = make(nodes=nodes, sensitive=["race", "sex"])
    assert graph.group_names == ["race=0, sex=f", "race=0, sex=m", "race=1, sex=f", "race=1, sex=m"]
    race, names = graph.attributes["race"]
    assert race.tolist() == [0, 1, 1] * 4 and names == ["0", "1"]
    assert graph.num_features == 1
    graph = make(nodes=nodes, sensitive=["race", "age"], bins={"age": [26]}, features=["sex"])
    assert graph.group_names[1] == "race=0, age=26 and above"


def test_what_is_left_out_is_counted(make):
    edges = EDGES + "p1,zoe\np2,p2\nzoe,max\n"
    nodes = NODES.replace("p3,23,1,m", "p3,23,1,")
    graph = make(nodes=nodes, edges=edges, drop=["unknown_ids", "self_loops", "unknown_groups", "duplicates"])
    assert graph.facts["left_out"] == {
        "nodes of none of the groups": 1, "edges that name an unknown node": 2, "edges that join a node to itself": 1,
    }  # fmt: skip


def test_features_can_be_made_of_the_graph(make):
    graph = make(exclude=["age"], graph_features=["degree", "constant"], scaling="none")
    assert graph.features.tolist() == [[4, 1]] * 12
    assert graph.facts["constant_features"] == graph.facts["feature_columns"] == ["degree", "constant"]
