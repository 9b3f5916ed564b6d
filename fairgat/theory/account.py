"""The account of a gap between two groups: four parts that add up to it, exactly.

An attention layer gives h'_i = sigma(z_i + b) with z_i = sum_j alpha_ij c_j. For a set
of rows, let u_j be the *net attention* of source j: the mean of alpha_ij over the rows
of a group, less that over the rows of the other. The difference of the groups' mean z
is sum_j u_j c_j, and c_j is the mean of its group, plus what the mean of its group and
label differs from that, plus what c_j differs from this one. Summed with u_j these are

- mixing: how the groups' rows divide their attention among groups as a whole; Theorem
  1's factor, with its sign;
- label selection: attention to people of one label rather than the other, within the
  groups attended to;
- the rest: attention to people who are not the average of their group and label.

With w the direction in which the gap is read, such as a linear layer's weights, and g
the share of rows in which a feature is positive, the three are read along w * g. What
is left of the gap is what the activation makes of z: the nonlinearity. docs/theory.md
has the derivation.

Of logits, the difference of the groups' shares of positive decisions is accounted for,
too: see `decision_parts`.
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
    """A gap, the mean of one group less that of the others: the sum of PARTS.

    `decided` is the sum of DECIDED. All is NaN where a group has no row. Gaps have the
    unit of what is read, logits or representations.
    """

    layer: str
    """Name of the layer, or `logit`."""
    over: str
    """The rows averaged over, one of OVER."""
    group: int
    """The group that is compared with all others: of two groups group 1 with group 0,
    of more each one in turn."""
    gap: float
    """Mean over the rows of the group less the mean over the other rows."""
    mixing: float
    """The part that follows from the attention between groups as a whole; what
    FairGAT's share sets."""
    label_selection: float
    """The part of attention to people of one label."""
    rest: float
    """The part of attention to people who differ from the average of their group and
    label."""
    nonlinearity: float
    """What the activation makes of it: what is left of the gap."""
    factor: float
    """Two groups: a group's attention to itself less the other group's to it, 1 - a_0 -
    a_1; the heads' mean. This, `between` and `reach` are NaN for more groups, and where
    a node's attention does not sum to 1."""
    between: float
    """Two groups: what mixing would be with a factor of 1, in which nobody attends to
    the other group."""
    spread: float
    """Standard deviation of what is read, over all nodes: the unit in which gaps of
    several models compare."""
    reach: float
    """Two groups: the shares of both groups' rows that have an inter-edge, R_0 + R_1,
    so that fair attention's factor is 1 - reach * alpha_chi."""
    decided: float
    """Logits: the share of the group's rows whose logit is positive, less that of the
    other rows; NaN of layers."""
    base_rates: float
    """Logits: the part of `decided` that is there because one of the sides has more
    people of a label. Like the next two NaN of layers, and where a label is there on
    one side only."""
    means: float
    """Logits: the part that the difference of the mean logits makes among people of a
    label."""
    remainder: float
    """Logits: the remainder among people of a label, such as how far from the threshold
    they lie."""


def compared_groups(groups: np.ndarray) -> list[int]:
    """List the groups compared with all others: of two the second, of more each.

    `groups` is the group of each node (N,).
    """
    values = np.unique(groups).tolist()
    if len(values) == 2:
        return values[1:]
    return values


def contrast(
    groups: np.ndarray, group: int, rows: np.ndarray | None = None
) -> np.ndarray:
    """Weigh nodes so that the product with values is a group's mean less the others'.

    Args:
        groups: (N,).
        rows: (N,) bool, the nodes averaged over; all where None.

    Returns:
        (N,); NaN where the group or the others have no row.
    """
    if rows is None:
        rows = np.ones(len(groups), bool)
    mine = rows & (groups == group)
    others = rows & (groups != group)
    if not mine.any() or not others.any():
        return np.full(len(groups), np.nan)
    return mine / mine.sum() - others / others.sum()


