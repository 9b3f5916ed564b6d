"""Keeps Snakemake's scheduler from looking at the waiting jobs ever more often.

For its rate limit (--max-jobs-per-timespan, by default 100/1s) Snakemake 9 sets a timer at every look, which makes it
look again a second later; and each job that ends starts another such chain. After hundreds of jobs it looks hundreds of
times a second, at hundreds of jobs: seen to take more and more of a core that training needs. Two are enough.
"""

import threading
import time

_SECONDS = 5  # between two rounds


def start() -> None:
    """Cancel surplus timers now and then, in a thread that ends with the process."""
    threading.Thread(target=_repeat, daemon=True).start()


def cancel_surplus() -> None:
    """Cancel all of the scheduler's timers but the earliest, which is due, and the latest, which it may have set."""
    timers = [thread for thread in threading.enumerate() if _is_schedulers(thread)]
    for timer in timers[1:-1]:  # in the order of their start
        timer.cancel()


def _repeat() -> None:
    while True:
        time.sleep(_SECONDS)
        cancel_surplus()


def _is_schedulers(thread: threading.Thread) -> bool:
    return isinstance(thread, threading.Timer) and "JobScheduler" in getattr(thread.function, "__qualname__", "")
