"""Two linear maps with ReLU between them, in one pass, against the two one after the other."""

from functools import partial

import pytest
import torch
from graphs import random_graph
from torch.nn.functional import linear
from torch.utils.checkpoint import checkpoint

from fairgat.nn import CSRGraph, FairGATConv, GATConv, NodeClassifier, hidden
from fairgat.nn.covariance import covariance
from fairgat.nn.deviation import scaled_weight
from fairgat.nn.hidden import (
    hidden_linear,
    hidden_product,
    hidden_product_backward,
    scaled_hidden_product,
    scaled_hidden_product_backward,
)

kernels = pytest.mark.skipif(
    hidden.products is None or not hidden.products.AVX512, reason="the kernels need Numba and AVX-512"
)
SHAPES = [(5000, 17, 128, 128), (4001, 40, 64, 33), (3000, 30, 30, 7), (1600, 33, 200, 20)]


def operands(rows, k, h, m, biased=True):
    """x, W, bias and V, of a size at which sums are of order one."""
    generator = torch.Generator().manual_seed(0)
    x, weight, bias, head = (torch.randn(shape, generator=generator) for shape in ((rows, k), (h, k), (h,), (m, h)))
    given = [x, weight * k**-0.5, bias if biased else None, head * h**-0.5]
    return [value if value is None else value.requires_grad_() for value in given]


@kernels
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("biased", [True, False], ids=["bias", "no bias"])
def test_product_and_gradients(monkeypatch, threads, count, shape, biased):
    done, real = [], hidden.products.hidden_gradients
    monkeypatch.setattr(hidden.products, "hidden_gradients", lambda *given: done.append(1) or real(*given))
    threads(count)
    given = operands(*shape, biased)
    exact = [value if value is None else value.detach().double().requires_grad_() for value in given]
    before = linear(*exact[:3])
    given[0].data[(before.abs() < 1e-4).any(1)] = 0  # rounding decides about ReLU at 0
    exact[0].data[(before.abs() < 1e-4).any(1)] = 0
    ours, theirs = hidden_linear(*given), linear(linear(*exact[:3]).relu(), exact[3])
    torch.testing.assert_close(ours.double(), theirs, rtol=1e-4, atol=1e-4)
    factor = torch.randn(shape[3], shape[0], generator=torch.Generator().manual_seed(1)).t()  # not contiguous
    (ours * factor).sum().backward()
    (theirs * factor).sum().backward()
    assert len(done) == 1
    for mine, other in zip(given, exact, strict=True):
        if mine is not None:
            error = (mine.grad - other.grad).norm() / other.grad.norm()
            assert error < 1e-5, (mine.shape, error)


@kernels
def test_no_number_depends_on_how_rows_are_divided(threads):
    found = []
    for count in (1, 2, 5):
        threads(count)
        given = operands(5000, 17, 128, 128)
        out = hidden_linear(*given)
        out.square().sum().backward()
        found.append(b"".join(value.detach().numpy().tobytes() for value in (out, *(each.grad for each in given))))
    assert len(set(found)) == 1


@kernels
def test_what_is_no_number_stays_in_its_row(threads):
    threads(2)
    x, weight, bias, head = operands(3000, 17, 64, 64)
    x.data[5, 3] = torch.nan
    out = hidden_linear(x, weight, bias, head)
    assert out[5].isnan().all() and out[:5].isfinite().all() and out[6:].isfinite().all()


@kernels
def test_small_and_other_products_are_left_alone(threads, monkeypatch):
    monkeypatch.setattr(hidden, "hidden_product", lambda *given: pytest.fail("not worth it"))
    threads(2)
    for shape in ((50, 5, 8, 8), (5000, 65, 64, 8), (1599, 30, 200, 8)):  # few products, narrowing, few rows
        hidden_linear(*operands(*shape))
    hidden_linear(*(value.double() for value in operands(5000, 17, 64, 64)))


@pytest.mark.parametrize("count", [1, 2])
def test_what_does_not_fit_is_pytorchs_error(threads, count):
    """The kernels check no bounds."""
    threads(count)
    x, weight, bias, head = (value.detach() for value in operands(3000, 17, 128, 64))
    for wrong in (
        (x[:, :16], weight, bias, head),
        (torch.cat([x, x[:, :1]], 1), weight, bias, head),
        (x, weight, bias, head[:, :120]),
        (x, weight, bias, torch.cat([head, head[:, :2]], 1)),
        (x, weight, bias[:50], head),
    ):
        with pytest.raises(RuntimeError, match=r"shape|size|match"):
            hidden_linear(*wrong)
    torch.testing.assert_close(
        hidden_linear(x, weight, bias[:1], head), hidden_linear(x, weight, bias[:1].expand(128), head)
    )
    assert hidden_linear(x, weight, bias, head[:0]).shape == (3000, 0)


