"""Make the edges of a graph of a list of pairs, count how the list names them, and keep a part of them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairgat.data.graph import distinct, symmetrise
from fairgat.errors import DataError


@dataclass(frozen=True)
class EdgeList:
    """A list of undirected edges as it stands in its file; (u, v) and (v, u) are one edge."""

    where: str  # what messages call it, such as `edges.csv`
    pairs: np.ndarray  # (m, 2) rows of the table of nodes, one edge a row; -1 for an id that no node has
    form: str  # how it was read, for the statistics
    place: Callable[[int], str] | None = None  # of a row: its file and line
    row: Callable[[int], tuple[str, str]] | None = None  # its two ends as they stand there

    @cached_property
    def bad(self) -> dict[str, np.ndarray]:
        """(m,) `unknown_ids`: the row names an unknown node; `self_loops`: it joins a node to itself."""
        unknown = (self.pairs < 0).any(axis=1)
        return {"unknown_ids": unknown, "self_loops": ~unknown & (self.pairs[:, 0] == self.pairs[:, 1])}


def numbering_hint(pairs: np.ndarray) -> str:
    """Ask, where edges (m, 2) name nodes by the numbers of their rows and none names row 0."""
    return "; no edge names node 0: do edges count from 1?" if pairs.size and pairs.min() > 0 else ""


def symmetric(edges: EdgeList, num_nodes: int, drop: Collection[str] = ()) -> np.ndarray:
    """Make the (2, E) symmetric edge index of a list of edges; one that is listed again is the same edge.

    Args:
        edges: the list.
        num_nodes: N.
        drop: kinds of bad rows to leave out instead of raising an error: `unknown_ids`, `self_loops`.

    Raises:
        DataError: a row names an unknown node, or joins a node to itself.
    """
    bad = edges.bad
    found = [kind for kind, rows in bad.items() if rows.any() and kind not in drop]
    if found:
        row, others = int(np.argmax(bad[found[0]])), int(bad[found[0]].sum()) - 1
        what = "joins a node to itself"
        if found[0] == "unknown_ids":
            unknown = [repr(edges.row(row)[end]) for end in np.flatnonzero(edges.pairs[row] < 0)] if edges.row else []
            what = "names a node that does not exist" + f": {' and '.join(unknown)}" * bool(unknown)
        place = edges.place(row) if edges.place else f"{edges.where}: edge {row + 1}"
        more = f" ({others} more do the same)" if others else ""
        leave = f"`drop: [{', '.join([*drop, *found])}]`"
        raise DataError(f"{place} {what}{more}. Correct the file, or leave such edges out with {leave}.")
    unknown_ids = bad["unknown_ids"]
    return symmetrise((edges.pairs[~unknown_ids] if unknown_ids.any() else edges.pairs).T, num_nodes)


def listing(edges: EdgeList, groups: np.ndarray, count: int) -> dict[str, int]:
    """Count how a list names its edges.

    Args:
        edges: the list.
        groups: (R,) the group of each row, -1 for one that is not in the graph.
        count: how many undirected edges it names.

    Returns:
        `listed_edges`: rows; `repeated_edges`: rows that repeat an earlier one; `edges_listed_both_ways`: edges (u, v)
        that are listed as (v, u) as well; `listed_inter_edges` and `listed_intra_edges`: different rows in the graph,
        so that an edge counts once or, where both ways are listed, twice.
    """
    source, target = edges.pairs.T
    codes = (source * len(groups) + target)[~np.logical_or(*edges.bad.values())]
    different = distinct(codes)
    small = groups.astype(np.int16)  # for memory
    first, second = small[different // len(groups)], small[different % len(groups)]
    inside = (first >= 0) & (second >= 0)
    return {
        "listed_edges": len(edges.pairs),
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
    """Keep the edges, (2, E'), among the nodes of which `kept` (N,) holds, and number these from 0 in their order."""
    edges = edge_index[:, kept[edge_index].all(axis=0)]
    return (np.cumsum(kept) - 1)[edges]
