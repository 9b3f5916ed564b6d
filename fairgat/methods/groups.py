"""Sensitive groups as a network reads or predicts them: one number for two groups, one for each of more."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, one_hot


def columns(groups: int) -> int:
    """Count the numbers that encode a group: one where there are two groups."""
    return 1 if groups == 2 else groups


def membership(sensitive: Tensor, groups: int, dtype: torch.dtype) -> Tensor:
    """Encode groups (N,): two as (N,), 1 in group 1; more as (N, K), 1 in the column of the node's group."""
    return (sensitive if groups == 2 else one_hot(sensitive, groups)).to(dtype)


def group_loss(logits: Tensor, membership: Tensor) -> Tensor:
    """Compute the cross-entropy of logits (N, `columns`) against groups as `membership` writes them, or probabilities
    of them."""
    if membership.dim() == 1:
        return binary_cross_entropy_with_logits(logits.squeeze(1), membership)
    return cross_entropy(logits, membership)


def probabilities(logits: Tensor) -> Tensor:
    """Turn logits (N, `columns`) into probabilities, in the form of `membership`."""
    return logits.sigmoid().squeeze(1) if logits.size(1) == 1 else logits.softmax(1)
