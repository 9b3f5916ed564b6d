"""GATConv against torch_geometric's, FairGATConv against its equations written out."""

import copy

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
    if theirs.bias is not None:
        torch.nn.init.normal_(theirs.bias)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


WIDTHS = pytest.mark.parametrize(
    "widths", [(5, 8), (8, 5)], ids=["aggregate-first", "transform-first"]
)
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
FILLS = ("mean", "add", "min", "max", "mul")
OPTIONS = [
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
    *({"edge_dim": 3, "fill_value": fill} for fill in FILLS),
]


def outputs_and_gradients(layer, edge_index):
    """The output, the attention, and the gradients of all that a layer learns from."""
    learned = [features(layer.in_channels)]
    if layer.edge_dim:
        learned.append(edge_features(edge_index))
    x, *edge_attr = learned

    out, (edges, alpha) = layer(
        x, edge_index, *edge_attr, return_attention_weights=True
    )

    weights = torch.randn(out.shape, generator=torch.Generator().manual_seed(0))
    (out * weights).sum().backward()
    learned += layer.parameters()
    assert edges.shape[1] == alpha.shape[0]
    return [out, alpha, *(each.grad for each in learned)]


@pytest.mark.parametrize("fused", [True, False], ids=["operators", "reference"])
@WIDTHS
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_equals_torch_geometric(monkeypatch, fused, widths, options, edge_index):
    """Node 0 has no neighbours, and some self-loops are given."""
    if not fused:
        monkeypatch.setattr(attention, "fused", lambda *x: False)
    ours, theirs = pair(in_channels=widths[0], out_channels=widths[1], **options)

    found = outputs_and_gradients(ours, edge_index)

    expected = outputs_and_gradients(theirs, edge_index)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@WIDTHS
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
    x = features(widths[0])

    out = layer(x, edge_index, sensitive)

    count = torch.zeros(N, N)
    for source, target in with_self_loops(edge_index, N).T.tolist():
        count[target, source] += 1
    dense = fair_layer(layer, x, count, sensitive)
    assert_same_pass(out, dense, [x, *layer.parameters()])


def test_without_its_steps_it_is_gat(edge_index):
    plain = GATConv(5, 8)
    fair = FairGATConv(5, 8, alpha_chi=None, spectral_norm=False, eta=None)
    fair.load_state_dict(plain.state_dict())

    expected = plain(features(), edge_index)
    torch.testing.assert_close(fair(features(), edge_index), expected)


def test_a_layer_shows_how_it_was_made():
    fair = FairGATConv(5, 8, alpha_chi=None, spectral_norm=False, eta=None)
    assert str(GATConv(5, 8)) == "GATConv(5, 8, heads=1)"
    steps = "alpha_chi=None, spectral_norm=False, eta=None"
    assert str(fair) == f"FairGATConv(5, 8, heads=1, {steps})"


def test_attention_dropout(edge_index):
    torch.manual_seed(0)
    layer = GATConv(5, 8, dropout=0.5)

    _, (_, alpha) = layer(features(), edge_index, return_attention_weights=True)
    layer.eval()
    _, (_, whole) = layer(features(), edge_index, return_attention_weights=True)

    dropped = alpha == 0
    assert 0.3 < dropped.double().mean() < 0.7
    torch.testing.assert_close(alpha[~dropped], 2 * whole[~dropped])


@pytest.mark.parametrize("width", [3, 12])
@pytest.mark.parametrize("center", [False, True])
def test_half_precision_is_that_of_the_numbers(width, center, edge_index, sensitive):
    """Moments are float32's.

    bfloat16 would take what deviates by less than 0.8 of its mean for a constant.
    """
    torch.manual_seed(0)
    layer = FairGATConv(width, 4, eta=0.75, center=center).bfloat16()
    x = (2 + torch.randn(N, width)).bfloat16()

    half = layer(x, edge_index, sensitive)

    assert half.dtype == torch.bfloat16
    single = layer.float()(x.float(), edge_index, sensitive)
    torch.testing.assert_close(half.float(), single, rtol=0.1, atol=0.1)


def gradients(layer, x, edge_index, weights):
    """Of x and of the parameters."""
    x = x.detach().requires_grad_()
    (layer(x, edge_index) * weights).sum().backward()
    return [x.grad, *(each.grad for each in layer.parameters())]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("heads", [1, 3])
def test_gradients_of_a_hub_in_half_precision_are_summed_in_single(dtype, heads):
    """A sum of ones would end at 256 in bfloat16, and at 2048 in float16."""
    torch.manual_seed(0)
    nodes = 3000
    star = torch.stack([torch.zeros(nodes).long(), torch.arange(nodes)])
    edge_index = torch.cat([star, star.flip(0)], 1)
    layer = GATConv(4, 4, heads, concat=False).to(dtype)
    x, weights = (1 + torch.randn(nodes, 4)).to(dtype), torch.rand(nodes, 4) / nodes

    found = gradients(layer, x, edge_index, weights.to(dtype))

    exact = copy.deepcopy(layer).double()
    exact.zero_grad()
    expected = gradients(exact, x.double(), edge_index, weights.double())
    for own, right in zip(found, expected, strict=True):
        assert (own.double() - right).norm() <= 0.03 * right.norm()


def test_moments_of_many_halves_do_not_overflow():
    found = moments(1 + torch.randn(70_000, 2).half())
    expected = torch.ones(2), torch.ones(2)
    torch.testing.assert_close(found, expected, rtol=0.05, atol=0)


