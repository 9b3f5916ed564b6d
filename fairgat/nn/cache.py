"""What is found once for a tensor, kept for as long as it lives and is not written to."""

import weakref
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from fairgat.nn.csr import CSRGraph

_cache = WeakTensorKeyDictionary()


def kept(cache: WeakTensorKeyDictionary, x: Tensor, find: Callable[[Tensor], Any]) -> Any:
    """`find(x)`, found once while the same unmodified tensor is passed with the same cache."""
    if x.is_inference():
        return find(x)  # nobody counts writes to it
    version, found = cache.get(x, (None, None))
    if version != x._version:
        found = find(x)
        cache[x] = x._version, found
    return found


def csr_of(edge_index: Tensor, num_nodes: int, sensitive: Tensor | None, add_self_loops: bool) -> CSRGraph:
    """The CSR form of a graph; built once while the same unmodified tensors are passed.

    Args:
        edge_index: (2, E).
        num_nodes: N.
        sensitive: (N,) groups, or None.
        add_self_loops: see `CSRGraph.from_edge_index`.
    """
    if edge_index.is_inference() or (sensitive is not None and sensitive.is_inference()):
        return CSRGraph.from_edge_index(edge_index, num_nodes, sensitive, add_self_loops)  # nobody counts their writes
    version = (edge_index._version, num_nodes, add_self_loops, None if sensitive is None else sensitive._version)
    entries = _cache.setdefault(edge_index, {})
    for key, (groups, graph) in entries.items():
        if key == version and (groups() if groups is not None else None) is sensitive:
            return graph
    for key in [key for key in entries if key[0] != edge_index._version]:
        del entries[key]
    graph = CSRGraph.from_edge_index(edge_index, num_nodes, sensitive, add_self_loops)
    entries[version] = (None if sensitive is None else weakref.ref(sensitive), graph)
    return graph
