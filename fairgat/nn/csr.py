"""The CSR form of a graph that the attention kernels read: rows are targets, cut into segments."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fairgat.nn.arrays import INTEGERS


@dataclass(frozen=True, eq=False)
class CSRGraph:
    """A directed graph by target node, each row holding its intra-edges first and its inter-edges after them.

    With `sensitive` absent every edge is an intra-edge, and a row is a single segment: that is GAT.

    Attributes:
        num_nodes: N.
        segmented: whether `sensitive` was given.
        rowptr: (N + 1,) int64; the edges into node i are rowptr[i] .. rowptr[i+1].
        middle: (N,) int64; where the inter-edges of row i begin.
        source: (E,) int32 source node of each edge.
        tptr, ttarget, tedge: the transpose; the edges out of node j are tptr[j] .. tptr[j+1], with their targets
            (E,) int32 and their positions (E,) int32 in this order.
        permutation: (E,) int64; edge k here is edge `permutation[k]` of `edge_index` followed by the self-loops.
        edge_index: (2, E) int64 the edges in the caller's order, self-loops last.
    """

    num_nodes: int
    segmented: bool
    rowptr: Tensor
    middle: Tensor
    source: Tensor
    tptr: Tensor
    ttarget: Tensor
    tedge: Tensor
    permutation: Tensor
    edge_index: Tensor

    @property
    def num_edges(self) -> int:
        return self.source.numel()

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """What the operators take: rowptr, middle, source, tptr, ttarget and tedge."""
        return self.rowptr, self.middle, self.source, self.tptr, self.ttarget, self.tedge

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Tensor,
        num_nodes: int,
        sensitive: Tensor | None = None,
        add_self_loops: bool = True,
    ) -> "CSRGraph":
        """Build the CSR form.

        Args:
            edge_index: (2, E) integers, sources above targets, in any order; duplicates stay separate edges.
            num_nodes: N.
            sensitive: (N,) group of each node; equal groups make an intra-edge, different ones an inter-edge.
            add_self_loops: replace the self-loops there are by exactly one per node.

        Raises:
            ValueError: a shape is wrong, or an edge names a node outside 0 .. N-1.
        """
        if edge_index.dim() != 2 or edge_index.size(0) != 2 or edge_index.dtype not in INTEGERS:
            got = f"{edge_index.dtype} of {tuple(edge_index.shape)}"
            raise ValueError(f"edge_index must be integers of shape (2, E), got {got}")
        if sensitive is not None and tuple(sensitive.shape) != (num_nodes,):
            raise ValueError(f"sensitive must have shape ({num_nodes},), got {tuple(sensitive.shape)}")
        device = edge_index.device
        edges = edge_index.detach().cpu().numpy().astype(np.int64, copy=False)
        if edges.size and (edges.min() < 0 or edges.max() >= num_nodes):
            raise ValueError(f"edge_index names a node outside 0 .. {num_nodes - 1}")
        if add_self_loops:
            loops = np.arange(num_nodes)
            edges = np.concatenate([edges[:, edges[0] != edges[1]], np.stack([loops, loops])], axis=1)
        else:
            edges = edges.copy()  # the caller may write to theirs
        source, target = edges
        if sensitive is None:
            inter = np.zeros(len(source), dtype=bool)
        else:
            groups = sensitive.detach().cpu().numpy()
            inter = groups[source] != groups[target]

        order = np.lexsort((source, inter, target))
        rowptr = _offsets(target, num_nodes)
        middle = rowptr[:-1] + np.bincount(target[~inter], minlength=num_nodes)
        sorted_source, sorted_target = source[order], target[order]
        transpose = np.argsort(sorted_source, kind="stable")

        def tensor(array: np.ndarray, dtype: type) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(array, dtype=dtype)).to(device)

        return cls(
            num_nodes=num_nodes,
            segmented=sensitive is not None,
            rowptr=tensor(rowptr, np.int64),
            middle=tensor(middle, np.int64),
            source=tensor(sorted_source, np.int32),
            tptr=tensor(_offsets(source, num_nodes), np.int64),
            ttarget=tensor(sorted_target[transpose], np.int32),
            tedge=tensor(transpose, np.int32),
            permutation=tensor(order, np.int64),
            edge_index=tensor(edges, np.int64),
        )

    def reorder_edges(self, values: Tensor) -> Tensor:
        """Per-edge values (E, ...) in the order of `edge_index`, brought into the order of this CSR."""
        return values[self.permutation]

    def original_order(self, values: Tensor) -> Tensor:
        """Per-edge values (E, ...) in the order of this CSR, brought into the order of `edge_index`."""
        out = torch.empty_like(values)
        out[self.permutation] = values
        return out


def _offsets(nodes: np.ndarray, num_nodes: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=num_nodes))]).astype(np.int64)
