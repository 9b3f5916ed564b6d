"""Adam's step as a Numba kernel: a network's eight parameters would take PyTorch sixty operations."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def step(
    gradient: np.ndarray, parameter: np.ndarray, mean: np.ndarray, square: np.ndarray,
    decay: float, first: float, second: float, eps: float, size: float, root: float,
) -> None:  # fmt: skip
    """Update parameter, mean and square (n,) in place.

    Args:
        gradient: (n,).
        decay: L2 factor.
        first, second: decay rates of mean and square.
        eps: added to the root of square.
        size: learning rate, over 1 - first^t.
        root: square root of 1 - second^t.
    """
    for i in range(parameter.size):
        slope = gradient[i] + decay * parameter[i]
        mean[i] += (1 - first) * (slope - mean[i])
        square[i] = second * square[i] + (1 - second) * slope * slope
        parameter[i] -= size * mean[i] / (np.sqrt(square[i]) / root + eps)
