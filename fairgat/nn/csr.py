"""The CSR form of a graph that attention reads: rows are targets, cut into segments."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.sparse import csr_array, csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from fairgat import groups as grouping
from fairgat.nn.cache import kept, once, uncompiled
from fairgat.nn.pointers import NAMES, cut_rows, is_permutation, known, sizes_of

if TYPE_CHECKING:
    from fairgat.nn.shares import Shares

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
HUB = 16  # times the mean degree
KEPT = 8  # graphs of one edge_index: with and without self-loops, of other groups and shares


@dataclass(frozen=True, eq=False)
class CSRGraph:
    """A directed graph by target node, whose rows are cut into segments; an attention is a softmax within each.

    Without `sensitive` a row is one segment (GAT); with it, two, intra-edges and inter-edges; with `shares` as well,
    one for each of K groups: segment k of a node of group a holds its neighbours of group (a + k) mod K. Segments may
    be empty.

    Attributes:
        num_nodes: N, the number of sources; a part of a graph has fewer rows.
        segments: S, the number of segments in a row.
        rowptr: (N + 1,) int64; the edges into node i are rowptr[i] .. rowptr[i+1].
        segptr: (N S + 1,) int64; segment k of row i is segptr[i S + k] .. segptr[i S + k + 1].
        source: (E,) int32 source node of each edge.
        permutation: (E,) int64; edge k here is edge `permutation[k]` of `edge_index`.
        shares: what the segments' masses are from, or None.
        mass: (N, S) float64 mass of each segment, where there are shares.
        add_self_loops: whether they were added; None where that is unknown.
        num_given: E of the `edge_index` that the graph was made from; None where a sparse matrix gave
            them no order.
        given: (E,) int64 which of these edges were taken, without self-loops; None for all of them.
    """

    num_nodes: int
    segments: int
    rowptr: Tensor
    segptr: Tensor
    source: Tensor
    permutation: Tensor
    shares: "Shares | None" = None
    mass: Tensor | None = None
    add_self_loops: bool | None = None
    num_given: int | None = None
    given: Tensor | None = None
    _arrays: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    _masses: dict[tuple, Tensor] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Refuse arrays that make no graph; read once, and again after a write.

        Raises:
            ValueError: a shape or type is wrong, or an array points outside the others.
        """
        if torch.compiler.is_compiling():
            return  # the operators look at what they get, too
        arrays = dict.fromkeys(NAMES) | {
            "rowptr": self.rowptr,
            "segptr": self.segptr,
            "source": self.source,
        }
        for name in ("rowptr", "segptr", "source", "permutation"):
            if not isinstance(getattr(self, name), Tensor):
                raise ValueError(f"a graph's `{name}` must be a tensor")
        sizes = sizes_of(*arrays.values())
        segments = self.segments if sizes.S is None else sizes.S
        if sizes.sources > self.num_nodes or segments != self.segments:
            got = f"{self.num_nodes} nodes and {self.segments} segments"
            found = f"{sizes.sources} nodes or more, and {segments} segments"
            raise ValueError(f"a graph of {got} has arrays of {found}")
        if self.permutation.shape != (sizes.E,) or not known(
            is_permutation, self.permutation
        ):
            raise ValueError("`permutation` must name each edge of the graph once")
        shape = (sizes.M, self.segments)
        if self.mass is not None and self.mass.shape != shape:
            got = tuple(self.mass.shape)
            raise ValueError(f"`mass` must have shape {shape}, got {got}")

    def _forget_if_written(self) -> None:
        """Find anew what was found from arrays that were written to since."""
        if torch.compiler.is_compiling():
            return
        arrays = self.rowptr, self.segptr, self.source, self.permutation, self.mass
        given = [each for each in arrays if each is not None]
        writes = [0 if each.is_inference() else each._version for each in given]
        if self._arrays.setdefault("writes", writes) != writes:
            self._arrays.clear()
            self._masses.clear()
            self._arrays["writes"] = writes

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Tensor,
        num_nodes: int,
        sensitive: Any = None,
        add_self_loops: bool = True,
        shares: "Shares | None" = None,
    ) -> "CSRGraph":
        """Build the CSR form, in time linear in the edges.

        Args:
            edge_index: (2, E) integers, sources above targets, in any order; duplicates stay separate edges. Or a
                sparse (N, N) matrix with a row for each target (`adj_t`), whose values are not read.
            num_nodes: N.
            sensitive: (N,) group of each node: integers, bool or strings.
            add_self_loops: replace the self-loops there are by exactly one per node.
            shares: cut rows into the groups of these shares, and find the masses.

        Raises:
            ValueError: a shape or type is wrong, an edge names a node outside 0 .. N-1, or there are shares without
                `sensitive`, for other groups, or made for a graph with other self-loops.
        """
        if shares is not None and shares.add_self_loops not in (None, add_self_loops):
            raise ValueError(
                f"these shares were made with add_self_loops={shares.add_self_loops}, this graph was not"
            )
        edges = checked(edge_index, num_nodes)
        source, target = edges
        given = mass = None
        if add_self_loops:
            loops = source == target
            given = np.flatnonzero(~loops) if loops.any() else None
            source, target = with_self_loops(edges, num_nodes)
        groups = _groups_of(sensitive, num_nodes, shares)
        segments, segment = _segment_of(source, target, groups, shares)
        segptr, order = grouped(segment, segments * num_nodes)
        if shares is not None:
            mass = _masses_of(
                shares, groups, np.diff(segptr).reshape(num_nodes, segments) > 0
            )
        device = edge_index.device if isinstance(edge_index, Tensor) else "cpu"
        arrays = (
            segptr[::segments].copy(),
            segptr,
            source[order].astype(np.int32),
            order,
            mass,
            given,
        )
        with torch.inference_mode(False):  # where no writes would be counted
            tensors = [
                None if each is None else torch.from_numpy(each).to(device)
                for each in arrays
            ]
        ordered = (
            not isinstance(edge_index, Tensor) or edge_index.layout == torch.strided
        )
        num_given = edges.shape[1] if ordered else None
        return cls(
            num_nodes,
            segments,
            *tensors[:4],
            shares,
            tensors[4],
            add_self_loops,
            num_given,
            tensors[5],
        )

    @property
    def num_rows(self) -> int:
        return self.rowptr.numel() - 1

    @property
    def segmented(self) -> bool:
        """Whether `sensitive` was given."""
        return self.segments > 1 or self.shares is not None

    def masses(self, alpha_chi: float, dtype: torch.dtype) -> Tensor:
        """(N, S) mass of each segment: the shares', or `alpha_chi` for the inter-edges of a row with both kinds."""
        self._forget_if_written()
        key = alpha_chi, dtype
        if len(self._masses) == KEPT and key not in self._masses:
            self._masses.clear()
        return once(self._masses, key, lambda: self._mass_of(alpha_chi).to(dtype))

    def _mass_of(self, alpha_chi: float) -> Tensor:
        if self.mass is not None:
            return self.mass
        mass = torch.ones(
            self.num_rows, self.segments, dtype=torch.float64, device=self.source.device
        )
        if self.segments == 1:
            return mass
        both = (self.segptr.diff().view(-1, 2) > 0).all(1, keepdim=True)
        return mass.new_tensor([1 - alpha_chi, alpha_chi]).where(both, mass)

    @property
    def num_edges(self) -> int:
        return self.source.numel()

    @property
    def target(self) -> Tensor:
        """(E,) int64 target node of each edge."""
        self.check()
        rows = torch.arange(self.num_rows, device=self.rowptr.device)
        return rows.repeat_interleave(self.rowptr.diff(), output_size=self.num_edges)

    @property
    def edge_index(self) -> Tensor:
        """(2, E) int64 the edges in the caller's order, with the self-loops that were added last."""
        return (
            self.original_order(torch.stack([self.source.long(), self.target], dim=1))
            .t()
            .contiguous()
        )

    def transposed(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """The edges by source, built at the first call.

        Returns:
            tptr (N + 1,) int64: the edges out of node j are tptr[j] .. tptr[j+1]; their targets (E,) int32; their
            positions (E,) int32 in this graph's order; the position (E,) int32 of each edge here among them; and
            `cut_rows(tptr)`.
        """
        self._forget_if_written()
        return once(self._arrays, "transposed", self._transpose)

    def _transpose(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        tptr, order = map(
            torch.from_numpy, grouped(self.source.cpu().numpy(), self.num_nodes)
        )
        edge = order.int()
        position = torch.empty_like(edge)
        position[order] = torch.arange(
            edge.numel(), dtype=edge.dtype, device=edge.device
        )
        arrays = tptr, self.target.cpu()[order].int(), edge, position, cut_rows(tptr)
        return tuple(each.to(self.source.device) for each in arrays)

    def cuts(self) -> Tensor:
        """Its long rows (`cut_rows`), found at the first call."""
        self._forget_if_written()
        return once(self._arrays, "cuts", lambda: cut_rows(self.rowptr))

    def edges_without_loops(self) -> "CSRGraph":
        """A graph with the same rows, less the self-loops that were added, whose sources are the other edges."""
        self._forget_if_written()
        return once(self._arrays, "edges", self._edges)

    def _edges(self) -> "CSRGraph":
        rowptr = self.rowptr - torch.arange(
            self.num_rows + 1, device=self.rowptr.device
        )
        edges = self.num_edges - self.num_rows
        edge = self.permutation[self.permutation < edges].int()
        return CSRGraph(
            edges, 1, rowptr, rowptr, edge, torch.arange(edges, device=edge.device)
        )

    def reorder_edges(self, values: Tensor) -> Tensor:
        """Bring per-edge values (E, ...) into this graph's order, from that of its `edge_index`: not always yours.

        Where self-loops were added, `edge_index` here has no other ones, and ends with one for each node.

        Raises:
            ValueError: there is not one value for each edge, or they may as well be in the order of edges that were
                given with self-loops.
        """
        if self.given is not None and self.num_given == self.num_edges:
            raise ValueError(
                "these edges were given with self-loops: make the graph of edges without any"
            )
        if len(values) != self.num_edges:
            raise ValueError(
                f"expected a value for each of {self.num_edges} edges, self-loops included, got {len(values)}"
            )
        return values[self.permutation]

    def original_order(self, values: Tensor) -> Tensor:
        """Per-edge values (E, ...) in the order of this graph, brought into the order of `edge_index`."""
        return torch.empty_like(values).index_copy(0, self.permutation, values)


def _groups_of(
    sensitive: Any, num_nodes: int, shares: "Shares | None"
) -> np.ndarray | None:
    """(N,) group of each node, where there are shares its number among theirs."""
    if sensitive is None:
        if shares is not None:
            raise ValueError("shares need `sensitive`, the (N,) group of each node")
        return None
    groups = grouping.values(sensitive) if shares is None else shares.numbers(sensitive)
    if groups.shape != (num_nodes,):
        raise ValueError(
            f"sensitive must have shape ({num_nodes},), one number for all attributes, got {groups.shape}"
        )
    return groups


def _segment_of(
    source: np.ndarray,
    target: np.ndarray,
    groups: np.ndarray | None,
    shares: "Shares | None",
) -> tuple[int, np.ndarray]:
    """The number of a row's segments, and the segment (E,) of each edge."""
    if groups is None:
        return 1, target
    if shares is None:
        return 2, 2 * target + (groups[source] != groups[target])
    segments = len(shares.groups)
    return segments, target * segments + (groups[source] - groups[target]) % segments


def _masses_of(shares: "Shares", groups: np.ndarray, held: np.ndarray) -> np.ndarray:
    """(N, K) mass of each segment of each row, from the rows' groups (N,) and whether a segment has edges (N, K)."""
    turn = (groups[:, None] + np.arange(held.shape[1])) % held.shape[
        1
    ]  # the group of each segment
    present = np.zeros_like(held)
    np.put_along_axis(present, turn, held, 1)
    return np.take_along_axis(shares.of(groups, present), turn, 1)


def checked(edge_index: Tensor | np.ndarray, num_nodes: int) -> np.ndarray:
    """(2, E) int64 edges.

    Raises:
        ValueError: a shape or type is wrong, or an edge names a node outside 0 .. N-1.
    """
    if getattr(num_nodes, "ndim", 0):
        kind = type(num_nodes).__name__
        raise ValueError(
            f"num_nodes must be a whole number, got {kind}: `sensitive` comes third"
        )
    edges = _ends(
        torch.as_tensor(edge_index)
        if isinstance(edge_index, np.ndarray)
        else edge_index,
        num_nodes,
    )
    edges = edges.detach().cpu().numpy().astype(np.int64)
    if edges.size and not 0 <= edges.min() <= edges.max() < num_nodes:
        ends = f"{edges.min()} to {edges.max()}"
        raise ValueError(
            f"edge_index has nodes {ends}, outside 0 .. {num_nodes - 1}: features or groups end there"
        )
    return edges


def with_self_loops(edges: np.ndarray, num_nodes: int) -> np.ndarray:
    """(2, E') the edges with exactly one self-loop for each node, which come last."""
    return np.hstack(
        [
            edges[:, edges[0] != edges[1]],
            np.arange(num_nodes) + np.zeros((2, 1), np.int64),
        ]
    )


def _ends(edge_index: Tensor, num_nodes: int) -> Tensor:
    """(2, E) sources and targets, also of a sparse (N, N) matrix."""
    if not isinstance(edge_index, Tensor):
        raise ValueError(
            f"edge_index must be a tensor, (2, E) or sparse, got {type(edge_index).__name__}"
        )
    if edge_index.layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        coordinates = _verified(edge_index.detach()).to_sparse_coo()
        if coordinates.shape != (num_nodes, num_nodes):
            expected, got = (num_nodes, num_nodes), tuple(coordinates.shape)
            raise ValueError(
                f"a sparse adjacency must have shape {expected}, got {got}"
            )
        return coordinates._indices().flip(0)  # rows are targets
    if edge_index.layout != torch.strided:
        raise ValueError(
            f"a sparse edge_index must be of layout COO, CSR or CSC, got {edge_index.layout}"
        )
    edge_index = edge_index.as_subclass(Tensor)  # PyTorch Geometric's EdgeIndex
    if (
        edge_index.dim() != 2
        or edge_index.size(0) != 2
        or edge_index.dtype not in INTEGERS
    ):
        got = f"{edge_index.dtype} of {tuple(edge_index.shape)}"
        raise ValueError(f"edge_index must be integers of shape (2, E), got {got}")
    return edge_index


def _verified(matrix: Tensor) -> Tensor:
    """A sparse matrix whose pointers PyTorch has looked at, as it does only if asked.

    Raises:
        ValueError: they are wrong.
    """
    if matrix.layout == torch.sparse_csr:
        make, parts = (
            torch.sparse_csr_tensor,
            (matrix.crow_indices(), matrix.col_indices()),
        )
    elif matrix.layout == torch.sparse_csc:
        make, parts = (
            torch.sparse_csc_tensor,
            (matrix.ccol_indices(), matrix.row_indices()),
        )
    else:
        return matrix  # whose indices are looked at as edges
    try:
        return make(*parts, matrix.values(), matrix.shape, check_invariants=True)
    except RuntimeError as error:
        raise ValueError(f"the sparse adjacency is damaged: {error}") from error


# --------------------------------------------------------------------- the graph of an edge_index, built once


_graphs = (
    WeakTensorKeyDictionary()
)  # edge_index to a dictionary, whose values map the groups to a graph


@uncompiled  # SciPy cannot be traced
def csr_of(
    edge_index: Tensor,
    num_nodes: int,
    sensitive: Any,
    add_self_loops: bool,
    shares: "Shares | None",
) -> CSRGraph:
    """`CSRGraph.from_edge_index`, built once while the same unmodified tensors are passed."""

    def build(_: Any = None) -> CSRGraph:
        return CSRGraph.from_edge_index(
            edge_index, num_nodes, sensitive, add_self_loops, shares
        )

    if hasattr(
        edge_index, "as_tensor"
    ):  # PyTorch Geometric's EdgeIndex: writes to what it wraps are counted there
        edge_index = edge_index.as_tensor()
    groups = edge_index if sensitive is None else sensitive
    if not (
        isinstance(edge_index, Tensor) and isinstance(groups, Tensor)
    ):  # writes to a list are not counted
        return build()
    of_edges = kept(_graphs, edge_index, lambda _: {})
    graphs = of_edges.setdefault(
        (num_nodes, sensitive is None, add_self_loops, shares),
        WeakTensorKeyDictionary(),
    )
    graph = kept(graphs, groups, build)
    if (
        max(len(of_edges), sum(map(len, of_edges.values()))) > KEPT
    ):  # kinds whose groups are gone count, too
        of_edges.clear()
    return graph


# ----------------------------------------------------------------------------------- the order of the nodes


def bandwidth_order(edge_index: np.ndarray, num_nodes: int) -> np.ndarray:
    """(N,) int64 reverse Cuthill-McKee order of a symmetric graph: node `order[k]` becomes node k.

    Neighbours then share cache lines, which saves a tenth of the epoch or more on Recidivism. Hubs come last, and the
    others are ordered without them.
    """
    hub = np.bincount(edge_index[1], minlength=num_nodes) > HUB * edge_index.shape[
        1
    ] / max(num_nodes, 1)
    source, target = edge_index[:, ~hub[edge_index].any(axis=0)]
    ones = np.ones(len(source), dtype=np.int8)
    adjacency = csr_matrix((ones, (target, source)), shape=(num_nodes, num_nodes))
    order = reverse_cuthill_mckee(adjacency, symmetric_mode=True).astype(np.int64)
    return np.concatenate([order[~hub[order]], order[hub[order]]])


# ------------------------------------------------------------------------------------- SciPy's counting sort, E + N


def grouped(keys: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort keys (E,) below `count`: where each begins (count + 1,) int64, and the stable order (E,) int64."""
    positions = np.arange(keys.size)
    table = csr_array(
        (np.empty(keys.size, np.int8), (keys, positions)),
        shape=(count, max(keys.size, 1)),
    )
    return table.indptr.astype(np.int64), table.indices.astype(np.int64)
