"""Numba kernels over the rows of small weight matrices, and over a network's logits: S3 where little is to be done.

On matrices of this size PyTorch's operations cost more by their number than by what they do.
"""

import numpy as np
from numba import njit

_jit = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})


@_jit
def scale(
    weight: np.ndarray, covariance: np.ndarray, eta: float, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """weight * eta / sqrt(variance + eps); weight @ covariance; and the variance of its rows.

    For weight (H, C, F), as the first two are, covariance (H or 1, F, F) and variance (H, C).
    """
    scaled, product = np.empty_like(weight), np.empty_like(weight)
    variance = np.empty(weight.shape[:2], weight.dtype)
    for h in range(len(weight)):
        cov = covariance[h if len(covariance) > 1 else 0]
        for c in range(weight.shape[1]):
            row, image, out = weight[h, c], product[h, c], scaled[h, c]
            image[:] = 0
            for f in range(row.size):
                for g in range(row.size):
                    image[g] += row[f] * cov[f, g]
            along = 0.0
            for f in range(row.size):
                along += image[f] * row[f]
            variance[h, c] = along
            factor = eta / np.sqrt(max(along, 0.0) + eps)
            for f in range(row.size):
                out[f] = row[f] * factor
    return scaled, product, variance


@_jit
def scale_gradient(
    grad, weight, covariance, product, variance, eta: float, eps: float, needs: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of weight and of covariance (empty unless it needs one) of `scale`, for what it returned."""
    grad_weight = np.empty_like(weight)
    grad_covariance = np.zeros(covariance.shape if needs else (0, 0, 0), covariance.dtype)
    for h in range(len(weight)):
        k = h if len(covariance) > 1 else 0
        for c in range(weight.shape[1]):
            row, image, g_row, out = weight[h, c], product[h, c], grad[h, c], grad_weight[h, c]
            inverse = 1 / np.sqrt(max(variance[h, c], 0.0) + eps)
            along = 0.0
            for f in range(row.size):
                along += g_row[f] * row[f]
            slope = -0.5 * eta * along * inverse**3 if variance[h, c] >= 0 else 0.0
            for f in range(row.size):
                through = 0.0
                for g in range(row.size):
                    through += covariance[k, f, g] * row[g]
                out[f] = g_row[f] * (eta * inverse) + slope * (image[f] + through)
            if needs:
                for f in range(row.size):
                    for g in range(row.size):
                        grad_covariance[k, f, g] += slope * row[f] * row[g]
    return grad_weight, grad_covariance


@_jit
def scale_logits(z: np.ndarray, bias: float, eta: float, eps: float) -> tuple[np.ndarray, np.ndarray]:
    """z * eta / sqrt(variance + eps) + bias, for z (N,); and z's mean and variance (2,) in float64."""
    out, mean, variance = np.empty_like(z), 0.0, 0.0
    for i in range(z.size):
        mean += z[i]
    mean /= max(z.size, 1)
    for i in range(z.size):
        variance += (z[i] - mean) ** 2
    variance /= max(z.size, 1)
    factor = eta / np.sqrt(variance + eps)
    for i in range(z.size):
        out[i] = z[i] * factor + bias
    return out, np.array([mean, variance])


@_jit
def scale_logits_gradient(
    grad: np.ndarray, z: np.ndarray, moments: np.ndarray, eta: float, eps: float
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of z (N,) and of the bias (1,) of `scale_logits`, for the moments that it gave."""
    grad_z, grad_bias, mean, variance = np.empty_like(z), np.empty(1, z.dtype), moments[0], moments[1]
    inverse, along, whole = 1 / np.sqrt(variance + eps), 0.0, 0.0
    for i in range(z.size):
        along += grad[i] * z[i]
        whole += grad[i]
    factor, slope = eta * inverse, -eta * along * inverse**3 / max(z.size, 1)
    for i in range(z.size):
        grad_z[i] = grad[i] * factor + slope * (z[i] - mean)
    grad_bias[0] = whole
    return grad_z, grad_bias
