"""FairSIN against its schedule over dense matrices, written out."""

import copy

import further
import pytest
import torch
from dense import (
    adam,
    bce,
    cross_entropy,
    hidden,
    logits_of,
    make,
    neighbours,
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


def phi_of(phi, x):
    for linear in phi[:3:2]:
        x = (x @ linear.weight.t() + linear.bias).relu()
    return x @ phi[4].weight.t() + phi[4].bias


@pytest.mark.parametrize("graph", [small_graph, three_groups])
def test_means_of_the_other_group(double, graph):
    """Of all other groups; a node without such a neighbour is left out."""
    method = make(FAIRSIN, graph(edges=40), **SETTINGS)
    task, matrix = method.task, neighbours(method)
    expected = {}
    for i in range(len(matrix)):
        others = [
            j
            for j in range(len(matrix))
            if matrix[i, j] and task.sensitive[j] != task.sensitive[i]
        ]
        if others:
            expected[i] = sum(task.features[j] for j in others) / len(others)
    nodes, h = means_of_other_group(task.features, task.edge_index, task.sensitive)
    assert nodes.tolist() == list(expected) and 0 < len(nodes) < len(matrix)
    torch.testing.assert_close(h, torch.stack(list(expected.values())))
    assert len(method.h) == -(-len(nodes) * 9 // 10)  # the others are held out
    for x, mean in zip(method.known, method.h, strict=True):
        i = int((task.features == x).all(1).nonzero())
        torch.testing.assert_close(mean, expected[i])


@pytest.mark.parametrize("variant", ["full", "F"])
@pytest.mark.parametrize("discriminator", ["none", "adversarial", "released"])
@pytest.mark.parametrize("graph", [small_graph, three_groups])
def test_four_epochs(double, variant, discriminator, graph):
    method = make(
        FAIRSIN, graph(), variant=variant, discriminator=discriminator, **SETTINGS
    )
    task, x, train, full = (
        method.task,
        method.task.features,
        method.task.train,
        variant == "full",
    )
    matrix, labels, s = neighbours(method), task.labels.double(), task.sensitive
    model, critic = copy.deepcopy(method.model), copy.deepcopy(method.discriminator)
    phi = model.phi
    encoder = [*model.conv1.parameters(), *model.conv2.parameters()]
    optimizer = adam([*encoder, model.linear.weight, model.bias])
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
    phi_optimizer = torch.optim.Adam(phi.parameters(), lr=0.1, weight_decay=0.001)
    phi_optimizer.load_state_dict(
        copy.deepcopy(method.phi_optimizer.state_dict())
    )  # it has taken steps before
    assert phi_optimizer.state[phi[0].weight]["step"] == (2 if full else 5)
    for epoch in range(1, 5):
        loss = bce(
            logits_of(model, x + 0.7 * phi_of(phi, x).detach(), matrix)[train],
            labels[train],
        )
        step(optimizer, loss)
        losses = method.update(method.forward())
        assert losses["loss"] == pytest.approx(loss.item(), abs=1e-7)
        if discriminator != "none" and epoch % 2 == 0:
            h = hidden(model, x + 0.7 * phi_of(phi, x), matrix)
            logits = h @ critic.weight.t() + critic.bias
            two = graph is small_graph
            loss = (
                bce(logits[:, 0], s.double())
                if two
                else cross_entropy(logits, one_hot(s).double())
            )
            assert losses["discriminator_loss"] == pytest.approx(loss.item(), abs=1e-6)
            sign = -1 if discriminator == "adversarial" else 1
            steps = [
                (critic_optimizer, 1, list(critic.parameters())),
                (optimizer, sign, encoder),
            ]
            steps += [(phi_optimizer, sign, list(phi.parameters()))] * full
            for _, sign, parameters in steps:
                gradients = torch.autograd.grad(
                    sign * loss, parameters, retain_graph=True
                )
                for parameter, gradient in zip(parameters, gradients, strict=True):
                    parameter.grad = gradient
            model.linear.weight.grad = model.bias.grad = None
            for stepped, _, _ in steps:
                stepped.step()
        else:
            assert "discriminator_loss" not in losses
        for _ in range(2 * full):
            loss = mse_loss(phi_of(phi, method.known), method.h)
            step(phi_optimizer, loss)
            last = loss.item()
        assert not full or losses["phi_loss"] == pytest.approx(last, abs=1e-6)
    torch.testing.assert_close(
        method.model.state_dict(), model.state_dict(), rtol=1e-5, atol=1e-6
    )
    torch.testing.assert_close(
        method.discriminator.state_dict(), critic.state_dict(), rtol=1e-5, atol=1e-6
    )
    logits = logits_of(model, x + 0.7 * phi_of(phi, x), matrix)
    torch.testing.assert_close(method.forward(), logits, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("variant", ["full", "F"])
def test_applied_in_training_alone(double, variant):
    """The model trains as if it were applied at test, too, and is judged on the features as they are."""
    here, there = (
        make(FAIRSIN, small_graph(), variant=variant, apply_at_test=on, **SETTINGS)
        for on in (False, True)
    )
    for method in (here, there):
        for _ in range(3):
            method.update(method.forward() if method.continues_from_forward else None)
    torch.testing.assert_close(here.model.state_dict(), there.model.state_dict())
    expected = logits_of(here.model, here.task.features, neighbours(here)).detach()
    torch.testing.assert_close(here.forward(), expected)
    assert (here.forward() - there.forward()).abs().max() > 0.01


def test_g_weighs_inter_edges_in_the_softmax(double):
    method = make(FAIRSIN, small_graph(), variant="G", delta=3.0)
    task, model, x = method.task, method.model, method.task.features
    inter = task.sensitive[:, None] != task.sensitive[None, :]
    weight = neighbours(method) * (1 + 3.0 * inter)
    for conv in (model.conv1, model.conv2):
        c = x @ conv.lin.weight.t()
        scores = leaky_relu(
            (c @ conv.att_dst[0, 0])[:, None] + (c @ conv.att_src[0, 0])[None, :], 0.2
        )
        x = ((scores + weight.log()).softmax(1) @ c + conv.bias).relu()
    results = []
    for out in (method.forward(), x @ model.linear.weight[0] + model.bias):
        results.append(
            [out, *torch.autograd.grad(method.loss(out), list(model.parameters()))]
        )
    torch.testing.assert_close(*results, rtol=1e-6, atol=1e-8)


def test_what_it_is_not_defined_for():
    with pytest.raises(ConfigError, match="variant G has no discriminator"):
        methods.settings(FAIRSIN, {"variant": "G", "discriminator": "released"})
    graph = small_graph()
    with pytest.raises(NotDefined, match="no node of this graph has one"):
        make(FAIRSIN, graph.with_edges(graph.edge_index[:, graph.intra_edges]))
