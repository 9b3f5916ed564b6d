"""Compute once what depends on a tensor that stays the same."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from fairgat.nn.pointers import writes_are_counted


def uncompiled(function: Callable) -> Callable:
    """Decorator: break torch.compile's graph at a function's calls.

    The compiler is not imported for everybody.
    """

    @wraps(function)
    def call(*arguments):
        compiling = "torch._dynamo" in sys.modules
        return (torch.compiler.disable(function) if compiling else function)(*arguments)

    return call


def cached(
    cache: WeakTensorKeyDictionary, x: Tensor, compute: Callable[[Tensor], Any]
) -> Any:
    """`compute(x)`, done once for as long as the same unmodified tensor is passed.

    Where x needs a gradient, it is done at each call.
    """
    if torch.compiler.is_compiling() or x.requires_grad:
        return compute(x)
    if x.is_inference() or not has_storage(x):
        return compute(x)

    data = x.data_ptr() if x.layout == torch.strided else None
    # Changes when x is written to, or gets other data, as by `.double()`.
    state = x._version, data, x.dtype, x.shape
    cached_state, results = cache.get(x, (None, {}))
    if cached_state != state:
        if not writes_are_counted(x):
            return compute(x)
        results = {}
        cache[x] = state, results
    return get_or_make(results, "result", lambda: compute(x))


def get_or_make(results: dict, key: Any, make: Callable[[], Any]) -> Any:
    """`results[key]`, made by the first call, as tensors that serve any later one."""
    if key not in results:
        _fill(results, key, make)
    return results[key]


@uncompiled
def _fill(results: dict, key: Any, make: Callable[[], Any]) -> None:
    """Make what is missing, as it would be outside of any mode of PyTorch."""
    plain_mode = has_storage(torch.empty(0, device="cpu"))
    if plain_mode:
        with torch.inference_mode(False):  # what is made there serves no training
            results[key] = make()
    else:  # torch.func's transforms wrap all that is made in their thread
        with ThreadPoolExecutor(1) as another:
            results[key] = another.submit(make).result()


def has_storage(x: Tensor) -> bool:
    """Whether x has data, unlike the wrappers that torch.func's transforms make."""
    if torch.compiler.is_compiling() or x.layout != torch.strided:
        return True
    try:
        x.data_ptr()
    except RuntimeError:
        return False
    return True
