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
    then, result = cache.get(x, (None, None))
    if then != now:
        result = plainly(lambda: find(x))
        cache[x] = now, result
    return result


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


def plainly(make: Callable[[], Any]) -> Any:
    """Make tensors that any later pass can use: outside of inference mode, and of transforms, which wrap them."""
    if has_storage(torch.empty(0)):
        with torch.inference_mode(False):
            return make()
    with ThreadPoolExecutor(1) as another:  # transforms belong to a thread
        return another.submit(make).result()
