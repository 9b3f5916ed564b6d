"""What becomes of a workflow's jobs when Snakemake ends before them.

A job of a Snakemake that was killed would go on writing while the next one runs. So
each Snakemake leaves its number in the environment of its jobs, on a cluster the one
within the job too, and each job looks whether that one still lives.
"""

import contextlib
import os
import signal
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

_NAME = "FAIRGAT_SNAKEMAKE"
_GRACE = 10.0  # seconds for a job to clear up


def begin() -> None:
    """Leave this process's number to its jobs, as the Snakemake that they end with."""
    os.environ[_NAME] = str(os.getpid())


def end_with_snakemake(every: float = 1.0, grace: float = _GRACE) -> None:
    """End this job, as Ctrl-C would, when the Snakemake that started it is no more.

    Shells may stand between both. Where the number is that of no process above this
    one, as in a container with numbers of its own, nothing is watched.

    Args:
        every: seconds between two looks.
        grace: seconds until a job that does not heed Ctrl-C is ended all the same.
    """
    number = os.environ.get(_NAME)
    if number is None:
        return
    import psutil

    for process in psutil.Process().parents():
        if str(process.pid) == number:
            arguments = process, every, grace
            threading.Thread(target=_watch, args=arguments, daemon=True).start()


def _watch(snakemake: "psutil.Process", every: float, grace: float) -> None:
    """Wait for Snakemake's end, then end this job."""
    while _lives(snakemake):
        time.sleep(every)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(grace)
    os._exit(130)


def _lives(process: "psutil.Process") -> bool:
    """Say whether it runs; one that has ended and is not waited for does not."""
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill_jobs_at_second_interrupt() -> None:
    """Let a second Ctrl-C kill the jobs.

    One that computes may not heed the first for long. Snakemake then ends as ever: it
    removes what was half made, and its lock. A third is like the first, in case that
    Snakemake has missed that one. Ctrl-C that is ignored, as in the background, stays
    ignored.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    interrupts = 0

    def interrupted(number: int, frame: FrameType | None) -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            _kill_children()
        if interrupts == 2:
            return  # Snakemake is ending already
        if interrupts == 1:
            # Not by print(), which Ctrl-C may have interrupted.
            os.write(2, b"Ending the jobs. Ctrl-C again kills them.\n")
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)


def _kill_children() -> None:
    """Kill the processes that this one started, and those that they did."""
    import psutil

    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
