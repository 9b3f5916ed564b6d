"""The account of a gap between two groups: four parts that add up to it, exactly; and what it makes of decisions.

An attention layer gives h'_i = sigma(z_i + b) with z_i = sum_j alpha_ij c_j. For a set of rows, let u_j be the *net
attention* of source j: the mean of alpha_ij over the rows of a group, less that over the rows of the other. The
difference of the groups' mean z is sum_j u_j c_j, and c_j is the mean of its group, plus what the mean of its group and
label differs from that, plus what c_j differs from this one. Summed with u_j these are

- mixing: how the groups' rows divide their attention among groups as a whole; Theorem 1's factor, with its sign;
- label selection: attention to people of one label rather than the other, within the groups attended to;
- the rest: attention to people who are not the average of their group and label.

What the activation does to them is the gate. With w the direction in which the gap is read, such as a linear layer's
weights, and g the share of rows in which a feature is positive, the three are read along w * g, and the gate is the
rest of the gap. docs/theory.md has the derivation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

if TYPE_CHECKING:  # training may measure the theory, and does without pandas
    import pandas as pd

PARTS = ("mixing", "label_selection", "rest", "gate")
OVER = {"all": None, "label 1": 1, "label 0": 0}
"""The rows that an account may be about, and the label that they have."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """A gap, the mean of one group less that of the others, as `mixing + label_selection + rest + gate`.

    NaN where a group has no row. Gaps have the unit of what is read, logits or representations.
    """

    layer: str
    """Name of the layer, or `logit`."""
    over: str
    """The rows averaged over, one of OVER."""
    group: int
    """The group that is compared with all others: of two groups group 1 with group 0, of more each one in turn."""
    gap: float
    """Mean over the rows of the group less the mean over the other rows."""
    mixing: float
    """The part that follows from the attention between groups as a whole; what FairGAT's share sets."""
    label_selection: float
    """The part of attention to people of one label."""
    rest: float
    """The part of attention to people who differ from the average of their group and label."""
    gate: float
    """The part of the activation: what is left of the gap."""
    factor: float
    """Two groups: a group's attention to itself less the other group's to it, 1 - a_0 - a_1; the heads' mean.
    This, `between` and `reach` are NaN for more groups, and where a node's attention does not sum to 1."""
    between: float
    """Two groups: what mixing would be with a factor of 1, in which nobody attends to the other group."""
    spread: float
    """Standard deviation of what is read, over all nodes: the unit in which gaps of several models compare."""
    reach: float
    """Two groups: the shares of both groups' rows that have an inter-edge, R_0 + R_1, so that fair attention's factor
    is 1 - reach * alpha_chi."""
    decided: float
    """Logits: the share of the group's rows whose logit is positive, less that of the other rows; NaN of layers."""
    by_means: float
    """Logits: the part of `decided` that the gap of the means makes, by `of_means`; NaN of layers."""


def compared(groups: np.ndarray) -> list[int]:
    """The groups that are compared with all others: of the groups 0 and 1 the second, of more each of them."""
    known = np.unique(groups).tolist()
    return known[1:] if len(known) == 2 else known


def contrast(groups: np.ndarray, group: int, rows: np.ndarray | None = None) -> np.ndarray:
    """(N,) weights whose product with values is the mean over the rows of a group less the mean over the other rows.

    Args:
        groups: (N,) group of each node.
        group: the one that is compared.
        rows: (N,) bool, the nodes averaged over; all where None.

    Returns:
        NaN throughout where either side has no row.
    """
    rows = np.ones(len(groups), bool) if rows is None else rows
    mine, others = rows & (groups == group), rows & (groups != group)
    if not mine.any() or not others.any():
        return np.full(len(groups), np.nan)
    return mine / mine.sum() - others / others.sum()


def of_means(values: np.ndarray, others: np.ndarray) -> float:
    """Find what the difference of two samples' means makes of that of their shares of positive values.

    It is the mean of what moving either sample to the other's mean changes, as in Kitagawa's split. What is left comes
    from the shapes: from how far above and below 0 the values lie.
    """
    shift = values.mean() - others.mean()

    def gained(sample: np.ndarray, moved: np.ndarray) -> float:
        return float((sample > 0).mean() - (moved > 0).mean())

    return (gained(values, values - shift) + gained(others + shift, others)) / 2


