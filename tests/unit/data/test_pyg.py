"""A saved torch_geometric Data as a data set, and graphs to and from other libraries."""

import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from obtain import obtain

from fairgat.config import Dataset
from fairgat.data import convert
from fairgat.errors import DataError

pyg = pytest.importorskip("torch_geometric.data")
ToUndirected = pytest.importorskip("torch_geometric.transforms").ToUndirected


def data(**changed):
    parts = {
        "x": torch.tensor([[1.0, 2], [3, 4], [5, 6], [7, 8]]),
        "edge_index": torch.tensor([[0, 1, 1, 2], [1, 0, 2, 3]]),  # one edge in both directions, two in one
        "y": torch.tensor([0, 1, 0, 1]),
        "group": torch.tensor([0, 0, 1, 1]),
    }
    return pyg.Data(**{name: value for name, value in (parts | changed).items() if value is not None})


def twice(column):
    """Eight nodes, with this second column of x."""
    x = torch.stack([torch.arange(8.0), torch.tensor([*column, *column])], dim=1)
    return data(x=x, y=torch.tensor([0, 1] * 4), group=torch.tensor([0, 0, 1, 1] * 2))


@pytest.fixture
def prepare(tmp_path):
    def run(content, task="node_classification", **options):
        path = tmp_path / "graph.pt"
        content(path) if inspect.isfunction(content) else torch.save(content, path)
        options = {"path": str(path), "sensitive": "group"} | options
        settings = Dataset(task=task, source="pyg", options=options)
        return obtain("mine", settings, tmp_path / "raw")

    return run


def test_a_saved_data_becomes_a_graph(prepare):
    graph = prepare(data())
    assert graph.features.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert graph.labels.tolist() == [0, 1, 0, 1] and graph.sensitive.tolist() == [0, 0, 1, 1]
    assert graph.edge_index.tolist() == [[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]


def test_link_prediction_needs_no_label_and_what_a_transform_left_behind_is_left_out(prepare):
    content = ToUndirected()(data(y=None))
    with pytest.raises(DataError, match=r"it holds .*; Data\(\*\*data\.to_dict\(\)\) makes one of a Data"):
        prepare(content, task="link_prediction")
    graph = prepare(pyg.Data(**content.to_dict()), task="link_prediction")
    assert graph.labels.tolist() == graph.sensitive.tolist() == [0, 0, 1, 1]


def test_options_of_columns_are_refused_where_the_features_are_x(prepare):
    with pytest.raises(DataError, match="`missing` changes nothing of 'x'"):
        prepare(data(), missing=-999)
    age = data(group=torch.tensor([10, 40, -9, 50]))
    graph = prepare(age, bins=[30], missing=-9, drop=["unknown_groups"], task="link_prediction")
    assert graph.sensitive.tolist() == [0, 1, 1]


def test_a_saved_data_may_lack_features_and_have_other_labels_and_several_attributes(prepare):
    content = data(x=None, num_nodes=4, y=torch.tensor([-1, 1, -1, 1]), sex=torch.tensor([1, 1, 0, 1]))
    graph = prepare(content, negative=-1, graph_features=["degree", "constant"], sensitive=["group", "sex"])
    assert graph.features.tolist() == [[1, 1], [2, 1], [2, 1], [1, 1]]
    assert graph.labels.tolist() == [0, 1, 0, 1]
    assert graph.group_names == ["group=0, sex=1", "group=1, sex=0", "group=1, sex=1"]
    assert prepare(data(y=torch.tensor([0, 1, -1, 1]))).labels.tolist() == [0, 1, -1, 1]


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
        (lambda path: path.write_bytes(b""), r"graph\.pt is damaged, or was not written by torch\.save"),
        (lambda path: path.write_bytes(b"PK\x03\x04 no more"), r"graph\.pt is damaged, or was not written by"),
        ({"x": torch.ones(3)}, "must hold a torch_geometric.data.Data, got dict"),
        (data(group=None), "has no 'group'"),
        (data(y=[0, 1, 0, 1]), r"'y' must be a dense tensor of shape \(N,\), got a list"),
        (data(x=torch.eye(4).to_sparse()), r"'x' must be a dense tensor of shape \(N, F\)"),
        (data(x=torch.ones(4, 2).bfloat16()), r"'x' must be a dense tensor .* got a torch.bfloat16: \.float\(\) helps"),
        (data(edge_index=torch.tensor([[0, 1], [1.5, 0]])), "'edge_index' must be whole numbers"),
        (data(y=np.array([0, 1, 0, 1])), "an attribute is a NumPy array. Make it a tensor"),
        (data(y=torch.tensor([-1, 1, -1, 1])), r"node 0: column 'y' holds '-1'.*`negative: \[-1\]`"),
        (data(x=None, num_nodes=4), r"no column is left as a feature.*`graph_features: \[degree\]`"),
        (data(x=torch.ones(4)), "features must be"),
        (twice([5.0, 4, 5, 4]), "column 1 of 'x' says of each node what its 'y'"),
        (twice([5.0, 5, 4, 4]), "column 1 of 'x' says of each node what its 'group'"),
        (twice([1.0, 3, 2, 3]), "column 1 of 'x' says of each node what its 'y' says, or a part of it"),  # finer
        (pyg.HeteroData(), r"it holds a torch_geometric\.\S+\. Save a Data of tensors only"),
        (data(y=torch.tensor([0.0, 0.5, 1, 1])), "'y' must be 4 whole numbers"),
        (data(edge_index=torch.tensor([[0, 1], [1, 9]])), "names a node outside 0 .. 3"),
        (data(edge_index=torch.tensor([[0, 1], [1, 1]])), "edge 2 joins a node to itself"),
        (data(edge_index=torch.tensor([0, 1])), r"must have shape \(2, E\)"),
    ],
)
def test_what_is_wrong_is_said(prepare, content, expected):
    with pytest.raises(DataError, match=expected):
        prepare(content)


def test_what_is_not_used_is_said(prepare):
    graph = prepare(data(inc=torch.tensor([1, 2, 3, 5]), edge_weight=torch.ones(4)), features=["inc"])
    assert graph.facts["nodes_read_as"] == "a saved Data; 4 nodes; not used: edge_weight"
    assert graph.facts["feature_columns"] == ["x (2 columns)", "inc"] and graph.num_features == 3


def test_groups_and_labels_as_they_are_made_are_no_features_either(prepare):
    content = twice([5.0, 5, 4, 4])
    content.group[0] = content.group[4] = 2  # left out
    with pytest.raises(DataError, match="column 1 of 'x' says of each node what its 'group'"):
        prepare(content, groups=[0, 1], drop=["unknown_groups"])
    x = torch.stack([torch.arange(8.0), torch.tensor([5.0, 4, 4, 4, 5, 5, 4, 4])], dim=1)
    other = {"y": torch.tensor([0, 2, 1, 1] * 2), "group": torch.tensor([0, 1] * 4)}
    with pytest.raises(DataError, match="column 1 of 'x' says of each node what its 'y'"):
        prepare(data(x=x, **other), unlabelled=[2])


def test_a_graph_for_other_libraries(prepare):
    graph = prepare(data())
    back = prepare(convert.to_pyg(graph), sensitive="sensitive")
    for name in ("features", "labels", "sensitive", "edge_index"):
        np.testing.assert_array_equal(getattr(back, name), getattr(graph, name))
    other = convert.to_networkx(graph)
    assert sorted(other.edges()) == [(0, 1), (1, 2), (2, 3)]
    assert other.nodes[3] == {"features": [7, 8], "label": 1, "sensitive": 1}