@kernels
def test_a_checkpoint_computes_it_again(threads):
    threads(2)
    given = operands(3000, 17, 64, 64)
    ours = checkpoint(hidden_linear, *given, use_reentrant=False)
    torch.testing.assert_close(
        torch.autograd.grad(ours.square().sum(), given),
        torch.autograd.grad(hidden_linear(*given).square().sum(), given),
    )


@kernels
@pytest.mark.parametrize("rows", [30, 3000], ids=["exported from a larger graph", "kernels"])
def test_registrations(rows):
    for biased in (True, False):
        given = operands(rows, 17, 64, 33, biased)
        torch.library.opcheck(hidden_product.registered, tuple(given))
        plain = [value if value is None else value.detach() for value in given]
        torch.library.opcheck(hidden_product_backward.registered, (torch.randn(rows, 33), *plain))


@kernels
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("biased", [True, False], ids=["bias", "no bias"])
def test_scaled_weights(shape, biased):
    """In one operator, and by weights that are scaled before."""
    given = operands(*shape, biased)
    alone = [value if value is None else value.detach().clone().requires_grad_() for value in given]
    weight = scaled_weight(alone[1][None], covariance(alone[0][:, None])[0], 0.75)[0]
    apart, ours = hidden_linear(alone[0], weight, *alone[2:]), hidden_linear(*given, 0.75)
    assert torch.equal(ours, apart)
    ours.square().sum().backward()
    apart.square().sum().backward()
    for mine, other in zip(given, alone, strict=True):
        if mine is not None:
            torch.testing.assert_close(mine.grad, other.grad, rtol=0, atol=0)


@kernels
def test_a_backward_pass_within_autocast():
    """Has the forward pass's precision."""
    found = []
    for inside in (False, True):
        given = operands(3000, 17, 64, 33)
        loss = hidden_linear(*given, 0.75).square().mean()
        with torch.autocast("cpu", enabled=inside):
            loss.backward()
        found.append([each.grad for each in given])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


@kernels
@pytest.mark.parametrize("rows", [30, 3000], ids=["exported from a larger graph", "kernels"])
@pytest.mark.parametrize("biased", [True, False], ids=["bias", "no bias"])
def test_registrations_with_scaled_weights(rows, biased):
    given = operands(rows, 17, 64, 33, biased)
    torch.library.opcheck(scaled_hidden_product.registered, (*given, 0.75))
    plain = [value if value is None else value.detach() for value in given]
    saved = scaled_hidden_product(*plain, 0.75)[1:]
    torch.library.opcheck(scaled_hidden_product_backward.registered, (torch.randn(rows, 33), *plain, *saved, 0.75))


# ---------------------------------------------------------------------------------------------- layers and networks


@pytest.mark.parametrize("widths", [(5, 8), (8, 5)], ids=["aggregated first", "transformed first"])
@pytest.mark.parametrize("options", [{}, {"heads": 2}, {"heads": 2, "concat": False}], ids=str)
@pytest.mark.parametrize("fair", [{}, {"eta": 0.75}, {"eta": 0.75, "center": True}], ids=str)
def test_a_transformed_input(widths, options, fair):
    torch.manual_seed(0)
    edge_index, sensitive = random_graph()
    layer = FairGATConv(*widths, **options, **fair) if fair else GATConv(*widths, **options)
    groups = (sensitive,) if fair else ()
    x = torch.randn(30, widths[0])
    c = x @ layer.lin.weight.t()
    torch.testing.assert_close(
        layer(c, edge_index, *groups, transformed=True), layer(x, edge_index, *groups), rtol=1e-4, atol=1e-5
    )


def test_a_transformed_input_has_the_width_of_the_product():
    edge_index, _ = random_graph()
    with pytest.raises(ValueError, match=r"x must have shape \(N, 16\), got \(30, 5\)"):
        GATConv(5, 8, heads=2)(torch.randn(30, 5), edge_index, transformed=True)
    with pytest.raises(ValueError, match="residual needs its input itself"):
        GATConv(5, 8, residual=True)(torch.randn(30, 8), edge_index, transformed=True)


