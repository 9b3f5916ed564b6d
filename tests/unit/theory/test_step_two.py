"""Where S3 follows, S2 changes nothing (docs/theory.md): outputs, gradients and training are those without it."""

import pytest
import torch
from dense import assert_train_alike, make, small_graph
from torch.nn.utils.parametrize import register_parametrization

ESTIMATES = {
    "exact": lambda weight: torch.linalg.matrix_norm(weight, 2),
    "another norm": lambda weight: torch.linalg.matrix_norm(weight),
    "a constant": lambda weight: weight.new_tensor(3.7),
}


class Divided(torch.nn.Module):
    """S2 with an estimate of the spectral norm, through which the gradient flows as well."""

    def __init__(self, estimate):
        super().__init__()
        self.estimate = estimate

    def forward(self, weight):
        return weight / self.estimate(weight)


def pair(estimate, **settings):
    """The same method without step 2, and with it written out: the same initial weights, and Adam's decay on them."""
    graph = small_graph()
    without, divided = (make("fairgat", graph, **settings) for _ in range(2))
    model = divided.model
    for layer in (model.conv1.lin, model.conv2.lin, model.linear):
        register_parametrization(layer, "weight", Divided(ESTIMATES[estimate]))
    divided.optimizer = divided.adam(model.parameters())
    return without, divided


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("settings", [{"steps": [1, 3]}, {"steps": [3]}, {"steps": [1, 3], "center": True}], ids=str)
def test_step_two_is_void_where_step_three_follows(double, estimate, settings):
    without, divided = pair(estimate, eta=0.75, **settings)
    with torch.no_grad():
        for method in (without, divided):
            method.model.conv1.bias.fill_(0.3)
    assert_train_alike(without, divided, epochs=30, atol=1e-8)


def test_step_two_is_not_void_without_step_three(double):
    without, divided = pair("exact", steps=[1])
    assert not torch.allclose(without.forward(), divided.forward(), atol=1e-3)


def test_fairgat_is_steps_one_and_three(double):
    """The project's own layers: the paper's row Steps 1&3 is its row FairGAT, and Steps 2&3 is step 3 alone."""
    for both, alone in (([1, 2, 3], [1, 3]), ([2, 3], [3])):
        first, second = (make("fairgat", small_graph(), steps=steps) for steps in (both, alone))
        assert_train_alike(first, second, epochs=30, atol=1e-8)
