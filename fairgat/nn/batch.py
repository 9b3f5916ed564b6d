"""Several graphs in one: which of them each node is in, as in PyTorch Geometric."""

from dataclasses import dataclass

import torch
from torch import Tensor

from fairgat.nn.cache import uncompiled
from fairgat.nn.edges import INTEGERS
from fairgat.nn.pointers import is_recorded, memoised


@dataclass(frozen=True)
class Batch:
    """Which of several graphs each node is in.

    Attributes:
        graph: (N,) int64 the number of each node's graph, in any order.
        count: (B,) int64 how many nodes each graph has, and 1 where it has none.
    """

    graph: Tensor
    count: Tensor

    @classmethod
    def of(cls, batch: Tensor | None, size: int | None, x: Tensor) -> "Batch | None":
        """Read `batch` and `batch_size` of a call for the nodes x (N, ...).

        Raises:
            ValueError: a shape, type or device is wrong, a graph has a number outside
                0 .. batch_size - 1, or that is no whole number.
        """
        if batch is None:
            if size not in (None, 1):
                raise ValueError(f"batch_size={size} needs `batch`, each node's graph")
            return None
        _check_form(batch, x)
        # The numbers are not read where that would break a compiled or recorded graph.
        must_not_read = torch.compiler.is_compiling() or is_recorded(batch)
        if size is None or not must_not_read:
            least, most = _bounds(batch)
            if size is None:
                size = most + 1
            elif not hasattr(size, "__index__"):
                raise ValueError(f"batch_size must be a whole number, got {size!r}")
            if least < 0 or most >= size:
                raise ValueError(
                    f"batch has graphs {least} to {most}, outside 0 .. {size - 1}"
                )
        graph = batch.long()
        count = graph.new_zeros(size).scatter_add(0, graph, torch.ones_like(graph))
        return cls(graph, count.clamp_min(1))

    def mean(self, x: Tensor) -> Tensor:
        """(B, ...) means of x (N, ...) over each graph's nodes; 0 where it has none."""
        columns = _columns(x)
        sums = columns.new_zeros(len(self.count), columns.size(1))
        sums = sums.scatter_add(0, self._index(columns), columns)
        return (sums / self.count[:, None]).view(-1, *x.shape[1:])

    def of_nodes(self, values: Tensor) -> Tensor:
        """(N, ...) for each node its graph's values (B, ...)."""
        columns = _columns(values)
        found = columns.gather(0, self._index(columns))
        return found.view(-1, *values.shape[1:])

    def _index(self, columns: Tensor) -> Tensor:
        # Expanded, as which PyTorch sums fifteen times as fast as by `index_add`.
        return self.graph[:, None].expand(-1, columns.size(1))


def mean_of(x: Tensor, batch: Batch | None) -> Tensor:
    """(...) mean of x (N, ...) over the nodes, or (B, ...) over each graph's."""
    if batch is not None:
        return batch.mean(x)
    return x.sum(0) / max(len(x), 1)


def of_nodes(values: Tensor, batch: Batch | None) -> Tensor:
    """What `mean_of` gave, repeated for each node: with `batch`, its graph's values."""
    return values if batch is None else batch.of_nodes(values)


def _columns(x: Tensor) -> Tensor:
    """x (N, ...) as (N, F)."""
    return x.flatten(1) if x.dim() > 1 else x[:, None]


def _check_form(batch: Tensor, x: Tensor) -> None:
    """Refuse a `batch` that is not one integer for each node of x (N, ...)."""
    expected = f"integers of shape ({len(x)},) on {x.device}, each node's graph"
    if not isinstance(batch, Tensor):
        raise ValueError(f"batch must be {expected}, got {type(batch).__name__}")
    shaped = batch.shape == x.shape[:1] and batch.device == x.device
    if not shaped or batch.dtype not in INTEGERS:
        got = f"{batch.dtype} of {tuple(batch.shape)} on {batch.device}"
        raise ValueError(f"batch must be {expected}, got {got}")


@uncompiled
def _bounds(batch: Tensor) -> tuple[int, int]:
    """The least and the largest number of a graph; read once for the same tensor."""
    return memoised(_least_and_most, batch)


def _least_and_most(batch: Tensor) -> tuple[int, int]:
    if not len(batch):
        return 0, -1
    least, most = batch.aminmax()
    return int(least), int(most)
