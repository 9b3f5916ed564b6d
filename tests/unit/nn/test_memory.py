"""What the process keeps of freed memory."""

import subprocess
import sys

import pytest

FAULTS = """
import resource
import numpy as np
{call}

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        arrays = [np.empty(3_000_000, np.uint8) for _ in range(4)]
        for array in arrays:
            array[::4096] = 1
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(faults())
"""


def faults(call):
    code = FAULTS.format(call=call)
    return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's malloc")
def test_freed_arrays_are_not_faulted_in_again():
    """20 x 4 x 733 pages otherwise, or as glibc's thresholds will have it; and only where it is asked for."""
    assert faults("from fairgat.nn import keep_freed_memory; keep_freed_memory()") < 1000
    assert faults("import fairgat.nn") > 1000
