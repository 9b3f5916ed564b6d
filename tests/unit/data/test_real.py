"""The real data sets beside the paper's counts and PyTorch Geometric's tensors; test_frozen.py holds their arrays."""

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

LINK = ("cora", "citeseer", "pubmed")
SOURCES = {
    f"pokec-{letter}-structural": further.source("pokec_structural") for letter in "zn"
}


@pytest.fixture(scope="module")
def real(data_mirror, tmp_path_factory):
    """name -> (graph, statistics), each made once."""

    @cache
    def make(name):
        settings = Dataset(
            task="link_prediction" if name in LINK else "node_classification",
            source=SOURCES.get(name),
        )
        raw = tmp_path_factory.mktemp("raw") / name
        graph = obtain(name, settings, raw, data_mirror)
        published = paper.load()["statistics"][datasets.counterpart(name, settings)]
        return graph, statistics.describe(
            graph, name, settings.task, published, splits=Splits(), seed=0
        )

    return make


@pytest.mark.parametrize(
    ("name", "same"),
    [
        (
            "recidivism",
            {"s0", "s1", "inter_edges", "intra_edges", "features"},
        ),  # all that is printed
        *(
            (name, {"nodes", "groups", "train_edges"}) for name in LINK
        ),  # the others are of a random split
        ("pokec-z-structural", {"s0", "s1", "features"}),
        ("pokec-n-structural", {"s0", "s1", "features"}),
    ],
)
def test_counts_equal_the_papers(real, name, same):
    stats = real(name)[1]
    assert {check["quantity"] for check in stats["checks"] if check["equal"]} >= same
    assert bool(stats["notes"]) == (name != "recidivism")


def test_recidivism_holds_a_feature_that_states_the_label(real, data_mirror, tmp_path):
    """What docs/data.md says of TIME, and the option that leaves it out."""
    graph, _ = real("recidivism")
    time = graph.features[:, 15] > -1  # TIME, above its minimum of 0 months
    assert (time == graph.labels).sum() == 18_762
    settings = Dataset(task="node_classification", options={"exclude": ["TIME"]})
    assert obtain("recidivism", settings, tmp_path, data_mirror).num_features == 16
    wrong = Dataset(task="node_classification", options={"exclude": ["TIMES"]})
    with pytest.raises(
        DataError, match=r"bail\.csv: .* column 'TIMES', which .* `exclude` .* 'TIME'\?"
    ):
        datasets.prepare("recidivism", wrong, tmp_path)


@pytest.mark.parametrize("name", LINK)
def test_planetoid_equals_pytorch_geometric(real, data_mirror, tmp_path, name):
    transforms = pytest.importorskip("torch_geometric.transforms")
    from torch_geometric.io import read_planetoid_data

    for file in (data_mirror / "planetoid").glob(f"ind.{name}.*"):
        shutil.copy(file, tmp_path)
    reference = transforms.NormalizeFeatures()(read_planetoid_data(str(tmp_path), name))
    graph, _ = real(name)
    np.testing.assert_array_equal(graph.labels, reference.y.numpy())
    np.testing.assert_array_equal(
        graph.edge_index, sort_edges(reference.edge_index.numpy())
    )
    np.testing.assert_allclose(graph.features, reference.x.numpy(), rtol=1e-6)
