r"""How much of its attention a node gives to each group, for any number of groups.

A node of group a among whose neighbours, itself included, the groups T are is of the
kind (a, T). It gives group b in T the mass m_b >= 0, and the masses sum to 1; attention
is a softmax within each group. With B (K, K) the mean masses of each group's nodes, the
means of two groups in a layer's output differ by
:math:`\sum_u (B_{su} - B_{tu}) \bar c_u`, and by what the neighbours attended to
differ from their groups. B's coefficient of contraction, tau, is the factor of
Theorem 1 for any K.
"""

import hashlib
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from torch import Tensor

from fairgat import groups as grouping
from fairgat.nn.edges import checked, with_self_loops

MOST = 50  # groups: a kind is numbered by the bits of an int64
_SLACK = 1e-7  # weight of what comes second, nearness to the mean shares


@dataclass(frozen=True, eq=False)
class Shares:
    """The masses that nodes of each kind give to each of K groups.

    With `Shares(groups, target)`, a node of group a gives `target[a, b]` to group b;
    where some groups are not among its neighbours, the others' masses are scaled to a
    sum of 1 (and are equal if all are 0). `balanced_shares` lists R kinds with masses
    of their own besides.

    Attributes:
        groups: (K,) values of the groups, in ascending order.
        target: (K, K) masses of kinds that are not listed, with rows that sum to 1;
            what is negative counts as 0.
        kinds: (R,) int64 the kinds that are listed, numbered by `kinds_of`, in
            ascending order.
        masses: (R, K) their masses.
        reached: (K, K) B on the graph that the shares were made for; None where they
            were not made for one.
        add_self_loops: whether that graph had them added; a layer with these shares
            does the same.

    Raises:
        ValueError: the shapes do not fit, the groups or kinds are no sorted values, a
            row of `target` or `masses` does not sum to 1, or a listed mass is negative
            or goes to a group that its kind has no neighbours of.
    """

    groups: np.ndarray
    target: np.ndarray
    kinds: np.ndarray | tuple[()] = ()
    masses: np.ndarray | None = None
    reached: np.ndarray | None = None
    add_self_loops: bool | None = None
    # By which they are compared: torch.compile compares texts, but no arrays.
    _digest: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        groups = np.array(grouping.values(self.groups))
        size = len(groups)
        target = np.array(self.target, dtype=np.float64)
        kinds = np.array(self.kinds, dtype=np.int64)
        masses = np.zeros((0, size))
        if self.masses is not None:
            masses = np.array(self.masses, dtype=np.float64)
        _check_shares(groups, target, kinds, masses)

        digest = hashlib.sha256(repr(self.add_self_loops).encode())
        arrays = {"groups": groups, "target": target, "kinds": kinds, "masses": masses}
        for name, array in arrays.items():
            array.setflags(write=False)  # graphs are cached by their shares
            object.__setattr__(self, name, array)
            digest.update(repr(array.tolist()).encode())
        object.__setattr__(self, "_digest", digest.hexdigest())

    @property
    def tau(self) -> float | None:
        """B's coefficient of contraction.

        0 where all groups attend alike, 1 where two have no group in common.
        """
        return None if self.reached is None else grouping.contraction(self.reached)

    def numbers(self, sensitive: Any) -> np.ndarray:
        """(N,) each node's group as its place in `groups`, 0 .. K-1.

        Raises:
            ValueError: a value is none of the groups.
        """
        values = grouping.values(sensitive)
        numbers = np.searchsorted(self.groups, values).clip(max=len(self.groups) - 1)
        is_unknown = self.groups[numbers] != values
        if is_unknown.any():
            found = np.unique(values[is_unknown]).tolist()[:5]
            raise ValueError(
                f"sensitive holds {found}; the shares are for {self.groups.tolist()}"
            )
        return numbers

    def of(self, own: np.ndarray, present: np.ndarray) -> np.ndarray:
        """(M, K) masses that rows give to each group; they sum to 1.

        Args:
            own: (M,) the rows' groups.
            present: (M, K) bool, the groups among each row's neighbours.
        """
        # Kinds that are not listed: the target's masses, scaled to a sum of 1.
        masses = np.where(present, self.target.clip(0)[own], 0)
        has_mass = masses.sum(1, keepdims=True) > 0
        masses = np.where(has_mass, masses, present)
        masses = masses / masses.sum(1, keepdims=True).clip(1e-300)
        if not len(self.kinds):
            return masses

        kinds = kinds_of(own, present)
        place = np.searchsorted(self.kinds, kinds).clip(max=len(self.kinds) - 1)
        is_listed = self.kinds[place] == kinds
        return np.where(is_listed[:, None], self.masses[place], masses)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shares) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def __reduce__(self) -> tuple:
        """Make copies as shares are made: of arrays that nobody writes to."""
        made_of = self.groups, self.target, self.kinds, self.masses
        return type(self), (*made_of, self.reached, self.add_self_loops)

    def __repr__(self) -> str:
        reached = "" if self.reached is None else f", tau={self.tau:.3g}"
        return f"Shares({len(self.groups)} groups{reached})"


