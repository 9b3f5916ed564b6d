"""A layer calls its `lin` wherever something has been done to it."""

import copy

import pytest
import torch
import torch_geometric.nn
from graphs import features
from torch import nn
from torch.nn.utils import parametrizations, prune

from fairgat.nn import FairGATConv, GATConv

WIDTHS = pytest.mark.parametrize(
    "widths", [(5, 8), (8, 5)], ids=["aggregate-first", "transform-first"]
)


class Adapter(nn.Module):
    """LoRA."""

    def __init__(self, lin):
        super().__init__()
        self.lin = lin
        self.down = nn.Linear(lin.in_features, 2, bias=False)
        self.up = nn.Linear(2, lin.out_features, bias=False)

    def forward(self, x):
        return self.lin(x) + self.up(self.down(x))


def adapted(conv):
    conv.lin = Adapter(conv.lin)


def with_a_bias(conv):
    conv.lin = nn.Linear(conv.in_channels, conv.out_channels)


def with_a_hook(conv):
    conv.lin.register_forward_hook(lambda lin, given, out: 2 * out)


def with_a_hook_before(conv):
    conv.lin.register_forward_pre_hook(lambda lin, given: (2 * given[0],))


def with_another_forward(conv):
    conv.lin.forward = lambda x: 2 * nn.functional.linear(x, conv.lin.weight)


CHANGES = {
    "an adapter": adapted,
    "another module with a bias": with_a_bias,
    "spectral norm": lambda conv: parametrizations.spectral_norm(conv.lin),
    "weight norm": lambda conv: parametrizations.weight_norm(conv.lin),
    "the older spectral norm": lambda conv: nn.utils.spectral_norm(conv.lin),
    "pruning": lambda conv: prune.random_unstructured(conv.lin, "weight", 0.5),
    "a hook": with_a_hook,
    "a hook before": with_a_hook_before,
    "another forward": with_another_forward,
}


def two_steps(layer, x, edge_index):
    """Train; gives the last output and the parameters in the order of their names."""
    layer.train()
    optimizer = torch.optim.SGD(layer.parameters(), 0.01)
    for _ in range(2):
        optimizer.zero_grad()
        out = layer(x, edge_index)
        out.square().sum().backward()
        optimizer.step()
    named = dict(layer.named_parameters())
    for name, parameter in named.items():
        assert parameter.grad is not None, name
    return [out, *(named[name] for name in sorted(named))]


@WIDTHS
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_lin_is_trained_as_in_pytorch_geometric(change, widths, edge_index):
    ours = GATConv(*widths).double()
    theirs = torch_geometric.nn.GATConv(*widths).double()
    theirs.lin = copy.deepcopy(ours.lin)
    theirs.load_state_dict(ours.state_dict())
    x = features(widths[0]).double()

    results = []
    for layer in (ours, theirs):
        torch.manual_seed(0)
        change(layer)
        results.append(two_steps(layer.double(), x, edge_index))

    torch.testing.assert_close(*results)


def merged(wrapped, widths, options):
    """The layer whose weight is that of an adapted one, with the adapter in it."""
    lin = wrapped.lin
    state = {}
    for name, value in wrapped.state_dict().items():
        state[name.replace("lin.lin", "lin")] = value
    layer = FairGATConv(*widths, **options)
    layer.load_state_dict(state, strict=False)
    added = lin.up.weight @ lin.down.weight
    layer.lin.weight.data = (lin.lin.weight + added).data
    return layer


@WIDTHS
@pytest.mark.parametrize(
    "options", [{}, {"eta": None}, {"eta": None, "spectral_norm": False}], ids=str
)
def test_step_two_divides_by_the_norm_of_what_lin_does(
    options, widths, edge_index, sensitive
):
    """An adapter that is merged into the weight gives the same layer."""
    torch.manual_seed(0)
    wrapped = FairGATConv(*widths, **options)
    adapted(wrapped)
    x = features(widths[0])

    found = wrapped(x, edge_index, sensitive)

    expected = merged(wrapped, widths, options)(x, edge_index, sensitive)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    found.square().sum().backward()
    assert wrapped.lin.up.weight.grad.any()


def test_step_two_leaves_out_what_another_lin_adds():
    conv = FairGATConv(5, 3, alpha_chi=None, eta=None)
    conv.lin = nn.Linear(5, 3)
    x = features(5)

    found = conv.transform(x).values[:, 0]

    norm = torch.linalg.matrix_norm(conv.lin.weight, 2)
    torch.testing.assert_close(found, conv.lin(x) / norm)


def test_features_of_edges_go_through_their_module(edge_index):
    layer, x = GATConv(5, 8, edge_dim=2), features()
    edge_attr = torch.randn(edge_index.size(1), 2)
    expected = layer(x, edge_index, edge_attr)

    hook = layer.lin_edge.register_forward_hook(lambda lin, given, out: 2 * out)
    assert not torch.allclose(layer(x, edge_index, edge_attr), expected)

    hook.remove()
    torch.testing.assert_close(layer(x, edge_index, edge_attr), expected)


@pytest.mark.parametrize(
    ("widths", "share_of_zeros"),
    [((5, 8), 0), ((8, 5), 0), ((60, 8), 0.9)],
    ids=["aggregate-first", "transform-first", "bags of words"],
)
def test_another_default_device_is_that_of_new_tensors_only(
    widths, share_of_zeros, edge_index, sensitive
):
    torch.manual_seed(0)
    layer = FairGATConv(*widths)
    is_kept = torch.rand(30, widths[0]) >= share_of_zeros
    x = features(widths[0]).detach() * is_kept
    expected = layer(x, edge_index, sensitive)

    anew = x.clone(), edge_index.clone(), sensitive.clone()
    with torch.device("meta"):
        found = layer(*anew)

    torch.testing.assert_close(found, expected)
