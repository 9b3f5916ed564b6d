"""The CSR form of a graph that attention reads: rows are targets, cut into two segments."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
HUB = 16  # times the mean degree


@dataclass(frozen=True, eq=False)
class CSRGraph:
    """A directed graph by target node, each row holding its intra-edges first and its inter-edges after them.

    With `sensitive` absent every edge is an intra-edge, and a row is a single segment: that is GAT.

    Attributes:
        num_nodes: N, the number of sources; the rows of a part of a graph may be fewer.
        segmented: whether `sensitive` was given.
        rowptr: (N + 1,) int64; the edges into node i are rowptr[i] .. rowptr[i+1].
        middle: (N,) int64; where the inter-edges of row i begin.
        source: (E,) int32 source node of each edge.
        permutation: (E,) int64; edge k here is edge `permutation[k]` of `edge_index`.
    """

    num_nodes: int
    segmented: bool
    rowptr: Tensor
    middle: Tensor
    source: Tensor
    permutation: Tensor
    _transposed: list[tuple[Tensor, ...]] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def from_edge_index(
        cls, edge_index: Tensor, num_nodes: int, sensitive: Tensor | None = None, add_self_loops: bool = True
    ) -> "CSRGraph":
        """Build the CSR form, in time linear in the edges.

        Args:
            edge_index: (2, E) integers, sources above targets, in any order; duplicates stay separate edges. Or a
                sparse (N, N) matrix with a row for each target (PyTorch Geometric's `adj_t`), whose values are
                not read.
            num_nodes: N.
            sensitive: (N,) group of each node; equal groups make an intra-edge, different ones an inter-edge.
            add_self_loops: replace the self-loops there are by exactly one per node.

        Raises:
            ValueError: a shape or type is wrong, or an edge names a node outside 0 .. N-1.
        """
        edge_index = _edges(edge_index)
        if sensitive is not None and tuple(sensitive.shape) != (num_nodes,):
            raise ValueError(f"sensitive must have shape ({num_nodes},), got {tuple(sensitive.shape)}")
        device = edge_index.device
        edges = edge_index.detach().cpu().numpy()
        if edges.size and not 0 <= edges.min() <= edges.max() < num_nodes:
            raise ValueError(f"edge_index names a node outside 0 .. {num_nodes - 1}")
        if add_self_loops:  # last in their segment
            edges = np.hstack([edges[:, edges[0] != edges[1]], np.arange(num_nodes) + np.zeros((2, 1), np.int64)])
        source, target = edges.astype(np.int64)
        segment = 2 * target
        if sensitive is not None:
            groups = sensitive.detach().cpu().numpy()
            segment += groups[source] != groups[target]
        starts, order = grouped(segment, 2 * num_nodes)
        arrays = starts[::2].copy(), starts[1::2].copy(), source[order].astype(np.int32), order
        return cls(num_nodes, sensitive is not None, *(torch.from_numpy(each).to(device) for each in arrays))

    @property
    def num_edges(self) -> int:
        return self.source.numel()

    @property
    def target(self) -> Tensor:
        """(E,) int64 target node of each edge."""
        rows = torch.arange(self.middle.numel(), device=self.rowptr.device)
        return rows.repeat_interleave(self.rowptr.diff(), output_size=self.num_edges)

    @property
    def edge_index(self) -> Tensor:
        """(2, E) int64 the edges in the caller's order, with the self-loops that were added last."""
        return self.original_order(torch.stack([self.source.long(), self.target], dim=1)).t().contiguous()

    def transposed(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The edges by source, built at the first call, which is that of the first backward pass.

        Returns:
            tptr (N + 1,) int64: the edges out of node j are tptr[j] .. tptr[j+1]; their targets (E,) int32; their
            positions (E,) int32 in this graph's order; and the position (E,) int32 of each edge here among them.
        """
        if not self._transposed:
            tptr, order = map(torch.from_numpy, grouped(self.source.cpu().numpy(), self.num_nodes))
            edge = order.int()
            position = torch.empty_like(edge)
            position[order] = torch.arange(edge.numel(), dtype=edge.dtype)
            arrays = tptr, self.target.cpu()[order].int(), edge, position
            self._transposed.append(tuple(each.to(self.source.device) for each in arrays))
        return self._transposed[0]

    def reorder_edges(self, values: Tensor) -> Tensor:
        """Per-edge values (E, ...) in the order of `edge_index`, brought into the order of this graph."""
        return values[self.permutation]

    def original_order(self, values: Tensor) -> Tensor:
        """Per-edge values (E, ...) in the order of this graph, brought into the order of `edge_index`."""
        return torch.empty_like(values).index_copy(0, self.permutation, values)


def _edges(edge_index: Tensor) -> Tensor:
    """(2, E) edges of whatever stands for them.

    Raises:
        ValueError: it is neither integers of shape (2, E) nor a sparse matrix.
    """
    if not isinstance(edge_index, Tensor):
        raise ValueError(f"edge_index must be a tensor or a CSRGraph, got {type(edge_index).__name__}")
    if edge_index.layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        coordinates = edge_index.detach().to_sparse_coo()
        if coordinates.dim() != 2:
            raise ValueError(f"a sparse adjacency must be a matrix, got shape {tuple(coordinates.shape)}")
        return coordinates._indices().flip(0)  # rows are targets
    edge_index = edge_index.as_subclass(Tensor)  # PyTorch Geometric's EdgeIndex
    if edge_index.dim() != 2 or edge_index.size(0) != 2 or edge_index.dtype not in INTEGERS:
        got = f"{edge_index.dtype} of {tuple(edge_index.shape)}"
        raise ValueError(f"edge_index must be integers of shape (2, E), got {got}")
    return edge_index


# ------------------------------------------------------------------------- what is found once for a tensor


_graphs = WeakTensorKeyDictionary()


def csr_of(edge_index: Tensor, num_nodes: int, sensitive: Tensor | None, add_self_loops: bool) -> CSRGraph:
    """`CSRGraph.from_edge_index`, built once while the same unmodified tensors are passed."""
    tensors = (edge_index,) if sensitive is None else (edge_index, sensitive)
    if not isinstance(edge_index, Tensor) or any(each.is_inference() for each in tensors):
        return CSRGraph.from_edge_index(edge_index, num_nodes, sensitive, add_self_loops)  # nobody counts their writes
    version = num_nodes, add_self_loops, *(each._version for each in tensors)
    entries = _graphs.setdefault(edge_index, {})
    for key, (groups, graph) in entries.items():
        if key == version and (groups() if groups is not None else None) is sensitive:
            return graph
    for key in [key for key in entries if key[2] != edge_index._version]:
        del entries[key]
    graph = CSRGraph.from_edge_index(edge_index, num_nodes, sensitive, add_self_loops)
    entries[version] = None if sensitive is None else weakref.ref(sensitive), graph
    return graph


def kept(cache: WeakTensorKeyDictionary, x: Tensor, find: Callable[[Tensor], Any]) -> Any:
    """`find(x)`, found once while the same unmodified tensor, which needs no gradient, is passed with this cache."""
    if x.requires_grad or x.is_inference() or torch.compiler.is_compiling():
        return find(x)
    version, found = cache.get(x, (None, None))
    if version != x._version:
        found = find(x)
        cache[x] = x._version, found
    return found


# ----------------------------------------------------------------------------------- the order of the nodes


def bandwidth_order(edge_index: np.ndarray, num_nodes: int) -> np.ndarray:
    """(N,) int64 reverse Cuthill-McKee order of a symmetric graph: node `order[k]` becomes node k.

    Neighbours then share cache lines, which saves a quarter of the epoch on the Recidivism graph. Hubs come last, and
    the others are ordered without them: through a hub half of the graph is one step away.
    """
    hub = np.bincount(edge_index[1], minlength=num_nodes) > HUB * edge_index.shape[1] / max(num_nodes, 1)
    source, target = edge_index[:, ~hub[edge_index].any(axis=0)]
    ones = np.ones(len(source), dtype=np.int8)
    adjacency = csr_matrix((ones, (target, source)), shape=(num_nodes, num_nodes))
    order = reverse_cuthill_mckee(adjacency, symmetric_mode=True).astype(np.int64)
    return np.concatenate([order[~hub[order]], order[hub[order]]])


# ------------------------------------------------------------------------------------- SciPy's counting sort, E + N


def grouped(keys: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort keys (E,) below `count`: where each begins (count + 1,) int64, and the stable order (E,) int64."""
    positions = np.arange(keys.size)
    table = csr_array((np.empty(keys.size, np.int8), (keys, positions)), shape=(count, max(keys.size, 1)))
    return table.indptr.astype(np.int64), table.indices.astype(np.int64)
