"""What the methods share."""

import torch

from fairgat.methods.base import Adam


def test_adam_takes_pytorch_s_steps():
    x = torch.randn(7, 5)
    ends = []
    for optimiser in (Adam, torch.optim.Adam):
        weight = torch.ones(5, 3, requires_grad=True)
        steps = optimiser([weight], lr=0.01, weight_decay=0.001)
        for _ in range(20):
            steps.zero_grad()
            (x @ weight).sin().sum().backward()
            steps.step()
        ends.append(weight)
    assert torch.equal(*ends) and not torch.equal(ends[0], torch.ones(5, 3))
