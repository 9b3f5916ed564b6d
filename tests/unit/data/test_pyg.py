"""A saved torch_geometric Data as a data set."""

import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from obtain import obtain

from fairgat.config import Dataset
from fairgat.errors import DataError

pyg = pytest.importorskip("torch_geometric.data")
ToUndirected = pytest.importorskip("torch_geometric.transforms").ToUndirected


def data(**changed):
    parts = {
        "x": torch.tensor([[1.0, 2], [3, 4], [5, 6], [7, 8]]),
        "edge_index": torch.tensor(
            [[0, 1, 1, 2], [1, 0, 2, 3]]
        ),  # one edge in both directions, two in one
        "y": torch.tensor([0, 1, 0, 1]),
        "group": torch.tensor([0, 0, 1, 1]),
    }
    return pyg.Data(
        **{
            name: value
            for name, value in (parts | changed).items()
            if value is not None
        }
    )


def twice(column):
    """Eight nodes, with this second column of x."""
    x = torch.stack([torch.arange(8.0), torch.tensor([*column, *column])], dim=1)
    return data(x=x, y=torch.tensor([0, 1] * 4), group=torch.tensor([0, 0, 1, 1] * 2))


@pytest.fixture
def prepare(tmp_path):
    def run(content, task="node_classification", edges=None, **options):
        path = tmp_path / "graph.pt"
        content(path) if inspect.isfunction(content) else torch.save(content, path)
        options = {
            "path": {"file": str(path), **(edges or {})},
            "sensitive": "group",
            "label": "y",
        } | options
        return obtain(
            "mine", Dataset(task=task, source="pyg", options=options), tmp_path / "raw"
        )

    return run


def test_a_saved_data_becomes_a_graph(prepare):
    graph = prepare(data())
    assert graph.features.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert graph.labels.tolist() == [0, 1, 0, 1] and graph.sensitive.tolist() == [
        0,
        0,
        1,
        1,
    ]
    assert graph.edge_index.tolist() == [[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]
    floats = data(
        y=torch.tensor([[0.0], [1], [0], [1]]), group=torch.tensor([0.0, 0, 1, 1])
    )
    assert prepare(floats).labels.tolist() == [0, 1, 0, 1]


def test_link_prediction_needs_no_label_and_what_a_transform_left_behind_is_left_out(
    prepare,
):
    content = ToUndirected()(data(y=None))
    with pytest.raises(
        DataError,
        match=r"not read as a Data of tensors: .* Data\(\*\*data\.to_dict\(\)\) makes one",
    ):
        prepare(content, task="link_prediction", label=None)
    graph = prepare(pyg.Data(**content.to_dict()), task="link_prediction", label=None)
    assert graph.labels.tolist() == graph.sensitive.tolist() == [0, 0, 1, 1]


def test_options_of_columns_are_those_of_tables(prepare):
    content = data(
        x=None,
        num_nodes=4,
        y=torch.tensor([-1, 1, -1, 1]),
        sex=torch.tensor([1, 1, 0, 1]),
    )
    graph = prepare(
        content,
        negative=-1,
        graph_features=["degree", "constant"],
        sensitive=["group", "sex"],
    )
    assert graph.features.tolist() == [[1, 1], [2, 1], [2, 1], [1, 1]]
    assert graph.labels.tolist() == [0, 1, 0, 1]
    assert graph.group_names == ["group=0, sex=1", "group=1, sex=0", "group=1, sex=1"]
    graph = prepare(data(inc=torch.tensor([1, 2, 3, 5])), features=["inc"])
    assert graph.facts["feature_names"] == ["x[0]", "x[1]", "inc"] and graph.features[
        :, 2
    ].tolist() == [1, 2, 3, 5]
    columns = {
        "x": "features",
        "inc": "feature: 1 to 5",
        "y": "label: 0 to 1",
        "group": "sensitive: 0 to 1",
    }
    assert graph.facts["columns"] == columns


def test_edge_features_have_a_role(prepare):
    content = data(edge_attr=torch.tensor([[1.0], [1], [0], [1]]))
    with pytest.raises(DataError, match="'edge_attr' of the edges has no role"):
        prepare(content)
    with pytest.raises(DataError, match="'edge_weight' of the edges has no role"):
        prepare(data(edge_weight=torch.ones(4, 3)))
    assert prepare(content, edges={"link_if": "edge_attr"}).num_edges == 4
    assert prepare(content, edges={"exclude": "edge_attr"}).num_edges == 6


class Hostile:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_a_file_that_calls_code_never_runs(prepare, tmp_path):
    ran = tmp_path / "ran"
    with pytest.raises(DataError, match=r"graph\.pt was not read"):
        prepare(lambda path: torch.save(Hostile(ran), path))
    with pytest.raises(DataError, match=r"graph\.pt"):
        prepare(lambda path: path.write_bytes(pickle.dumps(Hostile(ran))))
    assert not ran.exists()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            lambda path: path.write_bytes(b""),
            r"graph\.pt was not read as a Data of tensors",
        ),
        (
            lambda path: path.write_bytes(b"PK\x03\x04 no more"),
            r"graph\.pt was not read as a Data of tensors",
        ),
        ({"x": torch.ones(3)}, "must hold a torch_geometric.data.Data, got dict"),
        (data(group=None), "the Data has no 'group'; it has edge_index, x, y"),
        (data(y=[0, 1, 0, 1]), r"'y' must be a dense tensor .*: try torch\.tensor"),
        (data(x=torch.eye(4).to_sparse()), "'x' must be a dense tensor"),
        (data(x=torch.ones(4, 2).bfloat16()), "'x' must be a dense tensor"),
        (
            data(edge_index=torch.tensor([[0, 1], [1.5, 0]])),
            r"'edge_index' must be \(2, E\) whole numbers",
        ),
        (
            data(edge_index=torch.tensor([0, 1])),
            r"'edge_index' must be \(2, E\) whole numbers",
        ),
        (
            data(y=np.array([0, 1, 0, 1])),
            r"not read as a Data of tensors: .*torch\.from_numpy a tensor of an array",
        ),
        (
            data(y=torch.tensor([-1, 1, -1, 1])),
            r"column 'y' is '-1', which is none of .* \(node 0, and 1 more\)",
        ),
        (
            data(y=torch.tensor([2.0, 1, torch.nan, 1])),
            r"column 'y' is '2', which is none of .* \(node 0",
        ),
        (
            data(y=torch.tensor([0, 1, 1])),
            r"the Data's 'y' must be 4 numbers, got shape \(3,\)",
        ),
        (
            data(x=None, num_nodes=4),
            r"no column is left as a feature; `graph_features: \[degree\]`",
        ),
        (data(x=torch.ones(4)), r"features must be an \(N, F\) matrix"),
        (
            data(x=torch.full((4, 1), torch.nan)),
            r"column 'x\[0\]' is empty, and is a feature: `fill: mean`.*\(node 0, and 3",
        ),
        (twice([5.0, 4, 5, 4]), r"feature 'x\[1\]' is 'y' in other words"),
        (pyg.HeteroData(), r"not read as a Data of tensors"),
        (
            data(edge_index=torch.tensor([[0, 1], [1, 9]])),
            r"column 'target' is '9', which names nobody.* \(edge 1\)",
        ),
    ],
)
def test_what_is_wrong_is_said(prepare, content, expected):
    with pytest.raises(DataError, match=expected):
        prepare(content)
