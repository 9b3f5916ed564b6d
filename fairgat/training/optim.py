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
        self._moments = {p: (torch.zeros_like(p), torch.zeros_like(p)) for p in self.parameters}
        self._steps = dict.fromkeys(self.parameters, 0)

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One update of every parameter that has a gradient."""
        for parameter in self.parameters:
            if parameter.grad is not None:
                self._steps[parameter] += 1
                self._update(parameter, parameter.grad, *self._moments[parameter], self._steps[parameter])

    def _update(self, parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int) -> None:
        first, second = self.betas
        size, root = self.lr / (1 - first**step), math.sqrt(1 - second**step)
        if served(adam, parameter) and all(each.is_contiguous() for each in (parameter, mean, square)):
            arrays = (each.numpy().reshape(-1) for each in (parameter, mean, square))
            adam.step(array(gradient).reshape(-1), *arrays, self.weight_decay, first, second, self.eps, size, root)
            torch.autograd.graph.increment_version(parameter)
            return
        if self.weight_decay:
            gradient = gradient.add(parameter, alpha=self.weight_decay)
        mean.lerp_(gradient, 1 - first)
        square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        parameter.addcdiv_(mean, square.sqrt().div_(root).add_(self.eps), value=-size)
