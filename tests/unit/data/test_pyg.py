"""A saved torch_geometric Data as a data set."""

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
    """Four nodes; one edge in both directions, two in one. None leaves a part out."""
    parts = {
        "x": torch.tensor([[1.0, 2], [3, 4], [5, 6], [7, 8]]),
        "edge_index": torch.tensor([[0, 1, 1, 2], [1, 0, 2, 3]]),
        "y": torch.tensor([0, 1, 0, 1]),
        "group": torch.tensor([0, 0, 1, 1]),
    }
    parts |= changed
    given = {name: value for name, value in parts.items() if value is not None}
    return pyg.Data(**given)


@pytest.fixture
def prepare(tmp_path):
    """The graph of a saved Data, or of the file that is there."""
    path = tmp_path / "graph.pt"

    def run(content=None, task="node_classification", edges=None, **options):
        if content is not None:
            torch.save(content, path)
        file = {"file": str(path)} | (edges or {})
        options = {"path": file, "sensitive": "group", "label": "y"} | options
        settings = Dataset(task=task, source="pyg", options=options)
        return obtain("mine", settings, tmp_path / "raw")

    return run


def test_a_saved_data_becomes_a_graph(prepare):
    graph = prepare(data())

    assert graph.features.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert graph.labels.tolist() == [0, 1, 0, 1]
    assert graph.sensitive.tolist() == [0, 0, 1, 1]
    assert graph.edge_index.tolist() == [[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]


def test_labels_and_groups_may_be_floats_and_a_column(prepare):
    labels = torch.tensor([[0.0], [1], [0], [1]])
    groups = torch.tensor([0.0, 0, 1, 1])

    graph = prepare(data(y=labels, group=groups))

    assert graph.labels.tolist() == [0, 1, 0, 1]
    assert graph.sensitive.tolist() == [0, 0, 1, 1]


def test_link_prediction_needs_no_label(prepare):
    graph = prepare(data(y=None), task="link_prediction", label=None)

    assert graph.labels.tolist() == [0, 0, 1, 1]
    assert graph.sensitive.tolist() == [0, 0, 1, 1]


def test_what_a_transform_left_behind_is_refused_with_the_way_out(prepare):
    content = ToUndirected()(data())

    said = r"not read as a Data of tensors: .* Data\(\*\*data\.to_dict\(\)\) makes one"
    with pytest.raises(DataError, match=said):
        prepare(content)
    prepare(pyg.Data(**content.to_dict()))


# --------------------------------------------------------------- options, as of tables


def test_features_may_be_made_of_the_graph(prepare):
    content = data(x=None, num_nodes=4)
    graph = prepare(content, graph_features=["degree", "constant"])
    assert graph.features.tolist() == [[1, 1], [2, 1], [2, 1], [1, 1]]


def test_labels_may_have_other_values(prepare):
    content = data(y=torch.tensor([-1, 1, -1, 1]))
    assert prepare(content, negative=-1).labels.tolist() == [0, 1, 0, 1]


def test_attributes_may_be_combined(prepare):
    content = data(sex=torch.tensor([1, 1, 0, 1]))
    graph = prepare(content, sensitive=["group", "sex"])
    assert graph.group_names == ["group=0, sex=1", "group=1, sex=0", "group=1, sex=1"]


def test_a_column_of_x_may_have_another_role(prepare):
    """As the group often is one, and what says the label must be none."""
    x = torch.tensor([[1.0, 0, 5], [3, 0, 5], [5, 1, 6], [7, 1, 6]])

    graph = prepare(data(x=x, group=None), sensitive="x[1]", exclude=["x[2]"])

    assert graph.features.tolist() == [[1], [3], [5], [7]]
    assert graph.group_names == ["x[1]=0", "x[1]=1"]
    assert graph.facts["columns"]["x[1]"] == "sensitive: 0 to 1"


def test_a_column_of_x_that_is_not_there_is_named(prepare):
    with pytest.raises(DataError, match=r"the Data has no 'x\[2\]'; it has edge_index"):
        prepare(data(), exclude=["x[2]"])


def test_numbers_without_all_their_digits_stay_numbers(prepare):
    group = torch.tensor([1e300, 1e300, 2e300, 2e300], dtype=torch.float64)
    assert prepare(data(group=group)).sensitive.tolist() == [0, 0, 1, 1]


def test_a_vector_may_be_a_feature_beside_x(prepare):
    graph = prepare(data(inc=torch.tensor([1, 2, 3, 5])), features=["inc"])

    assert graph.facts["feature_names"] == ["x[0]", "x[1]", "inc"]
    assert graph.features[:, 2].tolist() == [1, 2, 3, 5]
    assert graph.facts["columns"] == {
        "x": "features",
        "inc": "feature: 1 to 5",
        "y": "label: 0 to 1",
        "group": "sensitive: 0 to 1",
    }


def test_columns_of_x_that_are_named_as_features_are_the_only_ones_of_x(prepare):
    graph = prepare(
        data(inc=torch.tensor([1, 2, 3, 5])),
        features=["inc", "x[1]"],
    )

    assert graph.facts["feature_names"] == ["x[1]", "inc"]
    assert graph.features.tolist() == [[2, 1], [4, 2], [6, 3], [8, 5]]
    assert graph.facts["columns"]["x"] == "features: x[1]"
    assert set(graph.facts["columns"]) == {"x", "inc", "y", "group"}


@pytest.mark.parametrize(
    "features",
    [
        {"edge_attr": torch.tensor([[1.0], [1], [0], [1]])},
        {"edge_weight": torch.ones(4, 3)},
    ],
    ids=["edge_attr", "edge_weight"],
)
def test_edge_features_without_a_role_are_refused(prepare, features):
    (name,) = features
    with pytest.raises(DataError, match=f"'{name}' of the edges has no role"):
        prepare(data(**features))


@pytest.mark.parametrize(("role", "edges"), [("link_if", 4), ("exclude", 6)])
def test_edge_features_have_a_role(prepare, role, edges):
    content = data(edge_attr=torch.tensor([[1.0], [1], [0], [1]]))
    graph = prepare(content, edges={role: "edge_attr"})
    assert graph.num_edges == edges


@pytest.mark.parametrize("name", ["source", "target"])
def test_an_attribute_that_is_called_as_an_end_takes_its_place_nowhere(prepare, name):
    """It has a role, as every other one."""
    pairs = torch.tensor([[0, 1, 2], [1, 2, 3]])
    content = data(edge_index=pairs, **{name: torch.tensor([1, 0, 1])})

    assert prepare(content, edges={"exclude": name}).num_edges == 6
    assert prepare(content, edges={"link_if": name}).num_edges == 4
    with pytest.raises(DataError, match=f"'{name}' of the edges has no role"):
        prepare(content)


# ------------------------------------------------------------------- what is wrong


class Hostile:
    """An object whose pickle makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("save", [torch.save, None], ids=["saved", "pickled"])
def test_a_file_that_calls_code_never_runs(prepare, tmp_path, save):
    ran = tmp_path / "ran"
    hostile = Hostile(ran)
    if save:
        save(hostile, tmp_path / "graph.pt")
    else:
        (tmp_path / "graph.pt").write_bytes(pickle.dumps(hostile))

    with pytest.raises(DataError, match=r"graph\.pt was not read"):
        prepare()

    assert not ran.exists()


@pytest.mark.parametrize("raw", [b"", b"PK\x03\x04 no more"], ids=["empty", "cut off"])
def test_a_damaged_file_is_refused(prepare, tmp_path, raw):
    (tmp_path / "graph.pt").write_bytes(raw)
    with pytest.raises(DataError, match=r"graph\.pt was not read as a Data of tensors"):
        prepare()


def eight_nodes(second_column):
    """Eight nodes, of which x has this second column, twice."""
    column = torch.tensor([*second_column, *second_column])
    return data(
        x=torch.stack([torch.arange(8.0), column], dim=1),
        y=torch.tensor([0, 1] * 4),
        group=torch.tensor([0, 0, 1, 1] * 2),
    )


WRONG = {
    "a dict": (
        {"x": torch.ones(3)},
        "must hold a torch_geometric.data.Data, got dict",
    ),
    "several kinds of nodes": (pyg.HeteroData(), "not read as a Data of tensors"),
    "no groups": (data(group=None), "the Data has no 'group'; it has edge_index, x, y"),
    "labels in a list": (
        data(y=[0, 1, 0, 1]),
        r"'y' must be a dense tensor .*: try torch\.tensor",
    ),
    "labels in an array": (
        data(y=np.array([0, 1, 0, 1])),
        "not read as a Data of tensors: .*torch.from_numpy a tensor of an array",
    ),
    "sparse features": (data(x=torch.eye(4).to_sparse()), "'x' must be a dense tensor"),
    "short features": (
        data(x=torch.ones(4, 2).bfloat16()),
        "'x' must be a dense tensor",
    ),
    "no features": (
        data(x=None, num_nodes=4),
        r"no column is left as a feature; `graph_features: \[degree\]`",
    ),
    "a vector of features": (
        data(x=torch.ones(4)),
        r"features must be an \(N, F\) matrix",
    ),
    "empty features": (
        data(x=torch.full((4, 1), torch.nan)),
        r"'x\[0\]' is empty, and is a feature: `fill: mean`.*\(node 0, and 3",
    ),
    "a feature that is the label": (
        eight_nodes([5.0, 4, 5, 4]),
        r"feature 'x\[1\]' is 'y' in other words",
    ),
    "half a node": (
        data(edge_index=torch.tensor([[0, 1], [1.5, 0]])),
        r"'edge_index' must be \(2, E\) whole numbers",
    ),
    "a vector of edges": (
        data(edge_index=torch.tensor([0, 1])),
        r"'edge_index' must be \(2, E\) whole numbers",
    ),
    "an edge to nobody": (
        data(edge_index=torch.tensor([[0, 1], [1, 9]])),
        r"column 'target' is '9', which names nobody.* \(edge 1\)",
    ),
    "another label": (
        data(y=torch.tensor([-1, 1, -1, 1])),
        r"column 'y' is '-1', which is none of .* \(node 0, and 1 more\)",
    ),
    "another label and none": (
        data(y=torch.tensor([2.0, 1, torch.nan, 1])),
        r"column 'y' is '2', which is none of .* \(node 0",
    ),
    "a label too few": (
        data(y=torch.tensor([0, 1, 1])),
        r"the Data's 'y' must be 4 numbers, got shape \(3,\)",
    ),
}


@pytest.mark.parametrize(("content", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(prepare, content, said):
    with pytest.raises(DataError, match=said):
        prepare(content)
