import numpy as np
import torch
from dense import LINK, make

from fairgat.data.graph import Graph, symmetrise


def test_pairs_whose_probability_is_1_in_float32_are_still_ranked():
    n = 30
    edges = symmetrise(np.array([np.arange(n), (np.arange(n) + 1) % n]), n)
    angle = 2 * np.pi * np.arange(n) / n
    task = make("gat", Graph(np.ones((n, 1)), np.zeros(n, int), np.arange(n) % 2, edges), LINK).task
    near = torch.tensor(np.stack([np.cos(angle), np.sin(angle)], 1) * 100, dtype=torch.float32)  # edges are the nearest
    near = torch.cat([near, torch.full((n, 1), 150.0)], 1)[task.order]  # and all logits are above 10000

    found = task.evaluate(near)["test"]

    assert task.validate(near).metrics["auc"] == found["auc"] == 1.0
