"""Which module reads which data set, and what is said when one asks for another."""

import hashlib
import sys
from dataclasses import replace

import numpy as np
import pytest
from obtain import obtain
from scipy.spatial.distance import cdist

from fairgat import config
from fairgat.config import Dataset
from fairgat.data import datasets, sources
from fairgat.data.graph import Graph
from fairgat.data.sources import public
from fairgat.errors import ConfigError, DataError

NODE, LINK = "node_classification", "link_prediction"


def check(**entries):
    datasets.check(config.load({"datasets": entries, "methods": {}}))


# ------------------------------------------------------------------- in a configuration


def tables(**changed):
    """An entry of one's own two tables."""
    options = {"nodes": "n.csv", "edges": "e.csv", "id": "who", "sensitive": "sex"}
    return {"source": "tables", "options": options | changed}


WRONG = {
    "a misspelt source": (
        {"source": "plantoid"},
        r"source: 'plantoid' .* did you mean 'planetoid'\?",
    ),
    "a misspelt option": (
        {"options": {"scalling": "row"}},
        r"options\.scalling: unknown key; did you mean 'scaling'",
    ),
    "a misspelt value": (
        {"options": {"scaling": "rows"}},
        r"options\.scaling: expected 'min_max', 'row'",
    ),
    "no tables": ({"source": "tables"}, r"options\.nodes: this key is missing"),
    "a source of others": (
        {"source": "synthetic"},
        "source: it has demo-social, demo-citation, and no cora",
    ),
    "no name of a table": (
        {"source": "public"},
        "options: say which table it is: `table` is one of recidivism, german",
    ),
    "a misspelt key of a table": (
        tables(nodes={"path": "n.csv"}),
        r"options\.nodes\.path: unknown key; .*file",
    ),
    "degrees for links": (
        tables(graph_features=["degree"]),
        r"options\.graph_features: degree counts the edges that are held out",
    ),
    "a value that is none": (
        tables(fill="median"),
        r"options\.fill: expected 'zero' or 'mean', got 'median'",
    ),
}


@pytest.mark.parametrize(("entry", "expected"), WRONG.values(), ids=WRONG)
def test_a_wrong_entry_is_named_by_its_path(entry, expected):
    with pytest.raises(ConfigError, match=rf"datasets\.cora\.{expected}"):
        check(cora={"task": LINK, **entry})


def test_all_problems_are_reported_at_once():
    entry = {"task": LINK}

    with pytest.raises(ConfigError) as error:
        check(
            recidivsm=entry,
            cora=entry | {"source": "x"},
            pubmed=entry | {"options": {"scaling": 1}},
        )

    said = str(error.value)
    assert "datasets.recidivsm: your own data need a `source`" in said
    assert "did you mean 'recidivism'?" in said
    assert "datasets.cora.source" in said
    assert "datasets.pubmed.options.scaling" in said


# -------------------------------------------------------------- a published data set

NODES_CSV = b"id,age,sex,won\na,1,f,0\nb,2,m,1\nc,4,m,0\n"
EDGES_CSV = b"from,to\na,b\nb,c\n"


