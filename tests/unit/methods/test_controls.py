"""The MLP, and GAT with a penalty, against their definitions."""

import pytest
import torch
from dense import assert_trains_by, bce, logits_of, make, neighbours, small_graph
from torch import nn

from fairgat.methods.penalty import range_of_means


def test_the_mlp_reads_features_only(double):
    method = make("mlp", small_graph())
    task, labels = method.task, method.task.labels.double()
    assert [part.weight.shape for part in method.model if isinstance(part, nn.Linear)] == [(6, 5), (6, 6), (1, 6)]

    def loss(model):
        first, second, last = (part for part in model if isinstance(part, nn.Linear))
        h = (task.features @ first.weight.t() + first.bias).relu()
        logits = (h @ second.weight.t() + second.bias).relu() @ last.weight[0] + last.bias
        torch.testing.assert_close(method.forward(), logits)
        return bce(logits[task.train], labels[task.train])

    assert_trains_by(method, loss)


@pytest.mark.parametrize("gap", ["statistical_parity", "equal_opportunity"])
def test_a_step_with_the_penalty(double, gap):
    method = make("penalty", small_graph(), weight=1.7, gap=gap)
    task, labels = method.task, method.task.labels.double()
    counted = [i for i in task.train.tolist() if gap == "statistical_parity" or labels[i] == 1]

    def loss(model):
        logits = logits_of(model, task.features, neighbours(method))
        means = [torch.stack([logits[i].sigmoid() for i in counted if task.sensitive[i] == s]).mean() for s in (0, 1)]
        return bce(logits[task.train], labels[task.train]) + 1.7 * (means[0] - means[1]).abs()

    assert_trains_by(method, loss)


def test_the_gap_of_several_groups():
    values = torch.tensor([0.1, 0.3, 0.9, 0.4])
    assert range_of_means(values, torch.tensor([0, 0, 3, 1])).item() == pytest.approx(0.7)  # nobody is in group 2
    assert range_of_means(values[:2], torch.tensor([1, 1])) == range_of_means(values[:0], torch.tensor([]).long()) == 0
