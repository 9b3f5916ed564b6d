"""Keep freed memory in the process.

glibc returns large arrays to the system when they are freed. Every epoch then waits for the same pages to be mapped and
cleared again: up to a tenth of its time on the Recidivism graph, a third in link prediction on Pubmed, nearly half with
500,000 nodes. There the price is a peak a third to a half higher, for the gaps in the heap; with a million nodes it is
more (docs/performance.md).
"""

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4  # malloc.h
_MIB = 2**20


def keep_freed_memory() -> None:
    """Take arrays of every size from the heap, of which up to 1 GiB stays in the process when they are freed.

    It holds for the whole process, all its libraries included, and does nothing without glibc.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform.startswith("linux") else None
    if mallopt is not None and mallopt(_MMAP_MAX, 0):  # musl has none
        mallopt(_TRIM_THRESHOLD, 1024 * _MIB)
        mallopt(_TOP_PAD, 64 * _MIB)
