"""The CSR form of a graph that attention reads: rows are targets, cut into segments."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairgat import groups as grouping
from fairgat.nn.cache import get_or_make
from fairgat.nn.edges import checked, grouped, with_self_loops
from fairgat.nn.pointers import NAMES, cut_rows, is_permutation, memoised, sizes_of
from fairgat.nn.shares import Shares

CACHED_MASSES = 8  # of one graph, by alpha_chi and type

Transposed = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class CSRGraph:
    """A directed graph by target node, whose rows are cut into segments.

    An attention is a softmax within each segment. Without `sensitive` a row is one
    segment (GAT); with it, two, intra-edges and inter-edges; with `shares` as well, one
    for each of K groups: segment k of a node of group a holds its neighbours of group
    (a + k) mod K. Segments may be empty.

    Attributes:
        num_nodes: N, the number of sources; a part of a graph has fewer rows.
        segments: S, the number of segments in a row.
        rowptr: (N + 1,) int64; the edges into node i are rowptr[i] .. rowptr[i+1].
        segptr: (N S + 1,) int64; segment k of row i is segptr[i S + k] ..
            segptr[i S + k + 1].
        source: (E,) int32 source node of each edge.
        permutation: (E,) int64; edge k here is edge `permutation[k]` of `edge_index`.
        shares: what the segments' masses are from, or None.
        mass: (N, S) float64 mass of each segment, where there are shares.
        add_self_loops: whether they were added; None where that is unknown.
        num_given: E of the `edge_index` that the graph was made from; None where a
            sparse matrix gave them no order.
        given: (E,) int64 which of these edges were taken, without self-loops; None for
            all of them.
    """

    num_nodes: int
    segments: int
    rowptr: Tensor
    segptr: Tensor
    source: Tensor
    permutation: Tensor
    shares: Shares | None = None
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

        for name in ("rowptr", "segptr", "source", "permutation"):
            if not isinstance(getattr(self, name), Tensor):
                raise ValueError(f"a graph's `{name}` must be a tensor")
        arrays = dict.fromkeys(NAMES)
        arrays["rowptr"] = self.rowptr
        arrays["segptr"] = self.segptr
        arrays["source"] = self.source
        sizes = sizes_of(*arrays.values())
        segments = self.segments if sizes.S is None else sizes.S  # None: no rows

        if sizes.sources > self.num_nodes or segments != self.segments:
            got = f"{self.num_nodes} nodes and {self.segments} segments"
            found = f"{sizes.sources} nodes or more, and {segments} segments"
            raise ValueError(f"a graph of {got} has arrays of {found}")
        one_each = self.permutation.shape == (sizes.E,)
        if not one_each or not memoised(is_permutation, self.permutation):
            raise ValueError("`permutation` must name each edge of the graph once")
        shape = (sizes.M, self.segments)
        if self.mass is not None and self.mass.shape != shape:
            got = tuple(self.mass.shape)
            raise ValueError(f"`mass` must have shape {shape}, got {got}")

    def __getstate__(self) -> dict[str, Any]:
        """What a copy has: what was found from the arrays is found anew there."""
        return vars(self) | {"_arrays": {}, "_masses": {}}

    def _forget_if_written(self) -> None:
        """Find anew what was found from arrays that were written to since."""
        if torch.compiler.is_compiling():
            return
        arrays = [self.rowptr, self.segptr, self.source, self.permutation]
        if self.mass is not None:
            arrays.append(self.mass)
        writes = [0 if array.is_inference() else array._version for array in arrays]
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
        shares: Shares | None = None,
    ) -> "CSRGraph":
        """Build the CSR form, in time linear in the edges.

        Edges are sorted by target and, within a row, by segment: all in one, or with
        `sensitive` those within and across groups, or with `shares` one for each group.
        A segment's mass is the attention that its edges share.

        Args:
            edge_index: (2, E) integers, sources above targets, in any order; duplicates
                stay separate edges. Or a sparse (N, N) matrix with a row for each
                target (`adj_t`), whose values are not read.
            num_nodes: N.
            sensitive: (N,) group of each node: integers, bool or strings.
            add_self_loops: replace the self-loops there are by exactly one per node.
            shares: cut rows into the groups of these shares, and find the masses.

        Raises:
            ValueError: a shape or type is wrong, an edge names a node outside 0 .. N-1,
                or there are shares without `sensitive`, for other groups, or made for a
                graph with other self-loops.
        """
        if shares is not None and shares.add_self_loops not in (None, add_self_loops):
            raise ValueError(
                f"these shares were made with add_self_loops={shares.add_self_loops}, "
                "this graph was not"
            )
        edges = checked(edge_index, num_nodes)
        source, target = edges
        given = None  # which of the caller's edges there are; None: all
        if add_self_loops:
            loops = source == target
            if loops.any():
                given = np.flatnonzero(~loops)
            source, target = with_self_loops(edges, num_nodes)

        groups = _groups_of(sensitive, num_nodes, shares)
        segments, segment = _segment_of(source, target, groups, shares)
        segptr, order = grouped(segment, segments * num_nodes)
        mass = None
        if shares is not None:
            occupied = np.diff(segptr).reshape(num_nodes, segments) > 0
            mass = _masses_of(shares, groups, occupied)

        is_tensor = isinstance(edge_index, Tensor)
        device = edge_index.device if is_tensor else "cpu"

        def placed(array: np.ndarray | None) -> Tensor | None:
            return None if array is None else torch.from_numpy(array).to(device)

        # A sparse matrix gives its edges no order that features could follow.
        has_order = not is_tensor or edge_index.layout == torch.strided
        with torch.inference_mode(False):  # where no writes would be counted
            return cls(
                num_nodes,
                segments,
                rowptr=placed(segptr[::segments].copy()),
                segptr=placed(segptr),
                source=placed(source[order].astype(np.int32)),
                permutation=placed(order),
                shares=shares,
                mass=placed(mass),
                add_self_loops=add_self_loops,
                num_given=edges.shape[1] if has_order else None,
                given=placed(given),
            )

    @property
    def num_rows(self) -> int:
        return self.rowptr.numel() - 1

    @property
    def num_edges(self) -> int:
        return self.source.numel()

    @property
    def segmented(self) -> bool:
        """Whether `sensitive` was given."""
        return self.segments > 1 or self.shares is not None

    def masses(self, alpha_chi: float, dtype: torch.dtype) -> Tensor:
        """(N, S) mass of each segment, the attention that its edges share.

        It is the shares', or `alpha_chi` for the inter-edges of a row with both kinds.
        """
        self._forget_if_written()
        key = alpha_chi, dtype
        if len(self._masses) == CACHED_MASSES and key not in self._masses:
            self._masses.clear()
        return get_or_make(
            self._masses, key, lambda: self._mass_of(alpha_chi).to(dtype)
        )

    def _mass_of(self, alpha_chi: float) -> Tensor:
        """`masses` in float64; 1 for the segments of a row without both kinds."""
        if self.mass is not None:
            return self.mass
        shape = self.num_rows, self.segments
        mass = torch.ones(shape, dtype=torch.float64, device=self.source.device)
        if self.segments == 1:
            return mass
        edges = self.segptr.diff().view(-1, 2)  # intra and inter, of each row
        has_both = (edges > 0).all(1, keepdim=True)
        return mass.new_tensor([1 - alpha_chi, alpha_chi]).where(has_both, mass)

    @property
    def target(self) -> Tensor:
        """(E,) int64 target node of each edge."""
        self.check()
        rows = torch.arange(self.num_rows, device=self.rowptr.device)
        return rows.repeat_interleave(self.rowptr.diff(), output_size=self.num_edges)

    @property
    def edge_index(self) -> Tensor:
        """(2, E) int64 edges in the caller's order, then self-loops that were added."""
        ends = torch.stack([self.source.long(), self.target], dim=1)
        return self.original_order(ends).t().contiguous()

    def transposed(self) -> Transposed:
        """The edges by source, built at the first call.

        Returns:
            tptr (N + 1,) int64: the edges out of node j are tptr[j] .. tptr[j+1]; their
            targets (E,) int32; their positions (E,) int32 in this graph's order; the
            position (E,) int32 of each edge here among them; and `cut_rows(tptr)`.
        """
        self._forget_if_written()
        return get_or_make(self._arrays, "transposed", self._transpose)

    def _transpose(self) -> Transposed:
        """`transposed`, sorted on the CPU."""
        tptr, order = grouped(self.source.cpu().numpy(), self.num_nodes)
        tptr, order = torch.from_numpy(tptr), torch.from_numpy(order)
        edge = order.int()
        position = torch.empty_like(edge)
        position[order] = torch.arange(len(edge), dtype=edge.dtype, device="cpu")
        target = self.target.cpu()[order].int()
        arrays = tptr, target, edge, position, cut_rows(tptr)
        return tuple(each.to(self.source.device) for each in arrays)

    def cuts(self) -> Tensor:
        """Its rows of many edges, cut into parts (`cut_rows`) at the first call."""
        self._forget_if_written()
        return get_or_make(self._arrays, "cuts", lambda: cut_rows(self.rowptr))

    def edges_without_loops(self) -> "CSRGraph":
        """A graph with the same rows, whose sources are the edges that were given."""
        self._forget_if_written()
        return get_or_make(self._arrays, "edges", self._edges)

    def _edges(self) -> "CSRGraph":
        """`edges_without_loops`, of a graph with one self-loop for each row."""
        device = self.rowptr.device
        loops_before = torch.arange(self.num_rows + 1, device=device)
        rowptr = self.rowptr - loops_before
        num_edges = self.num_edges - self.num_rows
        # The self-loops have the last numbers.
        edge = self.permutation[self.permutation < num_edges]
        return CSRGraph(
            num_nodes=num_edges,
            segments=1,
            rowptr=rowptr,
            segptr=rowptr,
            source=edge.int(),
            permutation=torch.arange(num_edges, device=device),
        )

    def reorder_edges(self, values: Tensor) -> Tensor:
        """Bring per-edge values (E, ...) into this graph's order.

        They are in the order of its `edge_index`, which is not always yours: where
        self-loops were added, it has no other ones, and ends with one for each node.

        Raises:
            ValueError: there is not one value for each edge, or they may as well be in
                the order of edges that were given with self-loops.
        """
        if self.given is not None and self.num_given == self.num_edges:
            raise ValueError(
                "these edges were given with self-loops: make the graph of edges "
                "without any"
            )
        if len(values) != self.num_edges:
            raise ValueError(
                f"expected a value for each of {self.num_edges} edges, self-loops "
                f"included, got {len(values)}"
            )
        return values[self.permutation]

    def original_order(self, values: Tensor) -> Tensor:
        """Bring per-edge values (E, ...) of this graph's order into `edge_index`'s."""
        return torch.empty_like(values).index_copy(0, self.permutation, values)


