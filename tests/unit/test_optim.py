"""Our Adam against torch.optim's."""

import pytest
import torch

from fairgat.optim import Adam


@pytest.mark.parametrize("weight_decay", [0.0, 0.0005])
def test_equals_torch(weight_decay):
    torch.manual_seed(0)
    start = [torch.randn(5, 3), torch.randn(4), torch.randn(2)]
    results = []
    for make in (Adam, torch.optim.Adam):
        parameters = [value.clone().requires_grad_() for value in start]
        optimizer = make(parameters, lr=0.01, weight_decay=weight_decay)
        generator = torch.Generator().manual_seed(1)
        for _ in range(20):
            optimizer.zero_grad()
            used = parameters[:2]  # the third never has a gradient
            sum((p * torch.randn(p.shape, generator=generator)).square().sum() for p in used).backward()
            optimizer.step()
        results.append(parameters)
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-7)
