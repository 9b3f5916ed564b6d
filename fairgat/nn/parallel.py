"""Threads for the Numba kernels: as many as PyTorch uses, over fixed ranges of rows.

A kernel writes each row from one thread only, so its result doesn't depend on how the rows are divided.
"""

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

_SMALL = 1 << 16  # elements of work below which a second thread costs more than it saves
_CHUNKS_PER_THREAD = 4  # more chunks than threads, so that uneven rows even out


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="fairgat")


def over_rows(kernel: Callable, rowptr: np.ndarray, width: int, *arguments) -> None:
    """Call `kernel(begin, end, *arguments)` over all rows, in ranges of about equal numbers of edges.

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
    chunks = threads * _CHUNKS_PER_THREAD
    work = rowptr + np.arange(rows + 1)
    bounds = np.searchsorted(work, np.linspace(0, work[-1], chunks + 1)[1:-1])
    bounds = np.concatenate([[0], bounds, [rows]])
    pool = _pool(threads)
    jobs = [
        pool.submit(kernel, begin, end, *arguments)
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        if begin < end
    ]
    for job in jobs:
        job.result()
