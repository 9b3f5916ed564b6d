"""`NodeClassifier` in training as one node of autograd's graph.

The same operators in the same order as layer by layer, so the same numbers; but what modules and autograd do between
them is left out. After a pass over a large graph their code is in no cache any more, and has to be waited for. The
node keeps what it saved until its backward pass is over: one array of (N, C) more than layer by layer. Who looks on
during the backward pass alone sees one node.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.utils import parametrize

from fairgat.nn import hidden
from fairgat.nn.constant import constant_scaled_weight, constant_scaled_weight_backward
from fairgat.nn.constant_attention import constant_attention, constant_attention_backward
from fairgat.nn.csr import CSRGraph
from fairgat.nn.head import active_logit, active_logit_backward
from fairgat.nn.logits import logits_to_deviation, logits_to_deviation_backward
from fairgat.nn.operator import is_plain, without_autocast
from fairgat.nn.scaling import as_operators_take
from fairgat.nn.scored import scored_attention, scored_attention_backward
from fairgat.nn.spectral import SpectralNorm, unit_norm, unit_norm_backward

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class Steps(NamedTuple):
    """What FairGAT does in a layer, or in the network's linear one, where the first two mean nothing.

    Attributes:
        alpha_chi: S1; 0.0 for GAT.
        negative_slope: of the LeakyReLU.
        unit: S2, whether the weight is divided by its spectral norm.
        eta: S3, or None.
    """

    alpha_chi: float
    negative_slope: float
    unit: bool
    eta: float | None


def training_logits(model: nn.Module, x: Tensor, graph: CSRGraph) -> Tensor | None:
    """(N,) logits of a `NodeClassifier` none of whose layers is seen, or None where it has to go layer by layer.

    It does so with several heads or their mean, with dropout, a residual or centring, without a bias, where features
    need a gradient, where the product between the layers is no kernel of ours (`fairgat.nn.hidden`), and where shapes
    do not fit, which the layers then say.
    """
    layers = model.conv1, model.conv2
    steps = [_steps(layer) for layer in layers]
    fits = all(graph.segmented == (getattr(layer, "alpha_chi", None) is not None) for layer in layers)
    if None in steps or not fits or model.center or layers[0].in_channels >= layers[0].out_channels:
        return None
    weights, units = zip(*(_weight(layer) for layer in (layers[0].lin, layers[1].lin, model.linear)), strict=True)
    biases = layers[0].bias, layers[1].bias, model.bias
    parameters = *weights, *biases, *(att for layer in layers for att in (layer.att_src, layer.att_dst))
    if any(each is None or each.dtype != torch.float32 for each in parameters) or not is_plain(x, *parameters):
        return None
    f, h, c = layers[0].in_channels, layers[0].out_channels, layers[1].out_channels
    expected = [(graph.num_nodes, f), (h, f), (c, h), (1, c), (h,), (c,), (1,), *2 * [(1, 1, h)], *2 * [(1, 1, c)]]
    if [each.shape for each in (x, *parameters)] != expected:
        return None
    if x.requires_grad or not hidden.fused(x, weights[0], weights[1]):
        return None
    first, second = (step._replace(unit=unit) for step, unit in zip(steps, units[:2], strict=True))
    last = Steps(0.0, 0.0, units[2], model.eta)
    return _Network.apply(x, *parameters, *graph.tensors, first, second, last)


def has_hooks(module: nn.Module) -> bool:
    """Whether somebody looks at what goes into the module, or comes out of it."""
    return nn.modules.module._has_any_global_hook() or any(getattr(module, kind) for kind in _HOOKS)


def _steps(layer: nn.Module) -> Steps | None:
    """The layer's settings, or None if it has one that is not served here."""
    plain = layer.heads == 1 and layer.concat and layer.dropout == 0 and layer.res is None
    if not plain or getattr(layer, "center", False):
        return None
    alpha_chi = getattr(layer, "alpha_chi", None)
    return Steps(
        0.0 if alpha_chi is None else alpha_chi, layer.negative_slope, unit=False, eta=getattr(layer, "eta", None)
    )


def _weight(linear: nn.Linear) -> tuple[Tensor | None, bool]:
    """The parameter, and whether S2 is done to it; None where anything else is, or somebody looks on."""
    if "parametrizations" not in linear._modules:
        return linear.weight, False
    if parametrize._cache_enabled:  # the weight is a tensor of the caller's, too
        return None, True
    given = linear.parametrizations.weight if list(linear.parametrizations) == ["weight"] else ()
    only_s2 = len(given) == 1 and type(given[0]) is SpectralNorm
    return (given.original, True) if only_s2 and not (has_hooks(given) or has_hooks(given[0])) else (None, True)


