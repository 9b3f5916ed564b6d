"""Accuracy and group fairness of decisions, as fractions.

A gap between more than two groups is the largest rate minus the smallest, as in fairlearn. A rate over nobody, such as
the true positive rate of a group in which no one has label 1, is missing (NaN), and so is a gap between fewer than two
groups that have a rate. fairlearn counts such a rate as 0: docs/fidelity.md says why we don't.

Everything is plain NumPy on counts: measured in every epoch, scikit-learn's area under the ROC curve takes twenty times
as long, and importing it 1.7 s a run.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Decisions:
    """Binary decisions about n nodes, or about n pairs of nodes, and the truth.

    Attributes:
        scores: (n,) higher means more likely positive.
        cutoff: nodes are positive where their score exceeds it, pairs where the probability of a link reaches it.
        positive: (n,) bool, the decisions.
        labels: (n,) bool, the truth.
        groups: sensitive groups from 0: (n,) of the nodes, (2, n) of the pairs' ends.
        num_groups: of the whole data set; some groups may be absent here.
        attributes: where the groups are combinations of several attributes, the value of each, (n,) from 0.
        nobody: the rate of a group that has members but nobody to count, and the gap without two rates: NaN for
            missing, or 0 as in FairDrop's notebook.
    """

    scores: np.ndarray
    cutoff: float
    positive: np.ndarray
    labels: np.ndarray
    groups: np.ndarray
    num_groups: int
    nobody: float = math.nan
    attributes: Mapping[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def counts(self) -> np.ndarray:
        """(groups, 2, 2): nodes by group, label and decision."""
        return counted(self.positive, self.labels, self.groups, self.num_groups)

    @cached_property
    def dyads(self) -> dict[str, np.ndarray]:
        """Counts of pairs by FairDrop's three groupings, each (groups, 2, 2) by label and decision.

        mixed: whether the ends' groups differ; group: the group of each end (a pair counts once per end); subgroup: the
        unordered pair of groups.
        """
        (u, v), positive, labels = self.groups, self.positive, self.labels
        codes = np.minimum(u, v) * self.num_groups + np.maximum(u, v)
        ends = counted(positive, labels, u, self.num_groups) + counted(positive, labels, v, self.num_groups)
        return {
            "mixed": counted(positive, labels, u != v, 2),
            "group": ends,
            "subgroup": counted(positive, labels, codes, self.num_groups**2),
        }


def counted(positive: np.ndarray, labels: np.ndarray, groups: np.ndarray, num_groups: int) -> np.ndarray:
    """Count nodes or pairs by group, label and decision: (groups, 2, 2)."""
    codes = (groups.astype(np.int64) * 2 + labels) * 2 + positive
    return np.bincount(codes, minlength=4 * num_groups).reshape(num_groups, 2, 2)


def accuracies(counts: np.ndarray, nobody: float = math.nan) -> np.ndarray:
    """Share of right decisions in each group."""
    return _rates(counts[:, 0, 0] + counts[:, 1, 1], counts.sum(axis=(1, 2)), counts, nobody)


def positive_rates(counts: np.ndarray, nobody: float = math.nan) -> np.ndarray:
    """Share of positive decisions in each group."""
    return _rates(counts[:, :, 1].sum(axis=1), counts.sum(axis=(1, 2)), counts, nobody)


def true_positive_rates(counts: np.ndarray, nobody: float = math.nan) -> np.ndarray:
    """Share of positive decisions among those with label 1, in each group."""
    return _rates(counts[:, 1, 1], counts[:, 1].sum(axis=1), counts, nobody)


def false_positive_rates(counts: np.ndarray, nobody: float = math.nan) -> np.ndarray:
    """Share of positive decisions among those with label 0, in each group."""
    return _rates(counts[:, 0, 1], counts[:, 0].sum(axis=1), counts, nobody)


def _rates(part: np.ndarray, whole: np.ndarray, counts: np.ndarray, nobody: float) -> np.ndarray:
    """Divide; where `whole` is 0, the rate is `nobody` for a group with members and NaN for one without."""
    rates = np.where(counts.any(axis=(1, 2)), nobody, math.nan)
    return np.divide(part, whole, out=rates, where=whole > 0)


def gap(rates: np.ndarray, nobody: float = math.nan) -> np.ndarray:
    """The largest rate (groups, ...) minus the smallest; `nobody` where fewer than two groups have one."""
    known = ~np.isnan(rates)
    largest = np.where(known, rates, -math.inf).max(axis=0, initial=-math.inf)
    smallest = np.where(known, rates, math.inf).min(axis=0, initial=math.inf)
    return np.where(known.sum(axis=0) > 1, largest - smallest, nobody)


def accuracy(decisions: Decisions) -> float:
    """Share of right decisions; NaN without any."""
    right = decisions.positive == decisions.labels
    return float(right.mean()) if len(right) else math.nan


def f1(decisions: Decisions) -> float:
    """Harmonic mean of precision and recall of class 1; NaN where nobody has label 1."""
    positive, labels = decisions.positive, decisions.labels
    if not labels.any():
        return math.nan
    return float(2 * (positive & labels).sum() / (positive.sum() + labels.sum()))


def gap_of(rates: Callable[[np.ndarray, float], np.ndarray], dyad: str = "") -> Callable[[Decisions], float]:
    """Make the measure of the gap between the rates of groups, or of FairDrop's grouping in `Decisions.dyads`."""

    def measure(decisions: Decisions) -> float:
        counts = decisions.dyads[dyad] if dyad else decisions.counts
        return float(gap(rates(counts, decisions.nobody), decisions.nobody))

    return measure


