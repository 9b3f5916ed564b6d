"""FairSIN against its schedule over dense matrices, written out."""

import copy

import further
import pytest
import torch
from dense import (
    adam,
    assert_same_pass,
    bce,
    cross_entropy,
    hidden,
    logits_of,
    make,
    neighbours,
    scores_of,
    small_graph,
    step,
    three_groups,
)
from torch.nn.functional import leaky_relu, mse_loss, one_hot

from beyond.methods.fairsin import means_of_other_group
from fairgat import methods
from fairgat.errors import ConfigError, NotDefined

FAIRSIN = further.method("fairsin")
SETTINGS = {"delta": 0.7, "phi_width": 4, "phi_first_steps": 5}
GROUPS = pytest.mark.parametrize(
    "graph", [small_graph, three_groups], ids=["two", "three"]
)


def phi_of(phi, x):
    first, _, second, _, last = phi
    x = (x @ first.weight.t() + first.bias).relu()
    x = (x @ second.weight.t() + second.bias).relu()
    return x @ last.weight.t() + last.bias


def means_by_hand(task, matrix):
    """By node: the mean features of its neighbours in other groups, if it has any."""
    means = {}
    for node in range(len(matrix)):
        others = []
        for other in range(len(matrix)):
            elsewhere = task.sensitive[other] != task.sensitive[node]
            if matrix[node, other] and elsewhere:
                others.append(task.features[other])
        if others:
            means[node] = sum(others) / len(others)
    return means


@GROUPS
def test_means_are_over_the_neighbours_in_all_other_groups(double, graph):
    """A node without such a neighbour is left out."""
    method = make(FAIRSIN, graph(edges=40), **SETTINGS)
    task, matrix = method.task, neighbours(method)

    nodes, h = means_of_other_group(task.features, task.edge_index, task.sensitive)

    expected = means_by_hand(task, matrix)
    assert 0 < len(nodes) < len(matrix)
    assert nodes.tolist() == list(expected)
    torch.testing.assert_close(h, torch.stack(list(expected.values())))


@GROUPS
def test_phi_learns_nine_tenths_of_the_means(double, graph):
    method = make(FAIRSIN, graph(edges=40), **SETTINGS)
    task = method.task

    expected = means_by_hand(task, neighbours(method))

    known = len(expected) - len(expected) // 10
    assert len(method.h) == known
    for x, mean in zip(method.known, method.h, strict=True):
        (node,) = (task.features == x).all(1).nonzero()
        torch.testing.assert_close(mean, expected[int(node)])


class Written:
    """The method's own parameters, copied, with every step written out."""

    def __init__(self, method):
        self.method, self.task = method, method.task
        self.labels = method.task.labels[method.task.train].double()
        self.full = method.settings.variant == "full"
        self.model = model = copy.deepcopy(method.model)
        self.phi = model.phi
        self.critic = copy.deepcopy(method.discriminator)
        self.encoder = [*model.conv1.parameters(), *model.conv2.parameters()]
        self.optimizer = adam([*self.encoder, model.linear.weight, model.bias])
        self.of_critic = torch.optim.Adam(self.critic.parameters(), lr=0.01)
        self.of_phi = torch.optim.Adam(self.phi.parameters(), lr=0.1, weight_decay=1e-3)
        # It has taken steps before.
        state = copy.deepcopy(method.phi_optimizer.state_dict())
        self.of_phi.load_state_dict(state)

    def features(self):
        x = self.task.features
        return x + 0.7 * phi_of(self.phi, x)

    def logits(self, x):
        return logits_of(self.model, x, neighbours(self.method))

    def classifier_step(self):
        logits = self.logits(self.features().detach())
        loss = bce(logits[self.task.train], self.labels)
        step(self.optimizer, loss)
        return loss.item()

    def critic_loss(self):
        h = hidden(self.model, self.features(), neighbours(self.method))
        logits = h @ self.critic.weight.t() + self.critic.bias
        sensitive = self.task.sensitive
        if logits.size(1) == 1:
            return bce(logits[:, 0], sensitive.double())
        return cross_entropy(logits, one_hot(sensitive).double())

    def critic_step(self, sign):
        """Step the critic, and with this sign of its loss what it reads."""
        loss = self.critic_loss()
        steps = [
            (self.of_critic, loss, self.critic.parameters()),
            (self.optimizer, sign * loss, self.encoder),
        ]
        if self.full:
            steps.append((self.of_phi, sign * loss, self.phi.parameters()))
        for _, minimised, parameters in steps:
            parameters = list(parameters)
            gradients = torch.autograd.grad(minimised, parameters, retain_graph=True)
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient
        self.model.linear.weight.grad = None
        self.model.bias.grad = None
        for optimizer, _, _ in steps:
            optimizer.step()
        return loss.item()

    def phi_step(self):
        loss = mse_loss(phi_of(self.phi, self.method.known), self.method.h)
        step(self.of_phi, loss)
        return loss.item()


