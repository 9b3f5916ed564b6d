"""What kernels rely on in a graph's arrays: found once, and again after a write.

Kernels read by pointers and indices without looking where they lead. So whatever they
get has been read here first; what was found is remembered by the arrays' identity,
place and counted writes. PyTorch counts no writes by another process: an array in
shared memory is read at every call. Writes through `.data`, NumPy or DLPack cannot be
seen.
"""

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

LONG = 512  # edges in a row; on a GPU longer ones would be stragglers

POINTERS = "rowptr", "segptr", "tptr"
CUTS = "cuts", "tcuts"
INDICES = "source", "ttarget", "tedge", "position"
NAMES = (*POINTERS, *CUTS, *INDICES)

MAKE = "; `CSRGraph.from_edge_index` makes graphs that are right"


class Sizes(NamedTuple):
    """What the arrays of a graph say of its size; None where they do not tell.

    Attributes:
        M, N, E, S: rows, sources, edges and segments in a row.
        sources, targets: how many there must be at least, as edges name them.
        device: where the arrays are.
    """

    M: int | None = None
    N: int | None = None
    E: int | None = None
    S: int | None = None
    sources: int = 0
    targets: int = 0
    device: torch.device | None = None


def sizes_of(*arrays: Tensor | None) -> Sizes:
    """Find the sizes of a graph from some of its arrays, in the order of NAMES.

    Raises:
        ValueError: an array has another shape, type or device than a graph's, or points
            outside the others.
    """
    return memoised(_sizes, *arrays)


# ---------------------------------------------------------------------------- memory


_memory: dict[tuple, tuple] = {}  # a function and its arrays' ids: fingerprints, result


def memoised(function: Callable[..., Any], *arrays: Tensor | None) -> Any:
    """`function(*arrays)`, remembered until an array is written to or gone."""
    key = (function, *map(id, arrays))
    entry = _memory.get(key)
    if entry is not None:
        fingerprints, result = entry
        if all(map(_unchanged, arrays, fingerprints)):
            return result

    result = function(*arrays)
    present = [array for array in arrays if array is not None]
    if all(map(writes_are_counted, present)) and not is_recorded(*present):

        def forget(_: Any) -> None:
            _memory.pop(key, None)

        # Another array may get the id of one that is gone.
        _memory[key] = [_fingerprint(array, forget) for array in arrays], result
    return result


def writes_are_counted(x: Tensor) -> bool:
    """Whether PyTorch counts all writes: not in inference mode, nor by a process."""
    shared = x.device.type == "cpu" and x.layout == torch.strided and x.is_shared()
    return not (shared or x.is_inference())


def is_recorded(*arrays: Tensor) -> bool:
    """Whether this is recorded for a CUDA graph, when numbers cannot be read."""
    on_gpu = any(array.is_cuda for array in arrays)
    return on_gpu and torch.cuda.is_current_stream_capturing()


def _fingerprint(
    array: Tensor | None, on_deletion: Callable[[Any], None]
) -> tuple | None:
    """Which array it is, how often it was written to, and where its numbers lie."""
    if array is None:
        return None
    reference = weakref.ref(array, on_deletion)
    return reference, array._version, array.data_ptr(), array.numel()


def _unchanged(array: Tensor | None, fingerprint: tuple | None) -> bool:
    """Whether this is the array of a fingerprint, and was not written to since."""
    if array is None or fingerprint is None:
        return array is fingerprint
    reference, version, data, length = fingerprint
    return (
        reference() is array
        and array._version == version
        and array.data_ptr() == data
        and array.numel() == length
        and array.is_contiguous()
    )


# ------------------------------------------------------------------- what is looked at


def _sizes(*arrays: Tensor | None) -> Sizes:
    """`sizes_of`, each time anew."""
    graph = {}
    for name, array in zip(NAMES, arrays, strict=True):
        if array is not None:
            _check_form(name, array)
            graph[name] = array

    has_transposed = graph.keys() - {"rowptr", "segptr", "source", "cuts"}
    if has_transposed and not {"tptr", "tedge"} <= graph.keys():
        raise ValueError(f"the edges by source need tptr and tedge{MAKE}")
    devices = {array.device for array in graph.values()}
    if len(devices) > 1:
        raise ValueError(f"a graph's arrays are on one device, got {devices}{MAKE}")

    sizes = _sizes_by_shape(graph, devices.pop())
    if is_recorded(*graph.values()):
        return sizes  # a plain step has come before, whose arrays were read
    _check_contents(graph, sizes)
    return sizes._replace(
        sources=_bound_in(graph, "source"), targets=_bound_in(graph, "ttarget")
    )


def _check_form(name: str, array: Tensor) -> None:
    """Check an array's type and shape, of which each kind in NAMES has its own."""
    if not isinstance(array, Tensor) or array.layout != torch.strided:
        got = getattr(array, "layout", type(array).__name__)
        raise ValueError(f"{name} must be a dense tensor, got {got}{MAKE}")
    dtype = torch.int32 if name in INDICES else torch.int64
    shaped = array.dim() == 1
    if name in CUTS:
        shaped = array.dim() == 2 and array.size(1) == 4
    elif name in POINTERS:
        shaped = shaped and len(array) > 0
    if not shaped or array.dtype != dtype or not array.is_contiguous():
        got = f"{array.dtype} of {tuple(array.shape)}, strides {array.stride()}"
        kind = "(P, 4)" if name in CUTS else "one dimension"
        raise ValueError(f"{name} must be {dtype}, dense, of {kind}, got {got}{MAKE}")


