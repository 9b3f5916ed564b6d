"""The real data sets: every count that was published, the same tensors as PyTorch Geometric, edges by their rules."""

import shutil
from functools import cache

import numpy as np
import pandas as pd
import pytest
from obtain import obtain

from fairgat import paper
from fairgat.config import Dataset, Splits
from fairgat.data import datasets, statistics
from fairgat.data.graph import sort_edges, symmetrise
from fairgat.data.sources import blocks
from fairgat.data.sources.public import similar_pairs
from fairgat.errors import DataError

pytestmark = pytest.mark.real_data

NODE = ("recidivism", "pokec-z-structural", "pokec-n-structural")
LINK = ("cora", "citeseer", "pubmed")


@pytest.fixture(scope="module")
def real(data_mirror, tmp_path_factory):
    """name -> (graph, statistics), each made once."""

    @cache
    def make(name):
        settings = Dataset(task="link_prediction" if name in LINK else "node_classification")
        raw = tmp_path_factory.mktemp("raw") / name
        graph = obtain(name, settings, raw, data_mirror)
        published = paper.load()["statistics"][datasets.counterpart(name, settings)]
        return graph, statistics.describe(graph, name, settings.task, published, splits=Splits(), seed=0)

    return make


def equal(stats):
    return {check["quantity"] for check in stats["checks"] if check["equal"]}


def test_recidivism_equals_the_paper_in_everything(real):
    graph, stats = real("recidivism")
    assert equal(stats) == {"s0", "s1", "inter_edges", "intra_edges", "features"}
    assert stats["notes"] == []
    assert graph.features.min() == -1 and graph.features.max() == 1


def test_recidivism_holds_a_feature_that_states_the_label(real, data_mirror, tmp_path):
    """What docs/data.md says of TIME, and the option that leaves it out."""
    graph, _ = real("recidivism")
    time = graph.features[:, 15] > -1  # TIME, above its minimum of 0 months
    assert (time == graph.labels).sum() == 18_762
    settings = Dataset(task="node_classification", options={"exclude": ["TIME"]})
    assert obtain("recidivism", settings, tmp_path, data_mirror).num_features == 16
    wrong = Dataset(task="node_classification", options={"exclude": ["TIMES"]})
    with pytest.raises(DataError, match=r"bail\.csv: there is no column 'TIMES'; did you mean 'TIME'\?"):
        datasets.prepare("recidivism", wrong, tmp_path)


@pytest.mark.parametrize("name", LINK)
def test_citation_networks_equal_the_paper_up_to_its_random_split(real, name):
    _, stats = real(name)
    assert equal(stats) >= {"nodes", "groups", "train_edges"}
    assert any("one random training graph" in note for note in stats["notes"])


@pytest.mark.parametrize(
    ("name", "edges", "inter", "labels"),
    [("pokec-z-structural", 41_100, 1730, [3856, 3803]), ("pokec-n-structural", 30_642, 1422, [3432, 2753])],
)
def test_structural_pokec_equals_the_paper_in_its_groups(real, name, edges, inter, labels):
    graph, stats = real(name)
    assert equal(stats) == {"s0", "s1", "features"}
    assert (graph.num_edges, graph.inter_edges.sum()) == (edges, inter)
    assert np.bincount(graph.labels).tolist() == labels
    assert graph.features.shape[1] == 59


@pytest.mark.parametrize("name", LINK)
def test_planetoid_equals_pytorch_geometric(real, data_mirror, tmp_path, name):
    transforms = pytest.importorskip("torch_geometric.transforms")
    from torch_geometric.io import read_planetoid_data

    for file in (data_mirror / "planetoid").glob(f"ind.{name}.*"):
        shutil.copy(file, tmp_path)
    reference = transforms.NormalizeFeatures()(read_planetoid_data(str(tmp_path), name))
    graph, _ = real(name)
    np.testing.assert_array_equal(graph.labels, reference.y.numpy())
    np.testing.assert_array_equal(graph.edge_index, sort_edges(reference.edge_index.numpy()))
    np.testing.assert_allclose(graph.features, reference.x.numpy(), rtol=1e-6)