@pytest.mark.parametrize("variant", ["full", "F"])
@pytest.mark.parametrize("discriminator", ["none", "adversarial", "released"])
@GROUPS
def test_four_epochs_take_the_steps_of_the_schedule(
    double, variant, discriminator, graph
):
    settings = SETTINGS | {"variant": variant, "discriminator": discriminator}
    method = make(FAIRSIN, graph(), **settings)
    written = Written(method)
    sign = -1 if discriminator == "adversarial" else 1

    for epoch in range(1, 5):
        losses = method.update(method.forward())

        expected = {"loss": written.classifier_step()}
        if discriminator != "none" and epoch % 2 == 0:
            expected["discriminator_loss"] = written.critic_step(sign)
        if variant == "full":
            written.phi_step()
            expected["phi_loss"] = written.phi_step()
        assert losses == pytest.approx(expected, abs=1e-6)

    near = {"rtol": 1e-5, "atol": 1e-6}
    for ours, theirs in (
        (method.model, written.model),
        (method.discriminator, written.critic),
    ):
        torch.testing.assert_close(ours.state_dict(), theirs.state_dict(), **near)
    torch.testing.assert_close(
        method.forward(), written.logits(written.features()), **near
    )


@pytest.mark.parametrize(("variant", "steps"), [("full", 2), ("F", 5)])
def test_phi_is_trained_before_the_first_epoch(variant, steps):
    method = make(FAIRSIN, small_graph(), variant=variant, **SETTINGS)

    states = method.phi_optimizer.state_dict()["state"]

    assert {int(state["step"]) for state in states.values()} == {steps}


@pytest.mark.parametrize("variant", ["full", "F"])
def test_applied_in_training_alone_it_is_judged_on_the_features_as_they_are(
    double, variant
):
    """The model trains as if phi were applied at test, too."""
    made = {}
    for at_test in (False, True):
        settings = SETTINGS | {"variant": variant, "apply_at_test": at_test}
        made[at_test] = method = make(FAIRSIN, small_graph(), **settings)
        for _ in range(3):
            method.update(method.forward() if method.continues_from_forward else None)
    alone, at_test = made[False], made[True]

    logits = alone.forward()

    expected = logits_of(alone.model, alone.task.features, neighbours(alone))
    torch.testing.assert_close(alone.model.state_dict(), at_test.model.state_dict())
    torch.testing.assert_close(logits, expected.detach())
    assert (logits - at_test.forward()).abs().max() > 0.01


def test_g_weighs_inter_edges_in_the_softmax(double):
    method = make(FAIRSIN, small_graph(), variant="G", delta=3.0)
    task, model = method.task, method.model
    inter = task.sensitive[:, None] != task.sensitive[None, :]
    weight = neighbours(method) * (1 + 3.0 * inter)

    h = task.features
    for conv in (model.conv1, model.conv2):
        c = h @ conv.lin.weight.t()
        scores = leaky_relu(scores_of(conv, c, 0), 0.2) + weight.log()
        h = (scores.softmax(1) @ c + conv.bias).relu()
    expected = h @ model.linear.weight[0] + model.bias

    assert_same_pass(method.forward(), expected, model.parameters())


def test_g_has_no_discriminator():
    with pytest.raises(ConfigError, match="variant G has no discriminator"):
        methods.settings(FAIRSIN, {"variant": "G", "discriminator": "released"})


def test_a_graph_without_an_inter_edge_is_refused():
    graph = small_graph()
    intra = graph.with_edges(graph.edge_index[:, graph.intra_edges])

    with pytest.raises(NotDefined, match="no node of this graph has one"):
        make(FAIRSIN, intra)
