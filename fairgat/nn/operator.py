"""Registers functions as `torch.library` operators, without importing torch._dynamo unless the caller has.

`torch.library.custom_op` does the same, but imports it at the first call: one second of every training job.
"""

import sys
from collections.abc import Callable

import torch
from torch.autograd.function import once_differentiable

_library = torch.library.Library("fairgat", "DEF")


def operator(function: Callable) -> torch._ops.OpOverload:
    """Make `function`, whose annotations give the schema, the operator `torch.ops.fairgat.<its name>`.

    It mutates none of its arguments and returns new tensors; register a fake and an autograd formula beside it with
    `fake` and `gradient`.
    """
    name = function.__name__
    _library.define(name + torch.library.infer_schema(function, mutates_args=()))
    hidden = None

    def implementation(*arguments):
        nonlocal hidden
        if "torch._dynamo" not in sys.modules:
            return function(*arguments)
        if hidden is None:  # dynamo shall not trace into NumPy and Numba
            hidden = torch._dynamo.disable(function)
        return hidden(*arguments)

    _library.impl(name, implementation, "CompositeExplicitAutograd")
    registered = getattr(torch.ops.fairgat, name).default
    registered.__doc__ = function.__doc__
    return registered


def fake(target: torch._ops.OpOverload) -> Callable:
    """Decorator: the function gives empty outputs of the right shapes."""
    return torch.library.register_fake(target.name(), lib=_library)


def gradient(target: torch._ops.OpOverload, backward: Callable, setup: Callable) -> None:
    """Register the autograd formula of an operator; arguments as for `torch.library.register_autograd`.

    There is no second derivative; asked for it, PyTorch says so.
    """
    torch.library.register_autograd(target.name(), once_differentiable(backward), setup_context=setup, lib=_library)
