"""How a process shares its threads out between the kernels and PyTorch."""

from fairgat.nn import linear, parallel


def set_num_threads(threads: int) -> None:
    """Use `threads` threads: all of them in the kernels, and one in PyTorch where large products are kernels, too.

    What is left to PyTorch is small then, and OpenMP's threads take longer to wake than they save. On processors
    without AVX-512, where PyTorch does the products, it gets as many. `torch.set_num_threads` alone is for both; called
    afterwards with another number than PyTorch has, it counts.

    Args:
        threads: at least 1, for the whole process.

    Raises:
        ValueError: threads is not positive.
    """
    if threads < 1:
        raise ValueError(f"at least one thread is needed, got {threads}")
    parallel.share_threads(threads, 1 if linear.products is not None and linear.products.AVX512 else threads)
