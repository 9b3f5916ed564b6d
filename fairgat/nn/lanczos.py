"""A small matrix over its largest singular value, in Numba: Lanczos' iteration with full reorthogonalisation.

Golub and Van Loan, Matrix Computations, section 10.3. Several times faster than an eigendecomposition, which finds all
the vectors that nobody needs; no state is carried from one training step to the next.
"""

import numpy as np
from numba import njit

TOLERANCE = 1e-10  # residual of the eigenpair of A^T A, relative to its eigenvalue

_jit = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})


@_jit
def unit_norm(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """weight / sigma (m, n); and (1 + m + n,) sigma and its singular vectors u and v."""
    m, n = weight.shape
    wide = m < n
    unit, leading = np.empty_like(weight), np.empty(1 + m + n, weight.dtype)
    u, v = leading[1 : 1 + m], leading[1 + m :]
    tall = np.empty((n, m) if wide else (m, n))
    for i in range(m):
        for j in range(n):
            if wide:
                tall[j, i] = weight[i, j]
            else:
                tall[i, j] = weight[i, j]
    right = leading_right_vector(tall)
    left = np.empty(len(tall))
    for i in range(len(tall)):
        left[i] = _dot(tall[i], right)
    sigma = np.sqrt(_dot(left, left))
    tiny = np.finfo(weight.dtype).tiny
    divisor = tiny if sigma < tiny else sigma  # NaN stays
    left /= divisor
    for i in range(m):
        u[i] = right[i] if wide else left[i]
        for j in range(n):
            unit[i, j] = weight[i, j] / divisor
    for j in range(n):
        v[j] = left[j] if wide else right[j]
    leading[0] = sigma
    return unit, leading


@_jit
def unit_norm_gradient(grad: np.ndarray, unit: np.ndarray, leading: np.ndarray) -> np.ndarray:
    """(grad - <grad, unit> u v^T) / sigma (m, n), for what `unit_norm` returns."""
    m = len(grad)
    grad_weight, u, v = np.empty_like(grad), leading[1 : 1 + m], leading[1 + m :]
    along, sigma, tiny = 0.0, np.float64(leading[0]), np.finfo(grad.dtype).tiny
    for i in range(len(grad)):
        along += _dot(grad[i], unit[i])
    if sigma < tiny:  # a matrix of zeros, which was divided by a constant
        along, sigma = 0.0, tiny
    for i in range(len(grad)):
        for j in range(grad.shape[1]):
            grad_weight[i, j] = (grad[i, j] - along * u[i] * v[j]) / sigma
    return grad_weight


@_jit
def leading_right_vector(a: np.ndarray) -> np.ndarray:
    """The right singular vector (n,) of the largest singular value of a (m, n), both float64; unit norm.

    NaN where the squares of a's entries have no finite sum.
    After k steps A^T A is the tridiagonal matrix (diagonal, beside) in the basis of the k rows of `basis`.
    """
    n = a.shape[1]
    if not np.isfinite(_dot(a.ravel(), a.ravel())):
        return np.full(n, np.nan)
    basis, diagonal, beside = np.empty((n, n)), np.zeros(n), np.zeros(n)
    step = np.cos(1.0 + np.arange(n) ** 2)  # as good as random: orthogonal to no vector that is sought
    length = np.sqrt(_dot(step, step))
    for k in range(n):
        for i in range(n):
            basis[k, i] = step[i] / length
        step = _twice(a, basis[k])
        diagonal[k] = _dot(step, basis[k])
        for _ in range(2):  # once leaves what rounding left
            for j in range(k + 1):
                _add(step, -_dot(step, basis[j]), basis[j])
        length = beside[k] = np.sqrt(_dot(step, step))
        last = k == n - 1 or length <= 1e-15 * diagonal[: k + 1].max()
        if last or k % 4 == 3:
            value = _largest_eigenvalue(diagonal[: k + 1], beside)
            vector = _eigenvector(diagonal[: k + 1], beside, value)
            if last or length * abs(vector[k]) <= TOLERANCE * value:
                break
    found = np.zeros(n)
    for j in range(k + 1):
        _add(found, vector[j], basis[j])
    return found / np.sqrt(_dot(found, found))


@_jit
def _twice(a, x):
    """A^T A x, by four rows at a time: one after the other, each would wait for the sums of the one before."""
    out, fours = np.zeros(x.size), len(a) - len(a) % 4
    for i in range(0, fours, 4):
        b, c, d, e = a[i], a[i + 1], a[i + 2], a[i + 3]
        of_b = of_c = of_d = of_e = 0.0
        for j in range(x.size):
            of_b += b[j] * x[j]
            of_c += c[j] * x[j]
            of_d += d[j] * x[j]
            of_e += e[j] * x[j]
        for j in range(x.size):
            out[j] += of_b * b[j] + of_c * c[j] + of_d * d[j] + of_e * e[j]
    for i in range(fours, len(a)):
        _add(out, _dot(a[i], x), a[i])
    return out


@_jit
def _dot(a, b):
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@_jit
def _add(a, factor, b):
    for i in range(a.size):
        a[i] += factor * b[i]


@_jit
def _largest_eigenvalue(diagonal, beside):
    """From above, to the last digit: bisection over whether T - x has a positive pivot."""
    low, high = diagonal.max(), 0.0
    for i in range(diagonal.size):
        left = beside[i - 1] if i > 0 else 0.0
        right = beside[i] if i < diagonal.size - 1 else 0.0
        high = max(high, diagonal[i] + left + right)  # Gershgorin
    while True:
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            return high
        pivot = diagonal[0] - middle
        positive = pivot > 0
        for i in range(1, diagonal.size):
            if positive:
                break
            pivot = diagonal[i] - middle - beside[i - 1] ** 2 / (pivot if pivot != 0 else -1e-300)
            positive = pivot > 0
        if positive:
            low = middle
        else:
            high = middle


@_jit
def _eigenvector(diagonal, beside, value):
    """Inverse iteration: T - value is negative but for rounding, so no pivoting is needed."""
    size = diagonal.size
    pivot, vector = np.empty(size), np.ones(size)
    pivot[0] = min(diagonal[0] - value, -1e-300)
    for i in range(1, size):
        pivot[i] = min(diagonal[i] - value - beside[i - 1] ** 2 / pivot[i - 1], -1e-300)
    for _ in range(3):
        for i in range(1, size):
            vector[i] -= beside[i - 1] / pivot[i - 1] * vector[i - 1]
        vector[size - 1] /= pivot[size - 1]
        for i in range(size - 2, -1, -1):
            vector[i] = (vector[i] - beside[i] * vector[i + 1]) / pivot[i]
        vector /= np.abs(vector).max()
        vector /= np.sqrt(_dot(vector, vector))
    return vector
