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
        sources, targets: how many there must be at least.
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
    return known(_sizes, *arrays)


# ---------------------------------------------------------------------------- memory


_found: dict[tuple, tuple] = {}


def known(find: Callable[..., Any], *arrays: Tensor | None) -> Any:
    """`find(*arrays)`, remembered until one of the arrays is written to or gone."""
    key = (find, *map(id, arrays))
    entry = _found.get(key)
    if entry is not None:
        seen, result = entry
        if all(map(_unchanged, arrays, seen)):
            return result

    result = find(*arrays)
    given = [each for each in arrays if each is not None]
    if all(map(writes_are_counted, given)) and not is_recorded(*given):

        def forget(_: Any) -> None:
            _found.pop(key, None)

        _found[key] = [_seen(each, forget) for each in arrays], result
    return result


def writes_are_counted(x: Tensor) -> bool:
    """Whether PyTorch counts all writes: not in inference mode, nor by a process."""
    shared = x.device.type == "cpu" and x.layout == torch.strided and x.is_shared()
    return not (shared or x.is_inference())


def is_recorded(*arrays: Tensor) -> bool:
    """Whether this is recorded for a CUDA graph, when numbers cannot be read."""
    on_gpu = any(array.is_cuda for array in arrays)
    return on_gpu and torch.cuda.is_current_stream_capturing()


def _seen(array: Tensor | None, forget: Callable[[Any], None]) -> tuple | None:
    if array is None:
        return None
    place = array._version, array.data_ptr(), array.numel()
    return weakref.ref(array, forget), *place


def _unchanged(array: Tensor | None, seen: tuple | None) -> bool:
    if array is None or seen is None:
        return array is seen
    reference, version, data, length = seen
    return (
        reference() is array
        and array._version == version
        and array.data_ptr() == data
        and array.numel() == length
        and array.is_contiguous()
    )


# ------------------------------------------------------------------- what is looked at


def _sizes(*arrays: Tensor | None) -> Sizes:
    given = {}
    for name, array in zip(NAMES, arrays, strict=True):
        if array is not None:
            _check_form(name, array)
            given[name] = array
    by_source = {"tptr", "tedge"}
    if (
        given.keys() - {"rowptr", "segptr", "source", "cuts"}
        and by_source - given.keys()
    ):
        raise ValueError(f"the edges by source need tptr and tedge{MAKE}")
    devices = {array.device for array in given.values()}
    if len(devices) > 1:
        raise ValueError(f"a graph's arrays are on one device, got {devices}{MAKE}")

    sizes = _sizes_by_shape(given, devices.pop())
    if is_recorded(*given.values()):
        return sizes  # a plain step has come before, whose arrays were read
    return _read(given, sizes)


def _check_form(name: str, array: Tensor) -> None:
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


def _sizes_by_shape(given: dict[str, Tensor], device: torch.device) -> Sizes:
    lengths = {name: len(array) for name, array in given.items()}
    edges = {lengths[name] for name in INDICES if name in lengths}
    if len(edges) > 1:
        raise ValueError(f"arrays of edges differ in length: {lengths}{MAKE}")

    rows = segments = sources = None
    if "rowptr" in given:
        rows = lengths["rowptr"] - 1
    if "tptr" in given:
        sources = lengths["tptr"] - 1
    if "segptr" in given and rows:
        segments = (lengths["segptr"] - 1) // rows
    edge_count = edges.pop() if edges else None
    return Sizes(rows, sources, edge_count, segments, device=device)


def _read(given: dict[str, Tensor], sizes: Sizes) -> Sizes:
    """Read the arrays, each once."""
    for name in POINTERS:
        if name in given and known(_end_of, given[name]) != sizes.E:
            raise ValueError(f"{name} must end with the number of edges{MAKE}")
    if "segptr" in given and not known(_cut_by, given["rowptr"], given["segptr"]):
        raise ValueError(f"segptr must cut each row into as many segments{MAKE}")
    for name, ptr in zip(CUTS, ("rowptr", "tptr"), strict=True):
        if name in given and not known(_are_cuts, given[ptr], given[name]):
            raise ValueError(f"{name} must be those of {ptr}{MAKE}")
    if "tedge" in given and not known(is_permutation, given["tedge"]):
        raise ValueError(f"tedge must name each edge once{MAKE}")
    if "position" in given and not known(_inverts, given["tedge"], given["position"]):
        raise ValueError(f"position must be the inverse of tedge{MAKE}")
    if "source" in given and "tedge" in given:
        by_source = given["source"], given["tptr"], given["tedge"]
        if not known(_are_transposed, *by_source):
            raise ValueError(f"tptr and tedge must sort the edges by source{MAKE}")

    bounds = {name: known(_bound_of, given[name]) for name in INDICES if name in given}
    sources, targets = bounds.get("source", 0), bounds.get("ttarget", 0)
    return sizes._replace(sources=sources, targets=targets)


def _end_of(ptr: Tensor) -> int | None:
    """The last pointer; None where they do not begin at 0 or fall."""
    if ptr[0] != 0 or (ptr.diff() < 0).any():
        return None
    return int(ptr[-1])


def _cut_by(rowptr: Tensor, segptr: Tensor) -> bool:
    rows, segments = len(rowptr) - 1, len(segptr) - 1
    if rows == 0 or segments < rows:
        return segments == rows
    return segments % rows == 0 and torch.equal(segptr[:: segments // rows], rowptr)


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
    if known(_bound_of, edge) != len(edge):
        return len(edge) == 0
    named = edge.new_zeros(len(edge), dtype=torch.bool)
    return bool(named.index_fill_(0, edge.long(), True).all())


def _inverts(edge: Tensor, position: Tensor) -> bool:
    order = torch.arange(len(edge), device=edge.device, dtype=edge.dtype)
    return torch.equal(position.index_select(0, edge), order)


def _are_transposed(source: Tensor, tptr: Tensor, tedge: Tensor) -> bool:
    nodes = torch.arange(len(tptr) - 1, device=tptr.device, dtype=source.dtype)
    expected = nodes.repeat_interleave(tptr.diff())
    return torch.equal(source.index_select(0, tedge), expected)


# -------------------------------------------------------------------------- long rows


def cut_rows(ptr: Tensor) -> Tensor:
    """Cut rows of more than LONG edges into parts, each a program's on a GPU.

    Args:
        ptr: (M + 1,) int64; row i has the edges ptr[i] .. ptr[i+1].

    Returns:
        (P, 4) int64: a part's row, its first edge, its end, and the number of the row's
        parts, at the first of them.
    """
    count = ptr.diff()
    long = (count > LONG).nonzero().squeeze(1)
    parts = (count[long] + LONG - 1) // LONG
    row, leading = long.repeat_interleave(parts), parts.cumsum(0) - parts
    place = torch.arange(len(row), device=ptr.device) - leading.repeat_interleave(parts)
    first = ptr[row] + LONG * place
    number = torch.zeros_like(row).index_copy(0, leading, parts)
    return torch.stack(
        [row, first, torch.minimum(first + LONG, ptr[row + 1]), number], 1
    )
