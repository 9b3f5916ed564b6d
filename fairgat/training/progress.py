"""Say how far a job is."""

import time
from collections.abc import Callable

_LINES = 20  # per job


def log_lines(epochs: int) -> Callable[[int, dict[str, float]], None]:
    """Print about twenty lines over all epochs, with the scores and the pace.

    The pace is that since the first epoch, which waits for kernels to compile.
    """
    first = 0.0
    every = max(1, epochs // _LINES)
    width = len(str(epochs))

    def report(epoch: int, row: dict[str, float]) -> None:
        nonlocal first
        first = first or time.perf_counter()
        if epoch % every and epoch != epochs:
            return
        line = f"epoch {epoch:>{width}}/{epochs}"
        for name, value in row.items():
            if name != "epoch":
                line += f"  {name.removeprefix('validation_')} {value:.4f}"
        if epoch > 1:
            seconds = time.perf_counter() - first
            line += f"  {1000 * seconds / (epoch - 1):.1f} ms/epoch"
        print(line, flush=True)

    return report
