"""How far groups' means lie apart, and nodes' values from the means of their groups."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np


def disparity(values: np.ndarray, sensitive: np.ndarray) -> float:
    """Measure delta, the largest Euclidean distance between the means of two groups.

    `values` are (N, F) or (N,), `sensitive` (N,) groups.
    """
    means = group_means(values, sensitive)
    return max(float(np.linalg.norm(a - b)) for a, b in combinations(means, 2))


def group_means(values: np.ndarray, sensitive: np.ndarray) -> np.ndarray:
    """Compute the mean (K, F) of each group."""
    groups = range(sensitive.max() + 1)
    return np.stack([values[sensitive == group].mean(0) for group in groups])


def deviations_within(values: np.ndarray, sensitive: np.ndarray) -> np.ndarray:
    """Give values (N, F) less the mean of their node's group."""
    return values - group_means(values, sensitive)[sensitive]


def norms_of_pairs(values: np.ndarray, sensitive: np.ndarray) -> Iterator[float]:
    """Give the norm (over features) of the sum of the means of each pair of groups.

    Of absolute deviations these are the norms of Eq. 18.
    """
    for first, second in combinations(group_means(values, sensitive), 2):
        yield float(np.linalg.norm(first + second))


def largest_deviation(values: np.ndarray, sensitive: np.ndarray) -> float:
    """Find the largest absolute deviation of values (N, F) from their group's mean."""
    return float(np.abs(deviations_within(values, sensitive)).max())
