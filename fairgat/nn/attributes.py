"""One group for each node, of several sensitive attributes."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairgat import groups as grouping


def combined_groups(**attributes: Any) -> tuple[Tensor, list[str]]:
    """Make one sensitive attribute of several: its groups are their combinations.

    `combined_groups(race=race, sex=sex)` numbers the combinations that occur, in the
    order of their values, the first attribute's first.

    Args:
        attributes: (N,) the values of each: integers, bool or strings.

    Returns:
        (N,) int64 the number of each node's group, which layers, `balanced_shares` and
        measures take for `sensitive`; and the groups' names, such as "race=1, sex=f".

    Raises:
        ValueError: there is no attribute, a value is missing, or the lengths differ.
    """
    if not attributes:
        raise ValueError("combined_groups needs attributes, as in race=race, sex=sex")
    shape = None
    group, names = 0, [""]  # of each node, and of each group, by the attributes so far
    for attribute, column in attributes.items():
        values = grouping.values(column, attribute)
        if shape is None:
            shape = values.shape
        if values.ndim != 1 or values.shape != shape:
            raise ValueError(
                f"attributes must have one value for each node, (N,): {attribute} has "
                f"shape {values.shape}, the first one {shape}"
            )
        kinds, kind = np.unique(values, return_inverse=True)
        # Numbered anew each time, as the product of all sizes could overflow.
        pairs, pair = np.unique(group * len(kinds) + kind, return_inverse=True)
        groups_before, kinds_now = np.divmod(pairs, max(len(kinds), 1))

        names_before, names = names, []
        for before, now in zip(groups_before, kinds_now, strict=True):
            comma = ", " if names_before[before] else ""
            names.append(f"{names_before[before]}{comma}{attribute}={kinds[now]}")
        group = pair
    return torch.from_numpy(group), names
