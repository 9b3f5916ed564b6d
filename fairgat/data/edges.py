"""Make the edges of a graph of a list of pairs, count how the list names them, and keep a part of them."""

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np

from fairgat.data.graph import distinct, symmetrise
from fairgat.errors import DataError


class EdgeList(NamedTuple):
    """How the rows of a list of edges stand in its file, for messages."""

    place: Callable[[int], str]  # of a row: its file and line
    row: Callable[[int], tuple[str, str]]  # its two ends


def edges_from_pairs(
    pairs: np.ndarray, num_nodes: int, where: str, drop: Collection[str] = (), written: EdgeList | None = None
) -> np.ndarray:
    """(2, E) symmetric edge index of a list of undirected edges; one that is listed again is the same edge.

    Args:
        pairs: (m, 2) node numbers, one edge a row; -1 for an id that no node has. (u, v) and (v, u) are one edge.
        num_nodes: N.
        where: what messages call the list, such as `edges.csv`.
        drop: kinds of bad rows to leave out instead of raising an error: `unknown_ids`, `self_loops`.
        written: how the rows stand in the file, for messages.

    Raises:
        DataError: a row names an unknown node, or joins a node to itself.
    """
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    unknown = (pairs < 0) | (pairs >= num_nodes)
    strangers = unknown[:, 0] | unknown[:, 1]
    loops = (pairs[:, 0] == pairs[:, 1]) & ~strangers
    kinds = [
        ("unknown_ids", "names a node that does not exist", strangers),
        ("self_loops", "joins a node to itself", loops),
    ]
    found = [kind for kind, _, bad in kinds if bad.any() and kind not in drop]
    for kind, text, bad in kinds:
        if kind in found:
            row, others = int(np.flatnonzero(bad)[0]), int(bad.sum()) - 1
            place = written.place(row) if written else f"{where}: edge {row + 1}"
            names = ""
            if written and kind == "unknown_ids":
                names = ": " + " and ".join(repr(written.row(row)[end]) for end in np.flatnonzero(unknown[row]))
            more = f" ({others} more do the same)" if others else ""
            leave = f"`drop: [{', '.join([*drop, *found])}]`"
            raise DataError(f"{place} {text}{names}{more}. Correct the file, or leave such edges out with {leave}.")
    kept = ~strangers & ~loops
    return symmetrise((pairs if kept.all() else pairs[kept]).T, num_nodes)


def listing(pairs: np.ndarray, groups: np.ndarray, count: int) -> dict[str, int]:
    """Count how a list (m, 2) of rows, -1 for an unknown one, names its edges.

    Args:
        groups: (R,) the group of each row, -1 for one that is not in the graph.
        count: how many undirected edges it names.

    Returns:
        `listed_edges`: rows; `repeated_edges`: rows that repeat an earlier one; `edges_listed_both_ways`: edges (u, v)
        that are listed as (v, u) as well; `listed_inter_edges` and `listed_intra_edges`: different rows in the graph,
        so that an edge counts once or, where both ways are listed, twice.
    """
    source, target = pairs.T
    proper = (source >= 0) & (target >= 0) & (source != target)
    codes = (source * len(groups) + target)[proper]
    different = distinct(codes)
    small = groups.astype(np.int16)  # for memory
    first, second = small[different // len(groups)], small[different % len(groups)]
    inside = (first >= 0) & (second >= 0)
    return {
        "listed_edges": len(pairs),
        "repeated_edges": len(codes) - len(different),
        "edges_listed_both_ways": len(different) - count,
        "listed_inter_edges": int((inside & (first != second)).sum()),
        "listed_intra_edges": int((inside & (first == second)).sum()),
    }


def largest_component(edge_index: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Find the largest connected component of the subgraph that some nodes induce.

    Args:
        edge_index: (2, E) both directions.
        among: (N,) bool; at least one.

    Returns:
        (N,) bool.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    source, target = edge_index[:, among[edge_index].all(axis=0)]
    adjacency = coo_array((np.ones(len(source), dtype=np.int8), (source, target)), shape=(len(among), len(among)))
    _, component = connected_components(adjacency, directed=False)
    return among & (component == np.bincount(component[among]).argmax())


def induced(edge_index: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """(2, E') edges among the nodes of which `kept` (N,) holds, which are numbered from 0 in their order."""
    edges = edge_index[:, kept[edge_index].all(axis=0)]
    return (np.cumsum(kept) - 1)[edges]