@pytest.mark.parametrize("width", [1, 3, 12])
@pytest.mark.parametrize("value", [1.0, 0.1, 0.0, 1e-20])
@DTYPES
@pytest.mark.parametrize("center", [False, True])
def test_features_that_do_not_vary_are_divided_by_one(
    width, value, dtype, center, edge_index, sensitive
):
    """As scikit-learn's StandardScaler does; gradients stay of the input's size."""
    torch.manual_seed(0)
    layer = FairGATConv(width, 4, center=center).to(dtype)
    x = torch.full((N, width), value, dtype=dtype, requires_grad=True)

    out = layer(x, edge_index, sensitive)

    expected = torch.zeros_like(out)
    if not center:
        expected = x @ layer.lin.weight.t()
    torch.testing.assert_close(out, expected)
    out.sum().backward()
    for each in (x, *layer.parameters()):
        assert each.grad.abs().max() < 1000


def test_one_feature_of_several_may_be_constant(edge_index, sensitive):
    x = torch.cat([features(4).detach(), torch.ones(N, 1)], 1)
    layer = FairGATConv(5, 5, bias=False)
    torch.nn.init.eye_(layer.lin.weight)

    out = layer(x, edge_index, sensitive)

    deviations = out.std(0, correction=0)
    expected = torch.tensor([1.0, 1, 1, 1, 0])
    torch.testing.assert_close(deviations, expected, rtol=1e-5, atol=1e-5)
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
@DTYPES
@pytest.mark.parametrize(
    "options", [{}, {"heads": 2}, {"heads": 2, "concat": False}], ids=str
)
@pytest.mark.parametrize("training", [True, False])
def test_an_overridden_step_holds_in_every_branch(
    widths, dtype, options, training, edge_index
):
    """Twice the scores are those of twice the attention vectors, as they are linear."""
    cooler = Cooler(*widths, **options).to(dtype).train(training)
    plain = GATConv(*widths, **options).to(dtype).train(training)
    plain.load_state_dict(cooler.state_dict())
    x = features(widths[0]).detach().to(dtype)
    if widths[0] == 40:
        place = torch.arange(x.numel()).view(x.shape)
        x = x * (place % 9 == 0)

    found, uncooled = cooler(x, edge_index), plain(x, edge_index)

    with torch.no_grad():
        plain.att_src *= 2
        plain.att_dst *= 2
    expected = plain(x, edge_index)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    assert not torch.allclose(expected, uncooled)


@DTYPES
@pytest.mark.parametrize("slope", [0.2, 0.0])
def test_edges_that_are_dropped_are_as_if_they_were_not_there(
    dtype, slope, edge_index, sensitive
):
    """Their features included."""
    options = {"add_self_loops": False, "negative_slope": slope, "edge_dim": 3}
    layer = FairGATConv(5, 8, **options).to(dtype)
    x, edge_attr = features().to(dtype), edge_features(edge_index).to(dtype)
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive, False)
    is_kept = torch.rand(len(edge_attr)) < 0.6
    every = {"edge_attr": edge_attr, "keep": graph.reorder_edges(is_kept)}

    out, (_, alpha) = layer(x, graph, **every, return_attention_weights=True)

    few = edge_index[:, is_kept], sensitive, edge_attr[is_kept]
    expected, (_, of_few) = layer(x, *few, return_attention_weights=True)
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(alpha[is_kept], of_few)
    assert not alpha[~is_kept].any()


@pytest.fixture(params=[True, False], ids=["self-loops", "none"])
def with_edge_features(request, dtype):
    """A layer with a share and one feature of edges, without step 3."""
    torch.manual_seed(0)
    options = {"edge_dim": 1, "add_self_loops": request.param}
    return FairGATConv(5, 8, alpha_chi=0.3, eta=None, **options).to(dtype)


def within(kind, target, alpha):
    """The attention of edges of a kind, as shares of what their target gives such."""
    sums = torch.zeros(N, 1, dtype=alpha.dtype)
    sums.index_add_(0, target[kind], alpha[kind])
    return alpha[kind] / sums[target[kind]]


@DTYPES
def test_within_a_group_of_neighbours_attention_to_edge_features_is_gats(
    with_edge_features, dtype, edge_index, sensitive
):
    fair = with_edge_features
    plain = GATConv(5, 8, edge_dim=1, add_self_loops=fair.add_self_loops).to(dtype)
    plain.load_state_dict(fair.state_dict())
    plain.lin.weight.data = fair.weight().data
    x, weight = features().detach().to(dtype), edge_features(edge_index, 1)[:, 0]
    weight = weight.detach().to(dtype)

    with torch.no_grad():
        _, (ends, alpha) = fair(
            x, edge_index, sensitive, weight, return_attention_weights=True
        )
        _, (_, of_gat) = plain(x, edge_index, weight, return_attention_weights=True)

    source, target = ends
    inter = sensitive[source] != sensitive[target]
    for kind in (inter, ~inter):
        found, expected = within(kind, target, alpha), within(kind, target, of_gat)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


@DTYPES
def test_a_csr_graph_takes_edge_features_in_the_same_order(
    with_edge_features, dtype, edge_index, sensitive
):
    layer = with_edge_features
    x, weight = features().to(dtype), edge_features(edge_index, 1)[:, 0].to(dtype)
    graph = CSRGraph.from_edge_index(edge_index, N, sensitive, layer.add_self_loops)

    expected = layer(x, edge_index, sensitive, weight)
    torch.testing.assert_close(layer(x, graph, edge_attr=weight), expected)
