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
    nodes = None
    number, names = 0, [""]
    for attribute, given in attributes.items():
        values = grouping.values(given, attribute)
        if nodes is None:
            nodes = values.shape
        if values.ndim != 1 or values.shape != nodes:
            raise ValueError(
                f"attributes must have one value for each node, (N,): {attribute} has "
                f"shape {values.shape}, the first one {nodes}"
            )
        kinds, place = np.unique(values, return_inverse=True)
        # Numbered anew each time, as the product of all sizes could overflow.
        found, number = np.unique(number * len(kinds) + place, return_inverse=True)
        named = []
        for before, kind in zip(*np.divmod(found, max(len(kinds), 1)), strict=True):
            comma = ", " if names[before] else ""
            named.append(f"{names[before]}{comma}{attribute}={kinds[kind]}")
        names = named
    return torch.from_numpy(number), names
