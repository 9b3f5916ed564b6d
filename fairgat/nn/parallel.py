"""Threads for the Numba kernels, over ranges of rows: as many as PyTorch uses, or a number of their own.

A kernel writes each row, or each block of rows, from one thread only, so its result doesn't depend on how the rows
are divided.
"""

import bisect
import functools
import itertools
import os
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue

import numpy as np
import torch

_SMALL = 1 << 16  # numbers touched, below which a second thread costs more than it saves
_SHARES = (2, 1, 1)  # of a thread's work: several, so that uneven rows even out, and small ones at the end

_given: dict[int, int] = {}  # PyTorch's number of threads when the kernels were given theirs: theirs


def num_threads() -> int:
    """How many threads the kernels use."""
    threads = torch.get_num_threads()
    if threads not in _given:
        _given.clear()  # PyTorch was given another number, which counts from now on
    return _given.get(threads, threads)


def share_threads(kernels: int, others: int) -> None:
    """Let the kernels use `kernels` threads and PyTorch `others`."""
    torch.set_num_threads(others)
    _given.clear()
    _given[others] = kernels


class _Pool:
    """Threads that wait for tasks: less of a detour than concurrent.futures, some twenty times an epoch."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._started = 0

    def run(self, task: Callable[[], None], times: int) -> None:
        """Have `task`, which must not raise, called `times` times, each by one thread or by one after another."""
        with self._lock:
            for _ in range(times - self._started):
                threading.Thread(target=self._work, name="fairgat", daemon=True).start()
            self._started = max(self._started, times)
        for _ in range(times):
            self._tasks.put(task)

    def _work(self) -> None:
        while True:
            self._tasks.get()()


_pool = _Pool()


def _start_anew() -> None:
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):  # a forked child has the pool, but not its threads
    os.register_at_fork(after_in_child=_start_anew)


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
    _run(kernel, threads, _ranges(row_cuts(rowptr, _shares(threads))), arguments)


def over_range(kernel: Callable, count: int, width: int, *arguments) -> None:
    """Call `kernel(begin, end, *arguments)` over 0 .. count, each item touching `width` numbers."""
    threads = num_threads()
    if threads == 1 or count * width < _SMALL:
        kernel(0, count, *arguments)
        return
    _run(kernel, threads, _even_ranges(count, threads), arguments)


def row_cuts(rowptr: np.ndarray, shares: Sequence[int]) -> list[int]:
    """The rows at which ranges with about these shares of the work begin, and the end; an edge is work, and a row."""
    rows, edges = len(rowptr) - 1, memoryview(rowptr)  # whose items are Python's numbers, not NumPy's
    inner = _cuts(edges[rows] + rows, shares)[1:-1]
    return [0, *(bisect.bisect_left(range(rows), work, key=lambda row: edges[row] + row) for work in inner), rows]


def _cuts(count: int, shares: Sequence[int]) -> list[int]:
    return [count * done // sum(shares) for done in itertools.accumulate(shares, initial=0)]


@functools.cache
def _shares(threads: int) -> tuple[int, ...]:
    """Several ranges for each thread, the large ones first."""
    return tuple(share for share in _SHARES for _ in range(threads))


@functools.lru_cache(256)
def _even_ranges(count: int, threads: int) -> list[tuple[int, int]]:
    return _ranges(_cuts(count, _shares(threads)))


def _ranges(bounds: list[int]) -> list[tuple[int, int]]:
    return [(begin, end) for begin, end in itertools.pairwise(bounds) if begin < end]


def _run(kernel: Callable, threads: int, ranges: list[tuple[int, int]], arguments: tuple) -> None:
    supply = iter(ranges)  # from which each thread takes one after another
    done: SimpleQueue[tuple[int, BaseException | None]] = SimpleQueue()

    def work() -> None:
        count, error = 0, None
        for begin, end in supply:
            count += 1
            try:
                if error is None:  # after an error nobody goes on
                    kernel(begin, end, *arguments)
            except BaseException as raised:
                error = raised
        done.put((count, error))

    # This thread works too: the others may be slow to start.
    _pool.run(work, threads - 1)
    work()
    finished, errors = 0, []
    while finished < len(ranges):  # whoever comes too late for a range is not waited for
        count, error = done.get()
        finished += count
        errors += [] if error is None else [error]
    if errors:
        raise errors[0]
