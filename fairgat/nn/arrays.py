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


def unsigned(tensor: Tensor):
    """Indices (int32) as the kernels take them: for unsigned ones Numba makes no check for negative ones."""
    return tensor.numpy().view("uint32")


def number(value: float, like: Tensor):
    """A number of the tensor's type, so that nothing is computed in a wider one."""
    return like.numpy().dtype.type(value)
