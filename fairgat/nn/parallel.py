"""How Numba's kernels are compiled and run: cached where a folder can be written, on the threads of PyTorch's pool.

Threads are OpenMP's, of the pool that PyTorch has loaded: two pools would spin against each other (57 against 35 ms for
an epoch on Recidivism with two threads).
"""

import os

import numba
import torch
from numba import njit

if not {"NUMBA_THREADING_LAYER", "NUMBA_THREADING_LAYER_PRIORITY"} & os.environ.keys():
    numba.config.THREADING_LAYER_PRIORITY = ["omp", "tbb", "workqueue"]

OPTIONS = {"nogil": True, "error_model": "numpy"}


def compiled(**options):
    """`numba.njit` with a cache on disk, or without one where no folder can be written: see NUMBA_CACHE_DIR."""

    def decorate(function):
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # no locator: neither the package's folder nor the user's cache
            return njit(**options)(function)

    return decorate


_forked = False  # from a process whose OpenMP threads this one does not have


def _after_fork() -> None:
    global _forked
    try:
        _forked = numba.threading_layer() == "omp"
    except ValueError:  # no kernel has run yet
        _forked = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def available() -> bool:
    """Whether kernels can run in this process: not in one that was forked from one that has run them.

    Raises:
        RuntimeError: it was, and has more than one thread, for which PyTorch itself could wait for ever.
    """
    if _forked and torch.get_num_threads() > 1:
        raise RuntimeError(
            "this process was forked from one that has computed attention, and cannot use OpenMP on its own: call "
            'torch.set_num_threads(1) in it, start it with multiprocessing\'s "spawn" method, or set '
            "NUMBA_THREADING_LAYER=workqueue"
        )
    return not _forked


def launch(kernel, *arguments) -> None:
    """Call a parallel kernel on as many threads as PyTorch has."""
    threads = torch.get_num_threads()
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    if torch.get_num_threads() != threads:  # Numba, as it starts, tells OpenMP to use every core, PyTorch's loops, too
        torch.set_num_threads(threads)
    return kernel(*arguments)
