"""Which share of attention on other groups would let mixing cancel what else the gap is made of."""

import numpy as np
import pandas as pd


def least_gap(accounts: pd.DataFrame) -> tuple[float, float]:
    """Say at which share on inter-edges the gap of two groups is smallest, if only mixing changes with the share.

    Fair attention's factor is 1 - reach * share, so mixing is linear in it. What lies between the groups and the other
    parts are taken as they are, and as the mean of several models: those of GAT and of equal shares, for instance.

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
