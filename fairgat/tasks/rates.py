"""The rates by which validation chooses an epoch, as fractions, in plain NumPy.

A rate over nobody, such as the true positive rate of a group in which no one has label
1, is missing (NaN), and so is a gap between fewer than two groups that have a rate.
fairlearn counts such a rate as 0: docs/fidelity.md says why we don't. Measured in every
epoch, scikit-learn's area under the ROC curve takes twenty times as long as this one,
and importing it 1.7 s a run. Every other measure is in `fairgat.measures`, which uses
these.
"""

import math

import numpy as np

from fairgat.groups import unmasked


def counted(
    positive: np.ndarray, labels: np.ndarray, groups: np.ndarray, num_groups: int
) -> np.ndarray:
    """Count nodes or pairs by group, label and decision: (groups, 2, 2).

    Groups (n,) are numbers, labels and decisions `positive` (n,) 0 or 1, or bool.
    """
    cells = (groups.astype(np.int64) * 2 + labels) * 2 + positive  # in C order
    counts = np.bincount(cells, minlength=4 * num_groups)
    return counts.reshape(num_groups, 2, 2)


def positive_rates(counts: np.ndarray, nobody: float = math.nan) -> np.ndarray:
    """Share of positive decisions in each group."""
    positive = counts[:, :, 1].sum(axis=1)
    return shares(positive, counts.sum(axis=(1, 2)), counts, nobody)


def true_positive_rates(counts: np.ndarray, nobody: float = math.nan) -> np.ndarray:
    """Share of positive decisions among those with label 1, in each group."""
    labelled = counts[:, 1].sum(axis=1)
    return shares(counts[:, 1, 1], labelled, counts, nobody)


def shares(
    part: np.ndarray, whole: np.ndarray, counts: np.ndarray, nobody: float
) -> np.ndarray:
    """Divide `part` by `whole`, each (groups,).

    Where `whole` is 0, the rate is `nobody` for a group with members, and NaN for one
    without.
    """
    has_members = counts.any(axis=(1, 2))
    rates = np.where(has_members, nobody, math.nan)
    return np.divide(part, whole, out=rates, where=whole > 0)


def gap(rates: np.ndarray, nobody: float = math.nan) -> float:
    """Subtract the smallest of some rates from the largest.

    NaN are left out; where fewer than two rates remain, the gap is `nobody`.
    """
    known = rates[~np.isnan(rates)]
    if len(known) < 2:
        return nobody
    return float(np.ptp(known))


def accuracy(positive: np.ndarray, labels: np.ndarray) -> float:
    """Share of right decisions; NaN without any."""
    if not len(labels):
        return math.nan
    return float((positive == labels).mean())


def f1(positive: np.ndarray, labels: np.ndarray) -> float:
    """Harmonic mean of precision and recall of label 1; NaN where nobody has it."""
    if not labels.any():
        return math.nan
    hits = (positive & labels).sum()
    return float(2 * hits / (positive.sum() + labels.sum()))


def area_under_roc(scores: np.ndarray, labels: np.ndarray) -> float:
    """Estimate the probability that a positive outranks a negative, ties counting half.

    NaN where a score is NaN, or where there is one class only.

    Args:
        scores: (m,) higher means more likely positive.
        labels: (m,) 0/1 labels.

    Raises:
        ValueError: a label is neither 0 nor 1, or masked.
    """
    labels = unmasked(labels, "labels")
    other_labels = labels[(labels != 0) & (labels != 1)]
    if other_labels.size:
        raise ValueError(
            f"labels must be 0 or 1; found {other_labels[0]}. Leave out those without "
            "a label"
        )

    labels = labels.astype(bool)
    positives = int(labels.sum())
    negatives = len(labels) - positives
    if not positives or not negatives:
        return math.nan
    values, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    if np.isnan(values[-1]):  # sorted last, NaN would count as the highest
        return math.nan
    ranks_of_values = np.cumsum(counts) - (counts - 1) / 2  # equal scores share one
    ranks = ranks_of_values[inverse]
    least = positives * (positives + 1) / 2  # were all positives below all negatives
    return float((ranks[labels].sum() - least) / (positives * negatives))