def _sizes_by_shape(graph: dict[str, Tensor], device: torch.device) -> Sizes:
    """What the arrays' lengths tell, without reading a number."""
    lengths = {name: len(array) for name, array in graph.items()}
    edges = {lengths[name] for name in INDICES if name in lengths}
    if len(edges) > 1:
        raise ValueError(f"arrays of edges differ in length: {lengths}{MAKE}")
    num_edges = edges.pop() if edges else None

    # A pointer array has a number more than there are rows, sources or segments.
    rows = segments = sources = None
    if "rowptr" in graph:
        rows = lengths["rowptr"] - 1
    if "tptr" in graph:
        sources = lengths["tptr"] - 1
    if "segptr" in graph and rows:
        segments = (lengths["segptr"] - 1) // rows
    return Sizes(M=rows, N=sources, E=num_edges, S=segments, device=device)


def _check_contents(graph: dict[str, Tensor], sizes: Sizes) -> None:
    """Read the arrays, each once, and refuse numbers that make no graph."""

    def holds(condition: Callable[..., bool], *names: str) -> bool:
        """Whether a condition holds of these arrays, if they are all there."""
        if not graph.keys() >= set(names):
            return True
        return memoised(condition, *[graph[name] for name in names])

    for name in POINTERS:
        if name in graph and memoised(_end_of, graph[name]) != sizes.E:
            raise ValueError(f"{name} must end with the number of edges{MAKE}")
    if not holds(_cuts_evenly, "rowptr", "segptr"):
        raise ValueError(f"segptr must cut each row into as many segments{MAKE}")
    for cuts, ptr in zip(CUTS, ("rowptr", "tptr"), strict=True):
        if not holds(_are_cuts, ptr, cuts):
            raise ValueError(f"{cuts} must be those of {ptr}{MAKE}")
    if not holds(is_permutation, "tedge"):
        raise ValueError(f"tedge must name each edge once{MAKE}")
    if not holds(_inverts, "tedge", "position"):
        raise ValueError(f"position must be the inverse of tedge{MAKE}")
    if not holds(_are_transposed, "source", "tptr", "tedge"):
        raise ValueError(f"tptr and tedge must sort the edges by source{MAKE}")
    for name in INDICES:
        _bound_in(graph, name)  # which refuses negative ones


def _bound_in(graph: dict[str, Tensor], name: str) -> int:
    """`_bound_of` an array of the graph; 0 without it."""
    return memoised(_bound_of, graph[name]) if name in graph else 0


def _end_of(ptr: Tensor) -> int | None:
    """The last pointer; None where they do not begin at 0 or fall."""
    if ptr[0] != 0 or (ptr.diff() < 0).any():
        return None
    return int(ptr[-1])


def _cuts_evenly(rowptr: Tensor, segptr: Tensor) -> bool:
    """Whether every row has as many segments, the first of which begins with it."""
    rows, segments = len(rowptr) - 1, len(segptr) - 1
    if rows == 0 or segments < rows:
        return segments == rows
    segments_per_row, left_over = divmod(segments, rows)
    return left_over == 0 and torch.equal(segptr[::segments_per_row], rowptr)


def _are_cuts(ptr: Tensor, cuts: Tensor) -> bool:
    return torch.equal(cuts, cut_rows(ptr))


def _bound_of(index: Tensor) -> int:
    """One more than the largest index.

    Raises:
        ValueError: one is negative.
    """
    if not len(index):
        return 0
    least, most = index.aminmax()
    if least < 0:
        raise ValueError(f"an index of a node or an edge is {int(least)}{MAKE}")
    return int(most) + 1


def is_permutation(edge: Tensor) -> bool:
    """Whether it has each number from 0 on once."""
    if memoised(_bound_of, edge) != len(edge):
        return len(edge) == 0
    occurs = edge.new_zeros(len(edge), dtype=torch.bool)
    occurs.index_fill_(0, edge.long(), True)
    return bool(occurs.all())


def _inverts(edge: Tensor, position: Tensor) -> bool:
    """Whether position[edge[k]] is k."""
    numbers = torch.arange(len(edge), device=edge.device, dtype=edge.dtype)
    return torch.equal(position.index_select(0, edge), numbers)


def _are_transposed(source: Tensor, tptr: Tensor, tedge: Tensor) -> bool:
    """Whether the edges tptr[j] .. tptr[j+1] of `tedge` are those of source j."""
    nodes = torch.arange(len(tptr) - 1, device=tptr.device, dtype=source.dtype)
    expected = nodes.repeat_interleave(tptr.diff())
    return torch.equal(source.index_select(0, tedge), expected)


# -------------------------------------------------------------------------- long rows


def cut_rows(ptr: Tensor) -> Tensor:
    """Cut rows of more than LONG edges into parts, each a program's on a GPU.

    Args:
        ptr: (M + 1,) int64; row i has the edges ptr[i] .. ptr[i+1].

    Returns:
        (P, 4) int64: a part's row, its first edge, its end, and, at the first of a
        row's parts, how many there are; 0 at the others.
    """
    degree = ptr.diff()
    long_rows = (degree > LONG).nonzero().squeeze(1)
    num_parts = (degree[long_rows] + LONG - 1) // LONG  # rounded up
    row = long_rows.repeat_interleave(num_parts)  # of each part

    first_part = num_parts.cumsum(0) - num_parts  # of each long row, among all parts
    part = torch.arange(len(row), device=ptr.device)
    part_in_row = part - first_part.repeat_interleave(num_parts)
    first_edge = ptr[row] + LONG * part_in_row
    end = torch.minimum(first_edge + LONG, ptr[row + 1])
    count = torch.zeros_like(row).index_copy(0, first_part, num_parts)
    return torch.stack([row, first_edge, end, count], 1)
