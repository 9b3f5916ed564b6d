"""Threads for the Numba kernels, over ranges of rows: as many as PyTorch uses, or a number of their own.

A kernel writes each row, or each block of rows, from one thread only, so its result doesn't depend on how the rows
are divided.
"""

import functools
import itertools
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

import numpy as np
import torch

_SMALL = 1 << 16  # numbers touched, below which a second thread costs more than it saves
_CHUNKS_PER_THREAD = 4  # more chunks than threads, so that uneven rows even out

_given: dict[int, int] = {}  # PyTorch's number of threads when the kernels were given theirs: theirs


def num_threads() -> int:
    """How many threads the kernels use."""
    threads = torch.get_num_threads()
    return _given.get(threads, threads)


def share_threads(kernels: int, others: int) -> None:
    """Let the kernels use `kernels` threads and PyTorch `others`, until PyTorch is given another number."""
    torch.set_num_threads(others)
    _given.clear()
    _given[others] = kernels


@functools.cache
def _tasks(workers: int) -> SimpleQueue[Callable[[], None]]:
    """Where so many threads wait for work: less of a detour than concurrent.futures, twenty times an epoch."""
    tasks = SimpleQueue()

    def work() -> None:
        while True:
            tasks.get()()

    for _ in range(workers):
        threading.Thread(target=work, name="fairgat", daemon=True).start()
    return tasks


if hasattr(os, "register_at_fork"):  # a forked child has the queues, but not the threads
    os.register_at_fork(after_in_child=_tasks.cache_clear)


def over_rows(kernel: Callable, rowptr: np.ndarray, width: int, *arguments) -> None:
    """Call `kernel(begin, end, *arguments)` over all rows of a CSR graph, in ranges of about equal work.

    Args:
        kernel: a compiled function that releases the GIL.
        rowptr: (N + 1,) edge offsets of the rows.
        width: numbers touched per edge.
    """
    rows = len(rowptr) - 1
    threads = num_threads()
    if threads == 1 or (rowptr[-1] + rows) * width < _SMALL:
        kernel(0, rows, *arguments)
        return
    work = rowptr + np.arange(rows + 1)
    inner = np.searchsorted(work, np.linspace(0, work[-1], threads * _CHUNKS_PER_THREAD + 1)[1:-1])
    _run(kernel, threads, [0, *inner.tolist(), rows], arguments)


def over_range(kernel: Callable, count: int, width: int, *arguments) -> None:
    """Call `kernel(begin, end, *arguments)` over 0 .. count, each item touching `width` numbers."""
    threads = num_threads()
    if threads == 1 or count * width < _SMALL:
        kernel(0, count, *arguments)
        return
    _run(kernel, threads, np.linspace(0, count, threads * _CHUNKS_PER_THREAD + 1).astype(int).tolist(), arguments)


def _run(kernel: Callable, threads: int, bounds: list[int], arguments: tuple) -> None:
    ranges = [(begin, end) for begin, end in itertools.pairwise(bounds) if begin < end]
    taken = itertools.count()  # next() is atomic
    done: SimpleQueue[int | BaseException] = SimpleQueue()

    def work() -> None:
        count = 0
        try:
            while (k := next(taken)) < len(ranges):
                kernel(*ranges[k], *arguments)
                count += 1
        except BaseException as error:
            done.put(error)
        else:
            done.put(count)

    # This thread works too: the others may be slow to start.
    tasks = _tasks(threads - 1)
    for _ in range(threads - 1):
        tasks.put(work)
    work()
    finished = 0
    while finished < len(ranges):  # whoever comes too late for a range is not waited for
        answer = done.get()
        if isinstance(answer, BaseException):
            raise answer
        finished += answer
