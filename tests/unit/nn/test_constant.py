"""What is computed of constant features, against plain forms."""

import pytest
import torch

from fairgat.nn import GATConv, constant
from fairgat.nn.constant import constant_linear, constant_scaled_weight, features_linear, features_scaled_weight

ROWS, INPUTS, OUTPUTS = 70, 40, 9


def operands(share=0.1, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(ROWS, INPUTS, generator=generator, dtype=dtype)
    x[torch.rand(ROWS, INPUTS, generator=generator) >= share] = 0
    x[3], x[:, 5] = 0, 0  # an empty row, an empty column
    return x, torch.randn(OUTPUTS, INPUTS, generator=generator, dtype=dtype, requires_grad=True)


@pytest.fixture
def products(monkeypatch):
    """The shapes of the sparse products that were taken."""
    taken, times = [], constant._times
    monkeypatch.setattr(constant, "_times", lambda rows, matrix: taken.append(matrix.shape) or times(rows, matrix))
    return taken


def agree(x, weight):
    results = []
    for product in (features_linear, torch.nn.functional.linear):
        out = product(x, weight)
        scale = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view(out.shape[::-1]).t()  # not contiguous
        results.append([out, *torch.autograd.grad((out * scale).sum(), weight)])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_products_and_gradients_are_those_of_pytorch(products, dtype):
    agree(*operands(dtype=dtype))
    assert len(products) == 2  # forward and backward


@pytest.mark.parametrize("threads", [1, 2])
def test_wide_products_on_threads(products, threads, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(900, 400, generator=generator) * (torch.rand(900, 400, generator=generator) < 0.05)
    agree(x, torch.randn(130, 400, generator=generator, requires_grad=True))
    assert products


def test_a_matrix_that_is_written_to_is_read_again(products):
    x, weight = operands()
    agree(x, weight)
    x[0] = 2.5
    agree(x, weight)
    x[:] = 1.5  # no longer mostly zeros
    agree(x, weight)
    assert len(products) == 4


def test_other_matrices_take_the_plain_product(products):
    x, weight = operands()
    agree(operands(share=0.5)[0], weight)
    late = torch.ones(3 * 64, INPUTS)
    late[::3] = 0  # the rows that are looked at first
    agree(late, weight)
    agree(x[:, :5].contiguous(), weight.detach()[:, :5].clone().requires_grad_())  # a layer that widens
    agree(x.clone().requires_grad_(), weight)
    with torch.inference_mode():
        features_linear(x.clone(), weight)
    assert products == []
    assert torch.autograd.grad(features_linear(y := x.clone().requires_grad_(), weight).sum(), y)[0].shape == x.shape


def test_without_numba(products, monkeypatch):
    monkeypatch.setattr(constant, "kernels", None)
    agree(*operands())
    assert products == []


def test_the_layers_take_it_for_their_input(products):
    x, _ = operands()
    edge_index = torch.randint(ROWS, (2, 300), generator=torch.Generator().manual_seed(0))
    layer = GATConv(INPUTS, 4, heads=2)
    sparse, dense = layer(x, edge_index), layer(x.clone().requires_grad_(), edge_index)
    assert len(products) == 1
    torch.testing.assert_close(sparse, dense, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scaled_weight_follows_what_is_written(monkeypatch, dtype):
    """Its covariance is found once, and again after a write; features that need a gradient get it."""
    torch.manual_seed(0)
    x, weight = operands(dtype=dtype)
    found, covariance = [], constant._covariance
    monkeypatch.setattr(constant, "_covariance", lambda x: found.append(x.requires_grad) or covariance(x))
    weights = weight.detach().clone()[None].requires_grad_()
    close = {"rtol": 1e-3, "atol": 1e-5} if dtype == torch.float32 else {}
    for _ in range(2):
        for _ in range(2):
            y, plain = x.clone().requires_grad_(), weights.detach().clone().requires_grad_()
            product = y @ plain[0].t()
            exact = plain[0] * (0.75 / product.std(0, correction=0))[:, None]
            slope = torch.randn_like(exact)
            kept, followed = (features_scaled_weight(given, weights, 0.75)[0] for given in (x, y))
            torch.testing.assert_close((kept, followed), (exact, exact), **close)
            expected, of_y = torch.autograd.grad((exact * slope).sum(), (plain, y))
            for ours in (kept, followed):
                grad = torch.autograd.grad((ours * slope).sum(), weights, retain_graph=True)[0]
                torch.testing.assert_close(grad, expected, **close)
            torch.testing.assert_close(torch.autograd.grad((followed * slope).sum(), y)[0], of_y, **close)
        x[1] += 3
    assert found.count(False) == 2
    torch.library.opcheck(constant_scaled_weight.registered, (x, weights, 0.75))


def test_gradcheck_and_opcheck():
    x, weight = operands(dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda w: features_linear(x, w), weight)
    for share in (0.1, 0.9):
        torch.library.opcheck(constant_linear.registered, operands(share))


def test_compiled():
    x, weight = operands()
    torch.testing.assert_close(torch.compile(constant_linear, backend="aot_eager")(x, weight), x @ weight.t())


def test_wrong_shapes_are_pytorchs_error():
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        features_linear(torch.zeros(30, 41), torch.ones(9, 40))


def test_compiled_code_keeps_nothing(recording):
    """It writes to its buffers without counting, so that another matrix may come as the same tensor."""
    backend, operators = recording
    x, weight = operands()
    both = lambda x, w: features_linear(x, w).sum() + features_scaled_weight(x, w[None], 1.0).sum()  # noqa: E731
    together = torch.compile(both, backend=backend)
    expected = (x @ weight.t()).sum() + (weight / (x @ weight.t()).std(0, correction=0)[:, None]).sum()
    torch.testing.assert_close(together(x, weight), expected, rtol=1e-4, atol=1e-4)
    assert operators and not any("constant" in name for name in operators)