def gaps_of(rates: Callable[[np.ndarray], np.ndarray]) -> Callable[[Decisions], dict[str, float]]:
    """Make the measure of the gap between the values of each attribute."""

    def measure(decisions: Decisions) -> dict[str, float]:
        positive, labels = decisions.positive, decisions.labels
        return {
            name: float(gap(rates(counted(positive, labels, values, int(values.max(initial=0)) + 1))))
            for name, values in decisions.attributes.items()
        }

    return measure


def odds(dyad: str) -> Callable[[Decisions], float]:
    """Make the measure of its difference of equalised odds: the larger gap, of true or of false positive rates."""

    def measure(decisions: Decisions) -> float:
        counts, nobody = decisions.dyads[dyad], decisions.nobody
        rates = (true_positive_rates(counts, nobody), false_positive_rates(counts, nobody))
        return float(np.max([gap(each, nobody) for each in rates]))  # NaN where either is missing

    return measure


def node_metrics(predicted: np.ndarray, labels: np.ndarray, sensitive: np.ndarray) -> dict[str, float]:
    """Compute accuracy, the F1 score of class 1, and the differences of statistical parity and equal opportunity.

    The latter are those of the paper's section Evaluation Metrics. What is missing is NaN.

    Args:
        predicted: (n,) 0/1 predictions.
        labels: (n,) 0/1 labels.
        sensitive: (n,) sensitive groups, of any type.

    Raises:
        ValueError: predictions or labels other than 0 and 1, missing groups, or another shape.
    """
    decided, truth, values = _binary(predicted, "predictions"), _binary(labels, "labels"), np.asarray(sensitive)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError("some groups are missing (NaN): leave out these nodes")
    if not (decided.ndim == 1 and decided.shape == truth.shape == values.shape):
        shapes = f"{decided.shape}, {truth.shape} and {values.shape}"
        raise ValueError(f"predictions, labels and groups must have one shape (n,), got {shapes}")
    known, groups = np.unique(values, return_inverse=True)
    decisions = Decisions(decided, 0.5, decided, truth, groups, len(known))
    return {
        "accuracy": accuracy(decisions),
        "statistical_parity": float(gap(positive_rates(decisions.counts))),
        "equal_opportunity": float(gap(true_positive_rates(decisions.counts))),
        "f1": f1(decisions),
    }


def area_under_roc(scores: np.ndarray, labels: np.ndarray) -> float:
    """Estimate the probability that a positive outranks a negative, ties counting half.

    NaN where a score is NaN, or where there is one class only.

    Args:
        scores: (m,) higher means more likely positive.
        labels: (m,) 0/1 labels.
    """
    labels = labels.astype(bool)
    positives = int(labels.sum())
    negatives = len(labels) - positives
    if not positives or not negatives:
        return math.nan
    values, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    if np.isnan(values[-1]):  # sorted last, NaN would count as the highest
        return math.nan
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[labels].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def _binary(values: np.ndarray, what: str) -> np.ndarray:
    """Check that all values are 0 or 1."""
    values = np.asarray(values)
    if values.dtype != bool and (wrong := values[(values != 0) & (values != 1)]).size:
        raise ValueError(
            f"{what} must be 0 or 1; found {wrong[0]}. Leave out nodes without a label, and turn scores into decisions "
            "first, such as with logits > 0"
        )
    return values.astype(bool)
