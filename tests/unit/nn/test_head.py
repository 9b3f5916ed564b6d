"""The last layer's end in one operator, against the layers written out."""

from functools import partial

import pytest
import torch
from graphs import random_graph
from torch.nn.utils import prune

from fairgat.nn import FairGATConv, GATConv, NodeClassifier, scaling
from fairgat.nn.head import active_logit, logit_of

N = 30


def normal(*shapes):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_() for shape in shapes]


@pytest.mark.parametrize("fused", [True, False], ids=["numba", "pytorch"])
@pytest.mark.parametrize("eta", [None, 0.75])
@pytest.mark.parametrize("shifted", [True, False])
def test_equals_the_written_out_form(monkeypatch, fused, eta, shifted):
    if not fused:
        monkeypatch.setattr(scaling, "columns", None)
    x, weight, bias, gain = normal((600, 7), (7,), (7,), (7,))
    bias = bias if shifted else None
    expected = scaling.scale(x, bias, eta, gain, relu=True) @ weight
    ours = logit_of(x, weight, bias, eta, gain)
    torch.testing.assert_close(ours, expected)
    loss = torch.randn(600, dtype=torch.float64) * (torch.arange(600) % 3 == 0)  # not all nodes carry it
    wanted = [x, weight, *([bias] if shifted else []), *([gain] if eta else [])]
    mine, others = (torch.autograd.grad((out * loss).sum(), wanted) for out in (ours, expected))
    torch.testing.assert_close(mine, others, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("scaled", [True, False])
def test_gradients_and_registrations(scaled):
    x, gain, bias, weight = normal((9, 3), (3,), (3,), (3,))
    assert torch.autograd.gradcheck(lambda *a: active_logit(*a, 0.75, scaled)[0], (x, gain, bias, weight))
    torch.library.opcheck(active_logit.registered, (x, gain, bias, weight, 0.75, scaled))


@pytest.mark.parametrize("widths", [(5, 8), (8, 5)], ids=["aggregated first", "transformed first"])
@pytest.mark.parametrize(
    "options", [{}, {"heads": 2}, {"heads": 2, "concat": False}, {"residual": True}, {"bias": False}], ids=str
)
@pytest.mark.parametrize("fair", [{}, {"eta": 0.75}, {"eta": 0.75, "center": True}], ids=str)
@pytest.mark.parametrize("outputs", [(), (4,)], ids=["vector", "matrix"])
def test_a_layer_with_a_head_is_the_layer_and_the_head(widths, options, fair, outputs):
    torch.manual_seed(0)
    edge_index, sensitive = random_graph()
    layer = FairGATConv(*widths, **options, **fair) if fair else GATConv(*widths, **options)
    groups = (sensitive,) if fair else ()
    x = torch.randn(N, widths[0])
    out = layer(x, edge_index, *groups, relu=True)
    head = torch.randn(*outputs, out.size(1))
    torch.testing.assert_close(layer(x, edge_index, *groups, head=head), out @ head.t(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("fused", [True, False], ids=["numba", "pytorch"])
@pytest.mark.parametrize("eta", [None, 0.75])
def test_nan_is_not_hidden(monkeypatch, fused, eta):
    if not fused:
        monkeypatch.setattr(scaling, "columns", None)
    x, weight, bias, gain = (value.detach() for value in normal((600, 7), (7,), (7,), (7,)))
    for k, value in enumerate((x[3], weight, bias)):
        before = value[2].clone()
        value[2] = torch.nan
        assert logit_of(x, weight, bias, eta, gain).isnan().any(), k
        value[2] = before


def test_a_head_of_another_width_is_refused():
    edge_index, _ = random_graph()
    for head in (torch.randn(3), torch.randn(20), torch.randn(8, 3), torch.randn(1, 1, 8)):
        with pytest.raises(ValueError, match=r"head must have shape \(8,\) or \(m, 8\)"):
            GATConv(5, 8)(torch.randn(N, 5), edge_index, head=head)


class Mine(GATConv):
    def forward(self, x, edge_index, relu=False):
        return super().forward(x, edge_index, relu=relu)


def plain(model):
    return model


def hooked(model):
    model.linear.register_forward_pre_hook(lambda module, inputs: (2 * inputs[0],))
    return model


def watched(model):
    model.linear.register_full_backward_hook(lambda module, grad_inputs, grad_outputs: None)
    return model


class Doubled(torch.nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


def doubled(model):
    model.linear = Doubled(8, 1, bias=False)
    return model


def patched(model):
    before = model.linear.forward
    model.linear.forward = lambda x: 2 * before(x)
    return model


def shifted(model):
    model.linear = torch.nn.Linear(8, 1)
    return model


def pruned(model):
    prune.l1_unstructured(model.linear, "weight", 0.5)
    return model


@pytest.mark.parametrize("conv", [GATConv, Mine])
@pytest.mark.parametrize("change", [plain, hooked, watched, doubled, patched, shifted, pruned])
def test_changes_to_the_model_count_in_training_too(conv, change):
    torch.manual_seed(0)
    edge_index, _ = random_graph()
    model = change(NodeClassifier(conv, 5, 8))
    x = torch.randn(N, 5)
    for _ in range(2):  # a second step, too
        out = model.train()(x, edge_index)
        torch.testing.assert_close(out, model.eval()(x, edge_index), rtol=1e-4, atol=1e-5)
        out.sum().backward()


@pytest.mark.parametrize("name", ["conv2", "linear"])
def test_hooks_on_gradients_see_the_layers_own_output(name):
    edge_index, _ = random_graph()
    model, seen = NodeClassifier(GATConv, 5, 8), []
    getattr(model, name).register_full_backward_hook(lambda module, inputs, outputs: seen.append(outputs[0].shape))
    model(torch.randn(N, 5), edge_index).sum().backward()
    assert seen == [(N, 8 if name == "conv2" else 1)]


@pytest.mark.parametrize("eta", [None, 0.75])
def test_a_classifier_in_training_is_the_one_that_predicts(eta):
    torch.manual_seed(0)
    edge_index, sensitive = random_graph()
    model = NodeClassifier(partial(FairGATConv, eta=eta), 5, 8, spectral_norm=True, eta=eta)
    x = torch.randn(N, 5)
    torch.testing.assert_close(
        model(x, edge_index, sensitive), model.eval()(x, edge_index, sensitive), rtol=1e-4, atol=1e-5
    )
