"""Adam, as torch.optim.Adam computes it, without that one's import of torch._dynamo: a second of every training job."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from fairgat.nn.arrays import array, served

try:
    from fairgat.nn import adam
except ImportError:  # Numba is not there, or does not know this Python
    adam = None


class Adam:
    """Adam (Kingma and Ba, 2015) with L2 weight decay added to the gradient.

    Args:
        parameters: leaf tensors; those without a gradient at a step are left alone.
        lr: learning rate.
        weight_decay: L2 factor.
        betas: decay rates of the two moments.
        eps: added to the root of the second moment.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float,
        weight_decay: float = 0.0,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        self.parameters = list(parameters)
        self.lr, self.weight_decay, self.betas, self.eps = lr, weight_decay, betas, eps
        self._states = [_State(parameter) for parameter in self.parameters]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One update of every parameter that has a gradient."""
        for parameter, state in zip(self.parameters, self._states, strict=True):
            if parameter.grad is not None:
                state.steps += 1
                self._update(parameter, parameter.grad, state)

    def _update(self, parameter: Tensor, gradient: Tensor, state: "_State") -> None:
        first, second = self.betas
        size, root = self.lr / (1 - first**state.steps), math.sqrt(1 - second**state.steps)
        if state.arrays is not None and parameter.is_contiguous():
            values, slopes = parameter.numpy().reshape(-1), array(gradient).reshape(-1)
            adam.step(slopes, values, *state.arrays, self.weight_decay, first, second, self.eps, size, root)
            torch.autograd.graph.increment_version(parameter)
            return
        if self.weight_decay:
            gradient = gradient.add(parameter, alpha=self.weight_decay)
        state.mean.lerp_(gradient, 1 - first)
        state.square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        parameter.addcdiv_(state.mean, state.square.sqrt().div_(root).add_(self.eps), value=-size)


class _State:
    """A parameter's steps so far, and the moments of its gradient; as flat arrays, too, where the kernel serves."""

    def __init__(self, parameter: Tensor) -> None:
        self.steps = 0
        self.mean, self.square = torch.zeros_like(parameter), torch.zeros_like(parameter)
        flat = served(adam, parameter) and self.mean.is_contiguous()
        self.arrays = (self.mean.numpy().reshape(-1), self.square.numpy().reshape(-1)) if flat else None
