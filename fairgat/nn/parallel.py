"""What the kernels and the layers do to their process: compiling, threads, memory.

Kernels are cached where a folder can be written. Threads are OpenMP's, of the pool that
PyTorch has loaded: two pools would spin against each other (57 against 35 ms for an
epoch on Recidivism with two threads).
"""

import ctypes
import os
import sys
import threading
from contextlib import nullcontext

import numba
import torch
from numba import njit

if not {"NUMBA_THREADING_LAYER", "NUMBA_THREADING_LAYER_PRIORITY"} & os.environ.keys():
    numba.config.THREADING_LAYER_PRIORITY = ["omp", "tbb", "workqueue"]

OPTIONS = {"nogil": True, "error_model": "numpy"}


def compiled(**options):
    """`numba.njit`, with a cache where a folder can be written (NUMBA_CACHE_DIR)."""

    def decorate(function):
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # neither the package's folder nor the user's cache
            return njit(**options)(function)

    return decorate


_forked = False  # from a process whose OpenMP threads this one does not have


def _after_fork() -> None:
    """Leave the kernels to the reference, on one thread.

    PyTorch, too, would wait for ever for more of them.
    """
    global _forked
    _forked = _threading_layer() == "omp"
    if _forked:
        torch.set_num_threads(1)


def _threading_layer() -> str | None:
    """Numba's; None where no kernel has run yet."""
    try:
        return numba.threading_layer()
    except ValueError:
        return None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def available() -> bool:
    """Whether kernels can run here: not in a fork of a process that has run them."""
    return not _forked


_one_at_a_time = threading.RLock()


def launch(kernel, *arguments) -> None:
    """Call a parallel kernel on as many threads as PyTorch has.

    One at a time, where Numba's threads need that.
    """
    needs_lock = _threading_layer() in (None, "workqueue")
    with _one_at_a_time if needs_lock else nullcontext():
        threads = torch.get_num_threads()
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        # Numba tells OpenMP, as it starts, to use every core.
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        return kernel(*arguments)


# ------------------------------------------------------------------------------- memory

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4  # malloc.h
_MIB = 2**20


def keep_freed_memory() -> None:
    """Keep freed memory in the process: arrays are taken from the heap.

    Up to 1 GiB of it stays.

    glibc returns large arrays to the system when they are freed. Every epoch then waits
    for the same pages to be mapped and cleared again: up to a tenth of its time on the
    Recidivism graph, a third in link prediction on Pubmed, nearly half with 500,000
    nodes. There the price is a peak a third to a half higher, for the gaps in the heap;
    with a million nodes it is more (docs/performance.md).

    It holds for the whole process, all its libraries included, and does nothing without
    glibc.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is not None and mallopt(_MMAP_MAX, 0):
        mallopt(_TRIM_THRESHOLD, 1024 * _MIB)
        mallopt(_TOP_PAD, 64 * _MIB)