def _groups_of(
    sensitive: Any, num_nodes: int, shares: Shares | None
) -> np.ndarray | None:
    """(N,) group of each node: as given, or with shares its place in `shares.groups`.

    None without `sensitive`.
    """
    if sensitive is None and shares is not None:
        raise ValueError("shares need `sensitive`, the (N,) group of each node")
    if sensitive is None:
        return None
    groups = grouping.values(sensitive)
    if shares is not None:
        groups = shares.numbers(groups)
    if groups.shape != (num_nodes,):
        raise ValueError(
            f"sensitive must have shape ({num_nodes},), one number for all attributes "
            f"(`combined_groups` makes it), got {groups.shape}"
        )
    return groups


def _segment_of(
    source: np.ndarray,
    target: np.ndarray,
    groups: np.ndarray | None,
    shares: Shares | None,
) -> tuple[int, np.ndarray]:
    """The number of a row's segments, and the segment (E,) of each edge.

    Segments are numbered through all rows: segment k of row i is i * segments + k.
    """
    if groups is None:
        return 1, target
    if shares is None:
        is_inter = groups[source] != groups[target]
        return 2, 2 * target + is_inter
    segments = len(shares.groups)
    in_row = (groups[source] - groups[target]) % segments
    return segments, target * segments + in_row


def _masses_of(shares: Shares, groups: np.ndarray, occupied: np.ndarray) -> np.ndarray:
    """(N, K) mass of each segment of each row.

    Args:
        groups: (N,) of the rows.
        occupied: (N, K) whether a segment has edges.
    """
    size = occupied.shape[1]
    # The group whose edges a segment holds: a row's own one comes first.
    group_of_segment = (groups[:, None] + np.arange(size)) % size  # (N, K)
    present = np.zeros_like(occupied)  # (N, K), by group
    np.put_along_axis(present, group_of_segment, occupied, 1)
    masses = shares.of(groups, present)
    return np.take_along_axis(masses, group_of_segment, 1)
