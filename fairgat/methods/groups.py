"""Sensitive groups as what a network reads or predicts: of two groups one number, of more one for each."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, one_hot


def columns(groups: int) -> int:
    """How many numbers tell so many groups apart: one for two of them."""
    return 1 if groups == 2 else groups


def membership(sensitive: Tensor, groups: int, dtype: torch.dtype) -> Tensor:
    """Write groups (N,) as numbers: (N,), 1 in group 1 of two; (N, K), 1 in the column of a node's group, of more."""
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
