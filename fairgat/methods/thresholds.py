"""GAT with a threshold for each group, chosen on validation nodes: trained as GAT is, only its decisions change.

The post-processing of Hardt, Price and Srebro (2016), as fairlearn's ThresholdOptimizer with a tolerance does it, but
without drawing between two thresholds. AUC is that of the shifted scores. Validation scores are those of the nodes that
the thresholds were fitted to, and say nothing about others.
"""

from typing import Literal

import numpy as np
from torch import Tensor, from_numpy

from fairgat.config import Model
from fairgat.config.protocol import Fraction
from fairgat.methods.base import NodeMethod


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
        known = (values[nodes] for values in (output.numpy(), graph.labels, graph.sensitive, counted))
        shifts = from_numpy(thresholds(*known, self.settings.limit, graph.num_groups))[self.task.sensitive]
        return (output.double() - shifts).to(output.dtype)


def thresholds(
    logits: np.ndarray, labels: np.ndarray, sensitive: np.ndarray, counted: np.ndarray, limit: float, groups: int
) -> np.ndarray:
    """Find each group's threshold, above which it is decided positive: the most accurate with a gap up to `limit`.

    The limit is met if the rates of all groups lie in a window [rate, rate + limit]. Each group takes the best of its
    own thresholds there; every rate of every group is tried as the window's start. A group without counted nodes has
    no rate that could fall outside.

    Args:
        logits, labels, sensitive: (n,), labels 0 or 1, groups from 0 on.
        counted: (n,) bool, the nodes whose rates of positive decisions make the gap.
        limit: the largest gap.
        groups: how many there are; one without nodes here keeps the threshold 0.

    Returns:
        (groups,) float64; of equally accurate ones, those near 0.
    """
    members = sensitive == np.arange(groups)[:, None]
    choices = [_choices(logits[own], labels[own], counted[own], groups) for own in members]
    measured = (members & counted).any(axis=1)
    best, cuts = -np.inf, []
    for start in np.unique(np.concatenate([rates for _, rates, _ in choices])):
        windows = [
            (group, *(np.searchsorted(group[1], [start, start + limit + 1e-9]) if rated else (0, group.shape[1])))
            for group, rated in zip(choices, measured, strict=True)
        ]
        if all(first < end for _, first, end in windows):
            chosen = [columns[:, a + columns[2, a:b].argmax()] for columns, a, b in windows]
            if (total := sum(column[2] for column in chosen)) > best:
                best, cuts = total, [column[0] for column in chosen]
    return np.array(cuts)


def _choices(logits: np.ndarray, labels: np.ndarray, counted: np.ndarray, groups: int) -> np.ndarray:
    """List a group's thresholds, their rates, and the nodes that each gets right beyond the largest: (3, choices).

    Among equally good ones the threshold nearest to 0 counts for most, over all `groups` by less than one node.
    """
    if not logits.size:
        return np.zeros((3, 1))
    order = np.argsort(-logits)
    logits = logits[order].astype(np.float64)
    values = np.concatenate([[logits[0] + 1], (logits[1:] + logits[:-1]) / 2, [logits[-1] - 1]])
    rates = np.append(0, counted[order].cumsum()) / max(counted.sum(), 1)
    gains = np.append(0, (2 * labels[order] - 1).cumsum()) - 0.1 / groups * abs(values) / abs(values).max()
    apart = np.concatenate([[True], logits[1:] < logits[:-1], [True]])  # no threshold separates equal logits
    return np.stack([values, rates, gains])[:, apart]
