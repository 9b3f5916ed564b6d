"""FairGNN against its equations over dense matrices."""

import copy

import pytest
import torch
from dense import (
    adam,
    bce,
    cross_entropy,
    hidden,
    make,
    neighbours,
    small_graph,
    step,
    three_groups,
)
from torch import nn
from torch.nn.functional import one_hot

from fairgat.errors import NotDefined
from fairgat.methods.fairgnn import SensitiveEstimator

SETTINGS = {"adversary_weight": 0.7, "covariance_weight": 3.0, "estimator_epochs": 5}


@pytest.mark.parametrize("graph", [small_graph, three_groups])
def test_two_epochs_of_the_alternating_game(double, graph):
    method = make("fairgnn", graph(), **SETTINGS)
    assert method.adversary.out_features == (1 if graph is small_graph else 3)

    def tells(h):
        """The adversary's loss, and so many groups' (N, K) probabilities."""
        reads = h @ adversary.weight.t() + adversary.bias
        return bce(reads[:, 0], s) if s.dim() == 1 else cross_entropy(reads, s)

    task, s = method.task, method.sensitive.double()
    matrix, labels, train = neighbours(method), task.labels.double(), task.train
    model, adversary = copy.deepcopy(method.model), copy.deepcopy(method.adversary)
    optimizer, adversary_optimizer = (
        adam(model.parameters()),
        adam(adversary.parameters()),
    )
    for _ in range(2):
        h = hidden(model, task.features, matrix)
        logits = h @ model.linear.weight[0] + model.bias
        y = logits.sigmoid()
        of_groups = [
            ((one * y).mean() - one.mean() * y.mean()).abs()
            for one in (s.t() if s.dim() == 2 else [s])
        ]
        covariance = sum(of_groups) / len(of_groups)
        loss = bce(logits[train], labels[train]) + 3.0 * covariance - 0.7 * tells(h)
        step(optimizer, loss)
        adversary_loss = tells(h.detach())
        step(adversary_optimizer, adversary_loss)
        losses = method.update(method.forward())
        assert losses["loss"] == pytest.approx(loss.item(), abs=1e-7)
        assert losses["adversary_loss"] == pytest.approx(
            adversary_loss.item(), abs=1e-7
        )
    for ours, theirs in [(method.model, model), (method.adversary, adversary)]:
        torch.testing.assert_close(
            ours.state_dict(), theirs.state_dict(), rtol=1e-6, atol=1e-7
        )


def test_the_estimator_is_two_graph_convolutions(double):
    method = make("fairgnn", small_graph(), **SETTINGS)
    x, edges = method.task.features, method.task.edge_index
    estimator = SensitiveEstimator(x, edges, 7, 0.5, logits=3).eval()
    nn.init.normal_(estimator.conv1.bias)
    nn.init.normal_(estimator.conv2.bias)
    a = neighbours(method).double()
    root = torch.diag(a.sum(1) ** -0.5)
    a = root @ a @ root
    h = (a @ x @ estimator.conv1.weight.t() + estimator.conv1.bias).relu()
    h = a @ h @ estimator.conv2.weight.t() + estimator.conv2.bias
    torch.testing.assert_close(estimator(), estimator.linear(h))


def test_the_estimators_dropout_keeps_the_mean(double):
    task = make("fairgnn", small_graph(), **SETTINGS).task
    estimator = SensitiveEstimator(task.features, task.edge_index, 7, 0.4)
    nn.init.normal_(estimator.conv1.bias)
    with torch.no_grad():  # the logits are linear in what is dropped
        draws = torch.stack([estimator() for _ in range(4000)])
        whole = estimator.eval()()
    error = draws.std(0) / len(draws) ** 0.5
    assert (error > 0).all() and ((draws.mean(0) - whole).abs() <= 5 * error).all()


def test_what_is_known_is_kept_and_the_rest_is_a_probability(double):
    graph = small_graph()
    for known, count in [("all", 40), ("train", 16), (4, 4)]:
        three = make("fairgnn", three_groups(), **SETTINGS | {"sensitive_known": known})
        torch.testing.assert_close(three.sensitive.sum(1), torch.ones(40))
        whole = (three.sensitive == one_hot(three.task.sensitive)).all(1)
        assert whole.sum() == count and whole[three.task.train].sum() == min(count, 16)
        method = make("fairgnn", graph, **SETTINGS | {"sensitive_known": known})
        true = method.task.sensitive.float()
        exact = method.sensitive == true
        assert exact.sum() == count
        assert exact[method.task.train].sum() == min(count, 16)
        assert ((method.sensitive >= 0) & (method.sensitive <= 1)).all()
    with pytest.raises(
        NotDefined, match="sensitive_known is 17, but there are 16 training nodes"
    ):
        make("fairgnn", graph, **SETTINGS | {"sensitive_known": 17})
