"""The MLP, and GAT with a penalty, against their definitions."""

import copy

import numpy as np
import pytest
import torch
from dense import adam, bce, logits_of, make, neighbours, small_graph, step

from fairgat.methods.penalty import range_of_means


def test_two_steps_of_the_mlp(double):
    method = make("mlp", small_graph())
    task, layers = method.task, copy.deepcopy([part for part in method.model if isinstance(part, torch.nn.Linear)])
    assert [part.weight.shape for part in layers] == [(6, 5), (6, 6), (1, 6)]
    optimizer = adam([parameter for part in layers for parameter in part.parameters()])
    for _ in range(2):
        h = task.features
        for part in layers[:2]:
            h = (h @ part.weight.t() + part.bias).relu()
        logits = h @ layers[2].weight[0] + layers[2].bias
        output = method.forward()
        torch.testing.assert_close(output, logits)
        loss = bce(logits[task.train], task.labels.double()[task.train])
        step(optimizer, loss)
        assert method.update(output)["loss"] == pytest.approx(loss.item(), abs=1e-7)


def test_the_mlp_reads_no_edges(double):
    outcomes = []
    for graph in (small_graph(), small_graph(edges=30)):
        method = make("mlp", graph)
        for _ in range(5):
            method.update(method.forward())
        outcomes.append(method.task.predictions(method.forward().detach())["logits"])
    np.testing.assert_allclose(*outcomes, atol=1e-9)


@pytest.mark.parametrize("gap", ["statistical_parity", "equal_opportunity"])
def test_a_step_with_the_penalty(double, gap):
    method = make("penalty", small_graph(), weight=1.7, gap=gap)
    task, model = method.task, copy.deepcopy(method.model)
    labels, logits = task.labels.double(), logits_of(model, task.features, neighbours(method))
    counted = [i for i in task.train.tolist() if gap == "statistical_parity" or labels[i] == 1]
    means = [torch.stack([logits[i].sigmoid() for i in counted if task.sensitive[i] == s]).mean() for s in (0, 1)]
    loss = bce(logits[task.train], labels[task.train]) + 1.7 * (means[0] - means[1]).abs()
    step(adam(model.parameters()), loss)
    assert method.update(method.forward())["loss"] == pytest.approx(loss.item(), abs=1e-7)
    torch.testing.assert_close(method.model.state_dict(), model.state_dict(), rtol=1e-6, atol=1e-7)


def test_the_gap_of_several_groups():
    values = torch.tensor([0.1, 0.3, 0.9, 0.4])
    assert range_of_means(values, torch.tensor([0, 0, 3, 1])).item() == pytest.approx(0.7)  # nobody is in group 2
    assert range_of_means(values[:2], torch.tensor([1, 1])) == range_of_means(values[:0], torch.tensor([]).long()) == 0
