"""The statistical parity difference, in the parts of the labels and of the errors."""

import math

import numpy as np

from fairgat.measures.metrics import Decisions
from fairgat.tasks.rates import positive_rates


def parity_parts(counts: np.ndarray) -> tuple[float, float]:
    """Split the difference of two sides' rates of positive decisions in two parts.

    With p(y|s) the shares of the labels in a side s and q_sy its rates of positive
    decisions among them, the difference, of side 1 less side 0, is the sum of

        labels: sum_y (p(y|1) - p(y|0)) (q_0y + q_1y) / 2
        errors: sum_y (p(y|1) + p(y|0)) / 2 (q_1y - q_0y)

    Without errors the first is the difference of the sides' shares of label 1, and the
    second 0. It is the decomposition of Kitagawa (1955), known in economics as Oaxaca's
    and Blinder's.

    Args:
        counts: (2, 2, 2) by side, label and decision (`fairgat.tasks.rates.counted`).

    Returns:
        The parts of the labels and of the errors; NaN where a side has nobody of some
        label.
    """
    sizes = counts.sum(axis=2)
    if not sizes.all():
        return math.nan, math.nan
    p0, p1 = sizes / sizes.sum(axis=1, keepdims=True)
    q0, q1 = counts[:, :, 1] / sizes
    of_labels = (p1 - p0) * (q0 + q1)
    of_errors = (p0 + p1) * (q1 - q0)
    return float(of_labels.sum() / 2), float(of_errors.sum() / 2)


def parts(decisions: Decisions) -> tuple[float, float]:
    """Split ΔSP, of the group with the highest rate less the one with the lowest."""
    rates = positive_rates(decisions.counts)
    if np.isfinite(rates).sum() < 2:
        return math.nan, math.nan
    lowest, highest = np.nanargmin(rates), np.nanargmax(rates)
    return parity_parts(decisions.counts[[lowest, highest]])
