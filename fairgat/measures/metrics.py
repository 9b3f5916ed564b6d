"""Accuracy and group fairness of decisions, as fractions.

A gap between more than two groups is the largest rate minus the smallest, as in fairlearn. What is missing, such as a
rate over nobody, is NaN (`fairgat.tasks.rates`). Everything is plain NumPy on counts.
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
        ends = counted(positive, labels, u, self.num_groups) + counted(
            positive, labels, v, self.num_groups
        )
        return {
            "mixed": counted(positive, labels, u != v, 2),
            "group": ends,
            "subgroup": counted(positive, labels, codes, self.num_groups**2),
        }

    def gap(
        self, rates_of: Callable[[np.ndarray, float], np.ndarray], dyad: str = ""
    ) -> float:
        """The gap between the rates of groups, or of those of FairDrop's grouping in `dyads`."""
        counts = self.dyads[dyad] if dyad else self.counts
        return rates.gap(rates_of(counts, self.nobody), self.nobody)

    def odds(self, dyad: str) -> float:
        """The difference of equalised odds: the larger gap, of true or of false positive rates."""
        gaps = [
            self.gap(rates_of, dyad)
            for rates_of in (true_positive_rates, false_positive_rates)
        ]
        return float(np.max(gaps))  # NaN where either is missing

    def gap_by_attribute(
        self, rates_of: Callable[[np.ndarray], np.ndarray]
    ) -> dict[str, float]:
        """The gap between the values of each attribute."""
        return {
            name: rates.gap(
                rates_of(
                    counted(
                        self.positive,
                        self.labels,
                        values,
                        int(values.max(initial=0)) + 1,
                    )
                )
            )
            for name, values in self.attributes.items()
        }

    def in_groups(
        self, measure: Callable[[np.ndarray, np.ndarray], float]
    ) -> np.ndarray:
        """A measure of scores and labels in each group: (groups,), NaN for a group without members."""
        members = [self.groups == group for group in range(self.num_groups)]
        return np.array(
            [measure(self.scores[each], self.labels[each]) for each in members]
        )

    def auc_of_pairs(self) -> np.ndarray:
        """Area under the ROC curve of pairs within a group, and of mixed ones: (2,)."""
        mixed = self.groups[0] != self.groups[1]
        kinds = (~mixed, mixed)
        return np.array(
            [
                rates.area_under_roc(self.scores[kind], self.labels[kind])
                for kind in kinds
            ]
        )


def accuracies(counts: np.ndarray, nobody: float = math.nan) -> np.ndarray:
    """Share of right decisions in each group."""
    return rates.shares(
        counts[:, 0, 0] + counts[:, 1, 1], counts.sum(axis=(1, 2)), counts, nobody
    )


def false_positive_rates(counts: np.ndarray, nobody: float = math.nan) -> np.ndarray:
    """Share of positive decisions among those with label 0, in each group."""
    return rates.shares(counts[:, 0, 1], counts[:, 0].sum(axis=1), counts, nobody)


def calibration_error(logits: np.ndarray, labels: np.ndarray) -> float:
    """Expected calibration error of the probability of label 1, in ten bins of equal width.

    NaN for nobody, and where a logit is NaN.

    In each bin it is how far the mean probability lies from the share of label 1, and the bins count by their members
    (Guo et al., On Calibration of Modern Neural Networks, ICML 2017, with the probability of class 1 in place of that
    of the decision).
    """
    if not len(logits) or np.isnan(logits).any():
        return math.nan
    probabilities = (
        1 + np.tanh(logits.astype(float) / 2)
    ) / 2  # the sigmoid, without overflow
    bins = np.minimum((10 * probabilities).astype(int), 9)
    return float(np.abs(np.bincount(bins, probabilities - labels)).sum() / len(logits))


def node_metrics(
    predicted: np.ndarray, labels: np.ndarray, sensitive: np.ndarray
) -> dict[str, float]:
    """Compute accuracy, the F1 score of class 1, and the differences of statistical parity and equal opportunity.

    The latter are those of the paper's section Evaluation Metrics. What is missing is NaN.

    Args:
        predicted: (n,) 0/1 predictions.
        labels: (n,) 0/1 labels.
        sensitive: (n,) sensitive groups, as `fairgat.groups` takes them.

    Raises:
        ValueError: predictions or labels other than 0 and 1 or masked, groups that are none, or another shape.
    """
    decided, truth, values = (
        _binary(predicted, "predictions"),
        _binary(labels, "labels"),
        groups.values(sensitive),
    )
    if not (decided.ndim == 1 and decided.shape == truth.shape == values.shape):
        shapes = f"{decided.shape}, {truth.shape} and {values.shape}"
        raise ValueError(
            f"predictions, labels and groups must have one shape (n,), got {shapes}"
        )
    names, numbers = np.unique(values, return_inverse=True)
    decisions = Decisions(decided, 0.5, decided, truth, numbers, len(names))
    return {
        "accuracy": rates.accuracy(decided, truth),
        "statistical_parity": rates.gap(positive_rates(decisions.counts)),
        "equal_opportunity": rates.gap(true_positive_rates(decisions.counts)),
        "f1": rates.f1(decided, truth),
    }


def _binary(values: np.ndarray, what: str) -> np.ndarray:
    """Check that all values are 0 or 1."""
    values = groups.unmasked(values, what)
    if values.dtype != bool and (wrong := values[(values != 0) & (values != 1)]).size:
        raise ValueError(
            f"{what} must be 0 or 1; found {wrong[0]}. Leave out nodes without a label, and turn scores into decisions "
            "first, such as with logits > 0"
        )
    return values.astype(bool)