def decision_parts(
    logits: np.ndarray,
    others: np.ndarray,
    labels: np.ndarray,
    labels_of_others: np.ndarray,
) -> np.ndarray:
    """Split the difference of two sides' shares of positive logits into DECIDED.

    It is split by label first. The base rates' part is Kitagawa's: what labels make of
    it that are more frequent on one side. Among people of one label the means' part is
    what moving either side's logits to the mean of the other's changes, averaged over
    both ways; the remainder is what is left.

    Args:
        logits, others: (n,) and (m,) of either side.
        labels, labels_of_others: theirs.

    Returns:
        (3,); NaN where a label is there on one side only.
    """
    total = np.zeros(len(DECIDED))
    for label in np.union1d(labels, labels_of_others):
        mine = logits[labels == label]
        theirs = others[labels_of_others == label]
        if not len(mine) or not len(theirs):
            return np.full(len(DECIDED), np.nan)

        shares = len(mine) / len(logits), len(theirs) / len(others)
        rates = (mine > 0).mean(), (theirs > 0).mean()
        mean_share, mean_rate = np.mean(shares), np.mean(rates)
        within = rates[0] - rates[1]
        by_means = effect_of_means(mine, theirs)

        base_rates = (shares[0] - shares[1]) * mean_rate
        means = mean_share * by_means
        remainder = mean_share * (within - by_means)
        total += [base_rates, means, remainder]
    return total


def effect_of_means(values: np.ndarray, others: np.ndarray) -> float:
    """Measure how moving a sample to the other's mean changes its share of positives.

    Averaged over both ways.
    """
    shift = values.mean() - others.mean()
    # values - shift > 0, and others + shift > 0.
    lost = (values > 0).mean() - (values > shift).mean()
    others_moved = (others > -shift).mean()
    others_before = (others > 0).mean()
    return float(lost + others_moved - others_before) / 2


