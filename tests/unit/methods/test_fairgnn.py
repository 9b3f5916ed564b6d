"""FairGNN against its equations over dense matrices."""

import copy

import pytest
import torch
from dense import (
    adam,
    assert_same_weights,
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


def adversary_loss_of(reads, sensitive):
    """Of two groups one number tells, of more one for each."""
    if sensitive.dim() == 1:
        return bce(reads[:, 0], sensitive)
    return cross_entropy(reads, sensitive)


def covariance_of(sensitive, y):
    """The mean over the groups of the absolute covariance of membership."""
    memberships = [sensitive] if sensitive.dim() == 1 else sensitive.t()
    total = 0
    for one in memberships:
        covariance = (one * y).mean() - one.mean() * y.mean()
        total += covariance.abs()
    return total / len(memberships)


@pytest.mark.parametrize(
    ("graph", "outputs"), [(small_graph, 1), (three_groups, 3)], ids=["two", "three"]
)
def test_two_epochs_of_the_alternating_game(double, graph, outputs):
    method = make("fairgnn", graph(), **SETTINGS)
    task, sensitive = method.task, method.sensitive.double()
    labels = task.labels[task.train].double()
    model = copy.deepcopy(method.model)
    adversary = copy.deepcopy(method.adversary)
    of_model = adam(model.parameters())
    of_adversary = adam(adversary.parameters())
    assert adversary.out_features == outputs

    for _ in range(2):
        h = hidden(model, task.features, neighbours(method))
        logits = h @ model.linear.weight[0] + model.bias
        covariance = covariance_of(sensitive, logits.sigmoid())
        against = adversary_loss_of(adversary(h), sensitive)
        loss = bce(logits[task.train], labels) + 3.0 * covariance - 0.7 * against
        step(of_model, loss)
        adversary_loss = adversary_loss_of(adversary(h.detach()), sensitive)
        step(of_adversary, adversary_loss)

        losses = method.update(method.forward())

        expected = {"loss": loss.item(), "adversary_loss": adversary_loss.item()}
        assert losses == pytest.approx(expected, abs=1e-7)
    assert_same_weights(method.model, model)
    assert_same_weights(method.adversary, adversary)


def test_the_estimator_is_two_graph_convolutions(double):
    method = make("fairgnn", small_graph(), **SETTINGS)
    x, edges = method.task.features, method.task.edge_index
    estimator = SensitiveEstimator(x, edges, 7, 0.5, logits=3).eval()
    nn.init.normal_(estimator.conv1.bias)
    nn.init.normal_(estimator.conv2.bias)

    logits = estimator()

    a = neighbours(method).double()
    root = torch.diag(a.sum(1) ** -0.5)
    a = root @ a @ root
    h = (a @ x @ estimator.conv1.weight.t() + estimator.conv1.bias).relu()
    h = a @ h @ estimator.conv2.weight.t() + estimator.conv2.bias
    torch.testing.assert_close(logits, estimator.linear(h))


def test_the_estimators_dropout_keeps_the_mean(double):
    task = make("fairgnn", small_graph(), **SETTINGS).task
    estimator = SensitiveEstimator(task.features, task.edge_index, 7, 0.4)
    nn.init.normal_(estimator.conv1.bias)

    with torch.no_grad():  # the logits are linear in what is dropped
        draws = torch.stack([estimator() for _ in range(4000)])
        whole = estimator.eval()()

    error = draws.std(0) / len(draws) ** 0.5
    assert (error > 0).all()
    assert ((draws.mean(0) - whole).abs() <= 5 * error).all()


@pytest.mark.parametrize(
    ("known", "count"), [("all", 40), ("train", 16), (4, 4)], ids=str
)
@pytest.mark.parametrize("groups", [small_graph, three_groups])
def test_what_is_known_is_kept_and_the_rest_is_a_probability(
    double, groups, known, count
):
    method = make("fairgnn", groups(), **SETTINGS | {"sensitive_known": known})

    task = method.task
    if groups is small_graph:
        true = task.sensitive[:, None]
        given = method.sensitive[:, None]
    else:
        true = one_hot(task.sensitive)
        given = method.sensitive
        torch.testing.assert_close(given.sum(1), torch.ones(40))
    exact = (given == true).all(1)
    assert exact.sum() == count
    assert exact[task.train].sum() == min(count, 16)
    assert given.min() >= 0
    assert given.max() <= 1


def test_no_more_can_be_known_than_there_are_training_nodes():
    with pytest.raises(NotDefined, match="is 17, but there are 16 training nodes"):
        make("fairgnn", small_graph(), **SETTINGS | {"sensitive_known": 17})
