"""The public data sets beside the paper's: counts as published, and edges that follow from their rules."""

import numpy as np
import pandas as pd
import pytest
from obtain import obtain

from fairgat.config import Dataset
from fairgat.data.graph import symmetrise
from fairgat.data.sources import blocks
from fairgat.data.sources.public import similar_pairs

pytestmark = pytest.mark.real_data

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
def test_counts_equal_the_published_ones(name, data_mirror, tmp_path):
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
