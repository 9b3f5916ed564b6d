"""Membership: sensitive groups as numbers that a network reads or predicts.

One number tells two groups apart; of more, each has a number of its own.
"""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, one_hot

from fairgat.errors import NotDefined


def num_columns(groups: int) -> int:
    """Count the numbers that encode a group: one where there are two groups.

    Raises:
        NotDefined: there is one group, which nothing tells from another.
    """
    if groups < 2:
        raise NotDefined(
            "the method tells sensitive groups apart; all nodes of this graph are in "
            "one"
        )
    return 1 if groups == 2 else groups


def membership(sensitive: Tensor, groups: int, dtype: torch.dtype) -> Tensor:
    """Encode groups (N,).

    Two as (N,), 1 in group 1; more as (N, K), 1 in the column of the node's group.
    """
    if groups == 2:
        return sensitive.to(dtype)
    return one_hot(sensitive, groups).to(dtype)


def group_loss(logits: Tensor, membership: Tensor) -> Tensor:
    """Compute the cross-entropy of logits (N, `num_columns`) against groups.

    These are as `membership` writes them, or probabilities of them.
    """
    if membership.dim() == 1:
        return binary_cross_entropy_with_logits(logits.squeeze(1), membership)
    return cross_entropy(logits, membership)


def probabilities(logits: Tensor) -> Tensor:
    """Turn logits (N, `num_columns`) into probabilities, formed as `membership`."""
    if logits.size(1) == 1:
        return logits.sigmoid().squeeze(1)
    return logits.softmax(1)
