"""GATConv against torch_geometric's, FairGATConv against its equations written out."""

import pytest
import torch
import torch_geometric.nn
from dense import assert_same_pass, fair_layer
from graphs import edge_features, features, random_graph, with_self_loops

from fairgat.nn import CSRGraph, FairGATConv, GATConv, attention
from fairgat.nn.columns import moments

N = 30


def pair(**options):
    """Our layer and torch_geometric's, with the same weights."""
    theirs = torch_geometric.nn.GATConv(**options)
    ours = GATConv(**options)
    torch.nn.init.normal_(theirs.bias) if theirs.bias is not None else None
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


@pytest.mark.parametrize("fused", [True, False], ids=["operators", "reference"])
@pytest.mark.parametrize(
    "widths", [(5, 8), (8, 5)], ids=["aggregate-first", "transform-first"]
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"heads": 3},
        {"heads": 3, "concat": False},
        {"add_self_loops": False},
        {"bias": False},
        {"residual": True},
        {"negative_slope": 0.05},
        {"edge_dim": 3, "fill_value": 0.5, "heads": 2},
        {
            "edge_dim": 3,
            "fill_value": torch.tensor([1.0, 2.0, 3.0]),
            "heads": 2,
            "concat": False,
            "residual": True,
        },
        *(
            {"edge_dim": 3, "fill_value": fill}
            for fill in ("mean", "add", "min", "max", "mul")
        ),
    ],
    ids=str,
)
def test_equals_torch_geometric(monkeypatch, fused, widths, options, edge_index):
    """Values and gradients; node 0 has no neighbours, and some self-loops are given."""
    if not fused:
        monkeypatch.setattr(attention, "fused", lambda *x: False)
    ours, theirs = pair(in_channels=widths[0], out_channels=widths[1], **options)
    results = []
    for layer in (ours, theirs):
        x, edge_attr = (
            features(widths[0]),
            edge_features(edge_index) if layer.edge_dim else None,
        )
        out, (edges, alpha) = layer(
            x, edge_index, edge_attr, return_attention_weights=True
        )
        weights = torch.randn(out.shape, generator=torch.Generator().manual_seed(0))
        (out * weights).sum().backward()
        learned = [
            each for each in (x, edge_attr, *layer.parameters()) if each is not None
        ]
        results.append([out, alpha, *(each.grad for each in learned)])
        assert edges.shape[1] == alpha.shape[0]
    torch.testing.assert_close(*results, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "widths", [(5, 8), (8, 5)], ids=["aggregate-first", "transform-first"]
)
@pytest.mark.parametrize("concat", [True, False])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("eta", [None, 0.75])
@pytest.mark.parametrize("groups", [2, 4])
def test_fair_layer_equals_its_equations(double, widths, concat, center, eta, groups):
    torch.manual_seed(0)
    edge_index, sensitive = random_graph(groups=groups)
    layer = FairGATConv(
        *widths, heads=2, concat=concat, alpha_chi=0.3, eta=eta, center=center
    )
    torch.nn.init.normal_(layer.bias)
    x, (source, target) = features(widths[0]), with_self_loops(edge_index, N)
    count = torch.zeros(N, N).index_put(
        (target, source), torch.ones(()), accumulate=True
    )
    dense = fair_layer(layer, x, count, sensitive)
    assert_same_pass(layer(x, edge_index, sensitive), dense, [x, *layer.parameters()])


def test_without_its_steps_it_is_gat(edge_index):
    plain = GATConv(5, 8)
    fair = FairGATConv(5, 8, alpha_chi=None, spectral_norm=False, eta=None)
    fair.load_state_dict(plain.state_dict())
    torch.testing.assert_close(
        fair(features(), edge_index), plain(features(), edge_index)
    )
    assert str(plain) == "GATConv(5, 8, heads=1)"
    assert (
        str(fair)
        == "FairGATConv(5, 8, heads=1, alpha_chi=None, spectral_norm=False, eta=None)"
    )


def test_attention_dropout(edge_index):
    torch.manual_seed(0)
    layer = GATConv(5, 8, dropout=0.5)
    _, (_, alpha) = layer(features(), edge_index, return_attention_weights=True)
    _, (_, whole) = layer.eval()(features(), edge_index, return_attention_weights=True)
    dropped = alpha == 0
    assert 0.3 < dropped.double().mean() < 0.7
    torch.testing.assert_close(alpha[~dropped], 2 * whole[~dropped])


@pytest.mark.parametrize("width", [3, 12])
@pytest.mark.parametrize("center", [False, True])
def test_half_precision_is_that_of_the_numbers(width, center, edge_index, sensitive):
    """Moments are float32's: bfloat16 would take what deviates by less than 0.8 of its mean for a constant."""
    torch.manual_seed(0)
    layer, x = FairGATConv(width, 4, eta=0.75, center=center), 2 + torch.randn(N, width)
    half = layer.bfloat16()(x.bfloat16(), edge_index, sensitive)
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(
        half.float(),
        layer.float()(x.bfloat16().float(), edge_index, sensitive),
        rtol=0.1,
        atol=0.1,
    )
    many = moments(1 + torch.randn(70_000, 2).half())
    torch.testing.assert_close(many, (torch.ones(2), torch.ones(2)), rtol=0.05, atol=0)