def _check_shares(
    groups: np.ndarray, target: np.ndarray, kinds: np.ndarray, masses: np.ndarray
) -> None:
    """Refuse attributes of `Shares` that do not fit; its Raises lists how."""
    size = len(groups)
    if not 0 < size <= MOST or not np.array_equal(np.unique(groups), groups):
        raise ValueError(
            f"groups must be 1 to {MOST} different values in ascending order, got "
            f"{groups.tolist()}"
        )
    if target.shape != (size, size) or masses.shape != (len(kinds), size):
        expected = f"target ({size}, {size}) and masses ({len(kinds)}, {size})"
        raise ValueError(
            f"{size} groups and {len(kinds)} kinds need {expected}, got {target.shape} "
            f"and {masses.shape}"
        )
    sums = np.vstack([target, masses]).sum(1)
    sum_to_1 = (abs(sums - 1) <= 1e-6).all()  # False for NaN and infinity, too
    if not sum_to_1 or (masses < 0).any():
        raise ValueError(
            "each row of target and masses must sum to 1, with no mass below 0, got "
            f"{sums.tolist()}"
        )
    are_numbers = (kinds >= 0) & (kinds < size << size)  # of `kinds_of`
    if not np.array_equal(np.unique(kinds[are_numbers]), kinds):
        raise ValueError(
            "kinds must be different numbers, as `kinds_of` gives, in ascending order"
        )
    there = kinds[:, None] // size >> np.arange(size) & 1  # the groups T of each kind
    is_lost = (masses > 1e-6) & (there == 0)
    if is_lost.any():
        raise ValueError(
            "a kind's masses go to the groups among its neighbours, those of "
            f"{kinds[is_lost.any(1)].tolist()} to others, too"
        )


def kinds_of(own: np.ndarray, present: np.ndarray) -> np.ndarray:
    """(M,) int64 number of the kind (a, T) of rows: T's bits, times K, plus a.

    Args:
        own: (M,) the rows' groups, a.
        present: (M, K) bool, the groups T among each row's neighbours.
    """
    size = present.shape[1]
    bit_of_group = 1 << np.arange(size)
    return (present @ bit_of_group) * size + own


