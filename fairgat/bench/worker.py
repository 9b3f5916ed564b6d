"""Keep an object in a process of its own, which answers when asked.

Its peak memory is then its own, running out of memory ends nothing else, and it shares no threads and no modules.
"""

import multiprocessing
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Self

_CONTEXT = multiprocessing.get_context("spawn")
GIB = 2**30


class Worker:
    """`make(*arguments)` in a fresh process, which ends with the `with` block.

    Args:
        make: importable; its result's methods are called by name.
        limit_gib: memory that the process may take; None for no limit.

    Raises:
        MemoryError: the process needed more, now or in a call.
        RuntimeError: it failed otherwise; the text is that of its error.
    """

    def __init__(self, make: Callable[..., Any], *arguments: Any, limit_gib: float | None = None) -> None:
        self._pipe, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_work, args=(theirs, limit_gib, make, arguments), daemon=True)
        self._process.start()
        theirs.close()
        self._answer()

    def call(self, method: str, *arguments: Any) -> Any:
        """The result of the object's method."""
        try:
            self._pipe.send((method, arguments))
        except OSError:
            raise MemoryError("killed") from None
        return self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe.close()
        self._process.join()

    def _answer(self) -> Any:
        try:
            error, value = self._pipe.recv()
        except (EOFError, OSError):  # ended without a word: killed for its memory
            error, value = MemoryError, "killed"
        if error:
            self.__exit__()
            raise error(value)
        return value


def _work(pipe: Connection, limit_gib: float | None, make: Callable[..., Any], arguments: tuple) -> None:
    if limit_gib is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (int(limit_gib * GIB), int(limit_gib * GIB)))
    try:
        kept = make(*arguments)
        pipe.send((None, None))
        while True:
            method, arguments = pipe.recv()
            pipe.send((None, getattr(kept, method)(*arguments)))
    except EOFError:  # no more questions
        pass
    except Exception as error:  # whatever it is, the parent says it
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        out_of_memory = isinstance(error, MemoryError) or "allocate memory" in text
        pipe.send((MemoryError if out_of_memory else RuntimeError, text))
