"""The account of a gap between two groups: four parts that add up to it, exactly; and what it makes of decisions.

An attention layer gives h'_i = sigma(z_i + b) with z_i = sum_j alpha_ij c_j. For a set of rows, let u_j be the *net
attention* of source j: the mean of alpha_ij over the rows of a group, less that over the rows of the other. The
difference of the groups' mean z is sum_j u_j c_j, and c_j is the mean of its group, plus what the mean of its group and
label differs from that, plus what c_j differs from this one. Summed with u_j these are

- mixing: how the groups' rows divide their attention among groups as a whole; Theorem 1's factor, with its sign;
- label selection: attention to people of one label rather than the other, within the groups attended to;
- the rest: attention to people who are not the average of their group and label.

With w the direction in which the gap is read, such as a linear layer's weights, and g the share of rows in which a
feature is positive, the three are read along w * g. What is left of the gap is what the activation makes of z: the
nonlinearity. docs/theory.md has the derivation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

if TYPE_CHECKING:  # training may measure the theory, and does without pandas
    import pandas as pd

PARTS = ("mixing", "label_selection", "rest", "nonlinearity")
DECIDED = ("base_rates", "means", "remainder")
OVER = {"all": None, "label 1": 1, "label 0": 0}
"""The rows that an account may be about, and the label that they have."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """A gap, the mean of one group less that of the others: the sum of PARTS. `decided` is the sum of DECIDED.

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
    nonlinearity: float
    """What the activation makes of it: what is left of the gap."""
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
    base_rates: float
    """Logits: the part of `decided` that is there because one of the sides has more people of a label. Like the next
    two NaN of layers, and where a label is there on one side only."""
    means: float
    """Logits: the part that the difference of the mean logits makes among people of a label."""
    remainder: float
    """Logits: the remainder among people of a label, such as how far from the threshold they lie."""


def compared(groups: np.ndarray) -> list[int]:
    """The groups that are compared with all others: of the groups 0 and 1 the second, of more each of them."""
    known = np.unique(groups).tolist()
    return known[1:] if len(known) == 2 else known


def contrast(
    groups: np.ndarray, group: int, rows: np.ndarray | None = None
) -> np.ndarray:
    """(N,) weights whose product with values is the mean over the rows of a group less the mean over the other rows.

    `groups` are (N,), `rows` (N,) bool the nodes averaged over, all where None. NaN where either side has no row.
    """
    rows = np.ones(len(groups), bool) if rows is None else rows
    mine, others = rows & (groups == group), rows & (groups != group)
    if not mine.any() or not others.any():
        return np.full(len(groups), np.nan)
    return mine / mine.sum() - others / others.sum()


def of_decisions(
    logits: np.ndarray, others: np.ndarray, labels: np.ndarray, of_others: np.ndarray
) -> np.ndarray:
    """Split the difference of two sides' shares of positive logits, by label first, in the parts of DECIDED.

    The base rates' part is Kitagawa's: what labels make of it that are more frequent on one side. Among people of one
    label the means' part is what moving either side's logits to the mean of the other's changes, averaged over both
    ways; the remainder is what is left.

    `logits` and `others` are (n,) and (m,) of either side, `labels` and `of_others` theirs. Gives (3,), NaN where a
    label is there on one side only.
    """
    total = np.zeros(len(DECIDED))
    for label in np.union1d(labels, of_others):
        mine, theirs = logits[labels == label], others[of_others == label]
        if not len(mine) or not len(theirs):
            return np.full(len(DECIDED), np.nan)
        shares = len(mine) / len(logits), len(theirs) / len(others)
        rates = (mine > 0).mean(), (theirs > 0).mean()
        within, moved = rates[0] - rates[1], of_means(mine, theirs)
        total += [
            (shares[0] - shares[1]) * np.mean(rates),
            np.mean(shares) * moved,
            np.mean(shares) * (within - moved),
        ]
    return total


def of_means(values: np.ndarray, others: np.ndarray) -> float:
    """What moving a sample to the other's mean changes in its share of positive values, averaged over both ways."""
    shift = values.mean() - others.mean()
    gained = (values > 0).mean() - (values > shift).mean()
    return float(gained + (others > -shift).mean() - (others > 0).mean()) / 2


