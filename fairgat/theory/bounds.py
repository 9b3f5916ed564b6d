"""The right-hand sides of Theorem 1 (Eq. delta_h1) and Lemma 1 (Eq. delta_h2), as functions of the input's delta."""

from math import sqrt
from typing import NamedTuple

LIPSCHITZ = {"identity": 1.0, "relu": 1.0, "sigmoid": 0.25}  # of the activations, element by element


class Bound(NamedTuple):
    """delta_out <= slope * delta_in + offset.

    `slope` passes disparity on, which FairGAT's S1 and S2 reduce; `offset` comes from deviations inside the groups,
    which S3 reduces. Kept apart, the bounds of successive layers can be composed.
    """

    slope: float
    offset: float

    def __call__(self, delta_in: float) -> float:
        return self.slope * delta_in + self.offset


def theorem(lipschitz: float, sigma_max: float, factor: float, delta_c: float, delta_z: float, dimension: int) -> Bound:
    """Theorem 1: L (sigma_max * factor * delta_in + 2 sqrt(d) Delta_c + 2 sqrt(d) Delta_z).

    Args:
        lipschitz: L of the activation.
        sigma_max: spectral norm of the weight matrix.
        factor: |(R_0 + R_1) alpha_chi - 1|.
        delta_c, delta_z: largest deviations from the group means (assumption A1).
        dimension: d. The paper prints N, the number of nodes; its proof gives F, the number of features.
    """
    return Bound(lipschitz * sigma_max * factor, lipschitz * 2 * sqrt(dimension) * (delta_c + delta_z))


def lemma(lipschitz: float, sigma_max: float, delta_z: float, dimension: int) -> Bound:
    """Lemma 1, for a fully connected layer: L (sigma_max * delta_in + 2 sqrt(d) Delta_z)."""
    return theorem(lipschitz, sigma_max, 1.0, 0.0, delta_z, dimension)
