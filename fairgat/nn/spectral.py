"""Step S2 of FairGAT: spectral normalisation, exact at every step."""

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import register_parametrization

from fairgat.nn.operator import fake, operator

try:
    from fairgat.nn import lanczos
except ImportError:  # Numba is not there, or does not know this Python
    lanczos = None


class SpectralNorm(nn.Module):
    """A weight matrix (m, n) divided by its largest singular value.

    `torch.nn.utils.parametrizations.spectral_norm` carries singular vectors over from step to step instead, and can
    follow the second singular value for a long time: trained layers were seen at a norm of 1.2. The gradient is its
    gradient, that of u^T W v with u and v held fixed. Autocast does not change its precision.
    """

    def forward(self, weight: Tensor) -> Tensor:
        if torch.is_autocast_enabled(weight.device.type):
            with torch.autocast(weight.device.type, enabled=False):
                return _normalised(weight)
        return _normalised(weight)


def _normalised(weight: Tensor) -> Tensor:
    u, v = leading_singular_vectors(weight.detach())
    sigma = torch.dot(u, weight @ v)
    return weight / sigma.clamp_min(torch.finfo(weight.dtype).tiny)


@operator
def leading_singular_vectors(weight: Tensor) -> tuple[Tensor, Tensor]:
    """The left (m,) and right (n,) singular vector of the largest singular value of weight (m, n).

    Where Numba is there by Lanczos' iteration, elsewhere by an eigendecomposition of the smaller Gram matrix.
    """
    wide = weight.size(0) < weight.size(1)
    if lanczos is not None and weight.device.type == "cpu":
        tall = (weight.t() if wide else weight).double().contiguous()
        vector = torch.from_numpy(lanczos.leading_right_vector(tall.numpy())).to(weight.dtype)
    else:
        gram = weight @ weight.t() if wide else weight.t() @ weight
        vector = torch.linalg.eigh(gram).eigenvectors[:, -1].clone()
    other = weight.t() @ vector if wide else weight @ vector
    other = other / other.norm().clamp_min(torch.finfo(weight.dtype).tiny)
    return (vector, other) if wide else (other, vector)


@fake(leading_singular_vectors)
def _(weight):
    return weight.new_empty(weight.size(0)), weight.new_empty(weight.size(1))


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
