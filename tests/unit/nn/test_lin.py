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


CHANGES = {
    "an adapter": adapted,
    "another module with a bias": lambda conv: setattr(
        conv, "lin", nn.Linear(conv.in_channels, conv.out_channels)
    ),
    "spectral norm": lambda conv: parametrizations.spectral_norm(conv.lin),
    "weight norm": lambda conv: parametrizations.weight_norm(conv.lin),
    "the older spectral norm": lambda conv: nn.utils.spectral_norm(conv.lin),
    "pruning": lambda conv: prune.random_unstructured(conv.lin, "weight", 0.5),
    "a hook": lambda conv: conv.lin.register_forward_hook(
        lambda lin, given, out: 2 * out
    ),
    "a hook before": lambda conv: conv.lin.register_forward_pre_hook(
        lambda lin, given: (2 * given[0],)
    ),
    "another forward": lambda conv: setattr(
        conv.lin, "forward", lambda x: 2 * nn.functional.linear(x, conv.lin.weight)
    ),
}


@WIDTHS
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_as_in_pytorch_geometric(change, widths, edge_index):
    """Two steps of training, and what all parameters get of them."""
    results = []
    ours, theirs = (
        GATConv(*widths).double(),
        torch_geometric.nn.GATConv(*widths).double(),
    )
    theirs.lin = copy.deepcopy(ours.lin)
    theirs.load_state_dict(ours.state_dict())
    for layer in (ours.train(), theirs.train()):
        torch.manual_seed(0)
        change(layer)
        layer.double()
        optimizer = torch.optim.SGD(layer.parameters(), 0.01)
        for _ in range(2):
            optimizer.zero_grad()
            out = layer(features(widths[0]).double(), edge_index)
            out.square().sum().backward()
            optimizer.step()
        results.append(
            [
                out,
                *(
                    dict(layer.named_parameters())[name]
                    for name, _ in sorted(layer.named_parameters())
                ),
            ]
        )
        assert all(each.grad is not None for each in layer.parameters())
    torch.testing.assert_close(*results)


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
    merged = FairGATConv(*widths, **options)
    merged.load_state_dict(
        {
            name.replace("lin.lin", "lin"): each
            for name, each in wrapped.state_dict().items()
        },
        False,
    )
    merged.lin.weight.data = (
        wrapped.lin.lin.weight + wrapped.lin.up.weight @ wrapped.lin.down.weight
    ).data
    found, expected = (
        layer(features(widths[0]), edge_index, sensitive) for layer in (wrapped, merged)
    )
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    found.square().sum().backward()
    assert wrapped.lin.up.weight.grad.any()


def test_features_of_edges_go_through_their_module(edge_index):
    layer, edge_attr = GATConv(5, 8, edge_dim=2), torch.randn(edge_index.size(1), 2)
    expected = layer(features(), edge_index, edge_attr)
    seen = layer.lin_edge.register_forward_hook(lambda lin, given, out: 2 * out)
    assert not torch.allclose(layer(features(), edge_index, edge_attr), expected)
    seen.remove()
    torch.testing.assert_close(layer(features(), edge_index, edge_attr), expected)


def test_another_default_device_is_that_of_new_tensors_only(edge_index, sensitive):
    """Bags of words as well, whose graph is built in the call."""
    torch.manual_seed(0)
    words = features(60).detach() * (torch.rand(30, 60) < 0.1)
    for layer, x in (
        (FairGATConv(5, 8), features()),
        (FairGATConv(8, 5), features(8)),
        (FairGATConv(60, 8), words),
    ):
        expected = layer(x, edge_index, sensitive)
        with torch.device("meta"):
            torch.testing.assert_close(
                layer(x.clone(), edge_index.clone(), sensitive.clone()), expected
            )


def test_step_two_leaves_out_what_another_lin_adds():
    conv = FairGATConv(5, 3, alpha_chi=None, eta=None)
    conv.lin = nn.Linear(5, 3)
    x = features(5)
    norm = torch.linalg.matrix_norm(conv.lin.weight, 2)
    torch.testing.assert_close(conv.transform(x).values[:, 0], conv.lin(x) / norm)
