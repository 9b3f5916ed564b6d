"""What a sensitive group is, and how far groups mix, without PyTorch.

The layer, the metrics, R_chi and own data ask here. Groups are integers, bool or texts,
one for each node. Floats name no group, as a range of numbers must be cut first; and
where a node's group is missing, that is neither a group of its own nor left out in
silence.
"""

from typing import Any

import numpy as np

# Texts that stand for a missing value, in any case.
MISSING = ("", "<na>", "n/a", "na", "nan", "nat", "none", "null")


def values(sensitive: Any, what: str = "sensitive") -> np.ndarray:
    """Check groups, and give them as (N,) integers, bool or texts.

    Args:
        sensitive: a tensor, an array, a list or a pandas Series, also a categorical
            one.
        what: what messages call them.

    Raises:
        ValueError: a group is missing (masked, NaN, None, NA or empty), or they are of
            another type.
    """
    groups = _typed(sensitive)
    lacking = missing(groups)
    if np.ma.is_masked(sensitive):
        lacking = np.ma.getmaskarray(sensitive)
    if lacking.any():
        raise ValueError(
            f"{what} is missing for {lacking.sum()} nodes, the first of which is "
            f"{lacking.argmax()} (masked, NaN, None, NA or empty): give them a group "
            "of another name, or leave them out"
        )
    if groups.dtype.kind not in "biuUS" and groups.size:
        raise ValueError(
            f"{what} must be one group for each node, integers, bool or strings, got "
            f"{groups.dtype}: number the groups (`{what}.long()` of a tensor), or cut "
            "a range of numbers into intervals"
        )
    return groups


def missing(groups: Any) -> np.ndarray:
    """Say of each value, (N,) bool, whether it stands for a missing one."""
    groups = np.asarray(groups)
    if groups.dtype.kind in "biu":
        return np.zeros(groups.shape, dtype=bool)
    texts = np.strings.strip(groups.astype(str))
    return np.isin(np.strings.lower(texts), MISSING)


def unmasked(values: Any, what: str) -> np.ndarray:
    """Give an array whose values are all there.

    Args:
        what: what the message calls them.

    Raises:
        ValueError: some are masked.
    """
    if np.ma.is_masked(values):
        raise ValueError(
            f"some {what} are masked: leave out these nodes, or fill them in"
        )
    return np.asarray(values)


def contraction(mixing: np.ndarray) -> float:
    """Compute tau, Dobrushin's coefficient: how much of a difference mixing leaves.

    It is half the largest L1 distance between two rows. For two groups it is Theorem
    1's factor, |a_0 + a_1 - 1| with a_s the share of a group's own.

    Args:
        mixing: (K, K) shares that each group's members give to each group.
    """
    differences = np.abs(mixing[:, None] - mixing[None])
    distances = differences.sum(axis=2)
    return float(distances.max() / 2)


def _typed(sensitive: Any) -> np.ndarray:
    """Give an array, also of a tensor."""
    # torch.compile traces arrays as tensors: these have `detach`, too.
    if hasattr(sensitive, "detach") and not isinstance(sensitive, np.ndarray):
        sensitive = sensitive.detach().cpu()
        if sensitive.is_floating_point():
            sensitive = sensitive.float()
        sensitive = sensitive.numpy()
    dtype = None if hasattr(sensitive, "dtype") else object  # a list's values stay
    groups = np.asarray(sensitive, dtype=dtype)
    if groups.dtype.kind in "OT":  # T: pandas' strings
        return _of_one_type(groups)
    return groups


def _of_one_type(groups: np.ndarray) -> np.ndarray:
    """Give Python's objects as texts, bool or integers, where all of them are."""
    types = {type(each) for each in groups.flat}
    if all(issubclass(each, str) for each in types):
        return groups.astype(str)
    if all(issubclass(each, bool | np.bool_) for each in types):
        return groups.astype(bool)
    if bool in types:  # an int, too, for Python
        return groups
    if all(issubclass(each, int | np.integer) for each in types):
        return groups.astype(np.int64)
    return groups