def attention_parts(
    net: np.ndarray, values: np.ndarray, groups: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Split sum_j u_j c_j into (3,) mixing, label selection and the rest.

    Args:
        net: (N,) u, the net attention to each source.
        values: (N,) c.
        groups, labels: (N,) those of each source; labels count from -1, the unlabelled.
    """
    # One number for both, as labels + 1 is below labels.max() + 2.
    group_and_label = groups * (labels.max() + 2) + labels + 1
    group_mean = _mean_of_its_kind(values, groups)  # (N,) of each node's group
    label_mean = _mean_of_its_kind(values, group_and_label)

    mixing = net @ group_mean
    label_selection = net @ (label_mean - group_mean)
    rest = net @ (values - label_mean)
    return np.stack([mixing, label_selection, rest])


@dataclass(frozen=True)
class Pass:
    """What a pass of an attention layer with ReLU left, to account for its gaps."""

    c: np.ndarray
    """(N, H * C) what is summed into z, step 3's factors included."""
    out: np.ndarray
    """(N, H * C) what the layer returned, after ReLU."""
    attention: Sequence[csr_matrix]
    """Per head (N, N), row i holding alpha_ij; an entry is an edge even where it is
    0."""
    groups: np.ndarray
    """(N,) of each node."""
    labels: np.ndarray
    """(N,) of each node."""
    direction: np.ndarray | None = None
    """(H * C,) w; where None, the direction of each gap itself, which makes its account
    one of the distance between the groups' mean representations."""
    read: np.ndarray | None = None
    """(N,) the logits that are read, out @ direction and a constant; of a layer
    None."""

    def accounts(self, layer: str) -> list[Account]:
        """Account for every set of rows in OVER and each of the `compared_groups`.

        `layer` is what to call it.
        """
        accounts = []
        for over in OVER:
            for group in compared_groups(self.groups):
                accounts.append(self.account(layer, over, group))
        return accounts

    @cached_property
    def one_factor(self) -> bool:
        """Whether one factor says what mixing is.

        It does where there are two groups and each node's attention sums to 1.
        """
        for alpha in self.attention:
            sums = np.asarray(alpha.sum(1))
            if not np.allclose(sums, 1, atol=1e-3):
                return False
        return len(np.unique(self.groups)) == 2

    def account(self, layer: str, over: str, group: int) -> Account:
        """Account for the gap of a group over some rows."""
        rows = self._rows(over)
        row_weights = contrast(self.groups, group, rows)
        identity = {"layer": layer, "over": over, "group": group}
        if np.isnan(row_weights).any():  # one of the sides has no row
            unknown = dict.fromkeys([field.name for field in fields(Account)], np.nan)
            return Account(**unknown | identity)

        direction = self._direction(row_weights @ self.out)  # w
        positive_share = (self.out[rows] > 0).mean(0)  # g
        linear_direction = direction * positive_share
        linear = self._linear_parts(row_weights, linear_direction)

        values = self.read
        if values is None:
            values = self.out @ direction
        gap = float(row_weights @ values)
        mixing, label_selection, rest = map(float, linear)
        return Account(
            **identity,
            gap=gap,
            mixing=mixing,
            label_selection=label_selection,
            rest=rest,
            nonlinearity=float(gap - linear.sum()),
            **self._factor(row_weights, linear_direction, rows, group),
            spread=float(values.std()),
            **self._decided(rows, group),
        )

    def _rows(self, over: str) -> np.ndarray:
        """(N,) bool, the rows that OVER calls so."""
        label = OVER[over]
        if label is None:
            return np.ones(len(self.labels), bool)
        return self.labels == label

    def _direction(self, gap: np.ndarray) -> np.ndarray:
        """(H * C,) the direction in which a gap of representations is read."""
        if self.direction is not None:
            return self.direction
        return gap / (np.linalg.norm(gap) or 1)

    def _linear_parts(
        self, row_weights: np.ndarray, linear_direction: np.ndarray
    ) -> np.ndarray:
        """(3,) mixing, label selection and the rest, each the sum over the heads.

        Args:
            row_weights: (N,) what each row counts in the gap, by `contrast`.
            linear_direction: (H * C,) w * g, along which c is read.
        """
        total = 0
        heads = zip(
            self.attention,
            _by_head(self.c, self.attention),
            _by_head(linear_direction, self.attention),
            strict=True,
        )
        for alpha, c, along in heads:
            net = alpha.T @ row_weights  # (N,) u: what the rows give to each source
            total = total + attention_parts(net, c @ along, self.groups, self.labels)
        return total

    def _factor(
        self,
        row_weights: np.ndarray,
        linear_direction: np.ndarray,
        rows: np.ndarray,
        group: int,
    ) -> dict[str, float]:
        """The factor of mixing, what it multiplies, and the reach of a share."""
        if not self.one_factor:
            return dict.fromkeys(("factor", "between", "reach"), np.nan)
        mine = self.groups == group
        between = contrast(self.groups, group) @ (self.c @ linear_direction)
        factors = []
        for alpha in self.attention:
            net = alpha.T @ row_weights
            factors.append(net[mine].sum())
        return {
            "factor": float(np.mean(factors)),
            "between": float(between),
            "reach": _reach(self.attention[0], mine, rows),
        }

    def _decided(self, rows: np.ndarray, group: int) -> dict[str, float]:
        """The difference of the shares of positive logits, and its parts."""
        names = "decided", *DECIDED
        if self.read is None:  # representations, of which no decisions are made
            return dict.fromkeys(names, np.nan)
        mine = rows & (self.groups == group)
        others = rows & (self.groups != group)
        logits, logits_of_others = self.read[mine], self.read[others]
        difference = (logits > 0).mean() - (logits_of_others > 0).mean()
        parts = decision_parts(
            logits, logits_of_others, self.labels[mine], self.labels[others]
        )
        return dict(zip(names, map(float, [difference, *parts]), strict=True))


def least_gap(accounts: "pd.DataFrame") -> tuple[float, float]:
    """Find the share on inter-edges at which the gap of two groups is smallest.

    Fair attention's factor is 1 - reach * share, so mixing is linear in it. The
    difference between the groups' means and the other parts are taken to stay as they
    are; of several models, such as GAT and equal shares, means are taken.

    Args:
        accounts: rows of `Account`, of the same layer, nodes and graph.

    Returns:
        the share, in [0, 1], and the gap there. NaN where the accounts are of more than
        two groups.
    """
    between, reach = accounts["between"].mean(), accounts["reach"].mean()
    other_parts = (accounts["gap"] - accounts["mixing"]).mean()
    slope = reach * between  # what a share of 1 takes away from the gap
    share = 0.0
    if slope:
        share = np.clip((between + other_parts) / slope, 0, 1)
    gap = (1 - reach * share) * between + other_parts
    return float(share), float(gap)


def _mean_of_its_kind(values: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """(N,) for each value the mean of those with the same number in `kinds` (N,)."""
    _, kind, sizes = np.unique(kinds, return_inverse=True, return_counts=True)
    means = np.bincount(kind, values) / sizes
    return means[kind]


def _by_head(values: np.ndarray, attention: Sequence[csr_matrix]) -> list[np.ndarray]:
    """Cut columns (..., H * C) into those of each head."""
    return np.split(values, len(attention), axis=-1)


def _reach(alpha: csr_matrix, mine: np.ndarray, rows: np.ndarray) -> float:
    """The shares of both groups' rows that have an inter-edge, added up."""
    ones = np.ones_like(alpha.data)
    edges = csr_matrix((ones, alpha.indices, alpha.indptr), alpha.shape)
    inter_edges = np.where(mine, edges @ ~mine, edges @ mine)  # of each row
    has_inter = inter_edges > 0
    my_share = has_inter[rows & mine].mean()
    other_share = has_inter[rows & ~mine].mean()
    return float(my_share + other_share)
