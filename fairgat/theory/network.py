"""Measure the terms of every layer of a network, and account for its gaps, from one pass over the graph."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace

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
from fairgat.theory.layers import (
    LayerTerms,
    attention_terms,
    disparity,
    gain,
    gains,
    linear_terms,
)
from fairgat.training.loop import Observer


def measure(method: Method) -> list[LayerTerms]:
    """Measure the terms of every layer of a node classifier, over all nodes, in evaluation mode.

    Layers: `conv1`, `conv2`, `logit` (the linear layer) and `probability` (the linear layer with its sigmoid, whose
    delta is the paper's delta_y). The method's random numbers, parameters and mode are left as they are.

    Raises:
        NotDefined: the method's model is not a `NodeClassifier`, a layer scales features otherwise than by step 3, or
            a node's attention does not sum to 1.
    """
    with _recorded(method) as (model, inputs, logits):
        sensitive = method.task.sensitive
        first = attention_layer("conv1", model.conv1, *inputs["conv1"], sensitive)
        second = attention_layer(
            "conv2", model.conv2, *inputs["conv2"], sensitive, before=first
        )
        arrays = {
            "h": _double(inputs["linear"][0]),
            "weight": _weight(model, model.linear),
            "sensitive": sensitive.numpy(force=True),
            "eta": model.eta,
            "before": second,
        }
        logit = linear_terms("logit", out=_double(logits), **arrays)
        probability = linear_terms(
            "probability", out=expit(_double(logits)), sigmoid=True, **arrays
        )
        parity = disparity(_double(logits > 0), arrays["sensitive"])
        return [first, second, logit, replace(probability, statistical_parity=parity)]


def account(method: Method) -> list[Account]:
    """Account for the gaps of a node classifier, over all nodes, in evaluation mode.

    Layers: `conv1` and `conv2`, whose gaps are distances between the groups' mean representations, and `logit`, what
    the second one gives through the linear layer. Parts and gap agree to the precision of the model's numbers. The
    method's random numbers, parameters and mode are left as they are.

    Raises:
        NotDefined: the method's model is not a `NodeClassifier`, or a layer scales features otherwise than by step 3.
        ValueError: a layer averages its heads or has a residual.
    """
    with _recorded(method) as (model, inputs, logits):
        graph = method.task.graph
        first, second = (
            _pass(model.conv1, *inputs["conv1"], graph),
            _pass(model.conv2, *inputs["conv2"], graph),
        )
        h, weight = _double(inputs["linear"][0]), _weight(model, model.linear)
        read = replace(
            second,
            direction=weight[0] * gain(h @ weight.T, model.eta),
            read=_double(logits),
        )
        return (
            first.accounts("conv1") + second.accounts("conv2") + read.accounts("logit")
        )


def _pass(conv: GATConv, x: Tensor, csr: CSRGraph, graph: Graph) -> Pass:
    """Take what a pass of a layer leaves."""
    out, attention = _attention(conv, x, csr)
    h, weight = _double(x), _weight(conv, conv.lin)
    first, then = gains(h, weight, attention, getattr(conv, "eta", None))
    return Pass(
        h @ weight.T * first * then,
        _double(out.relu()),
        attention,
        graph.sensitive,
        graph.labels,
    )


def measure_every(epochs: int) -> Observer:
    """Make an observer for the training loop: all terms of all layers as `conv1_delta_out`, ..., every n-th epoch.

    Where the bounds are not defined for the model, or its data, it says so once and adds nothing.
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
        return {
            f"{terms.layer}_{name}": value
            for terms in measured
            for name, value in asdict(terms).items()
            if isinstance(value, float)
        }

    return observe


def attention_layer(
    name: str,
    conv: GATConv,
    x: Tensor,
    graph: CSRGraph,
    sensitive: Tensor,
    before: LayerTerms | None = None,
) -> LayerTerms:
    """Measure the terms of Theorem 1 for a layer with ReLU, from one pass of it; otherwise as `attention_terms`.

    `x` is (N, F_in) its input; the graph is built with `sensitive` where the layer has S1.

    Raises:
        ValueError: the layer averages its heads or has a residual, for which there is no theorem.
        NotDefined: there are fewer than two sensitive groups, a node's attention does not sum to 1, or the layer scales
            features otherwise than by step 3.
    """
    out, attention = _attention(conv, x, graph)
    h, weight = _double(x), _weight(conv, conv.lin)
    groups, eta = sensitive.numpy(force=True), getattr(conv, "eta", None)
    return attention_terms(
        name, h, _double(out.relu()), weight, attention, groups, eta, before
    )


def _weight(module: NodeClassifier | GATConv, linear: nn.Linear) -> np.ndarray:
    """W after S2, which a pass does not compute where S3 follows."""
    weight = linear.weight.detach().double()
    return (
        spectrally_normalised(weight)
        if getattr(module, "spectral_norm", False)
        else weight
    ).numpy(force=True)


def _attention(
    conv: GATConv, x: Tensor, graph: CSRGraph
) -> tuple[Tensor, list[csr_matrix]]:
    """(N, H * C) a layer's output before its activation, and per head (N, N) its attention, targets by sources."""
    if conv.res is not None or (not conv.concat and conv.heads > 1):
        raise ValueError(
            "the theorem is about layers without residual whose heads, if several, are concatenated"
        )
    if not getattr(conv, "scales_by_step_3", True):
        raise NotDefined(
            f"{type(conv).__name__} scales features otherwise than by step 3: there is no theorem for it"
        )
    with torch.no_grad():
        out, (edges, alpha) = conv(x, graph, return_attention_weights=True)
    source, target = edges.numpy(force=True)
    shape = (len(x), len(x))
    return out, [
        csr_matrix((head, (target, source)), shape) for head in _double(alpha).T
    ]


@contextmanager
def _recorded(
    method: Method,
) -> Iterator[tuple[NodeClassifier, dict[str, tuple], Tensor]]:
    """Pass once over the graph in evaluation mode; gives the model, its layers' positional inputs and its logits."""
    model = method.model
    if not isinstance(model, NodeClassifier):
        raise NotDefined(
            f"the theory is about two attention layers and a linear layer, not {type(model).__name__}"
        )
    inputs: dict[str, tuple] = {}
    hooks = [
        getattr(model, name).register_forward_pre_hook(
            lambda _, given, name=name: inputs.update({name: given})
        )
        for name in ("conv1", "conv2", "linear")
    ]
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            # On a copy: in a pass, a method may keep something for its next step.
            yield model, inputs, copy.copy(method).embed()
    finally:
        model.train(training)
        for hook in hooks:
            hook.remove()


def _double(tensor: Tensor) -> np.ndarray:
    return tensor.numpy(force=True).astype(np.float64)