def parts(net: np.ndarray, values: np.ndarray, groups: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Split sum_j u_j c_j into mixing, label selection and the rest.

    Args:
        net: (N,) u, the net attention to each source.
        values: (N,) or (N, F) c.
        groups, labels: (N,) of each source.

    Returns:
        (3,) or (3, F).
    """
    of_group = _means(values, groups)
    of_cell = _means(values, groups * (labels.max() + 2) + labels + 1)  # labels count from -1, the unlabelled
    return np.stack([net @ of_group, net @ (of_cell - of_group), net @ (values - of_cell)])


def attention_account(
    layer: str,
    c: np.ndarray,
    out: np.ndarray,
    attention: Sequence[csr_matrix],
    groups: np.ndarray,
    labels: np.ndarray,
    direction: np.ndarray | None = None,
    read: np.ndarray | None = None,
) -> list[Account]:
    """Account for the gaps of one attention layer with ReLU, or of what is read of it along a direction.

    Args:
        layer: what to call it.
        c: (N, H * C) what is summed into z, S3's factors included.
        out: (N, H * C) what the layer returned, after ReLU.
        attention: per head (N, N), row i holding alpha_ij; an entry is an edge even where it is 0.
        groups, labels: (N,) of each node.
        direction: (H * C,) w; where None, the direction of each gap itself, which makes its account one of the
            distance between the groups' mean representations.
        read: (N,) the logits that are read, out @ direction and a constant; of a layer None.

    Returns:
        One account for every set of rows in OVER and every group of `compared`.
    """
    whole = all(np.allclose(np.asarray(alpha.sum(1)), 1, atol=1e-3) for alpha in attention)
    two = whole and len(np.unique(groups)) == 2  # one factor says what mixing is
    accounts = []
    for over, label in OVER.items():
        rows = None if label is None else labels == label
        for group in compared(groups):
            weights = contrast(groups, group, rows)
            if np.isnan(weights).any():
                missing = {field.name: np.nan for field in fields(Account)}
                accounts.append(Account(**missing | {"layer": layer, "over": over, "group": group}))
                continue
            gap = weights @ out
            along = direction if direction is not None else gap / (np.linalg.norm(gap) or 1)
            shown = out @ along if read is None else read
            total = float(weights @ shown)
            gated = along * (out[slice(None) if rows is None else rows] > 0).mean(0)
            split, factors, between = np.zeros(3), [], 0.0
            for alpha, values, slopes in zip(attention, _heads(c, attention), _heads(gated, attention), strict=True):
                net, projected = alpha.T @ weights, values @ slopes
                split += parts(net, projected, groups, labels)
                factors.append(net[groups == group].sum())
                between += contrast(groups, group) @ projected
            accounts.append(
                Account(
                    layer=layer,
                    over=over,
                    group=group,
                    gap=total,
                    mixing=float(split[0]),
                    label_selection=float(split[1]),
                    rest=float(split[2]),
                    gate=float(total - split.sum()),
                    factor=float(np.mean(factors)) if two else np.nan,
                    between=float(between) if two else np.nan,
                    spread=float(shown.std()),
                    reach=_reach(attention[0], groups, group, rows) if two else np.nan,
                    decided=float(weights @ (shown > 0)) if read is not None else np.nan,
                    by_means=of_means(shown[weights > 0], shown[weights < 0]) if read is not None else np.nan,
                )
            )
    return accounts


def least_gap(accounts: "pd.DataFrame") -> tuple[float, float]:
    """Find the share on inter-edges at which the gap of two groups is smallest, if only mixing changes with it.

    Fair attention's factor is 1 - reach * share, so mixing is linear in it. The difference between the groups' means
    and the other parts stay as they are; of several models, such as GAT and equal shares, means are taken.

    Args:
        accounts: rows of `Account`, of the same layer, nodes and graph.

    Returns:
        the share, in [0, 1], and the gap there. NaN where the accounts are of more than two groups.
    """
    between, reach = accounts["between"].mean(), accounts["reach"].mean()
    others = (accounts["gap"] - accounts["mixing"]).mean()
    slope = reach * between
    share = np.clip((between + others) / slope, 0, 1) if slope else 0 * slope
    return float(share), float((1 - reach * share) * between + others)


def _means(values: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Each value replaced by the mean of its cell."""
    _, cell, sizes = np.unique(cells, return_inverse=True, return_counts=True)
    columns = values.reshape(len(values), -1).T
    means = np.stack([np.bincount(cell, column) / sizes for column in columns], axis=1)[cell]
    return means.reshape(values.shape)


def _heads(values: np.ndarray, attention: Sequence[csr_matrix]) -> list[np.ndarray]:
    return np.split(values, len(attention), axis=-1)


def _reach(alpha: csr_matrix, groups: np.ndarray, group: int, rows: np.ndarray | None) -> float:
    """The shares of both groups' rows that have an inter-edge, added up."""
    edges = csr_matrix((np.ones_like(alpha.data), alpha.indices, alpha.indptr), alpha.shape)
    mine = groups == group
    has_inter = np.where(mine, edges @ ~mine, edges @ mine) > 0
    rows = np.ones(len(groups), bool) if rows is None else rows
    sides = (has_inter[rows & mine], has_inter[rows & ~mine])
    return float(sum(side.mean() for side in sides)) if all(map(len, sides)) else np.nan
