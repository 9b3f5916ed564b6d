"""Between tensors and the arrays that Numba's kernels take."""

from types import ModuleType

import torch
from torch import Tensor

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def served(kernels: ModuleType | None, x: Tensor) -> bool:
    """Whether a module of kernels could be imported and can work on x: on the CPU, in float32 or float64."""
    return kernels is not None and x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)


def array(tensor: Tensor):
    """The tensor's numbers, copied only where they are not contiguous."""
    return tensor.contiguous().numpy()


def optional(tensor: Tensor | None):
    """`array`, or None for None."""
    return None if tensor is None else array(tensor)


def like(x: Tensor) -> Tensor:
    """An uninitialised tensor of x's shape and type, contiguous."""
    return torch.empty_like(x, memory_format=torch.contiguous_format)
