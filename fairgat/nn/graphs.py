"""The graph of a layer's call: one that is given, or one built once of its edges."""

from typing import Any

from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from fairgat.nn.cache import cached, uncompiled
from fairgat.nn.csr import CSRGraph
from fairgat.nn.shares import Shares

# Graphs of one edge_index: with and without self-loops, of other groups and shares.
MOST_CACHED = 8

# From an edge_index to a dictionary, whose values map the groups to a graph.
_graphs = WeakTensorKeyDictionary()


def graph_of(
    edge_index: Tensor | CSRGraph,
    num_nodes: int,
    add_self_loops: bool,
    *,
    by_group: bool = False,
    sensitive: Any = None,
    shares: Shares | None = None,
) -> CSRGraph:
    """The CSR graph of `edge_index`, or the one that it is.

    Args:
        by_group: whether rows are cut, by `sensitive` or, in a graph that is given, by
            what it was made with.
        num_nodes, add_self_loops, sensitive, shares: as for `CSRGraph.from_edge_index`.

    Raises:
        ValueError: the edges make no graph, or the one given was made otherwise.
    """
    if not isinstance(edge_index, CSRGraph):
        return csr_of(edge_index, num_nodes, sensitive, add_self_loops, shares)

    graph = edge_index
    graph.check()  # it may have been written to since
    loops = graph.add_self_loops
    if loops is None:  # which is not known of it
        loops = add_self_loops
    # One by one: torch.compile with dynamic=True compares no tuples of symbols.
    fits = graph.segmented if by_group else not graph.segmented
    fits = fits and num_nodes == graph.num_nodes
    fits = fits and loops == add_self_loops and shares == graph.shares
    if not fits:
        needed = _call(num_nodes, by_group, add_self_loops, shares)
        got = _call(graph.num_nodes, graph.segmented, loops, graph.shares)
        raise ValueError(
            f"the layer needs a CSRGraph made by {needed}, got one by {got}"
        )
    return graph


def _call(nodes: int, by_group: bool, loops: bool, shares: Shares | None) -> str:
    """How a CSRGraph is made, for messages."""
    sensitive = ", sensitive" if by_group else ""
    options = f"add_self_loops={loops}, shares={shares}"
    return f"from_edge_index(edge_index, {nodes}{sensitive}, {options})"


@uncompiled  # SciPy cannot be traced
def csr_of(
    edge_index: Tensor,
    num_nodes: int,
    sensitive: Any,
    add_self_loops: bool,
    shares: Shares | None,
) -> CSRGraph:
    """`CSRGraph.from_edge_index`, built once while the same unmodified tensors come."""

    def build(_: Any = None) -> CSRGraph:
        return CSRGraph.from_edge_index(
            edge_index, num_nodes, sensitive, add_self_loops, shares
        )

    # PyTorch Geometric's EdgeIndex: writes to what it wraps are counted there.
    if hasattr(edge_index, "as_tensor"):
        edge_index = edge_index.as_tensor()
    groups = edge_index if sensitive is None else sensitive
    are_tensors = isinstance(edge_index, Tensor) and isinstance(groups, Tensor)
    if not are_tensors:  # nobody counts the writes to a list
        return build()

    of_edges = cached(_graphs, edge_index, lambda _: {})
    key = num_nodes, sensitive is None, add_self_loops, shares
    graphs = of_edges.setdefault(key, WeakTensorKeyDictionary())
    graph = cached(graphs, groups, build)
    num_graphs = sum(map(len, of_edges.values()))
    # Keys whose groups are gone, and their graphs with them, count, too.
    if max(len(of_edges), num_graphs) > MOST_CACHED:
        of_edges.clear()
    return graph
