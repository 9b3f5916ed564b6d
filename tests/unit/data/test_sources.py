"""Which module reads which data set, and what is said when a configuration asks for something else."""

import hashlib
import re
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


def check(**entries):
    datasets.check(config.load({"datasets": entries, "methods": {}}))


def tables(**changed):
    return {
        "source": "tables",
        "options": {"nodes": "n.csv", "edges": "e.csv", "id": "who", "sensitive": "sex"}
        | changed,
    }


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            {"source": "plantoid"},
            r"datasets\.cora\.source: 'plantoid' .* did you mean 'planetoid'\?",
        ),
        (
            {"options": {"scalling": "row"}},
            r"datasets\.cora\.options\.scalling: unknown key; did you mean 'scaling'",
        ),
        (
            {"options": {"scaling": "rows"}},
            r"datasets\.cora\.options\.scaling: expected 'min_max', 'row'",
        ),
        ({"source": "tables"}, r"datasets\.cora\.options\.nodes: this key is missing"),
        (
            {"source": "synthetic"},
            r"datasets\.cora\.source: it has demo-social, demo-citation, and no cora",
        ),
        (
            {"source": "public"},
            r"datasets\.cora\.options: say which table it is: `table` is one of recidivism, german",
        ),
        (tables(nodes={"path": "n.csv"}), r"options\.nodes\.path: unknown key; .*file"),
        (
            tables(graph_features=["degree"]),
            r"options\.graph_features: degree counts the edges that are held out",
        ),
        (
            tables(fill="median"),
            r"options\.fill: expected 'zero' or 'mean', got 'median'",
        ),
    ],
)
def test_a_wrong_entry_is_named_by_its_path(entry, expected):
    with pytest.raises(ConfigError, match=expected):
        check(cora={"task": "link_prediction", **entry})


def test_a_published_data_set_is_an_entry(tmp_path, monkeypatch):
    """Files with an address and a checksum, here in a mirror: by the name of the data set, or as `file` says."""
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    nodes, edges = (
        b"id,age,sex,won\na,1,f,0\nb,2,m,1\nc,4,m,0\n",
        b"from,to\na,b\nb,c\n",
    )
    for path, content in (("mine/nodes.csv", nodes), ("lists/e.csv", edges)):
        (tmp_path / "mirror" / path).parent.mkdir(parents=True)
        (tmp_path / "mirror" / path).write_bytes(content)
    published = [
        {
            "url": f"https://localhost:9/{name}",
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for name, content in (("n.csv", nodes), ("e.csv", edges))
    ]
    options = {"nodes": published[0], "edges": published[1] | {"file": "lists/e.csv"}}
    options |= {"id": "id", "label": "won", "sensitive": "sex"}
    settings = Dataset(task="node_classification", source="tables", options=options)
    assert (
        obtain("mine", settings, tmp_path / "raw", tmp_path / "mirror").num_nodes == 3
    )
    (tmp_path / "mirror/mine/nodes.csv").write_bytes(nodes.replace(b"4", b"5"))
    with pytest.raises(
        DataError, match=r"(?s)mine/nodes\.csv.*it gave \d+ bytes with SHA-256"
    ):
        obtain("mine", settings, tmp_path / "raw2", tmp_path / "mirror")


def test_similar_pairs_are_those_that_a_look_at_all_pairs_finds():
    records = np.random.default_rng(0).normal(size=(60, 3))
    records[1] = records[0]
    similarity = 1 / (1 + cdist(records, records)) - 2 * np.eye(60)
    pairs = np.argwhere(similarity > 0.8 * similarity.max(axis=1, keepdims=True))
    assert public.similar_pairs(records, 0.8).tolist() == pairs.tolist()


def test_all_problems_are_reported_at_once():
    task = {"task": "link_prediction"}
    with pytest.raises(ConfigError) as error:
        check(
            recidivsm=task,
            cora=task | {"source": "x"},
            pubmed=task | {"options": {"scaling": 1}},
        )
    said = str(error.value)
    assert re.search(
        r"datasets\.recidivsm: your own data need a `source`.*did you mean 'recidivism'\?",
        said,
    )
    assert "datasets.cora.source" in said and "datasets.pubmed.options.scaling" in said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import nothing_of_this_name", "cannot be imported: No module"),
        ("Options = 1", "lacks files, load"),
    ],
)
def test_a_broken_module_is_named(monkeypatch, tmp_path, text, expected):
    (tmp_path / "broken.py").write_text(text)
    monkeypatch.setattr(sources, "__path__", [*sources.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "fairgat.data.sources.broken", raising=False)
    with pytest.raises(ConfigError, match=rf"broken\.py {expected}"):
        datasets.known_sources()


@pytest.mark.parametrize(
    ("name", "task"),
    [("demo-social", "node_classification"), ("demo-citation", "link_prediction")],
)
def test_generated_graphs_follow_from_the_seed(tmp_path, name, task):
    first, other = (
        datasets.prepare(name, Dataset(task=task), tmp_path, seed) for seed in (0, 1)
    )
    assert (
        first.features.shape == other.features.shape
        and (first.features != other.features).any()
    )
    assert first.inter_edges.mean() < 0.3  # homophily


@pytest.mark.parametrize(
    ("task", "changed", "expected"),
    [
        (
            "node_classification",
            {"labels": np.arange(6) % 3},
            r"needs the labels 0 and 1; found \[0, 1, 2\]",
        ),
        (
            "node_classification",
            {"sensitive": np.arange(6) % 2},
            "the labels are the sensitive groups themselves",
        ),
        (
            "node_classification",
            {"sensitive": 1 - np.arange(6) % 2},
            "or their opposite",
        ),
        (
            "link_prediction",
            {"sensitive": np.zeros(6, int)},
            "at least two sensitive groups; found 1",
        ),
    ],
)
def test_a_graph_must_suit_its_task(monkeypatch, task, changed, expected):
    sensitive, edges = np.array([0, 0, 0, 1, 1, 1]), np.array([[0, 1], [1, 0]])
    graph = Graph(np.ones((6, 1), np.float32), np.arange(6) % 2, sensitive, edges)
    monkeypatch.setattr(
        "fairgat.data.sources.synthetic.load", lambda *_: replace(graph, **changed)
    )
    with pytest.raises(DataError, match=f"demo-social: .*{expected}"):
        datasets.prepare("demo-social", Dataset(task=task), ".")
