"""Accuracy and group fairness of decisions, as fractions.

A gap between more than two groups is the largest rate minus the smallest, as in
fairlearn. What is missing, such as a rate over nobody, is NaN (`fairgat.tasks.rates`).
Everything is plain NumPy on counts.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fairgat import groups
from fairgat.tasks import rates
from fairgat.tasks.rates import counted, positive_rates, true_positive_rates


@dataclass(frozen=True)
class Decisions:
    """Binary decisions about n nodes, or about n pairs of nodes, and the truth.

    A measure is a function of them (`fairgat.measures.measure.Measure`). Of nodes it
    may read everything but `dyads`, `odds` and `auc_of_pairs`, which are of pairs; of
    pairs everything but `counts`, `gap` without a grouping, `gap_by_attribute` and
    `in_groups`.

    Attributes:
        scores: (n,) higher means more likely positive.
        cutoff: nodes are positive where their score exceeds it, pairs where the
            probability of a link reaches it.
        positive: (n,) bool, the decisions.
        labels: (n,) bool, the truth.
        groups: sensitive groups from 0: (n,) of the nodes, (2, n) of the pairs' ends.
        num_groups: of the whole data set; some groups may be absent here.
        attributes: where the groups are combinations of several attributes, the value
            of each, (n,) from 0.
        nobody: the rate of a group that has members but nobody to count, and the gap
            without two rates: NaN for missing, or 0 as in FairDrop's notebook.
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
        """Count nodes by group, label and decision: (num_groups, 2, 2) int64.

        `counts[g, 1, 0]` are those of group g with label 1 that are decided negative.
        """
        return counted(self.positive, self.labels, self.groups, self.num_groups)

    @cached_property
    def dyads(self) -> dict[str, np.ndarray]:
        """Count pairs by FairDrop's groupings, each (k, 2, 2) by label and decision.

        `mixed`: whether the ends' groups differ, k = 2. `group`: the group of each end,
        k = num_groups; a pair counts once for each end. `subgroup`: the unordered pair
        of groups, k = num_groups squared, of which those that are no such pair are
        empty.
        """
        first, second = self.groups
        mixed = first != second
        lower = np.minimum(first, second)
        higher = np.maximum(first, second)
        subgroup = lower * self.num_groups + higher
        return {
            "mixed": self._counted(mixed, 2),
            "group": self._counted(first) + self._counted(second),
            "subgroup": self._counted(subgroup, self.num_groups**2),
        }

    def _counted(self, groups: np.ndarray, num_groups: int | None = None) -> np.ndarray:
        """Count by these groups, by default as many as in the whole data set."""
        if num_groups is None:
            num_groups = self.num_groups
        return counted(self.positive, self.labels, groups, num_groups)

    def gap(
        self, rates_of: Callable[[np.ndarray, float], np.ndarray], dyad: str = ""
    ) -> float:
        """Compute the gap between the rates of groups: the largest less the smallest.

        Args:
            rates_of: gives the rate of each group, (k,), of counts (k, 2, 2) and the
                rate of nobody, such as `positive_rates` or `accuracies`.
            dyad: a grouping of pairs in `dyads`; that of nodes where empty.

        Returns:
            A fraction; `nobody` where fewer than two groups have a rate.
        """
        counts = self.dyads[dyad] if dyad else self.counts
        group_rates = rates_of(counts, self.nobody)
        return rates.gap(group_rates, self.nobody)

    def odds(self, dyad: str) -> float:
        """Compute the difference of equalised odds on a grouping in `dyads`.

        It is the larger gap, of true or of false positive rates.
        """
        of_true = self.gap(true_positive_rates, dyad)
        of_false = self.gap(false_positive_rates, dyad)
        return float(np.max([of_true, of_false]))  # NaN where either is missing

    def gap_by_attribute(
        self, rates_of: Callable[[np.ndarray], np.ndarray]
    ) -> dict[str, float]:
        """Compute the gap between the values of each of the `attributes`, by name."""
        gaps = {}
        for name, values in self.attributes.items():
            num_values = int(values.max(initial=0)) + 1
            counts = self._counted(values, num_values)
            gaps[name] = rates.gap(rates_of(counts))
        return gaps

    def in_groups(
        self, measure: Callable[[np.ndarray, np.ndarray], float]
    ) -> np.ndarray:
        """Compute a measure of scores and labels in each group of nodes.

        Args:
            measure: of the members' scores (m,) and labels (m,) bool; it gives NaN for
                nobody, as `fairgat.tasks.rates.area_under_roc` does.

        Returns:
            (num_groups,) float64.
        """
        measured = []
        for group in range(self.num_groups):
            members = self.groups == group
            measured.append(measure(self.scores[members], self.labels[members]))
        return np.array(measured)

    def auc_of_pairs(self) -> np.ndarray:
        """Compute the AUC of pairs within a group, and of mixed ones.

        Returns:
            (2,); NaN where all such pairs have one label, or there are none.
        """
        first, second = self.groups
        mixed = first != second
        areas = []
        for kind in (~mixed, mixed):
            area = rates.area_under_roc(self.scores[kind], self.labels[kind])
            areas.append(area)
        return np.array(areas)