@pytest.mark.parametrize("width", [1, 3, 12])
@pytest.mark.parametrize("value", [1.0, 0.1, 0.0, 1e-20])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("center", [False, True])
def test_features_that_do_not_vary_are_divided_by_one(
    width, value, dtype, center, edge_index, sensitive
):
    """As scikit-learn's StandardScaler does; values and gradients stay of the input's size."""
    torch.manual_seed(0)
    layer = FairGATConv(width, 4, center=center).to(dtype)
    x = torch.full((N, width), value, dtype=dtype)
    out = layer(x.requires_grad_(), edge_index, sensitive)
    out.sum().backward()
    expected = 0 * out if center else (x @ layer.lin.weight.t()).detach()
    torch.testing.assert_close(out, expected)
    assert max(each.grad.abs().max() for each in (x, *layer.parameters())) < 1000


def test_one_feature_of_several_may_be_constant(edge_index, sensitive):
    x = torch.cat([features(4).detach(), torch.ones(N, 1)], 1)
    layer = FairGATConv(5, 5, bias=False)
    with torch.no_grad():
        layer.lin.weight.copy_(torch.eye(5))
    out = layer(x, edge_index, sensitive)
    torch.testing.assert_close(
        out.std(0, correction=0), torch.tensor([1.0, 1, 1, 1, 0]), rtol=1e-5, atol=1e-5
    )
    torch.testing.assert_close(out[:, 4], torch.ones(N))


class Cooler(GATConv):
    """An attention of half the temperature, put into one step."""

    def scores(self, c):
        source, target = super().scores(c)
        return 2 * source, 2 * target


@pytest.mark.parametrize(
    "widths",
    [(5, 8), (8, 5), (40, 6)],
    ids=["aggregate-first", "transform-first", "sparse"],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "options", [{}, {"heads": 2}, {"heads": 2, "concat": False}], ids=str
)
@pytest.mark.parametrize("training", [True, False])
def test_an_overridden_step_holds_in_every_branch(
    widths, dtype, options, training, edge_index
):
    """Scores are linear in the attention vectors: twice the scores are those of twice the vectors."""
    cooler = Cooler(*widths, **options).to(dtype).train(training)
    plain = GATConv(*widths, **options).to(dtype).train(training)
    state = cooler.state_dict()
    plain.load_state_dict(
        state | {name: 2 * state[name] for name in ("att_src", "att_dst")}
    )
    x = features(widths[0]).detach().to(dtype)
    if widths[0] == 40:
        x = x * (torch.arange(x.numel()).view(x.shape) % 9 == 0)
    expected = plain(x, edge_index)
    torch.testing.assert_close(cooler(x, edge_index), expected, rtol=1e-5, atol=1e-5)
    plain.load_state_dict(state)
    assert not torch.allclose(expected, plain(x, edge_index))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("slope", [0.2, 0.0])
def test_edges_that_are_dropped_are_as_if_they_were_not_there(
    dtype, slope, edge_index, sensitive
):
    """Their features included."""
    layer = FairGATConv(
        5, 8, add_self_loops=False, negative_slope=slope, edge_dim=3
    ).to(dtype)
    x, edge_attr = features().to(dtype), edge_features(edge_index).to(dtype)
    kept, graph = (
        torch.rand(len(edge_attr)) < 0.6,
        CSRGraph.from_edge_index(edge_index, N, sensitive, False),
    )
    few = edge_index[:, kept], sensitive, edge_attr[kept]
    expected, (_, alpha) = layer(x, *few, return_attention_weights=True)
    every = {"edge_attr": edge_attr, "keep": graph.reorder_edges(kept)}
    out, (_, all_of_them) = layer(x, graph, **every, return_attention_weights=True)
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(all_of_them[kept], alpha)
    assert not all_of_them[~kept].any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("loops", [True, False])
def test_a_fair_layer_with_edge_features(dtype, loops, edge_index, sensitive):
    """Within a group of neighbours their attention is that of GAT; a CSRGraph takes the features in the same order."""
    torch.manual_seed(0)
    layer = FairGATConv(
        5, 8, edge_dim=1, add_self_loops=loops, alpha_chi=0.3, eta=None
    ).to(dtype)
    x, weight = features().to(dtype), edge_features(edge_index, 1)[:, 0].to(dtype)
    out, (ends, alpha) = layer(
        x, edge_index, sensitive, weight, return_attention_weights=True
    )
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive, loops)
    torch.testing.assert_close(layer(x, graph, edge_attr=weight), out)
    plain = GATConv(5, 8, edge_dim=1, add_self_loops=loops).to(dtype)
    plain.load_state_dict(layer.state_dict())
    plain.lin.weight.data = layer.weight().data
    _, (_, whole) = plain(x, edge_index, weight, return_attention_weights=True)
    inter = sensitive[ends[0]] != sensitive[ends[1]]
    for kind in (inter, ~inter):
        share = torch.zeros(2, N, 1, dtype=dtype).index_add(
            1, ends[1][kind], torch.stack([alpha, whole])[:, kind]
        )
        found, expected = (
            each[kind] / total[ends[1][kind]]
            for each, total in zip((alpha, whole), share, strict=True)
        )
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)
