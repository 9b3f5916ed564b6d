"""How a process shares its threads out between the kernels and PyTorch."""

import operator

from fairgat.nn import linear, parallel


def set_num_threads(threads: int) -> None:
    """Use `threads` threads: all of them in the kernels, and one in PyTorch where large products are kernels, too.

    These are products of many rows in float32, with AVX-512. Of this package's layers little is left to PyTorch then,
    and OpenMP's threads take longer to wake than they save. On other processors, and without Numba, PyTorch gets as
    many. This call with 1 is the way back to one thread; `torch.set_num_threads` with a number that PyTorch does not
    have gives it to both.

    Args:
        threads: at least 1. As PyTorch's number it reaches the calling thread, and others that have not used PyTorch.

    Raises:
        TypeError: threads is not an integer.
        ValueError: threads is not positive.
    """
    threads = operator.index(threads)
    if threads < 1:
        raise ValueError(f"at least one thread is needed, got {threads}")
    parallel.share_threads(threads, 1 if linear.products is not None and linear.products.AVX512 else threads)
