"""Edges as pairs of rows of the nodes' table: what is an edge, whom it joins, and how a list names them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgat.data.graph import distinct
from fairgat.data.roles import EdgeFile, Roles
from fairgat.data.table import Table
from fairgat.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

Find = Callable[["pd.Series"], np.ndarray]
"""Finds the rows (m,) of the nodes' table by what edges call them, -1 where there is none."""
_WEIGHTS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0, "": 0.0}


@dataclass(frozen=True)
class Edges:
    """Edges between rows of the nodes' table, as `joined` checks them."""

    pairs: np.ndarray
    """(m, 2) row numbers from 0."""
    where: str
    facts: Mapping[str, Any]
    """How they were read, and how many were left out."""


def joined(
    roles: Roles,
    listed: Table,
    ends: Sequence[str],
    given: EdgeFile,
    find: Find,
    unknown: str = "which names nobody",
) -> Edges:
    """Make the edges of a list; leave out those that `roles.drop` names.

    Args:
        roles: what may be left out.
        listed: (m) rows.
        ends: its two columns that name the nodes.
        given: what its other columns are.
        find: who is meant.
        unknown: what is said of an end that names none of the nodes.

    Raises:
        DataError: a column has no role, no row is an edge, or one names nobody or joins a node to itself.
    """
    _check_roles(listed, ends, given)
    columns = f"{ends[0]!r} and {ends[1]!r} are the ends"
    if given.weight is not None:
        kept = _are_edges(listed, given.weight)
        listed = replace(listed, frame=listed.frame[kept])
        columns += f"; {int((~kept).sum())} rows of weight 0, by {given.weight!r}, are no edges"
    if listed.frame.empty:
        raise DataError(f"{listed.where}: no row is an edge")
    first = " – ".join(str(listed.frame[end].iloc[0]) for end in ends)
    pairs = np.empty(
        (len(listed.frame), 2), dtype=np.int32
    )  # for memory, while all texts are held
    for place, end in enumerate(ends):
        pairs[:, place] = find(listed.frame[end])
        if "unknown_ids" not in roles.drop:
            what = f"{unknown}: correct it, or leave such edges out by `drop: [unknown_ids]`"
            listed.refuse(pairs[:, place] < 0, what, end)
    good = (pairs >= 0).all(axis=1)
    loops = good & (pairs[:, 0] == pairs[:, 1])
    if "self_loops" not in roles.drop:
        listed.refuse(
            loops,
            "as is the other end: leave such edges out by `drop: [self_loops]`",
            ends[0],
        )
    good &= ~loops
    facts = {
        "edge_columns": columns,
        "first_edge": first,
        "left_out_edges": int((~good).sum()),
    }
    return Edges(pairs if good.all() else pairs[good], listed.where, facts)


def _check_roles(listed: Table, ends: Sequence[str], given: EdgeFile) -> None:
    asked = dict.fromkeys(given.exclude, "exclude")
    asked |= dict.fromkeys(filter(None, [given.weight]), "weight")
    named = [*ends, *asked]
    listed = replace(listed, asked=asked)
    for name in named:
        listed.column(name)
    for name in listed.frame:
        if name not in named:
            raise DataError(
                f"{listed.where}: {name!r} of the edges has no role: it says which are edges, `{{file: PATH, weight: "
                f"{name}}}`, or nothing that is used, `exclude: [{name}]` there"
            )


def _are_edges(listed: Table, weight: str) -> np.ndarray:
    """Say of each row, (m,) bool, whether its weight makes it an edge: not where it is 0, false, no or empty."""
    texts = listed.texts(weight)
    weights = texts.map(
        {text: _weight(listed.plain(text.strip().lower())) for text in texts.unique()}
    ).to_numpy()
    listed.refuse(
        np.isnan(weights),
        "which is no weight: a number, true, false, yes or no",
        weight,
    )
    return weights != 0


def _weight(text: str) -> float:
    try:
        return _WEIGHTS[text] if text in _WEIGHTS else float(text)
    except ValueError:
        return np.nan


def listing(pairs: np.ndarray, groups: np.ndarray, count: int) -> dict[str, int]:
    """Count how a list names its edges: published counts are often of rows.

    Args:
        pairs: (m, 2) rows of nodes.
        groups: (N,) the group of each node, -1 for one that is not in the graph.
        count: how many different edges there are.
    """
    different = distinct(pairs[:, 0].astype(np.int64) * len(groups) + pairs[:, 1])
    small = groups.astype(np.int16)  # for memory: there are few groups
    first, second = small[different // len(groups)], small[different % len(groups)]
    inside = (first >= 0) & (second >= 0)
    return {
        "repeated_edges": len(pairs) - len(different),
        "edges_listed_both_ways": len(different) - count,
        "listed_inter_edges": int((inside & (first != second)).sum()),
        "listed_intra_edges": int((inside & (first == second)).sum()),
    }


def largest_component(edge_index: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Find the largest connected component, (N,) bool, of the subgraph that some nodes, (N,) bool, induce."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    source, target = edge_index[:, among[edge_index].all(axis=0)]
    adjacency = coo_array(
        (np.ones(len(source), dtype=np.int8), (source, target)),
        shape=(len(among), len(among)),
    )
    _, component = connected_components(adjacency, directed=False)
    return among & (component == np.bincount(component[among]).argmax())
