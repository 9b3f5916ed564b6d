"""GAT that also pays for the gap of its probabilities on the training nodes."""

from typing import Annotated, Literal

from pydantic import Field
from torch import Tensor

from fairgat.config import Model
from fairgat.methods.base import NodeMethod


class Settings(Model):
    weight: Annotated[float, Field(ge=0)] = 1.0
    """Weight of the gap."""
    gap: Literal["statistical_parity", "equal_opportunity"] = "statistical_parity"
    """Of all training nodes, or of those with label 1."""


class NodeClassification(NodeMethod):
    settings: Settings

    def loss(self, output: Tensor) -> Tensor:
        """Add the gap to the cross-entropy.

        The mean probability is in place of the share of positive decisions.
        """
        nodes = self.task.train
        if self.settings.gap == "equal_opportunity":
            nodes = nodes[self.task.labels[nodes] == 1]
        probability = output.index_select(0, nodes).sigmoid()
        gap = range_of_means(probability, self.task.sensitive[nodes])
        return super().loss(output) + self.settings.weight * gap


def range_of_means(values: Tensor, groups: Tensor) -> Tensor:
    """Compute the largest mean of values (n,) in a group minus the smallest.

    Numbers of `groups` (n,) that no value has don't count.
    """
    if not len(values):
        return values.sum()
    count = groups.bincount()
    sums = values.new_zeros(len(count)).index_add(0, groups, values)
    there = count > 0
    means = sums[there] / count[there]
    return means.max() - means.min()
