"""Compute once what depends on a tensor that stays the same."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary


def kept(cache: WeakTensorKeyDictionary, x: Tensor, find: Callable[[Tensor], Any]) -> Any:
    """`find(x)`, computed once for as long as the same unmodified tensor is passed, if it needs no gradient."""
    if torch.compiler.is_compiling() or x.requires_grad or x.is_inference() or not has_storage(x):
        return find(x)
    now = _state(x)
    then, results = cache.get(x, (None, {}))
    if then != now:
        results = {}
        cache[x] = now, results
    return once(results, "result", lambda: find(x))


def _state(tensor: Tensor) -> tuple:
    """What changes when a tensor is written to, or gets other data, as in `module.double()`."""
    data = tensor.data_ptr() if tensor.layout == torch.strided else None
    return tensor._version, data, tensor.dtype, tensor.shape


def has_storage(x: Tensor) -> bool:
    """Whether x has data, unlike the wrappers that the transforms of torch.func make."""
    if torch.compiler.is_compiling() or x.layout != torch.strided:
        return True
    try:
        x.data_ptr()
    except RuntimeError:
        return False
    return True


def once(results: dict, key: Any, make: Callable[[], Any]) -> Any:
    """`results[key]`, made by the first call, as tensors that serve any later one.

    Those that are made in inference mode serve no training, and those of torch.func's transforms, which belong to a
    thread, are wrapped.
    """
    if key not in results:
        if has_storage(torch.empty(0, device="cpu")):
            with torch.inference_mode(False):
                results[key] = make()
        else:
            with ThreadPoolExecutor(1) as another:
                results[key] = another.submit(make).result()
    return results[key]
