"""The share of attention on other groups at which mixing would cancel the other parts of the gap."""

import numpy as np
import pandas as pd


def least_gap(accounts: pd.DataFrame) -> tuple[float, float]:
    """Find the share on inter-edges at which the gap of two groups is smallest, if only mixing changes with it.

    Fair attention's factor is 1 - reach * share, so mixing is linear in it. The difference between the groups' means
    and the other parts stay as they are; of several models, such as GAT and equal shares, means are taken.

    Args:
        accounts: rows of `fairgat.theory.account.Account`, of the same layer, nodes and graph.

    Returns:
        the share, in [0, 1], and the gap there. NaN where the accounts are of more than two groups.
    """
    between, reach = accounts["between"].mean(), accounts["reach"].mean()
    others = (accounts["gap"] - accounts["mixing"]).mean()
    slope = reach * between
    share = np.clip((between + others) / slope, 0, 1) if slope else 0 * slope
    return float(share), float((1 - reach * share) * between + others)
