"""Keeps freed memory in the process.

glibc returns arrays of some megabytes to the system when they are freed, or not, by thresholds that follow what was
freed before. Where it does, every epoch waits for the same pages again, and for their being cleared: up to a tenth of
its time on the Recidivism graph.
"""

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # malloc.h
_MIB = 2**20


def keep_freed() -> None:
    """From now on arrays of up to 32 MiB, the most that glibc allows, come from memory that is not given back.

    Without glibc nothing changes.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform.startswith("linux") else None
    if mallopt is not None and mallopt(_MMAP_THRESHOLD, 32 * _MIB):  # musl has none; 32-bit systems refuse
        mallopt(_TRIM_THRESHOLD, 1024 * _MIB)
        mallopt(_TOP_PAD, 64 * _MIB)
