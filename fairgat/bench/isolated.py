"""Runs a measurement in a process of its own: its peak memory is then its own, and running out ends only it."""

import json
import multiprocessing
import resource
from collections.abc import Callable
from typing import Any

_CONTEXT = multiprocessing.get_context("spawn")
GIB = 2**30


def run(function: Callable[..., Any], *arguments: Any, limit_gib: float | None = None) -> Any:
    """`function(*arguments)` in a fresh process.

    Args:
        function: importable, with a JSON-serialisable result.
        limit_gib: memory that the process may take; None for no limit.

    Raises:
        MemoryError: it needed more.
        RuntimeError: it failed otherwise; the text is that of its error.
    """
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_child, args=(sender, function, arguments, limit_gib))
    process.start()
    sender.close()
    try:
        answer = json.loads(receiver.recv())
    except EOFError:  # ended without a word: killed for its memory
        answer = {"memory": "killed"}
    process.join()
    if "memory" in answer:
        raise MemoryError(answer["memory"])
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer["result"]


def peak_gib() -> float:
    """The most memory that this process has held, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB  # Linux counts in KiB


def _child(sender, function, arguments, limit_gib) -> None:
    if limit_gib is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (int(limit_gib * GIB), int(limit_gib * GIB)))
    try:
        answer = {"result": function(*arguments)}
    except MemoryError as error:
        answer = {"memory": str(error)}
    except Exception as error:  # whatever it is, the parent says it
        text = f"{type(error).__name__}: {error}"
        answer = {"memory": text} if "allocate memory" in text else {"error": text}
    sender.send(json.dumps(answer))
