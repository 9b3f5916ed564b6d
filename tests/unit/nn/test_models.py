"""The paper's two networks."""

import pytest
import torch

from fairgat.nn import CSRGraph, FairGATConv, GATConv, LinkEncoder, NodeClassifier


@pytest.mark.parametrize("center", [False, True])
def test_the_classifier_is_its_layers(double, center, edge_index, sensitive):
    torch.manual_seed(0)
    model = NodeClassifier(
        FairGATConv, 5, 8, spectral_norm=True, eta=0.75, center=center
    )
    torch.nn.init.ones_(model.bias)
    x, graph = torch.randn(30, 5), CSRGraph.from_edge_index(edge_index, 30, sensitive)
    h = model.conv2(model.conv1(x, graph).relu(), graph).relu()
    z = h @ model.linear.weight[0]
    expected = 0.75 * (z - z.mean() * center) / z.std(correction=0) + model.bias
    torch.testing.assert_close(model(x, graph), expected)
    torch.testing.assert_close(model(x, edge_index, sensitive), expected)
    model = NodeClassifier(GATConv, 5, 8, spectral_norm=True)
    h, weight = model.embed(x, edge_index), model.linear.weight[0]
    torch.testing.assert_close(
        model(x, edge_index), h @ weight / weight.norm() + model.bias
    )


def test_the_link_encoder_and_its_decoder(edge_index):
    torch.manual_seed(0)
    model, x = LinkEncoder(GATConv, 5, 8), torch.randn(30, 5)
    z = model(x, edge_index)
    torch.testing.assert_close(
        z, model.conv2(model.conv1(x, edge_index).relu(), edge_index)
    )
    results = []
    for decode in (
        LinkEncoder.decode,
        lambda z, edges: (z[edges[0]] * z[edges[1]]).sum(1),
    ):
        given = z.detach().clone().requires_grad_()
        out = decode(given, edge_index)
        (out * torch.arange(len(out))).sum().backward()
        results.append([out, given.grad])
    torch.testing.assert_close(*results)
    assert torch.equal(
        LinkEncoder.decode(z, edge_index.int()), LinkEncoder.decode(z, edge_index)
    )
    assert LinkEncoder.decode(z, torch.zeros(2, 0).long()).shape == (0,)
    with pytest.raises(IndexError):
        LinkEncoder.decode(z, torch.tensor([[0], [30]]))
