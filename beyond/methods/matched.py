"""The matched placebo: which of a node's neighbours count as another group is drawn.

How many of them do is not drawn anew: the numbers of inter-edges are permuted among
nodes of the same degree. Step 1 then changes attention as much as with the true
groups, of which nothing else is known.
"""

from dataclasses import replace

import numpy as np

from fairgat.nn import CSRGraph
from fairgat.nn.csr import grouped
from fairgat.tasks.device import tensor


def matched(
    source: np.ndarray, target: np.ndarray, inter: np.ndarray, seed: int
) -> np.ndarray:
    """Draw which edges count as inter-edges, as many in each row as in another one.

    That other row is drawn among those with as many edges. The two directions of an
    edge are drawn separately, and self-loops are never inter-edges.

    Args:
        source, target: (E,) ends of the directed edges.
        inter: (E,) bool, the true inter-edges, of which only each row's number is used.
        seed: of the draw.

    Returns:
        (E,) bool.
    """
    random = np.random.default_rng([seed, 1])  # not the one that a task samples by
    loop = source == target
    edges = np.bincount(target)  # of each row
    degree = np.bincount(target[~loop], minlength=len(edges))
    counts = np.bincount(target[inter & ~loop], minlength=len(edges))
    drawn_counts = _permuted_within(degree, counts, random)

    # The first edges of each row, in a random order, are the inter-edges.
    key = random.random(len(target))
    key[loop] = 1  # behind all other edges of its row
    order = np.lexsort((key, target))
    row_starts = np.cumsum(edges) - edges
    rank = np.empty(len(target), np.int64)  # of an edge in its row
    rank[order] = np.arange(len(target)) - row_starts[target[order]]
    return rank < drawn_counts[target]


def _permuted_within(
    kinds: np.ndarray, values: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Permute values (N,) among the places of each kind (N,)."""
    permuted = values.copy()
    for kind in np.unique(kinds):
        alike = np.flatnonzero(kinds == kind)
        permuted[alike] = random.permutation(values[alike])
    return permuted


def cut(graph: CSRGraph, inter: np.ndarray) -> CSRGraph:
    """Cut a graph's rows into intra- and inter-edges, whatever groups its nodes are in.

    Args:
        graph: whose rows are not cut.
        inter: (E,) bool, in the order of its `edge_index`.
    """
    source, target = graph.edge_index.numpy(force=True)
    # A row's intra-edges are one segment, its inter-edges the next.
    segptr, order = grouped(2 * target + inter, 2 * graph.num_nodes)
    ordered_source = source[order].astype(np.int32)
    return replace(
        graph,
        segments=2,
        segptr=tensor(segptr),
        source=tensor(ordered_source),
        permutation=tensor(order),
    )


def matched_graph(graph: CSRGraph, sensitive: np.ndarray, seed: int) -> CSRGraph:
    """Cut a graph's rows by the edges that count as inter-edges in the placebo.

    Args:
        graph: whose rows are not cut.
        sensitive: (N,) true group of each node.
        seed: of the draw.
    """
    source, target = graph.edge_index.numpy(force=True)
    inter = sensitive[source] != sensitive[target]
    return cut(graph, matched(source, target, inter, seed))


def kinds(graph: CSRGraph) -> np.ndarray:
    """Say which edges are inter-edges: (E,) bool, in the order of its `edge_index`."""
    sizes = graph.segptr.diff().numpy(force=True)
    is_inter = np.arange(len(sizes)) % 2 == 1  # of a segment
    of_edges = tensor(np.repeat(is_inter, sizes))
    return graph.original_order(of_edges).numpy(force=True)


def dose(graph: CSRGraph, alpha_chi: float) -> dict[str, float]:
    """Measure how much step 1 changes on a graph whose rows are cut.

    Returns:
        `with_inter_edge`, the share of nodes with an inter-edge, and `moved`, the mean
        total variation between fair attention and attention without groups, both with
        equal weights for the neighbours of a kind. It depends on a node's degree and on
        its number of inter-edges alone.
    """
    sizes = graph.segptr.diff().numpy(force=True)
    intra, inter = sizes.reshape(-1, 2).T
    share = inter / np.maximum(intra + inter, 1)
    has_inter = inter > 0
    # Edges of one kind get all of a node's attention, with and without step 1.
    has_both = has_inter & (intra > 0)
    moved = np.where(has_both, abs(share - alpha_chi), 0)
    return {
        "with_inter_edge": float(has_inter.mean()),
        "moved": float(moved.mean()),
    }


def alone(graph: CSRGraph) -> int:
    """Count the nodes whose degree no other node has: they keep their number."""
    degrees = graph.rowptr.diff().numpy(force=True)
    _, nodes = np.unique(degrees, return_counts=True)
    return int((nodes == 1).sum())
