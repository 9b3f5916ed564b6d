"""Keep an object in its own process, whose peak memory is its own and which may run out of memory alone."""

import multiprocessing
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

GIB = 2**30
# One process imports PyTorch, and each worker is a fork of it that has computed nothing yet.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["fairgat.bench.networks", "torch._dynamo"])  # the latter for Adam
_kept: Any = None  # in the worker's process


class Worker(ProcessPoolExecutor):
    """`make(*arguments)` in a fresh process, which ends with the `with` block.

    Args:
        make: importable; what it makes stays in the process, which calls the methods.
        limit_gib: memory that the process may take; None for no limit.

    Errors in the process are raised here.

    Raises:
        MemoryError: the process needed more, now or in a call.
    """

    def __init__(self, make: Callable[..., Any], *arguments: Any, limit_gib: float | None = None) -> None:
        super().__init__(max_workers=1, mp_context=_FORKS)
        self._result(_make, limit_gib, make, arguments)

    def call(self, method: str, *arguments: Any) -> Any:
        return self._result(_call, method, arguments)

    def _result(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return self.submit(function, *arguments).result()
        except BrokenProcessPool:
            raise MemoryError("killed") from None
        except RuntimeError as error:
            if "allocate memory" in str(error):  # PyTorch's
                raise MemoryError(str(error)) from None
            raise


def _make(limit_gib: float | None, make: Callable[..., Any], arguments: tuple) -> None:
    global _kept
    if limit_gib is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (int(limit_gib * GIB), int(limit_gib * GIB)))
    _kept = make(*arguments)


def _call(method: str, arguments: tuple) -> Any:
    return getattr(_kept, method)(*arguments)