def published(name, content, **more):
    sha256 = hashlib.sha256(content).hexdigest()
    return {"url": f"https://localhost:9/{name}", "sha256": sha256, **more}


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A mirror with both files: by the name of the data set, and as `file` says."""
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    folder = tmp_path / "mirror"
    (folder / "mine").mkdir(parents=True)
    (folder / "lists").mkdir()
    (folder / "mine/nodes.csv").write_bytes(NODES_CSV)
    (folder / "lists/e.csv").write_bytes(EDGES_CSV)
    return folder


@pytest.fixture
def mine():
    """An entry of files with an address and a checksum."""
    options = {
        "nodes": published("n.csv", NODES_CSV),
        "edges": published("e.csv", EDGES_CSV, file="lists/e.csv"),
        "id": "id",
        "label": "won",
        "sensitive": "sex",
    }
    return Dataset(task=NODE, source="tables", options=options)


def test_a_published_data_set_is_an_entry(tmp_path, mirror, mine):
    graph = obtain("mine", mine, tmp_path / "raw", mirror)
    assert graph.num_nodes == 3


def test_a_published_file_that_has_changed_is_refused(tmp_path, mirror, mine):
    (mirror / "mine/nodes.csv").write_bytes(NODES_CSV.replace(b"4", b"5"))

    said = r"(?s)mine/nodes\.csv.*it gave \d+ bytes with SHA-256"
    with pytest.raises(DataError, match=said):
        obtain("mine", mine, tmp_path / "raw", mirror)


@pytest.mark.parametrize("mine", [None, [], ["Age"]], ids=["null", "none", "one"])
def test_what_a_published_table_leaves_out_stays_left_out(mine):
    entry = Dataset(task=NODE, options={"exclude": mine})

    options = datasets.options_of("german", entry)

    assert options.exclude == ("PurposeOfLoan", "OtherLoansAtStore", *(mine or ()))


# ------------------------------------------------------------------------- the modules


def test_similar_pairs_are_those_that_a_look_at_all_pairs_finds():
    records = np.random.default_rng(0).normal(size=(60, 3))
    records[1] = records[0]

    found = public.similar_pairs(records, 0.8)

    similarity = 1 / (1 + cdist(records, records))
    np.fill_diagonal(similarity, -1)
    expected = []
    for node, row in enumerate(similarity):
        for other, similar in enumerate(row):
            if similar > 0.8 * row.max():
                expected.append([node, other])
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import nothing_of_this_name", "cannot be imported: No module"),
        ("Options = 1", "lacks files, load"),
    ],
    ids=["cannot be imported", "lacks something"],
)
def test_a_broken_module_is_named(monkeypatch, tmp_path, text, expected):
    (tmp_path / "broken.py").write_text(text)
    monkeypatch.setattr(sources, "__path__", [*sources.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "fairgat.data.sources.broken", raising=False)

    with pytest.raises(ConfigError, match=rf"broken\.py {expected}"):
        datasets.known_sources()


@pytest.mark.parametrize(
    ("name", "task"), [("demo-social", NODE), ("demo-citation", LINK)]
)
def test_generated_graphs_follow_from_the_seed(tmp_path, name, task):
    first = datasets.prepare(name, Dataset(task=task), tmp_path, 0)
    again = datasets.prepare(name, Dataset(task=task), tmp_path, 0)
    other = datasets.prepare(name, Dataset(task=task), tmp_path, 1)

    np.testing.assert_array_equal(first.features, again.features)
    assert first.features.shape == other.features.shape
    assert (first.features != other.features).any()
    assert first.inter_edges.mean() < 0.3  # homophily


ALTERNATING = np.arange(6) % 2


@pytest.mark.parametrize(
    ("task", "changed", "expected"),
    [
        (
            NODE,
            {"labels": np.arange(6) % 3},
            r"needs the labels 0 and 1; found \[0, 1, 2\]",
        ),
        (
            NODE,
            {"sensitive": ALTERNATING},
            "the labels are the sensitive groups themselves",
        ),
        (NODE, {"sensitive": 1 - ALTERNATING}, "or their opposite"),
        (
            LINK,
            {"sensitive": np.zeros(6, int)},
            "at least two sensitive groups; found 1",
        ),
    ],
    ids=["three labels", "labels are groups", "labels are not groups", "one group"],
)
def test_a_graph_must_suit_its_task(monkeypatch, task, changed, expected):
    groups, edges = np.array([0, 0, 0, 1, 1, 1]), np.array([[0, 1], [1, 0]])
    good = Graph(np.ones((6, 1), np.float32), ALTERNATING, groups, edges)
    graph = replace(good, **changed)
    monkeypatch.setattr("fairgat.data.sources.synthetic.load", lambda *_: graph)

    with pytest.raises(DataError, match=f"demo-social: .*{expected}"):
        datasets.prepare("demo-social", Dataset(task=task), ".")
