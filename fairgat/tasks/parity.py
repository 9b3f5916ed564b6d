"""The statistical parity difference split into what labels and what errors make of it (Kitagawa 1955)."""

import math

import numpy as np


def parity_parts(predicted: np.ndarray, labels: np.ndarray, sensitive: np.ndarray, group: int) -> tuple[float, float]:
    """Split the rate of positive predictions of a group, less that of all others, in two parts that add up to it.

    With p(y|s) the shares of the labels in a side s and q_sy its rates of positive predictions among them, these are

        labels: sum_y (p(y|1) - p(y|0)) (q_0y + q_1y) / 2
        errors: sum_y (p(y|1) + p(y|0)) / 2 (q_1y - q_0y)

    Without errors the first is the difference of the sides' shares of label 1, and the second 0. It is the
    decomposition of Kitagawa (1955), known in economics as Oaxaca's and Blinder's.

    Args:
        predicted: (n,) 0/1 predictions.
        labels: (n,) 0/1 labels.
        sensitive: (n,) sensitive groups.
        group: side 1; all other groups are side 0.

    Returns:
        The parts of the labels and of the errors; NaN where a side has nobody of some label.
    """
    labels, predicted = labels.astype(bool), predicted.astype(bool)
    sides = [sensitive != group, sensitive == group]
    cells = [[side & (labels == label) for label in (False, True)] for side in sides]
    if not all(cell.any() for row in cells for cell in row):
        return math.nan, math.nan
    p = np.array([[cell.sum() / side.sum() for cell in row] for side, row in zip(sides, cells, strict=True)])
    q = np.array([[predicted[cell].mean() for cell in row] for row in cells])
    return float(((p[1] - p[0]) * (q[0] + q[1])).sum() / 2), float(((p[0] + p[1]) * (q[1] - q[0])).sum() / 2)
