"""Products with weight matrices: oneDNN's for large ones, and sparse ones for bags of words."""

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.weak import WeakTensorKeyDictionary

from fairgat.nn.attention import fused, sum_of_neighbours
from fairgat.nn.cache import kept
from fairgat.nn.csr import CSRGraph

_DENSE = 0.2  # share of non-zeros from which the dense product is as fast
_SAMPLE = 64  # rows that are checked first: an activation in evaluation is new at every call
_SMALL = 1 << 20  # multiplications, below which the call costs more than it saves
_onednn = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if torch.backends.mkldnn.is_available() else None

_bags = WeakTensorKeyDictionary()


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`torch.nn.functional.linear` for x (N, F), weight (C, F) and bias (C,) or None.

    Large float32 products on the CPU are oneDNN's: PyTorch takes MKL there, which on AMD's processors is slower, 8.6
    against 6.8 ms for a layer of 128 on Recidivism. These have no second derivative.
    """
    large = fused(x, weight) and x.numel() * weight.size(0) >= _SMALL
    if _onednn is None or not large or torch.is_autocast_enabled("cpu"):
        return torch.nn.functional.linear(x, weight, bias)
    return _Linear.apply(x, weight, bias)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _onednn(x.contiguous(), weight.contiguous(), bias, "none", [], "")

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor | None, Tensor, Tensor | None]:
        x, weight = ctx.saved_tensors
        needs_x, needs_weight, needs_bias = ctx.needs_input_grad
        return (
            _onednn(grad.contiguous(), weight.t().contiguous(), None, "none", [], "") if needs_x else None,
            grad.t() @ x if needs_weight else None,  # a sum over many rows, in which MKL is the faster one
            grad.sum(0) if needs_bias else None,
        )


def features_linear(x: Tensor, weight: Tensor) -> Tensor:
    """`linear` without bias, which reads only the non-zeros of constant features that are mostly zeros.

    Such are bags of words: on Citeseer an epoch takes a quarter of the time.
    """
    narrows = x.size(1) > weight.size(0)
    if narrows and not x.requires_grad and fused(x, weight) and not torch.compiler.is_compiling():
        bag = kept(_bags, x, _nonzeros)
        if bag is not None:
            return sum_of_neighbours(bag[1], weight.t(), bag[0])[:, 0]
    return linear(x, weight)


def _nonzeros(x: Tensor) -> tuple[CSRGraph, Tensor] | None:
    """The non-zeros of x (N, F) as edges from words to texts, and their values (1, E); None for too many of them."""
    sample = x[:: max(1, len(x) // _SAMPLE)]
    if x.is_inference() or any(part.count_nonzero() > _DENSE * part.numel() for part in (sample, x)):
        return None
    text, word = x.nonzero().unbind(1)
    rowptr = torch.searchsorted(text, torch.arange(len(x) + 1))
    graph = CSRGraph(x.size(1), 1, rowptr, rowptr, word.int(), torch.arange(len(word)))
    return graph, x[text, word][None]
