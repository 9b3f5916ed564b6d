"""Products of features with weight matrices, sparse ones for bags of words."""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.utils.weak import WeakTensorKeyDictionary

from fairgat.nn.attention import sum_of_neighbours
from fairgat.nn.cache import kept
from fairgat.nn.csr import CSRGraph
from fairgat.nn.operators import fused

_DENSE = 0.2  # share of non-zeros from which the dense product is as fast
_SAMPLE = (
    64  # rows that are checked first: an activation in evaluation is new at every call
)

_bags = WeakTensorKeyDictionary()


def is_plain(lin: nn.Module) -> bool:
    """Whether `lin` does nothing but to multiply by a parameter.

    Then a layer may do it in another order.

    It is called otherwise: where it is another module (LoRA, a quantised one),
        parametrised or sharded, which change
    its class; where its weight is computed before each call (pruning, the older weight
    and spectral norm), or is not its own (`torch.func.functional_call`); and where
    hooks see its input or output.
    """
    hooks = (
        lin._forward_hooks,
        lin._forward_pre_hooks,
        lin._backward_hooks,
        lin._backward_pre_hooks,
    )
    return (
        type(lin) is nn.Linear
        and "forward" not in vars(lin)
        and type(lin._parameters.get("weight")) is nn.Parameter
        and lin.bias is None
        and not any(hooks)
    )


def matrix_of(lin: nn.Module, x: Tensor) -> Tensor:
    """(C, F) the matrix that `lin` multiplies x (N, F) by, without what it adds."""
    ones = torch.eye(
        x.size(1) + 1, x.size(1), dtype=x.dtype, device=x.device
    )  # the last row is 0
    out = lin(ones)
    return (out[:-1] - out[-1]).t()


def features_linear(x: Tensor, weight: Tensor) -> Tensor:
    """`linear` without bias, which need not read zeros.

    On the CPU it reads the non-zeros only, of constant features that are mostly zeros.

    Such are bags of words: on Citeseer an epoch takes a quarter of the time. A GPU
        would have to wait for their number.
    """
    narrows, constant = (
        x.size(1) > weight.size(0),
        not (x.requires_grad or torch.compiler.is_compiling()),
    )
    if narrows and constant and x.device.type == "cpu" and fused(x, weight):
        bag = kept(_bags, x, _nonzeros)
        if bag is not None:
            return sum_of_neighbours(bag[1], weight.t(), bag[0])[:, 0]
    return linear(x, weight)


def _nonzeros(x: Tensor) -> tuple[CSRGraph, Tensor] | None:
    """The non-zeros of x (N, F) as edges from words to texts, and their values (1, E).

    None for too many of them.
    """
    sample = x[:: max(1, len(x) // _SAMPLE)]
    if x.is_inference() or any(
        part.count_nonzero() > _DENSE * part.numel() for part in (sample, x)
    ):
        return None
    text, word = x.nonzero().unbind(1)
    rowptr = torch.searchsorted(text, torch.arange(len(x) + 1, device=x.device))
    graph = CSRGraph(
        x.size(1),
        1,
        rowptr,
        rowptr,
        word.int(),
        torch.arange(len(word), device=x.device),
    )
    return graph, x[text, word][None]
