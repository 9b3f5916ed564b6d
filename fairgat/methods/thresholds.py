"""GAT with a threshold for each group, chosen on validation nodes: trained as GAT is, only its decisions change.

The post-processing of Hardt, Price and Srebro (2016), as fairlearn's ThresholdOptimizer with a tolerance does it, but
without drawing between two thresholds. AUC is that of the shifted scores. Validation scores are those of the nodes that
the thresholds were fitted to, and say nothing about others.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from torch import Tensor

from fairgat.config import Model
from fairgat.config.protocol import Fraction
from fairgat.methods.base import NodeMethod
from fairgat.tasks.device import tensor


class Settings(Model):
    gap: Literal["statistical_parity", "equal_opportunity"] = "statistical_parity"
    """Of all validation nodes, or of those with label 1."""
    limit: Fraction = 0.02
    """The largest gap on these nodes. Few thresholds meet a tiny one, except those that decide all nodes alike."""


class NodeClassification(NodeMethod):
    settings: Settings

    def postprocess(self, output: Tensor) -> Tensor:
        """Subtract each group's threshold from its (N,) logits, so that 0 decides."""
        graph, nodes = self.task.graph, self.task.validation
        counted = (graph.labels == 1) | (self.settings.gap == "statistical_parity")
        arrays = (
            values[nodes]
            for values in (
                output.numpy(force=True),
                graph.labels,
                graph.sensitive,
                counted,
            )
        )
        shifts = tensor(thresholds(*arrays, self.settings.limit, graph.num_groups))[
            self.task.sensitive
        ]
        return (output.double() - shifts).to(output.dtype)


def thresholds(
    logits: np.ndarray,
    labels: np.ndarray,
    sensitive: np.ndarray,
    counted: np.ndarray,
    limit: float,
    groups: int,
) -> np.ndarray:
    """Find each group's threshold, above which it is decided positive: the most accurate with a gap up to `limit`.

    The limit is met if the rates of all groups lie in a window [rate, rate + limit]. Each group takes the best of its
    own thresholds there; every rate of every group is tried as the window's start. A group without counted nodes has
    no rate that could fall outside.

    Args:
        logits, labels, sensitive: (n,), labels 0 or 1, groups from 0 on.
        counted: (n,) bool, the nodes whose rates of positive decisions make the gap.

    Returns:
        (groups,) float64; of equally accurate ones, those near 0.
    """
    choices = [
        Choices.of(logits[own], labels[own], counted[own], groups)
        for own in sensitive == np.arange(groups)[:, None]
    ]
    best, cuts = -np.inf, np.zeros(groups)
    for start in np.unique(np.concatenate([group.rates for group in choices])):
        chosen = [group.best(start, start + limit + 1e-9) for group in choices]
        if None in chosen:
            continue
        total = sum(
            group.gains[place] for group, place in zip(choices, chosen, strict=True)
        )
        if total > best:
            best, cuts = (
                total,
                np.array(
                    [
                        group.cuts[place]
                        for group, place in zip(choices, chosen, strict=True)
                    ]
                ),
            )
    return cuts


@dataclass(frozen=True)
class Choices:
    """The thresholds that a group may have, from the largest to the smallest.

    Attributes:
        cuts: (k,) the thresholds.
        rates: (k,) the share of the counted nodes that each decides positive.
        gains: (k,) the nodes that each gets right beyond the largest. Among equally good ones the threshold nearest to
            0 counts for most, over all groups by less than one node.
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
        """List the thresholds of a group, one of `groups`."""
        if not logits.size:
            return cls(*np.zeros((3, 1)), rated=False)
        order = np.argsort(-logits)
        logits = logits[order].astype(np.float64)
        cuts = np.concatenate(
            [[logits[0] + 1], (logits[1:] + logits[:-1]) / 2, [logits[-1] - 1]]
        )
        rates = np.append(0, counted[order].cumsum()) / max(counted.sum(), 1)
        gains = (
            np.append(0, (2 * labels[order] - 1).cumsum())
            - 0.1 / groups * abs(cuts) / abs(cuts).max()
        )
        apart = np.concatenate(
            [[True], logits[1:] < logits[:-1], [True]]
        )  # no threshold separates equal logits
        return cls(cuts[apart], rates[apart], gains[apart], rated=bool(counted.any()))

    def best(self, low: float, high: float) -> int | None:
        """Find the threshold that gains most with a rate from `low` to below `high`; None where there is none."""
        first, end = (
            np.searchsorted(self.rates, [low, high])
            if self.rated
            else (0, len(self.rates))
        )
        return first + int(self.gains[first:end].argmax()) if first < end else None
