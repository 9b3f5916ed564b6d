"""FairGATConv without its three steps is PyTorch Geometric's GATConv, to 1e-6."""

from itertools import product

import pytest
import torch
import torch_geometric.nn
from graphs import edge_features, features

from fairgat.nn import CSRGraph, FairGATConv, GATConv

WITHOUT = {"alpha_chi": None, "spectral_norm": False, "eta": None}
CHOICES = {
    "heads": [1, 3],
    "concat": [True, False],
    "add_self_loops": [True, False],
    "edge_dim": [None, 3],
    "bias": [True, False],
    "residual": [False, True],
    "dropout": [0.0, 0.6],  # of which nothing is seen in evaluation
}
WAYS = [dict(zip(CHOICES, way, strict=True)) for way in product(*CHOICES.values())]


def leaf(array, dtype):
    """Of this type, with a gradient of its own."""
    return array.detach().to(dtype).requires_grad_()


def outputs_and_gradients(layer, edge_index, dtype):
    x, edge_attr = leaf(features(layer.in_channels), dtype), None
    if layer.edge_dim:
        edge_attr = leaf(edge_features(edge_index), dtype)

    given = {"edge_attr": edge_attr, "return_attention_weights": True}
    out, (edges, alpha) = layer(x, edge_index, **given)

    weights = torch.randn(out.shape, generator=torch.Generator().manual_seed(0))
    (out * weights.to(dtype)).mean().backward()
    learned = [x, *layer.parameters()]
    if edge_attr is not None:
        learned.append(edge_attr)
    return edges, [out, alpha, *(each.grad for each in learned)]


def assert_equal_to_1e_6(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        largest = float(other.detach().abs().max())
        size = max(1.0, largest)
        torch.testing.assert_close(one, other, rtol=0, atol=1e-6 * size)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("widths", [(5, 8), (8, 5)], ids=["widens", "narrows"])
@pytest.mark.parametrize("make", [GATConv, FairGATConv])
def test_all_ways_to_make_the_layer(make, widths, dtype, edge_index):
    without = WITHOUT if make is FairGATConv else {}
    for seed, way in enumerate(WAYS):
        torch.manual_seed(seed)
        theirs = torch_geometric.nn.GATConv(*widths, **way).to(dtype).eval()
        ours = make(*widths, **way, **without).to(dtype).eval()
        if theirs.bias is not None:
            torch.nn.init.normal_(theirs.bias)
        ours.load_state_dict(theirs.state_dict())
        theirs.load_state_dict(ours.state_dict())

        edges, expected = outputs_and_gradients(theirs, edge_index, dtype)
        own_edges, found = outputs_and_gradients(ours, edge_index, dtype)

        assert torch.equal(own_edges, edges)
        assert_equal_to_1e_6(found, expected)


@pytest.mark.parametrize("loops", [True, False])
def test_all_ways_to_give_the_edges(loops, edge_index):
    """As edges, a sparse matrix with a row for each target, or a CSRGraph."""
    torch.manual_seed(0)
    theirs = torch_geometric.nn.GATConv(5, 8, heads=2, add_self_loops=loops)
    ours = FairGATConv(5, 8, heads=2, add_self_loops=loops, **WITHOUT)
    ours.load_state_dict(theirs.state_dict())
    edge_index = edge_index.unique(dim=1)  # a matrix has each edge once
    values = torch.ones(edge_index.size(1))
    matrix = torch.sparse_coo_tensor(edge_index.flip(0), values, (30, 30))
    graph = CSRGraph.from_edge_index(edge_index, 30, None, loops)
    expected = theirs(features(), edge_index)
    for given in (edge_index, matrix.coalesce(), matrix.to_sparse_csr(), graph):
        assert_equal_to_1e_6([ours(features(), given)], [expected])


@pytest.mark.parametrize("bipartite", [(5, 7), -1])
def test_bipartite_and_lazy_layers_are_refused(bipartite):
    with pytest.raises(ValueError, match="neither bipartite graphs nor lazy"):
        FairGATConv(bipartite, 8, **WITHOUT)