def accuracies(counts: np.ndarray, nobody: float = math.nan) -> np.ndarray:
    """Compute the share of right decisions in each group."""
    right = counts[:, 0, 0] + counts[:, 1, 1]
    members = counts.sum(axis=(1, 2))
    return rates.shares(right, members, counts, nobody)


def false_positive_rates(counts: np.ndarray, nobody: float = math.nan) -> np.ndarray:
    """Compute the share of positive decisions among label 0, in each group."""
    false_positives = counts[:, 0, 1]
    negatives = counts[:, 0].sum(axis=1)
    return rates.shares(false_positives, negatives, counts, nobody)


def calibration_error(logits: np.ndarray, labels: np.ndarray) -> float:
    """Compute the expected calibration error of the probability of label 1.

    There are ten bins of equal width. In each bin it is how far the mean probability
    lies from the share of label 1, and the bins count by their members (Guo et al., On
    Calibration of Modern Neural Networks, ICML 2017, with the probability of class 1 in
    place of that of the decision). NaN for nobody, and where a logit is NaN.
    """
    if not len(logits) or np.isnan(logits).any():
        return math.nan
    half = logits.astype(float) / 2
    probabilities = (1 + np.tanh(half)) / 2  # the sigmoid, without overflow
    bins = (10 * probabilities).astype(int)
    bins = np.minimum(bins, 9)  # a probability of 1 is in the last
    errors = np.bincount(bins, probabilities - labels)
    return float(np.abs(errors).sum() / len(logits))


def node_metrics(
    predicted: np.ndarray, labels: np.ndarray, sensitive: np.ndarray
) -> dict[str, float]:
    """Compute accuracy, the F1 score of class 1, and two gaps.

    These are the differences of statistical parity and equal opportunity of the paper's
    section Evaluation Metrics. What is missing is NaN.

    Args:
        predicted: (n,) 0/1 predictions.
        labels: (n,) 0/1 labels.
        sensitive: (n,) sensitive groups, as `fairgat.groups` takes them.

    Raises:
        ValueError: predictions or labels other than 0 and 1 or masked, groups that are
            none, or another shape.
    """
    decided = _binary(predicted, "predictions")
    truth = _binary(labels, "labels")
    values = groups.values(sensitive)
    one_shape = decided.shape == truth.shape == values.shape
    if decided.ndim != 1 or not one_shape:
        raise ValueError(
            "predictions, labels and groups must have one shape (n,), got "
            f"{decided.shape}, {truth.shape} and {values.shape}"
        )

    names, numbers = np.unique(values, return_inverse=True)
    counts = counted(decided, truth, numbers, len(names))
    return {
        "accuracy": rates.accuracy(decided, truth),
        "statistical_parity": rates.gap(positive_rates(counts)),
        "equal_opportunity": rates.gap(true_positive_rates(counts)),
        "f1": rates.f1(decided, truth),
    }


def _binary(values: np.ndarray, what: str) -> np.ndarray:
    """Check that all values are 0 or 1."""
    values = groups.unmasked(values, what)
    wrong = values[(values != 0) & (values != 1)]
    if wrong.size:
        raise ValueError(
            f"{what} must be 0 or 1; found {wrong[0]}. Leave out nodes without a "
            "label, and turn scores into decisions first, such as with logits > 0"
        )
    return values.astype(bool)