def balanced_shares(
    sensitive: Any,
    edge_index: Tensor | np.ndarray,
    retention: float,
    add_self_loops: bool = True,
) -> Shares:
    r"""Find masses by which mixing keeps `retention` of any two groups' difference.

    Let pi_b be the mean, over all nodes, of the share of neighbours that are of group
    b. The masses of each kind aim at

    .. math::
        B = \varphi I + (1 - \varphi) 1 \pi^T

    whose tau is abs(phi): 1 keeps the difference, 0 removes it, below 0 it changes its
    sign. Among the masses that come as near to each group's row of B as its
    neighbourhoods allow, they are those nearest to each kind's mean shares of
    neighbours (least squares, weighted by the nodes). A node with only its own group
    around it mixes nothing, and a group cannot give itself less than nothing, which
    phi < 0 asks of groups with pi_b < -phi / (1 - phi). So phi can be out of reach: see
    `reached` and `tau` of the result.

    Args:
        sensitive: (N,) group of each node, integers, bool or strings.
        edge_index: (2, E), sources above targets.
        retention: phi in [-1, 1].
        add_self_loops: whether the layer adds self-loops; a node is then its own
            neighbour.

    Raises:
        ValueError: phi is out of range, there are no or too many groups, edges and
            groups do not fit, or nobody has a neighbour.
    """
    is_number = isinstance(retention, Real) and not isinstance(retention, bool)
    if not is_number or not -1 <= retention <= 1:
        raise ValueError(f"retention is a number in [-1, 1], got {retention!r}")
    groups, own = np.unique(grouping.values(sensitive), return_inverse=True)
    nodes, size = len(own), len(groups)
    if own.ndim != 1:
        raise ValueError(f"sensitive must have shape (N,), got {own.shape}")
    if not 0 < size <= MOST:
        raise ValueError(
            f"shares are for 1 to {MOST} groups, got {size}; give ranges of a number "
            "one group each"
        )

    edges = checked(edge_index, nodes)
    source, target = with_self_loops(edges, nodes) if add_self_loops else edges
    # (N, K) how many neighbours of each group a node has.
    counts = np.bincount(target * size + own[source], minlength=nodes * size)
    counts = counts.reshape(nodes, size)
    has_neighbours = counts.any(1)  # the others attend to nothing
    if not has_neighbours.any():
        raise ValueError("no node has a neighbour: there is no attention to share")
    own, counts = own[has_neighbours], counts[has_neighbours]
    share = counts / counts.sum(1, keepdims=True)
    aim = retention * np.eye(size) + (1 - retention) * share.mean(0)  # B

    kinds, first_node, kind_of_node, num_nodes = np.unique(
        kinds_of(own, counts > 0),
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    mean_share = np.zeros((len(kinds), size))  # of the nodes of each kind
    np.add.at(mean_share, kind_of_node, share)
    mean_share = mean_share / num_nodes[:, None]
    group_of_kind = own[first_node]

    masses, reached = np.zeros_like(mean_share), np.eye(size)
    for group in np.unique(group_of_kind):
        of_group = group_of_kind == group
        weight = num_nodes[of_group] / num_nodes[of_group].sum()
        masses[of_group] = _nearest(mean_share[of_group], weight, aim[group])
        reached[group] = weight @ masses[of_group]
    return Shares(groups, aim, kinds, masses, reached, add_self_loops)


def _nearest(mean: np.ndarray, weight: np.ndarray, aim: np.ndarray) -> np.ndarray:
    """(R, K) masses of one group's kinds whose weighted mean comes nearest to `aim`.

    m_T is on the simplex over T, where `mean` is positive; among those that come as
    near, the masses are the ones nearest to `mean`. They minimise

        |weight @ m - aim|^2 + slack sum_T weight_T |m_T - mean_T|^2.

    With the multiplier lambda (K,) = (aim - weight @ m) / slack, m_T is the projection
    of mean_T + lambda on its simplex: K unknowns, however many kinds, for Newton's
    method on the dual problem.

    Args:
        mean: (R, K) mean shares of each kind's neighbours.
        weight: (R,) how many of the group's nodes are of a kind, as a share.
        aim: (K,) the group's row of B.
    """
    present = mean > 0
    multiplier = np.zeros(len(aim))

    def dual(multiplier):
        """The dual objective, which is maximised, and the masses (R, K) there."""
        masses = _on_simplex(mean + multiplier, present)
        inner = weight @ ((masses - mean) ** 2 / 2 - masses * multiplier).sum(1)
        return multiplier @ aim - _SLACK / 2 * multiplier @ multiplier + inner, masses

    value, masses = dual(multiplier)
    for _ in range(100):
        gradient = aim - _SLACK * multiplier - weight @ masses
        free = (masses > 0).astype(float)  # masses that move with the multiplier
        spread = (free * (weight / free.sum(1))[:, None]).T @ free
        curvature = np.diag(weight @ free + _SLACK) - spread
        step = np.linalg.solve(curvature, gradient)

        next_value, next_masses = dual(multiplier + step)
        while next_value < value and np.abs(step).max() > 1e-12:
            step = step / 2
            next_value, next_masses = dual(multiplier + step)
        if np.abs(gradient).max() < 1e-10 or next_value <= value:
            break
        multiplier, value, masses = multiplier + step, next_value, next_masses
    return masses


def _on_simplex(points: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Project points (R, K) on the simplex over each row's `present` groups.

    A row's projection is max(point - height, 0), with the height at which it sums to 1:
    (sum of the n largest entries - 1) / n, for the largest n whose entries lie above.
    """
    points = np.where(present, points, -np.inf)
    descending = -np.sort(-points, axis=1)
    has_groups = present.any(1, keepdims=True)
    sums = np.cumsum(np.where(has_groups, descending, 0), 1)
    height = (sums - 1) / np.arange(1, points.shape[1] + 1)
    last_above = (descending > height).sum(1, keepdims=True) - 1
    return (points - np.take_along_axis(height, last_above, 1)).clip(0)