def test_structural_features_are_eigenvectors_with_a_fixed_sign(real):
    graph, _ = real("pokec-z-structural")
    vectors = graph.features[:, :58].astype(np.float64) / np.sqrt(graph.num_nodes)
    source, target = graph.edge_index
    root = 1 / np.sqrt(np.bincount(source))
    product = np.zeros_like(vectors)
    np.add.at(product, source, (root[source] * root[target])[:, None] * vectors[target])
    values = (vectors * product).sum(axis=0)
    np.testing.assert_allclose(product, vectors * values, atol=1e-6)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(58), atol=1e-5)
    assert (np.diff(values) <= 1e-6).all() and np.isclose(values[0], 1)
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(58)] > 0).all()


COUNTS = {  # nodes, features, per label, per group, directed edges, of them inter-edges
    "german": (1000, 26, [300, 700], [690, 310], 43_484, 8_488),
    "nba": (403, 95, [154, 159], [296, 107], 21_242, 5_870),
    "income": (14_821, 13, [11_611, 3_210], [10_136, 4_685], 85_662, 11_612),
    "credit": (30_000, 12, [6_636, 23_364], [27_315, 2_685], 274_754, 33_254),
}


def prepared(name, data_mirror, folder, **options):
    return obtain(name, Dataset(task="node_classification", options=options), folder, data_mirror)


def counts(graph):
    labels = np.bincount(graph.labels[graph.labelled]).tolist()
    groups = np.bincount(graph.sensitive).tolist()
    return graph.num_nodes, graph.num_features, labels, groups, graph.num_edges, int(graph.inter_edges.sum())


@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_other_data_sets_equal_the_published_ones(name, data_mirror, tmp_path):
    assert counts(prepared(name, data_mirror, tmp_path)) == COUNTS[name]


def test_nba_without_its_unlabelled_players(data_mirror, tmp_path):
    assert prepared("nba", data_mirror, tmp_path, labelled_only=True).num_nodes == 313
    graph = prepared("nba", data_mirror, tmp_path, labelled_only=True, largest_component=True)
    assert counts(graph) == (310, 95, [152, 158], [228, 82], 14_230, 3_946)


@pytest.mark.parametrize(("name", "edges", "inter"), [("syn-1", 68_726, 21_880), ("syn-2", 89_898, 25_218)])
def test_the_recipe_gives_the_published_graphs(name, edges, inter, data_mirror):
    graph = blocks.load(name, None, blocks.Options(), 0)
    graph.check()
    assert (graph.num_edges, int(graph.inter_edges.sum()), graph.num_features) == (edges, inter, 48)
    published = np.loadtxt(data_mirror / "syn" / f"{name}_edges.txt", delimiter=",", dtype=np.int64)
    np.testing.assert_array_equal(graph.edge_index, symmetrise(published.T, 5000))
    for part, values in (("label", graph.labels), ("sens", graph.sensitive)):
        np.testing.assert_array_equal(values, np.loadtxt(data_mirror / "syn" / f"{name}_{part}.txt", dtype=np.int64))
    means = [graph.features[graph.labels == y, :24].mean() for y in (0, 1)]
    np.testing.assert_allclose(means, [0.5, -0.5], atol=0.05)


def test_recidivisms_edges_are_a_function_of_the_features_and_the_group(data_mirror):
    people = pd.read_csv(data_mirror / "recidivism/bail.csv").drop(columns="RECID").to_numpy(np.float64)
    published = np.loadtxt(data_mirror / "recidivism/bail_edges.txt").astype(int)
    assert set(map(tuple, similar_pairs(people, 0.6))) == set(map(tuple, published))
