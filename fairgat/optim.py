"""Adam, as torch.optim.Adam computes it, without that one's import of torch._dynamo: a second of every training job."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor


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
        first, second = self.betas
        for parameter in self.parameters:
            if parameter.grad is None:
                continue
            self._steps[parameter] += 1
            step = self._steps[parameter]
            gradient = parameter.grad
            if self.weight_decay:
                gradient = gradient.add(parameter, alpha=self.weight_decay)
            mean, square = self._moments[parameter]
            mean.lerp_(gradient, 1 - first)
            square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
            root = square.sqrt().div_(math.sqrt(1 - second**step)).add_(self.eps)
            parameter.addcdiv_(mean, root, value=-self.lr / (1 - first**step))
