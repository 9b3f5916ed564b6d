"""The statistical parity difference split into what labels and what errors make of it (Kitagawa 1955)."""

import math

import numpy as np

from fairgat.measures.metrics import Decisions
from fairgat.tasks.rates import positive_rates


def parity_parts(counts: np.ndarray) -> tuple[float, float]:
    """Split the rate of positive decisions of one side less that of another in two parts that add up to it.

    With p(y|s) the shares of the labels in a side s and q_sy its rates of positive decisions among them, these are

        labels: sum_y (p(y|1) - p(y|0)) (q_0y + q_1y) / 2
        errors: sum_y (p(y|1) + p(y|0)) / 2 (q_1y - q_0y)

    Without errors the first is the difference of the sides' shares of label 1, and the second 0. It is the
    decomposition of Kitagawa (1955), known in economics as Oaxaca's and Blinder's.

    Args:
        counts: (2, 2, 2) by side, label and decision (`fairgat.tasks.rates.counted`).

    Returns:
        The parts of the labels and of the errors; NaN where a side has nobody of some label.
    """
    sizes = counts.sum(axis=2)
    if not sizes.all():
        return math.nan, math.nan
    p, q = sizes / sizes.sum(axis=1, keepdims=True), counts[:, :, 1] / sizes
    return float(((p[1] - p[0]) * (q[0] + q[1])).sum() / 2), float(
        ((p[0] + p[1]) * (q[1] - q[0])).sum() / 2
    )


def parts(decisions: Decisions) -> tuple[float, float]:
    """The labels' and the errors' part of ΔSP: of the group with the highest rate less the one with the lowest."""
    rates = positive_rates(decisions.counts)
    if np.isfinite(rates).sum() < 2:
        return math.nan, math.nan
    return parity_parts(decisions.counts[[np.nanargmin(rates), np.nanargmax(rates)]])