class _Network(torch.autograd.Function):
    """Forward and backward pass, operator by operator, as the layers would call them.

    s (N, F) is what the first layer aggregates, c (N, C) the second one's features before it aggregates, z (N, C)
    after; the first layer's output is not written. What an operator returns besides, for its gradient, goes by the
    operator's place: `attention1`, `between` the layers, `attention2`, `moments` of z, `of_logits`.
    """

    @staticmethod
    def forward(ctx: Any, x, w1, w2, w3, b1, b2, b3, source1, target1, source2, target2, *rest) -> Tensor:
        *graph, first, second, last = rest
        (unit1, unit2, unit3), leading = zip(
            *(
                unit_norm.function(weight) if step.unit else (weight, None)
                for weight, step in ((w1, first), (w2, second), (w3, last))
            ),
            strict=True,
        )
        att1, att2, eta = torch.cat([source1, target1]), torch.cat([source2, target2]), as_operators_take(second.eta)

        weight, *scaling1 = unit1[None], None, None
        if first.eta is not None:
            weight, *scaling1 = constant_scaled_weight.function(x, weight, first.eta)
        s, *attention1 = constant_attention.function(x, weight, att1, *graph, None, None, *first[:2])
        s = s[:, 0]

        if first.eta is None:
            c, *between = hidden.hidden_product.function(s, weight[0], b1, unit2), *(None,) * 5
        else:
            c, *between = hidden.scaled_hidden_product.function(s, weight[0], b1, unit2, first.eta)
        z, *attention2 = scored_attention.function(c[:, None], att2, *graph, None, None, None, *second[:2], *eta)
        z, gain = z[:, 0], attention2[1].flatten()
        logits, *moments = active_logit.function(z, gain, b2, unit3[0], *eta)
        if last.eta is None:
            out, of_logits = logits + b3, None
        else:
            out, of_logits = logits_to_deviation.function(logits, b3, last.eta)

        ctx.save_for_backward(
            x, weight, att1, s, b1, unit2, c, att2, z, gain, b2, unit3, logits, of_logits,
            unit1, *leading, *graph, *scaling1, *attention1, *between, *attention2, *moments,
        )  # fmt: skip
        ctx.steps = first, second, last
        return out

    @staticmethod
    @once_differentiable
    @without_autocast
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, att1, s, b1, unit2, c, att2, z, gain, b2, unit3, logits, of_logits, unit1, *rest = ctx.saved_tensors
        leading, graph, scaling1, attention1, between, attention2, moments = _cut(rest, 3, 6, 2, 2, 5, 5, 3)
        first, second, last = ctx.steps
        eta = as_operators_take(second.eta)

        if last.eta is None:
            grad_b3 = grad.sum(0, keepdim=True)
        else:
            grad, grad_b3 = logits_to_deviation_backward.function(grad, logits, of_logits, last.eta)
        grad_z, grad_gain, grad_b2, grad_w3 = active_logit_backward.function(
            grad, z, gain, b2, unit3[0], *moments, *eta
        )
        grad_c, grad_att2 = scored_attention_backward.function(
            grad_z[:, None], None, grad_gain[None] if eta[1] else None, *attention2, c[:, None], att2, *graph,
            None, None, None, *second[:2], *eta, True,
        )  # fmt: skip

        if first.eta is None:
            found = hidden.hidden_product_backward.function(grad_c[:, 0], s, weight[0], b1, unit2)
        else:
            found = hidden.scaled_hidden_product_backward.function(
                grad_c[:, 0], s, weight[0], b1, unit2, *between, first.eta
            )
        grad_s, grad_weight, grad_b1, grad_w2 = found

        through_scores, grad_att1 = constant_attention_backward.function(
            grad_s[:, None], None, *attention1, x, weight, att1, *graph, None, None, *first[:2]
        )
        grad_w1 = grad_weight[None] + through_scores
        if first.eta is not None:
            grad_w1 = constant_scaled_weight_backward.function(grad_w1, x, unit1[None], *scaling1, first.eta)

        of_units = zip((grad_w1[0], grad_w2, grad_w3[None]), (unit1, unit2, unit3), leading, ctx.steps, strict=True)
        of_weights = (
            unit_norm_backward.function(found, unit, vectors) if step.unit else found
            for found, unit, vectors, step in of_units
        )
        of_att = (half for found in (grad_att1, grad_att2) for half in (found[:1], found[1:]))
        return None, *of_weights, grad_b1, grad_b2, grad_b3, *of_att, *(None,) * 9


def _cut(values: tuple, *counts: int) -> list[tuple]:
    parts, begin = [], 0
    for count in counts:
        parts.append(values[begin : begin + count])
        begin += count
    return parts
