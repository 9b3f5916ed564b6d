"""The layers where PyTorch Geometric's would stand."""

import pytest
import torch
import torch_geometric.nn
from torch_geometric.data import Data
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.index import Index  # noqa: F401
from torch_geometric.loader import NeighborLoader
from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE

from fairgat.nn import FairGATConv, GATConv


def test_an_edge_index_of_pytorch_geometric(edge_index, sensitive):
    theirs = torch_geometric.EdgeIndex(edge_index, sparse_size=(30, 30))
    layer, x = FairGATConv(5, 8), torch.randn(30, 5)
    torch.testing.assert_close(layer(x, theirs, sensitive), layer(x, edge_index, sensitive))


def test_sequential(edge_index, sensitive):
    first, second = FairGATConv(5, 8), GATConv(8, 3)
    model = torch_geometric.nn.Sequential(
        "x, edge_index, sensitive",
        [(first, "x, edge_index, sensitive -> x"), torch.nn.ReLU(), (second, "x, edge_index -> x")],
    )
    x = torch.randn(30, 5)
    expected = second(first(x, edge_index, sensitive).relu(), edge_index)
    torch.testing.assert_close(model(x, edge_index, sensitive), expected)


@pytest.mark.skipif(not (WITH_PYG_LIB or WITH_TORCH_SPARSE), reason="PyTorch Geometric cannot sample here")
def test_batches_of_a_neighbor_loader(edge_index, sensitive):
    data = Data(x=torch.randn(30, 5), edge_index=edge_index, sensitive=sensitive)
    model = FairGATConv(5, 8)
    for batch in NeighborLoader(data, [4, 4], batch_size=7):
        model(batch.x, batch.edge_index, batch.sensitive)[: batch.batch_size].sum().backward()
    assert model.att_src.grad.isfinite().all()


def test_a_gnn_explainer_of_features(edge_index, sensitive):

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = FairGATConv(5, 8)
            self.linear = torch.nn.Linear(8, 1)

        def forward(self, x, edge_index, sensitive):
            return self.linear(self.conv(x, edge_index, sensitive).relu())

    explainer = Explainer(
        Model(),
        GNNExplainer(epochs=5),
        explanation_type="model",
        node_mask_type="attributes",
        model_config={"mode": "binary_classification", "task_level": "node", "return_type": "raw"},
    )
    found = explainer(torch.randn(30, 5), edge_index, sensitive=sensitive, index=3)
    assert found.node_mask.shape == (30, 5) and found.node_mask.any()
