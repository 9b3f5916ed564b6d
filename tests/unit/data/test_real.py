"""The real data sets beside the paper's counts and PyTorch Geometric's tensors.

test_frozen.py holds their arrays.
"""

import shutil
from functools import cache

import further
import numpy as np
import pytest
from obtain import obtain

from fairgat import paper
from fairgat.config import Dataset, Splits
from fairgat.data import datasets, statistics
from fairgat.data.graph import sort_edges
from fairgat.errors import DataError

pytestmark = pytest.mark.real_data

NODE, LINK = "node_classification", "link_prediction"
CITATIONS = Dataset(task=LINK)
POKEC = Dataset(task=NODE, source=further.source("pokec_structural"))
SETTINGS = {
    "recidivism": Dataset(task=NODE),
    "cora": CITATIONS,
    "citeseer": CITATIONS,
    "pubmed": CITATIONS,
    "pokec-z-structural": POKEC,
    "pokec-n-structural": POKEC,
}


@pytest.fixture(scope="module")
def graph_of(data_mirror, tmp_path_factory):
    """The graph of a data set, made once."""

    @cache
    def make(name):
        raw = tmp_path_factory.mktemp("raw") / name
        return obtain(name, SETTINGS[name], raw, data_mirror)

    return make


def described(name, graph):
    settings = SETTINGS[name]
    published = paper.load()["statistics"][datasets.counterpart(name, settings)]
    return statistics.describe(
        graph, name, settings.task, published, splits=Splits(), seed=0
    )


@pytest.mark.parametrize(
    ("name", "same"),
    [
        # All that is printed of it; of the others, some are of a random split.
        ("recidivism", {"s0", "s1", "inter_edges", "intra_edges", "features"}),
        ("cora", {"nodes", "groups", "train_edges"}),
        ("citeseer", {"nodes", "groups", "train_edges"}),
        ("pubmed", {"nodes", "groups", "train_edges"}),
        ("pokec-z-structural", {"s0", "s1", "features"}),
        ("pokec-n-structural", {"s0", "s1", "features"}),
    ],
)
def test_counts_equal_the_papers(graph_of, name, same):
    stats = described(name, graph_of(name))

    equal = {check["quantity"] for check in stats["checks"] if check["equal"]}
    assert equal >= same
    assert bool(stats["notes"]) == (name != "recidivism")


def test_recidivism_holds_a_feature_that_states_the_label(graph_of):
    """As docs/data.md says of TIME."""
    graph = graph_of("recidivism")
    time = graph.features[:, 15]
    is_above_0_months = time > -1  # its minimum
    assert (is_above_0_months == graph.labels).sum() == 18_762


def test_that_feature_may_be_left_out(data_mirror, tmp_path):
    without_time = Dataset(task=NODE, options={"exclude": ["TIME"]})
    graph = obtain("recidivism", without_time, tmp_path, data_mirror)
    assert graph.num_features == 16

    misspelt = Dataset(task=NODE, options={"exclude": ["TIMES"]})
    said = r"bail\.csv: .* column 'TIMES', which .* `exclude` .* 'TIME'\?"
    with pytest.raises(DataError, match=said):
        datasets.prepare("recidivism", misspelt, tmp_path)


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_planetoid_equals_pytorch_geometric(graph_of, data_mirror, tmp_path, name):
    transforms = pytest.importorskip("torch_geometric.transforms")
    from torch_geometric.io import read_planetoid_data

    for file in (data_mirror / "planetoid").glob(f"ind.{name}.*"):
        shutil.copy(file, tmp_path)
    reference = read_planetoid_data(str(tmp_path), name)
    reference = transforms.NormalizeFeatures()(reference)

    graph = graph_of(name)

    edges = sort_edges(reference.edge_index.numpy())
    np.testing.assert_array_equal(graph.labels, reference.y.numpy())
    np.testing.assert_array_equal(graph.edge_index, edges)
    np.testing.assert_allclose(graph.features, reference.x.numpy(), rtol=1e-6)
