"""Step S2 of FairGAT: spectral normalisation, exact at every step."""

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import register_parametrization

from fairgat.nn.arrays import array, like, served
from fairgat.nn.operator import fake, gradient, operator

try:
    from fairgat.nn import lanczos
except ImportError:  # Numba is not there, or does not know this Python
    lanczos = None


class SpectralNorm(nn.Module):
    """A weight matrix (m, n) divided by its largest singular value.

    `torch.nn.utils.parametrizations.spectral_norm` carries singular vectors over from step to step instead, and can
    follow the second singular value for a long time: trained layers were seen at a norm of 1.2. The gradient is its
    gradient, that of u^T W v with u and v held fixed; there is no second one. Autocast does not change its precision.
    """

    def forward(self, weight: Tensor) -> Tensor:
        if torch.is_autocast_enabled(weight.device.type):
            with torch.autocast(weight.device.type, enabled=False):
                return unit_norm(weight)[0]
        return unit_norm(weight)[0]


@operator
def unit_norm(weight: Tensor) -> tuple[Tensor, Tensor]:
    """weight (m, n) divided by its largest singular value sigma; and (1 + m + n,) sigma and its vectors u and v.

    Where Numba is there by Lanczos' iteration, elsewhere by an eigendecomposition of the smaller Gram matrix.
    """
    if served(lanczos, weight):
        return tuple(map(torch.from_numpy, lanczos.unit_norm(array(weight))))
    wide, exact = weight.size(0) < weight.size(1), weight.to(torch.promote_types(weight.dtype, torch.float32))
    gram = exact @ exact.t() if wide else exact.t() @ exact
    vector = torch.linalg.eigh(gram).eigenvectors[:, -1].to(weight.dtype, copy=True)
    other = weight.t() @ vector if wide else weight @ vector
    sigma = other.norm()
    divisor = sigma.clamp_min(torch.finfo(weight.dtype).tiny)
    other = other / divisor
    both = (vector, other) if wide else (other, vector)
    return (weight / divisor).contiguous(), torch.cat([sigma.to(weight.dtype).view(1), *both])


@fake(unit_norm)
def _(weight):
    return like(weight), weight.new_empty(1 + weight.size(0) + weight.size(1))


@operator
def unit_norm_backward(grad: Tensor, unit: Tensor, leading: Tensor) -> Tensor:
    """Gradient of weight (m, n)."""
    if served(lanczos, grad):
        return torch.from_numpy(lanczos.unit_norm_gradient(array(grad), unit.numpy(), leading.numpy()))
    sigma, u, v = leading[0], *leading[1:].split(grad.shape)
    tiny = torch.finfo(sigma.dtype).tiny
    along = torch.where(sigma >= tiny, (grad * unit).sum(), 0)
    return (grad - along * torch.outer(u, v)) / sigma.clamp_min(tiny)


@fake(unit_norm_backward)
def _(grad, unit, *_):
    return like(unit)


def _setup(ctx, inputs, output):
    ctx.save_for_backward(*output)
    ctx.mark_non_differentiable(output[1])


def _backward(ctx, grad, *_):
    return unit_norm_backward(grad, *ctx.saved_tensors)


gradient(unit_norm, _backward, _setup)


def spectral_norm(layer: nn.Linear) -> nn.Linear:
    """Normalise the layer's weight from now on; the parameter itself becomes `parametrizations.weight.original`.

    A state dict of the layer as it was can be loaded, too.
    """
    register_parametrization(layer, "weight", SpectralNorm())
    layer.register_load_state_dict_pre_hook(_take_plain_weight)
    return layer


def _take_plain_weight(module, state, prefix, *_) -> None:
    if f"{prefix}weight" in state:
        state[f"{prefix}parametrizations.weight.original"] = state.pop(f"{prefix}weight")
