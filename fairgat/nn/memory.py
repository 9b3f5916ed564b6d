"""Keep freed memory in the process.

glibc may return arrays of some megabytes to the system when they are freed; its thresholds follow what was freed
before. Every epoch then waits for the same pages to be mapped and cleared again: up to a tenth of its time on the
Recidivism graph.
"""

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # malloc.h
_MIB = 2**20


def keep_freed() -> None:
    """Take arrays of up to 32 MiB, the most that glibc allows, from memory that is not given back from now on.

    Does nothing without glibc.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform.startswith("linux") else None
    if mallopt is not None and mallopt(_MMAP_THRESHOLD, 32 * _MIB):  # musl has none; 32-bit systems refuse
        mallopt(_TRIM_THRESHOLD, 1024 * _MIB)
        mallopt(_TOP_PAD, 64 * _MIB)
