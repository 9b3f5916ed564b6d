"""GAT with a threshold for each group, chosen on validation nodes.

It is trained as GAT is; only its decisions change. The post-processing of Hardt, Price
and Srebro (2016), as fairlearn's ThresholdOptimizer with a tolerance does it, but
without drawing between two thresholds. AUC is that of the shifted scores. Validation
scores are those of the nodes that the thresholds were fitted to, and say nothing about
others.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from torch import Tensor

from fairgat.config import Model
from fairgat.config.protocol import Fraction
from fairgat.methods.base import NodeMethod


class Settings(Model):
    gap: Literal["statistical_parity", "equal_opportunity"] = "statistical_parity"
    """Of all validation nodes, or of those with label 1."""
    limit: Fraction = 0.02
    """The largest gap on these nodes. Few thresholds meet a tiny one, except those that
    decide all nodes alike."""


class NodeClassification(NodeMethod):
    settings: Settings

    def cuts(self, output: Tensor) -> np.ndarray:
        """Find each group's threshold."""
        graph, nodes = self.task.graph, self.task.validation
        labels = graph.labels[nodes]
        counted = np.ones(len(nodes), bool)
        if self.settings.gap == "equal_opportunity":
            counted = labels == 1
        logits = output.numpy(force=True)[nodes]
        return thresholds(
            logits,
            labels,
            graph.sensitive[nodes],
            counted,
            self.settings.limit,
            graph.num_groups,
        )


def thresholds(
    logits: np.ndarray,
    labels: np.ndarray,
    sensitive: np.ndarray,
    counted: np.ndarray,
    limit: float,
    groups: int,
) -> np.ndarray:
    """Find each group's threshold, above which it is decided positive.

    They are the most accurate ones with a gap up to `limit`. The limit is met if the
    rates of all groups lie in a window [rate, rate + limit]. Each group takes the best
    of its own thresholds there; every rate of every group is tried as the window's
    start. A group without counted nodes has no rate that could fall outside.

    Args:
        logits, labels, sensitive: (n,), labels 0 or 1, groups from 0 on.
        counted: (n,) bool, the nodes whose rates of positive decisions make the gap.

    Returns:
        (groups,) float64; of equally accurate ones, those near 0.
    """
    choices = []
    for group in range(groups):
        own = sensitive == group
        choices.append(Choices.of(logits[own], labels[own], counted[own], groups))

    most_gain, cuts = -np.inf, np.zeros(groups)
    rates = np.concatenate([group.rates for group in choices])
    for start in np.unique(rates):
        end = start + limit + 1e-9  # a rate may be rounded
        places = [group.best(start, end) for group in choices]
        if None in places:  # a group has no threshold in this window
            continue
        chosen = list(zip(choices, places, strict=True))
        gain = sum(group.gains[place] for group, place in chosen)
        if gain > most_gain:
            most_gain = gain
            cuts = np.array([group.cuts[place] for group, place in chosen])
    return cuts


@dataclass(frozen=True)
class Choices:
    """The thresholds that a group may have, from the largest to the smallest.

    Attributes:
        cuts: (k,) the thresholds.
        rates: (k,) the share of the counted nodes that each decides positive.
        gains: (k,) the nodes that each gets right beyond the largest. Among equally
            good ones the threshold nearest to 0 counts for most, over all groups by
            less than one node.
        rated: whether any node is counted.
    """

    cuts: np.ndarray
    rates: np.ndarray
    gains: np.ndarray
    rated: bool

    @classmethod
    def of(
        cls, logits: np.ndarray, labels: np.ndarray, counted: np.ndarray, groups: int
    ) -> "Choices":
        """List the thresholds of a group, one of `groups`.

        Args:
            logits, labels: (n,) of its nodes.
            counted: (n,) bool, the nodes whose rate of positive decisions is limited.
        """
        if not logits.size:
            return cls(*np.zeros((3, 1)), rated=False)

        order = np.argsort(-logits)
        logits, labels = logits[order].astype(np.float64), labels[order]
        higher, lower = logits[:-1], logits[1:]
        above, below = logits[0] + 1, logits[-1] - 1
        cuts = np.concatenate([[above], (lower + higher) / 2, [below]])
        # No threshold separates equal logits.
        separates = np.concatenate([[True], lower < higher, [True]])

        # The k-th threshold decides the k nodes of the largest logits positive.
        num_positive = np.append(0, counted[order].cumsum())
        rates = num_positive / max(counted.sum(), 1)
        num_right = np.append(0, (2 * labels - 1).cumsum())  # beyond those of the first
        # Less than one node over all groups: of equally good ones that nearest to 0.
        distances = abs(cuts)
        penalty = 0.1 / groups * distances / distances.max()
        gains = num_right - penalty
        rated = bool(counted.any())
        return cls(cuts[separates], rates[separates], gains[separates], rated)

    def best(self, low: float, high: float) -> int | None:
        """Find the threshold that gains most with a rate from `low` to below `high`.

        Gives its place, or None where there is none.
        """
        first, end = 0, len(self.rates)
        if self.rated:
            first, end = np.searchsorted(self.rates, [low, high])
        if first >= end:
            return None
        return first + int(self.gains[first:end].argmax())
