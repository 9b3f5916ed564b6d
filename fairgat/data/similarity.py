"""Join people of similar records, as NIFTY's code makes the edges of Recidivism, German and Credit."""

import numpy as np

_BLOCK = 250  # rows of the distance matrix at a time


def similar_pairs(records: np.ndarray, share: float) -> np.ndarray:
    """Join each row to every other one whose similarity, 1 / (1 + Euclidean distance), exceeds `share` of its best.

    Args:
        records: (N, F) float64, N > 1.
        share: of the row's largest similarity with another row.

    Returns:
        (m, 2) pairs of rows, in both directions where both find each other.
    """
    from scipy.spatial.distance import cdist

    found = []
    for start in range(0, len(records), _BLOCK):
        distance = cdist(records[start : start + _BLOCK], records)
        rows = np.arange(len(distance))
        distance[rows, start + rows] = np.inf
        similarity = 1 / (1 + distance)
        row, other = np.nonzero(similarity > share * similarity.max(axis=1, keepdims=True))
        found.append(np.stack([start + row, other], axis=1))
    return np.concatenate(found)
