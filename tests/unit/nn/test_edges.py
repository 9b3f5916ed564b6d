"""Features of edges, as PyTorch Geometric's GATConv takes them."""

import pytest
import torch
import torch_geometric.nn
from graphs import features

from fairgat.nn import CSRGraph, FairGATConv, GATConv, attention

N = 30


def edge_features(edge_index, width=3):
    draw = torch.Generator().manual_seed(5)
    return torch.randn(edge_index.size(1), width, generator=draw, requires_grad=True)


@pytest.mark.parametrize("fused", [True, False], ids=["operators", "reference"])
@pytest.mark.parametrize("fill", [0.5, torch.tensor([1.0, 2.0, 3.0]), "mean", "add", "min", "max", "mul"], ids=str)
@pytest.mark.parametrize("options", [{}, {"heads": 2}, {"heads": 2, "concat": False, "residual": True}], ids=str)
def test_equals_torch_geometric(monkeypatch, fused, fill, options, edge_index):
    """Values and gradients, those of the edges included; node 0 has no neighbours, and some loops are given."""
    if not fused:
        monkeypatch.setattr(attention, "fused", lambda *x: False)
    theirs = torch_geometric.nn.GATConv(5, 8, edge_dim=3, fill_value=fill, **options)
    ours = GATConv(5, 8, edge_dim=3, fill_value=fill, **options)
    ours.load_state_dict(theirs.state_dict())
    theirs.load_state_dict(ours.state_dict())
    results = []
    for layer in (ours, theirs):
        x, edge_attr = features(), edge_features(edge_index)
        out, (_, alpha) = layer(x, edge_index, edge_attr, return_attention_weights=True)
        (out * torch.randn(out.shape, generator=torch.Generator().manual_seed(0))).sum().backward()
        results.append([out, alpha, x.grad, edge_attr.grad, *(p.grad for p in layer.parameters())])
    torch.testing.assert_close(*results, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("loops", [True, False])
def test_a_fair_layer_with_edge_features(dtype, loops, edge_index, sensitive):
    """Within a group of neighbours their attention is that of GAT; a CSRGraph takes the features in the same order."""
    torch.manual_seed(0)
    layer = FairGATConv(5, 8, edge_dim=1, add_self_loops=loops, alpha_chi=0.3, eta=None).to(dtype)
    x, weight = features().to(dtype), edge_features(edge_index, 1)[:, 0].to(dtype)
    out, (ends, alpha) = layer(x, edge_index, sensitive, weight, return_attention_weights=True)
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive, loops)
    torch.testing.assert_close(layer(x, graph, edge_attr=weight), out)
    plain = GATConv(5, 8, edge_dim=1, add_self_loops=loops).to(dtype)
    plain.load_state_dict(layer.state_dict())
    plain.lin.weight.data = layer.weight().data
    _, (_, whole) = plain(x, edge_index, weight, return_attention_weights=True)
    inter = sensitive[ends[0]] != sensitive[ends[1]]
    for kind in (inter, ~inter):
        share = torch.zeros(2, N, 1, dtype=dtype).index_add(1, ends[1][kind], torch.stack([alpha, whole])[:, kind])
        found, expected = (each[kind] / total[ends[1][kind]] for each, total in zip((alpha, whole), share, strict=True))
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


def test_edges_that_are_dropped_take_their_features_along(edge_index):
    layer = GATConv(5, 8, edge_dim=3, add_self_loops=False)
    kept, edge_attr = torch.rand(edge_index.size(1)) < 0.6, edge_features(edge_index)
    graph = CSRGraph.from_edge_index(edge_index, N, add_self_loops=False)
    found = layer(features(), graph, edge_attr, keep=graph.reorder_edges(kept))
    torch.testing.assert_close(found, layer(features(), edge_index[:, kept], edge_attr[kept]))


def test_second_derivatives_in_float64(edge_index, sensitive):
    torch.manual_seed(0)
    layer, edge_attr = FairGATConv(5, 3, edge_dim=3).double(), edge_features(edge_index).double().detach()
    x = features().detach().double()

    def function(values):
        return layer(x, edge_index, sensitive, values)[:4]

    assert torch.autograd.gradcheck(function, edge_attr.requires_grad_())
    assert torch.autograd.gradgradcheck(function, edge_attr)


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"edge_dim": 3}, None, "made with edge_dim=3"),
        ({"edge_dim": 3}, torch.zeros(4, 3), "one row for each edge that was given"),
        ({"edge_dim": 3}, torch.zeros(128), "one row for each edge"),
        ({}, torch.zeros(128, 3), "made with edge_dim=None"),
    ],
)
def test_what_does_not_fit_is_refused(options, given, message, edge_index):
    with pytest.raises(ValueError, match=message):
        GATConv(5, 8, **options)(features(), edge_index, given)


def test_a_sparse_matrix_gives_edges_no_order():
    adj_t = torch.eye(N).to_sparse()
    with pytest.raises(ValueError, match="no order"):
        GATConv(5, 8, edge_dim=1)(features(), adj_t, torch.ones(N))


@pytest.mark.parametrize("residual", [False, True])
def test_gat_conv(residual):
    """PyTorch Geometric 2.8's test/nn/conv/test_gat_conv.py, less bipartite graphs, TorchScript and torch-sparse."""
    x1 = torch.randn(4, 8)
    edge_index = torch.tensor([[0, 1, 2, 3], [0, 0, 1, 1]])
    adj1 = torch_geometric.utils.to_torch_csc_tensor(edge_index, size=(4, 4))
    conv = GATConv(8, 32, heads=2, residual=residual)
    assert str(conv) == "GATConv(8, 32, heads=2)"
    out = conv(x1, edge_index)
    assert out.size() == (4, 64)
    assert torch.allclose(conv(x1, edge_index, size=(4, 4)), out)
    assert torch.allclose(conv(x1, adj1.t()), out, atol=1e-6)
    result = conv(x1, edge_index, return_attention_weights=True)
    assert torch.allclose(result[0], out)
    assert result[1][0].size() == (2, 7)
    assert result[1][1].size() == (7, 2)
    assert result[1][1].min() >= 0 and result[1][1].max() <= 1


def test_autocast_takes_edge_features_of_its_type(edge_index):
    layer, edge_attr = GATConv(5, 8, edge_dim=2), torch.randn(edge_index.size(1), 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = layer(features(), edge_index, edge_attr.bfloat16())
    torch.testing.assert_close(found, layer(features(), edge_index, edge_attr.bfloat16().float()))


def test_a_compiled_layer_takes_them_with_a_csr_graph(edge_index):
    layer, edge_attr = GATConv(5, 8, edge_dim=2), torch.randn(edge_index.size(1), 2)
    graph = CSRGraph.from_edge_index(edge_index, N)
    expected = layer(features(), graph, edge_attr)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(features(), graph, edge_attr), expected)
