"""Step 3's factors on the columns of a layer, and sums by attention, from arrays."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix

from fairgat.nn.columns import ROUNDING


def gains(
    h: np.ndarray,
    weight: np.ndarray,
    attention: Sequence[csr_matrix],
    eta: float | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute eta / std (F,) of the columns of C, and of Z: step 3's factors.

    C is h W^T, and Z = attention C once C is scaled. All are 1 where `eta` is None.

    Args:
        h: (N, F_in) the layer's input.
        weight: (F, F_in) W.
        attention: (N, N) of each head, targets by sources.
        eta: step 3's factor on features of unit variance; None without step 3.
    """
    if eta is None:
        ones = np.ones(len(weight))
        return ones, ones
    c = h @ weight.T
    gain_c = gain(c, eta)
    z = aggregate(attention, c * gain_c)
    return gain_c, gain(z, eta)


def gain(values: np.ndarray, eta: float | None) -> np.ndarray:
    """Compute step 3's factor on each column, eta / std (F,); 1 where `eta` is None.

    On a column that does not vary in the layer's single precision it is eta itself.
    """
    if eta is None:
        return np.ones(values.shape[1])
    deviation = values.std(0)
    size = np.abs(values.mean(0))
    is_constant = deviation <= ROUNDING * np.finfo(np.float32).eps * size
    return eta / np.where(is_constant, 1, deviation)


def aggregate(attention: Sequence[csr_matrix], values: np.ndarray) -> np.ndarray:
    """Sum alpha_ij values_j (N, H * C) over j, each head on its own columns."""
    heads = zip(attention, np.split(values, len(attention), axis=1), strict=True)
    return np.concatenate([alpha @ head for alpha, head in heads], axis=1)
