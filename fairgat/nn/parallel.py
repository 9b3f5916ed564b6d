"""Threads for the Numba kernels: as many as PyTorch uses, over ranges of rows.

A kernel writes each row, or each block of rows, from one thread only, so its result doesn't depend on how the rows
are divided.
"""

import functools
import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

_SMALL = 1 << 16  # numbers touched, below which a second thread costs more than it saves
_CHUNKS_PER_THREAD = 4  # more chunks than threads, so that uneven rows even out


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="fairgat")


if hasattr(os, "register_at_fork"):  # a forked child has the pools, but not their threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def over_rows(kernel: Callable, rowptr: np.ndarray, width: int, *arguments) -> None:
    """Call `kernel(begin, end, *arguments)` over all rows of a CSR graph, in ranges of about equal work.

    Args:
        kernel: a compiled function that releases the GIL.
        rowptr: (N + 1,) edge offsets of the rows.
        width: numbers touched per edge.
    """
    rows = len(rowptr) - 1
    threads = torch.get_num_threads()
    if threads == 1 or (rowptr[-1] + rows) * width < _SMALL:
        kernel(0, rows, *arguments)
        return
    work = rowptr + np.arange(rows + 1)
    inner = np.searchsorted(work, np.linspace(0, work[-1], threads * _CHUNKS_PER_THREAD + 1)[1:-1])
    _run(kernel, threads, [0, *inner.tolist(), rows], arguments)


def over_range(kernel: Callable, count: int, width: int, *arguments) -> None:
    """Call `kernel(begin, end, *arguments)` over 0 .. count, each item touching `width` numbers."""
    threads = torch.get_num_threads()
    if threads == 1 or count * width < _SMALL:
        kernel(0, count, *arguments)
        return
    _run(kernel, threads, np.linspace(0, count, threads * _CHUNKS_PER_THREAD + 1).astype(int).tolist(), arguments)


def _run(kernel: Callable, threads: int, bounds: list[int], arguments: tuple) -> None:
    ranges = [(begin, end) for begin, end in itertools.pairwise(bounds) if begin < end]
    taken = itertools.count()  # next() is atomic

    def work() -> None:
        while (k := next(taken)) < len(ranges):
            kernel(*ranges[k], *arguments)

    # This thread works too: the others may be slow to start where OpenMP's still spin after a matrix product.
    others = [_pool(threads - 1).submit(work) for _ in range(threads - 1)]
    work()
    for other in others:
        if not other.cancel():
            other.result()
