"""Our Adam against torch.optim's."""

import pytest
import torch

from fairgat.training import optim
from fairgat.training.optim import Adam


@pytest.mark.parametrize("fused", [True, False], ids=["numba", "pytorch"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("weight_decay", [0.0, 0.0005])
def test_equals_torch(monkeypatch, weight_decay, dtype, fused):
    """Of several shapes: a matrix by columns, one that is empty, and a parameter without gradient among them."""
    if not fused:
        monkeypatch.setattr(optim, "adam", None)
    torch.manual_seed(0)
    shapes = torch.randn(5, 3, dtype=dtype), torch.randn(4, dtype=dtype), torch.randn(3, 6, dtype=dtype).t()
    start = [*shapes, torch.randn(0, dtype=dtype), torch.randn((), dtype=dtype), torch.randn(2, dtype=dtype)]
    results = []
    for make in (Adam, torch.optim.Adam):
        parameters = [value.clone().requires_grad_() for value in start]
        optimizer = make(parameters, lr=0.01, weight_decay=weight_decay)
        generator = torch.Generator().manual_seed(1)
        for _ in range(20):
            optimizer.zero_grad()
            used = parameters[:-1]
            sum((p * torch.randn(p.shape, generator=generator)).square().sum() for p in used).backward()
            optimizer.step()
        results.append(parameters)
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-7)


def test_a_step_counts_as_a_change():
    """What is kept for a tensor is made anew."""
    weight = torch.randn(3, requires_grad=True)
    optimizer, before = Adam([weight], lr=0.01), weight._version
    weight.square().sum().backward()
    optimizer.step()
    assert weight._version > before


def test_a_parameter_given_twice_has_one_state():
    steps = []
    for make in (Adam, torch.optim.Adam):
        weight = torch.ones(3, requires_grad=True)
        optimizer = make([weight, weight], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            weight.square().sum().backward()
            optimizer.step()
        steps.append(weight.detach())
    torch.testing.assert_close(*steps)
