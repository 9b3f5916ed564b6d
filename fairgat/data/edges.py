"""Edges as pairs of rows of the nodes' table: what is an edge, and whom it joins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgat.data.graph import distinct
from fairgat.data.roles import EdgeFile, Roles
from fairgat.data.table import Table, noting

if TYPE_CHECKING:
    import pandas as pd

Find = Callable[["pd.Series"], np.ndarray]
"""Finds the rows (m,) of the nodes' table by what edges call them, -1 for nobody."""
_LINKS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0, "": 0.0}


@dataclass(frozen=True)
class Edges:
    """Edges between rows of the nodes' table, as `joined` checks them."""

    pairs: np.ndarray
    """(m, 2) row numbers from 0."""
    where: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    """How they were read, and how many rows were left out, and why."""
    wrong: list[str] = field(default_factory=list)
    """A sentence for each problem; where there is one, edges are missing."""
    empty: bool = False
    """Whether no row is an edge."""


def none_of(where: str, wrong: list[str], empty: bool = False) -> Edges:
    """Give no edges, as there are none or something was wrong."""
    pairs = np.empty((0, 2), dtype=np.int32)
    return Edges(pairs, where, wrong=wrong, empty=empty)


def joined(
    roles: Roles,
    listed: Table,
    ends: Sequence[str],
    given: EdgeFile,
    find: Find | None,
    unknown: str = "which names nobody",
) -> Edges:
    """Make the edges of a list; leave out those that `roles.drop` names.

    What is wrong is noted: a column has no role, or an edge names nobody or joins a
    node to itself. There may be no edges.

    Args:
        roles: what may be left out.
        listed: (m) rows.
        ends: its two columns that name the nodes.
        given: what its other columns are.
        find: who is meant; None where nodes have no names.
        unknown: what is said of an end that names none of the nodes.
    """
    _check_roles(listed, ends, given)
    columns = f"{ends[0]!r} and {ends[1]!r} are the ends"
    if given.link_if in listed.frame:
        kept, said = _are_edges(listed, str(given.link_if))
        listed = replace(listed, frame=listed.frame[kept])
        columns += said
    empty = listed.frame.empty
    if find is None or empty or not {*ends} <= {*listed.frame}:
        return none_of(listed.where, listed.wrong, empty)

    # 32 bits for memory, while all texts are held
    pairs = np.empty((len(listed.frame), 2), dtype=np.int32)
    for place, end in enumerate(ends):
        pairs[:, place] = find(listed.frame[end])
    good, left_out = _good(roles, listed, ends, pairs, unknown)
    first = [str(listed.frame[end].iloc[0]) for end in ends]
    facts = {
        "edge_columns": columns,
        "first_edge": " – ".join(first),
        "left_out_edges": int((~good).sum()),
    }
    if left_out:
        facts["left_out_rows"] = left_out
    if not good.all():
        pairs = pairs[good]
    return Edges(pairs, listed.where, facts, listed.wrong)


def _check_roles(listed: Table, ends: Sequence[str], given: EdgeFile) -> None:
    asked = dict.fromkeys(ends, "ends") | dict.fromkeys(given.exclude, "exclude")
    if given.link_if is not None:
        asked[given.link_if] = "link_if"
    named = replace(listed, asked=asked)
    for name in asked:
        with noting(listed.wrong):
            named.column(name)
    for name in listed.frame:
        if name not in asked:
            listed.wrong.append(
                f"{listed.where}: {name!r} of the edges has no role: it says which are "
                f"edges, `{{file: PATH, link_if: {name}}}`, or nothing that is used, "
                f"`exclude: [{name}]` there"
            )


def _are_edges(listed: Table, link_if: str) -> tuple[np.ndarray, str]:
    """Say which rows, (m,) bool, are edges, and what was made of the column."""
    texts = listed.texts(link_if)
    value_of = {}
    for text in texts.unique():
        value_of[text] = _link(listed.plain(text.lower()))
    links = texts.map(value_of).to_numpy(np.float64)
    what = "which does not say whether it is an edge: a number, true, false, yes or no"
    listed.refuse(np.isnan(links), what, link_if)

    kept = links != 0
    said = f"; {int((~kept).sum())} rows where {link_if!r} is 0 are no edges"
    if not np.isin(links[kept], 1).all():
        said += ", and its amounts are not used"
    return kept, said


def _link(text: str) -> float:
    """Read whether a row is an edge as a number; NaN where the text is none."""
    if text in _LINKS:
        return _LINKS[text]
    try:
        return float(text)
    except ValueError:
        return np.nan


def _good(
    roles: Roles, listed: Table, ends: Sequence[str], pairs: np.ndarray, unknown: str
) -> tuple[np.ndarray, dict[str, int]]:
    """Say whether each row, (m,) bool, joins two nodes; note one that does not.

    Also how many do not, by the reason that `drop` has.
    """
    if "unknown_ids" not in roles.drop:
        what = (
            f"{unknown}: correct it, or leave such edges out by `drop: [unknown_ids]`"
        )
        for place, end in enumerate(ends):
            listed.refuse(pairs[:, place] < 0, what, end)

    named = (pairs >= 0).all(axis=1)
    loops = named & (pairs[:, 0] == pairs[:, 1])
    if "self_loops" not in roles.drop:
        what = "as is the other end: leave such edges out by `drop: [self_loops]`"
        listed.refuse(loops, what, ends[0])
    left_out = {"unknown_ids": int((~named).sum()), "self_loops": int(loops.sum())}
    occurring = {reason: count for reason, count in left_out.items() if count}
    return named & ~loops, occurring


def listing(pairs: np.ndarray, groups: np.ndarray, count: int) -> dict[str, int]:
    """Count how a list names its edges: published counts are often of rows.

    Args:
        pairs: (m, 2) rows of nodes.
        groups: (N,) the group of each node, -1 for one that is not in the graph.
        count: how many different edges there are.
    """
    codes = pairs[:, 0].astype(np.int64) * len(groups) + pairs[:, 1]
    different = distinct(codes)
    small = groups.astype(np.int16)  # for memory: there are few groups
    first = small[different // len(groups)]
    second = small[different % len(groups)]
    inside = (first >= 0) & (second >= 0)
    inter = inside & (first != second)
    intra = inside & (first == second)
    return {
        "repeated_edges": len(pairs) - len(different),
        "edges_listed_both_ways": len(different) - count,
        "listed_inter_edges": int(inter.sum()),
        "listed_intra_edges": int(intra.sum()),
    }


def largest_component(edge_index: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Find the largest connected component, (N,) bool, of the subgraph of some nodes.

    Args:
        among: (N,) bool, these nodes.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    inside = among[edge_index].all(axis=0)
    source, target = edge_index[:, inside]
    ones = np.ones(len(source), dtype=np.int8)
    shape = (len(among), len(among))
    adjacency = coo_array((ones, (source, target)), shape=shape)
    _, component = connected_components(adjacency, directed=False)
    largest = np.bincount(component[among]).argmax()
    return among & (component == largest)
