"""Measure a network in one pass: the terms of its layers, the account of its gaps."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial

import numpy as np
import torch
from scipy.sparse import csr_matrix
from scipy.special import expit
from torch import Tensor, nn

from fairgat.data.graph import Graph
from fairgat.errors import NotDefined
from fairgat.methods.base import Method
from fairgat.nn import CSRGraph, GATConv, NodeClassifier
from fairgat.nn.normalise import spectrally_normalised
from fairgat.theory.account import Account, Pass
from fairgat.theory.distances import disparity
from fairgat.theory.layers import LayerTerms, attention_terms, linear_terms
from fairgat.theory.step3 import gain, gains
from fairgat.training.loop import Observer


def measure(method: Method) -> list[LayerTerms]:
    """Measure the terms of every layer of a node classifier, over all nodes.

    Layers: `conv1`, `conv2`, `logit` (the linear layer) and `probability` (the linear
    layer with its sigmoid, whose delta is the paper's delta_y). The pass is one of
    evaluation; the method's random numbers, parameters and mode are left as they are.

    Raises:
        NotDefined: the method's model is not a `NodeClassifier`, a layer scales
            features otherwise than by step 3, or a node's attention does not sum to 1.
    """
    sensitive = method.task.sensitive
    with _evaluated(method) as (model, inputs, output):
        first = attention_layer("conv1", model.conv1, *inputs["conv1"], sensitive)
        second = attention_layer(
            "conv2", model.conv2, *inputs["conv2"], sensitive, before=first
        )

        (h,) = inputs["linear"]
        logits, decisions = _double(output), _double(output > 0)
        groups = sensitive.numpy(force=True)
        of_both = {
            "h": _double(h),
            "weight": _weight(model, model.linear),
            "sensitive": groups,
            "eta": model.eta,
            "before": second,
        }
        logit = linear_terms("logit", out=logits, **of_both)
        probability = linear_terms(
            "probability", out=expit(logits), sigmoid=True, **of_both
        )
        parity = disparity(decisions, groups)
        return [first, second, logit, replace(probability, statistical_parity=parity)]


def account(method: Method) -> list[Account]:
    """Account for the gaps of a node classifier, over all nodes.

    Layers: `conv1` and `conv2`, whose gaps are distances between the groups' mean
    representations, and `logit`, what the second one gives through the linear layer.
    Parts and gap agree to the precision of the model's numbers. The pass is one of
    evaluation; the method's random numbers, parameters and mode are left as they are.

    Raises:
        NotDefined: the method's model is not a `NodeClassifier`, or a layer scales
            features otherwise than by step 3.
        ValueError: a layer averages its heads or has a residual.
    """
    graph = method.task.graph
    with _evaluated(method) as (model, inputs, logits):
        first = _pass(model.conv1, *inputs["conv1"], graph)
        second = _pass(model.conv2, *inputs["conv2"], graph)

        (h,) = inputs["linear"]
        weight = _weight(model, model.linear)
        scale = gain(_double(h) @ weight.T, model.eta)
        through_linear = replace(
            second, direction=weight[0] * scale, read=_double(logits)
        )

        accounts = []
        layers = {"conv1": first, "conv2": second, "logit": through_linear}
        for name, layer in layers.items():
            accounts += layer.accounts(name)
        return accounts


def _pass(conv: GATConv, x: Tensor, csr: CSRGraph, graph: Graph) -> Pass:
    """Pass x (N, F) through a layer; keep what an account of its gaps needs."""
    out, attention = _attention(conv, x, csr)
    h, weight = _double(x), _weight(conv, conv.lin)
    gain_c, gain_z = gains(h, weight, attention, _eta(conv))
    c = h @ weight.T * gain_c * gain_z
    after = _double(out.relu())
    return Pass(c, after, attention, graph.sensitive, graph.labels)


def measure_every(epochs: int) -> Observer:
    """Make an observer for the training loop: every layer's terms, every n-th epoch.

    They are called `conv1_delta_out` and so on. Where the bounds are not defined for
    the model, or its data, it says so once and adds nothing.
    """
    defined = True

    def observe(epoch: int, method: Method) -> dict[str, float]:
        nonlocal defined
        if epoch % epochs or not defined:
            return {}
        try:
            measured = measure(method)
        except NotDefined as error:
            defined = False
            print(f"history.csv will not have the theory's terms: {error}")
            return {}
        columns = {}
        for terms in measured:
            for name, value in asdict(terms).items():
                if isinstance(value, float):
                    columns[f"{terms.layer}_{name}"] = value
        return columns

    return observe


def attention_layer(
    name: str,
    conv: GATConv,
    x: Tensor,
    graph: CSRGraph,
    sensitive: Tensor,
    before: LayerTerms | None = None,
) -> LayerTerms:
    """Measure the terms of Theorem 1 for a layer with ReLU, from one pass of it.

    Args:
        name: the layer's.
        x: (N, F_in) its input.
        graph: built with `sensitive` where the layer has step 1.
        sensitive: (N,) groups, 0 .. K-1.
        before: the terms of the previous layer, whose composed bounds continue.

    Raises:
        ValueError: the layer averages its heads or has a residual, for which there is
            no theorem.
        NotDefined: there are fewer than two sensitive groups, a node's attention does
            not sum to 1, or the layer scales features otherwise than by step 3.
    """
    out, attention = _attention(conv, x, graph)
    h, weight = _double(x), _weight(conv, conv.lin)
    groups, after = sensitive.numpy(force=True), _double(out.relu())
    return attention_terms(
        layer=name,
        h=h,
        out=after,
        weight=weight,
        attention=attention,
        sensitive=groups,
        eta=_eta(conv),
        before=before,
    )


def _eta(conv: GATConv) -> float | None:
    """Step 3's factor; None of a layer that has no such step."""
    return getattr(conv, "eta", None)


def _weight(module: NodeClassifier | GATConv, linear: nn.Linear) -> np.ndarray:
    """W after step 2, which a pass does not compute where step 3 follows."""
    weight = linear.weight.detach().double()
    if getattr(module, "spectral_norm", False):
        weight = spectrally_normalised(weight)
    return weight.numpy(force=True)


def _attention(
    conv: GATConv, x: Tensor, graph: CSRGraph
) -> tuple[Tensor, list[csr_matrix]]:
    """Pass once through a layer, before its activation.

    Returns:
        (N, H * C) the output, and per head (N, N) its attention, targets by sources.
    """
    averages = conv.heads > 1 and not conv.concat
    if conv.res is not None or averages:
        raise ValueError(
            "the theorem is about layers without residual whose heads, if several, are "
            "concatenated"
        )
    if not getattr(conv, "scales_by_step_3", True):
        raise NotDefined(
            f"{type(conv).__name__} scales features otherwise than by step 3: there is "
            "no theorem for it"
        )
    with torch.no_grad():
        out, (edges, alpha) = conv(x, graph, return_attention_weights=True)
    source, target = edges.numpy(force=True)
    row_and_column, shape = (target, source), (len(x), len(x))
    heads = [csr_matrix((head, row_and_column), shape) for head in _double(alpha).T]
    return out, heads


@contextmanager
def _evaluated(
    method: Method,
) -> Iterator[tuple[NodeClassifier, dict[str, tuple], Tensor]]:
    """Pass once over the graph in evaluation mode, in which the model stays within.

    Gives the model, its layers' positional inputs by their names, and its logits.
    """
    model = method.model
    if not isinstance(model, NodeClassifier):
        raise NotDefined(
            "the theory is about two attention layers and a linear layer, not "
            f"{type(model).__name__}"
        )
    inputs: dict[str, tuple] = {}
    hooks = []
    for name in ("conv1", "conv2", "linear"):
        layer = getattr(model, name)
        hook = partial(_store_input, inputs, name)
        hooks.append(layer.register_forward_pre_hook(hook))
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            # On a copy: in a pass, a method may keep something for its next step.
            logits = copy.copy(method).embed()
            yield model, inputs, logits
    finally:
        model.train(was_training)
        for hook in hooks:
            hook.remove()


def _store_input(
    inputs: dict[str, tuple], name: str, _: nn.Module, arguments: tuple
) -> None:
    """A hook that stores a layer's positional arguments under its name."""
    inputs[name] = arguments


def _double(tensor: Tensor) -> np.ndarray:
    return tensor.numpy(force=True).astype(np.float64)
