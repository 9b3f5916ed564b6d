"""Functions as `torch.library` operators, which eager code reaches without the dispatcher.

`torch.library.custom_op` registers the same, but imports torch._dynamo at the first call: one second of every training
job. And the dispatcher takes an operator's arguments apart and puts them together again four times: of an epoch on a
small graph that was a third.
"""

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

_library = torch.library.Library("fairgat", "DEF")
_PLAIN = (Tensor, torch.nn.Parameter)


class Operator:
    """The operator `torch.ops.fairgat.<name>`, and the shorter way to what it does.

    The registered operator is called where somebody looks on: torch.compile and torch.export, fake and other tensors of
    classes of their own, dispatch modes, and functorch's transformations.

    Attributes:
        registered: the operator as PyTorch knows it.
    """

    def __init__(self, function: Callable) -> None:
        name = function.__name__
        _library.define(name + torch.library.infer_schema(function, mutates_args=()))
        _library.impl(name, self._implementation, "CompositeExplicitAutograd")
        self.registered = getattr(torch.ops.fairgat, name).default
        self.__doc__ = function.__doc__
        self._function = function
        self._hidden: Callable | None = None
        self._differentiable: type[torch.autograd.Function] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if torch.compiler.is_compiling() or _seen(arguments):
            return self.registered(*arguments)
        if torch.is_grad_enabled() and any(isinstance(each, Tensor) and each.requires_grad for each in arguments):
            if self._differentiable is not None:
                return self._differentiable.apply(*arguments)
            with torch.no_grad():
                return self._function(*arguments)
        return self._function(*arguments)

    def _implementation(self, *arguments: Any) -> Any:
        if "torch._dynamo" not in sys.modules:
            return self._function(*arguments)
        if self._hidden is None:  # dynamo shall not trace into NumPy and Numba
            self._hidden = torch._dynamo.disable(self._function)
        return self._hidden(*arguments)

    def differentiable(self, backward: Callable, setup: Callable) -> None:
        """Register the autograd formula; arguments as for `torch.library.register_autograd`."""
        backward = once_differentiable(backward)
        torch.library.register_autograd(self.registered.name(), backward, setup_context=setup, lib=_library)
        function = self._function

        def forward(ctx: Any, *arguments: Any) -> Any:
            output = function(*arguments)
            setup(ctx, arguments, output)
            return output

        parts = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        self._differentiable = type(function.__name__, (torch.autograd.Function,), parts)


def _seen(arguments: tuple) -> bool:
    return (
        torch._C._len_torch_dispatch_stack() > 0
        or torch._C._are_functorch_transforms_active()
        or any(isinstance(each, Tensor) and type(each) not in _PLAIN for each in arguments)
    )


def operator(function: Callable) -> Operator:
    """Decorator: make `function`, whose annotations give the schema, an operator.

    It mutates none of its arguments and returns new tensors; register a fake and an autograd formula beside it with
    `fake` and `gradient`.
    """
    return Operator(function)


def fake(target: Operator) -> Callable:
    """Decorator: the function gives empty outputs of the right shapes."""
    return torch.library.register_fake(target.registered.name(), lib=_library)


def gradient(target: Operator, backward: Callable, setup: Callable) -> None:
    """Register the autograd formula of an operator; arguments as for `torch.library.register_autograd`.

    There is no second derivative; asked for it, PyTorch says so.
    """
    target.differentiable(backward, setup)
