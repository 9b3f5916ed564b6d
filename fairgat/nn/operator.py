"""Functions as `torch.library` operators, which eager code reaches without the dispatcher.

`torch.library.custom_op` registers the same, but imports torch._dynamo at the first call: one second of every training
job. And the dispatcher takes an operator's arguments apart and puts them together again four times: of an epoch on a
graph of 300 nodes that was a seventh.
"""

import contextlib
import functools
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

    The shorter way is for tensors that are no more than that. Where anybody looks on, the registered one is called:
    torch.compile, torch.export, torch.fx, torch.jit.trace, torch.func, the profiler, function and dispatch modes,
    tensors of classes of their own or without numbers. There is no forward-mode derivative.

    Attributes:
        registered: the operator as PyTorch knows it.
        function: what it does, unseen by anybody: for what calls several operators and was itself called as one.
    """

    def __init__(self, function: Callable) -> None:
        name = function.__name__
        _library.define(name + torch.library.infer_schema(function, mutates_args=()))
        _library.impl(name, self._implementation, "CompositeExplicitAutograd")
        self.registered = getattr(torch.ops.fairgat, name).default
        self.function = function
        functools.update_wrapper(self, function)
        self._hidden: Callable | None = None
        self._apply: Callable | None = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if named or not is_plain(*arguments):
            return self.registered(*arguments, **named)
        if torch.is_grad_enabled() and any(type(each) in _PLAIN and each.requires_grad for each in arguments):
            if self._apply is not None:
                return self._apply(*arguments)
            with torch.no_grad():
                return self.function(*arguments)
        return self.function(*arguments)

    def _implementation(self, *arguments: Any) -> Any:
        if "torch._dynamo" not in sys.modules:
            return self.function(*arguments)
        if self._hidden is None:  # dynamo shall not trace into NumPy and Numba
            self._hidden = torch._dynamo.disable(self.function)
        return self._hidden(*arguments)

    def differentiable(self, backward: Callable, setup: Callable) -> None:
        """Register the autograd formula; arguments as for `torch.library.register_autograd`."""
        backward = once_differentiable(without_autocast(backward))
        torch.library.register_autograd(self.registered.name(), backward, setup_context=setup, lib=_library)
        function = self.function

        def forward(ctx: Any, *arguments: Any) -> Any:
            output = function(*arguments)
            setup(ctx, arguments, output)
            return output

        parts = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        differentiable = type(function.__name__, (torch.autograd.Function,), parts)
        self._apply = super(torch.autograd.Function, differentiable).apply  # its own asks again for transforms


def without_autocast(backward: Callable) -> Callable:
    """A backward pass within autocast is one of the forward pass's precision, as PyTorch's own are."""

    @functools.wraps(backward)
    def plain(ctx: Any, *grads: Any) -> Any:
        if not torch._C._is_any_autocast_enabled():
            return backward(ctx, *grads)
        kinds = {each.device.type for each in grads if isinstance(each, Tensor)}
        with contextlib.ExitStack() as stack:
            for kind in kinds:
                stack.enter_context(torch.autocast(kind, enabled=False))
            return backward(ctx, *grads)

    return plain


def is_plain(*arguments: Any) -> bool:
    """Whether tensors are no more than that, and nobody looks on: see `Operator`."""
    if (
        torch.compiler.is_compiling()
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._C._are_functorch_transforms_active()
        or torch._C._is_tracing()
        or torch.autograd.profiler._is_profiler_enabled
        or torch._C._has_torch_function(arguments)
    ):
        return False
    for each in arguments:  # some ten at every call: faster than all()
        if type(each) in _PLAIN:
            if each.is_meta:
                return False
        elif isinstance(each, Tensor):
            return False
    return True


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
