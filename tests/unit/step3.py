"""Step 3 in float32 against float64, far from 0 and for small deviations."""

from collections.abc import Callable

import torch
from torch import Tensor

RATIOS = [10.0**power for power in range(7)]  # of means to deviations
DEVIATIONS = [1e-3, 1e-6, 1e-10, 1e-13]
FORMS = ["columns", "columns of a product"]
ETA = 0.75

Step = Callable[[Tensor, Tensor | None], Tensor]


def far_features(
    ratio: float, deviation: float = 1.0, nodes: int = 300, width: int = 6
) -> Tensor:
    """(N, width) in float32; means of both signs are `ratio` deviations away from 0."""
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(nodes, width, generator=generator, dtype=torch.float64)
    x = (x - x.mean(0)) / x.std(0, correction=0)
    signs = torch.ones(width)
    signs[1::2] = -1
    return (deviation * (x + ratio * signs)).float()


def weight_of(form: str, width: int = 6) -> Tensor | None:
    """(2 * width, width) for the columns of a product; None where there is none."""
    if form == "columns":
        return None
    return torch.randn(2 * width, width, generator=torch.Generator().manual_seed(4))


def plain(x: Tensor, weight: Tensor | None, center: bool = False) -> Tensor:
    """Step 3 by its definition: the mean is taken out, then squares are summed."""
    if weight is not None:
        x = x @ weight.t()
    deviations = x - x.mean(0)
    scale = ETA / deviations.square().mean(0).sqrt()
    return (deviations if center else x) * scale


def with_gradients(step: Step, x: Tensor, weight: Tensor | None) -> list[Tensor]:
    """Outputs of a step, and the gradients of x and of the weight, if any."""
    given = [each.clone().requires_grad_() for each in (x, weight) if each is not None]
    out = step(*given) if weight is not None else step(*given, None)
    generator = torch.Generator().manual_seed(5)
    directions = torch.randn(out.shape, generator=generator)
    (out * directions.to(out)).sum().backward()
    return [out.detach(), *(each.grad for each in given)]


def errors(found: list[Tensor], exact: list[Tensor]) -> list[float]:
    """Of outputs and gradients, as shares of their norms."""
    shares = []
    for own, right in zip(found, exact, strict=True):
        difference = own.double().cpu() - right.cpu()
        shares.append(float(difference.norm() / right.norm()))
    return shares


def assert_as_good_as_plain(step: Step, x: Tensor, form: str, center=False) -> None:
    """Outputs and gradients are as near to float64's as plain float32's are."""
    weight = weight_of(form)
    double = None if weight is None else weight.double()
    own = None if weight is None else weight.to(x)

    def by_definition(x: Tensor, weight: Tensor | None) -> Tensor:
        return plain(x, weight, center)

    exact = with_gradients(by_definition, x.double().cpu(), double)
    found = errors(with_gradients(step, x, own), exact)
    usual = errors(with_gradients(by_definition, x.cpu(), weight), exact)
    for error, least in zip(found, usual, strict=True):
        assert error <= 4 * least + 1e-6
