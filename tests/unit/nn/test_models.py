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
    x = torch.randn(30, 5)
    graph = CSRGraph.from_edge_index(edge_index, 30, sensitive)

    hidden = model.conv1(x, graph).relu()
    hidden = model.conv2(hidden, graph).relu()
    z = hidden @ model.linear.weight[0]
    deviation = z.std(correction=0)
    if center:
        z = z - z.mean()
    expected = 0.75 * z / deviation + model.bias
    torch.testing.assert_close(model(x, graph), expected)
    torch.testing.assert_close(model(x, edge_index, sensitive), expected)


def test_without_step_3_the_logit_is_divided_by_the_norm_alone(double, edge_index):
    model = NodeClassifier(GATConv, 5, 8, spectral_norm=True)
    torch.nn.init.ones_(model.bias)
    x = torch.randn(30, 5)

    hidden, weight = model.embed(x, edge_index), model.linear.weight[0]
    expected = hidden @ weight / weight.norm() + model.bias
    torch.testing.assert_close(model(x, edge_index), expected)


@pytest.mark.parametrize("eta", [0, -1.0, float("nan"), "1"])
def test_a_classifier_refuses_an_eta_that_is_no_deviation(eta, edge_index):
    """0 would give all nodes the same logit, and -1 change every sign."""
    message = "eta must be positive and finite"
    with pytest.raises(ValueError, match=message):
        NodeClassifier(GATConv, 5, 8, eta=eta)
    model = NodeClassifier(GATConv, 5, 8)
    model.eta = eta
    with pytest.raises(ValueError, match=message):
        model(torch.randn(30, 5), edge_index)


def test_the_link_encoder_is_its_layers(edge_index):
    model, x = LinkEncoder(GATConv, 5, 8), torch.randn(30, 5)

    hidden = model.conv1(x, edge_index).relu()
    expected = model.conv2(hidden, edge_index)
    torch.testing.assert_close(model(x, edge_index), expected)


def dot_products(z, edges):
    source, target = z[edges[0]], z[edges[1]]
    return (source * target).sum(1)


def test_the_decoder_takes_dot_products_of_the_ends(double, edge_index):
    """In float32 it would depend on the draw whether sums agree to six digits."""
    z = torch.randn(30, 8)

    results = []
    for decode in (LinkEncoder.decode, dot_products):
        given = z.clone().requires_grad_()
        out = decode(given, edge_index)
        weights = torch.arange(len(out))
        (out * weights).sum().backward()
        results.append([out, given.grad])

    torch.testing.assert_close(*results)
    short = LinkEncoder.decode(z, edge_index.int())
    assert torch.equal(short, LinkEncoder.decode(z, edge_index))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_the_decoders_gradient_in_half_precision_is_summed_in_single(dtype):
    z = torch.ones(3000, 4, dtype=dtype, requires_grad=True)
    star = torch.stack([torch.zeros(3000).long(), torch.arange(3000)])

    out = LinkEncoder.decode(z, star)
    out.sum().backward()

    assert out.dtype == dtype
    assert z.grad[0].tolist() == pytest.approx([3001] * 4, rel=0.01)


def test_the_decoder_of_no_edges_gives_none():
    z, none = torch.randn(30, 8), torch.zeros(2, 0).long()
    assert LinkEncoder.decode(z, none).shape == (0,)


def test_the_decoder_refuses_an_edge_to_nobody():
    z, beyond = torch.randn(30, 8), torch.tensor([[0], [30]])
    with pytest.raises(IndexError):
        LinkEncoder.decode(z, beyond)