@kernels
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("eta", [None, 0.75])
def test_networks_are_their_layers_one_after_the_other(monkeypatch, threads, count, eta):
    """On a graph that is large enough for the kernels."""
    done, real = [], hidden.products.hidden_times
    monkeypatch.setattr(hidden.products, "hidden_times", lambda *given: done.append(1) or real(*given))
    threads(count)
    torch.manual_seed(0)
    edge_index, sensitive = random_graph(3000, 20000)
    model = NodeClassifier(partial(FairGATConv, eta=eta), 17, 64, spectral_norm=True, eta=eta)
    x = torch.randn(3000, 17)
    h = model.conv2(model.conv1(x, edge_index, sensitive, relu=True), edge_index, sensitive, relu=True)
    torch.testing.assert_close(model.embed(x, edge_index, sensitive), h, rtol=1e-4, atol=1e-5)
    apart = torch.autograd.grad(model.classify(h).square().sum(), list(model.parameters()))
    ours = model(x, edge_index, sensitive)
    torch.testing.assert_close(ours, model.classify(h), rtol=1e-4, atol=1e-5)
    together = torch.autograd.grad(ours.square().sum(), list(model.parameters()))
    for a, b in zip(together, apart, strict=True):
        assert (a - b).norm() < 1e-4 * b.norm() + 1e-5
    assert len(done) == 2


class Mine(GATConv):
    def forward(self, x, edge_index, relu=False):
        return super().forward(x, edge_index, relu=relu)


def test_what_a_network_has_between_its_layers_can_be_seen():
    edge_index, _ = random_graph()
    x = torch.randn(30, 5)
    for watch in ("register_forward_hook", "register_full_backward_hook"):
        model, seen = NodeClassifier(GATConv, 5, 8), []
        getattr(model.conv1, watch)(lambda module, given, out, seen=seen: seen.append(1))
        model(x, edge_index).sum().backward()
        assert seen == [1]
    model, seen = NodeClassifier(GATConv, 5, 8), []
    model.conv2.register_forward_pre_hook(lambda module, given: seen.append(given[0].shape))
    model(x, edge_index)
    assert seen == [(30, 8)]
    widened = NodeClassifier(GATConv, 5, 8)
    widened.conv2, widened.linear = GATConv(8, 16), torch.nn.Linear(16, 1, bias=False)
    for model in (NodeClassifier(Mine, 5, 8), NodeClassifier(partial(GATConv, residual=True), 5, 8), widened):
        torch.testing.assert_close(model(x, edge_index), model.eval()(x, edge_index), rtol=1e-4, atol=1e-5)
    model, seen = NodeClassifier(GATConv, 5, 8), []
    handle = torch.nn.modules.module.register_module_forward_hook(
        lambda module, given, out: seen.append(out.min() >= 0) if module is model.conv1 else None
    )
    try:
        model(x, edge_index)
    finally:
        handle.remove()
    assert seen == [True]


def test_layers_that_do_not_fit_say_so():
    model = NodeClassifier(GATConv, 5, 8)
    model.conv2 = GATConv(4, 4)
    with pytest.raises(ValueError, match=r"x must have shape \(N, 4\), got \(30, 8\)"):
        model(torch.randn(30, 5), random_graph()[0])


def test_a_parametrised_layer_keeps_its_precision_under_autocast():
    class Mixed(torch.nn.Module):
        def forward(self, weight):
            return weight @ weight.t() @ weight

    model = NodeClassifier(GATConv, 5, 8)
    torch.nn.utils.parametrize.register_parametrization(model.conv2.lin, "weight", Mixed())
    x, edge_index = torch.randn(30, 5), random_graph()[0]
    with torch.autocast("cpu"):
        h = model.embed(x, edge_index)
    torch.testing.assert_close(h, model.embed(x, edge_index), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("fair", [True, False])
def test_networks_compile_in_one_piece(threads, count, fair):
    threads(count)
    torch.manual_seed(0)
    edge_index, sensitive = random_graph(3000, 20000)
    conv = partial(FairGATConv, eta=0.75) if fair else GATConv
    model = NodeClassifier(conv, 17, 64, spectral_norm=fair, eta=0.75 if fair else None)
    graph, x = CSRGraph.from_edge_index(edge_index, 3000, sensitive if fair else None), torch.randn(3000, 17)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    found = []
    for function in (model, compiled):
        out = function(x, graph)
        found.append([out, *torch.autograd.grad(out.square().sum(), list(model.parameters()))])
    for a, b in zip(*found, strict=True):
        assert (a - b).norm() < 1e-4 * b.norm() + 1e-5


@kernels
@pytest.mark.parametrize("layer", [GATConv, FairGATConv])
def test_no_weight_depends_on_the_number_of_threads(threads, layer):
    edge_index, sensitive = random_graph(3000, 60000)
    groups = (sensitive,) if layer is FairGATConv else ()
    found = []
    for count in (1, 2, 3):
        threads(count)
        torch.manual_seed(0)
        model = NodeClassifier(layer, 17, 64, spectral_norm=True, eta=1.0)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        x = torch.randn(3000, 17)
        for _ in range(5):
            optimizer.zero_grad()
            model(x, edge_index, *groups)[::3].square().mean().backward()
            optimizer.step()
        found.append(b"".join(weight.detach().numpy().tobytes() for weight in model.parameters()))
    assert len(set(found)) == 1
