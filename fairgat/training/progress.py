"""Say how far a job is."""

import time
from collections.abc import Callable

_LINES = 20  # per job


def log_lines(epochs: int) -> Callable[[int, dict[str, float]], None]:
    """Print about twenty lines over all epochs, with the pace since the first, which waits for kernels to compile."""
    first = 0.0
    every = max(1, epochs // _LINES)

    def report(epoch: int, row: dict[str, float]) -> None:
        nonlocal first
        first = first or time.perf_counter()
        if epoch % every == 0 or epoch == epochs:
            pace = (
                f"  {1000 * (time.perf_counter() - first) / (epoch - 1):.1f} ms/epoch"
                if epoch > 1
                else ""
            )
            done = f"{epoch:>{len(str(epochs))}}/{epochs}"
            scores = {
                name.removeprefix("validation_"): value
                for name, value in row.items()
                if name != "epoch"
            }
            shown = "  ".join(f"{name} {value:.4f}" for name, value in scores.items())
            print(f"epoch {done}  {shown}{pace}", flush=True)

    return report