def parts(
    net: np.ndarray, values: np.ndarray, groups: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Split sum_j u_j c_j into (3,) mixing, label selection and the rest.

    `net` is (N,) u, the net attention to each source, `values` (N,) c, `groups` and `labels` are those of each source.
    """
    of_group = _means(values, groups)
    of_cell = _means(
        values, groups * (labels.max() + 2) + labels + 1
    )  # labels count from -1, the unlabelled
    return np.stack(
        [net @ of_group, net @ (of_cell - of_group), net @ (values - of_cell)]
    )


@dataclass(frozen=True)
class Pass:
    """What a pass of an attention layer with ReLU left, whose gaps, or what is read of them, `accounts` is about."""

    c: np.ndarray
    """(N, H * C) what is summed into z, S3's factors included."""
    out: np.ndarray
    """(N, H * C) what the layer returned, after ReLU."""
    attention: Sequence[csr_matrix]
    """Per head (N, N), row i holding alpha_ij; an entry is an edge even where it is 0."""
    groups: np.ndarray
    """(N,) of each node."""
    labels: np.ndarray
    """(N,) of each node."""
    direction: np.ndarray | None = None
    """(H * C,) w; where None, the direction of each gap itself, which makes its account one of the distance between
    the groups' mean representations."""
    read: np.ndarray | None = None
    """(N,) the logits that are read, out @ direction and a constant; of a layer None."""

    def accounts(self, layer: str) -> list[Account]:
        """Account for every set of rows in OVER and every group of `compared`; `layer` is what to call it."""
        return [
            self.account(layer, over, group)
            for over in OVER
            for group in compared(self.groups)
        ]

    @cached_property
    def one_factor(self) -> bool:
        """Whether one factor says what mixing is: there are two groups, and each node's attention sums to 1."""
        whole = all(
            np.allclose(np.asarray(alpha.sum(1)), 1, atol=1e-3)
            for alpha in self.attention
        )
        return whole and len(np.unique(self.groups)) == 2

    def account(self, layer: str, over: str, group: int) -> Account:
        """Account for the gap of a group over some rows."""
        rows = (
            np.ones(len(self.labels), bool)
            if OVER[over] is None
            else self.labels == OVER[over]
        )
        weights = contrast(self.groups, group, rows)
        identity = {"layer": layer, "over": over, "group": group}
        if np.isnan(weights).any():
            return Account(
                **{field.name: np.nan for field in fields(Account)} | identity
            )
        gap = weights @ self.out
        along = (
            gap / (np.linalg.norm(gap) or 1)
            if self.direction is None
            else self.direction
        )
        shown = self.out @ along if self.read is None else self.read
        slopes = along * (self.out[rows] > 0).mean(0)
        linear = self._linear_parts(weights, slopes)
        total = float(weights @ shown)
        decided = (
            self._decided(shown, rows, group)
            if self.read is not None
            else np.full(1 + len(DECIDED), np.nan)
        )
        return Account(
            **identity,
            gap=total,
            **dict(
                zip(
                    PARTS,
                    [*map(float, linear), float(total - linear.sum())],
                    strict=True,
                )
            ),
            **self._factor(weights, slopes, rows, group),
            spread=float(shown.std()),
            **dict(zip(("decided", *DECIDED), map(float, decided), strict=True)),
        )

    def _linear_parts(self, weights: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """(3,) mixing, label selection and the rest, the heads' sums."""
        each = zip(
            self.attention,
            _heads(self.c, self.attention),
            _heads(slopes, self.attention),
            strict=True,
        )
        return sum(
            parts(alpha.T @ weights, c @ slope, self.groups, self.labels)
            for alpha, c, slope in each
        )

    def _factor(
        self, weights: np.ndarray, slopes: np.ndarray, rows: np.ndarray, group: int
    ) -> dict[str, float]:
        """The factor of mixing, what it multiplies, and the reach of a share."""
        if not self.one_factor:
            return dict.fromkeys(("factor", "between", "reach"), np.nan)
        mine = self.groups == group
        between = contrast(self.groups, group) @ (self.c @ slopes)
        factors = [(alpha.T @ weights)[mine].sum() for alpha in self.attention]
        reach = _reach(self.attention[0], mine, rows)
        return {
            "factor": float(np.mean(factors)),
            "between": float(between),
            "reach": reach,
        }

    def _decided(self, logits: np.ndarray, rows: np.ndarray, group: int) -> np.ndarray:
        """(4,) the difference of the shares of positive logits, and its parts."""
        mine, others = rows & (self.groups == group), rows & (self.groups != group)
        difference = (logits[mine] > 0).mean() - (logits[others] > 0).mean()
        return np.append(
            difference,
            of_decisions(
                logits[mine], logits[others], self.labels[mine], self.labels[others]
            ),
        )


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
    share = np.clip((between + others) / slope, 0, 1) if slope else 0.0
    return float(share), float((1 - reach * share) * between + others)


def _means(values: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """(N,) each value replaced by the mean of its cell."""
    _, cell, sizes = np.unique(cells, return_inverse=True, return_counts=True)
    return (np.bincount(cell, values) / sizes)[cell]


def _heads(values: np.ndarray, attention: Sequence[csr_matrix]) -> list[np.ndarray]:
    return np.split(values, len(attention), axis=-1)


def _reach(alpha: csr_matrix, mine: np.ndarray, rows: np.ndarray) -> float:
    """The shares of both groups' rows that have an inter-edge, added up."""
    edges = csr_matrix(
        (np.ones_like(alpha.data), alpha.indices, alpha.indptr), alpha.shape
    )
    has_inter = np.where(mine, edges @ ~mine, edges @ mine) > 0
    return float(has_inter[rows & mine].mean() + has_inter[rows & ~mine].mean())
