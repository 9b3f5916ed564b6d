"""Products of features with weight matrices, sparse ones for bags of words."""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.utils.weak import WeakTensorKeyDictionary

from fairgat.nn.attention import sum_of_neighbours
from fairgat.nn.cache import cached
from fairgat.nn.csr import CSRGraph
from fairgat.nn.operators import fused

_DENSE = 0.2  # share of non-zeros from which the dense product is as fast
# Rows that are checked first: an activation in evaluation is new at every call.
_SAMPLE = 64

_bags = WeakTensorKeyDictionary()


def is_plain(lin: nn.Module) -> bool:
    """Whether `lin` does nothing but to multiply by a parameter.

    Then a layer may do it in another order. Otherwise `lin` is called: where it is
    another module (LoRA, a quantised one), parametrised or sharded, which change its
    class; where its weight is computed before each call (pruning, the older weight and
    spectral norm), or is not its own (`torch.func.functional_call`); and where hooks
    see its input or output.
    """
    if type(lin) is not nn.Linear or "forward" in vars(lin) or lin.bias is not None:
        return False
    hooked = lin._forward_hooks or lin._forward_pre_hooks
    hooked = hooked or lin._backward_hooks or lin._backward_pre_hooks
    return not hooked and type(lin._parameters.get("weight")) is nn.Parameter


def matrix_of(lin: nn.Module, x: Tensor) -> Tensor:
    """(C, F) the matrix that `lin` multiplies x (N, F) by, without what it adds."""
    width = x.size(1)
    # The unit vectors, and below them one of zeros, to which `lin` only adds.
    units_and_zero = torch.eye(width + 1, width, dtype=x.dtype, device=x.device)
    out = lin(units_and_zero)
    return (out[:-1] - out[-1]).t()


def features_linear(x: Tensor, weight: Tensor) -> Tensor:
    """x @ weight^T, which on the CPU need not read the zeros of bags of words.

    Such are constant features that are mostly zeros: on Citeseer an epoch takes a
    quarter of the time. A GPU would have to wait for the number of non-zeros.
    """
    is_constant = not (x.requires_grad or torch.compiler.is_compiling())
    narrows = x.device.type == "cpu" and x.size(1) > weight.size(0)
    bag = None
    if is_constant and narrows and fused(x, weight):
        bag = cached(_bags, x, _nonzeros)
    if bag is None:
        return linear(x, weight)
    graph, values = bag
    return sum_of_neighbours(values, weight.t(), graph)[:, 0]


def _nonzeros(x: Tensor) -> tuple[CSRGraph, Tensor] | None:
    """The non-zeros of x (N, F) as edges from words to texts, and their values (1, E).

    None where there are too many for that to be faster.
    """
    every_few = max(1, len(x) // _SAMPLE)
    sample = x[::every_few]
    if x.is_inference() or _is_dense(sample) or _is_dense(x):
        return None
    text, word = x.nonzero().unbind(1)
    texts = torch.arange(len(x) + 1, device=x.device)
    rowptr = torch.searchsorted(text, texts)
    graph = CSRGraph(
        num_nodes=x.size(1),
        segments=1,
        rowptr=rowptr,
        segptr=rowptr,
        source=word.int(),
        permutation=torch.arange(len(word), device=x.device),
    )
    return graph, x[text, word][None]


def _is_dense(x: Tensor) -> bool:
    return bool(x.count_nonzero() > _DENSE * x.numel())
