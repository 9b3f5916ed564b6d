"""Say how far a job is."""

import time
from collections.abc import Callable

_LINES = 20  # per job


def log_lines(epochs: int) -> Callable[[int, dict[str, float]], None]:
    """Print about twenty lines over all epochs."""
    started = time.perf_counter()
    every = max(1, epochs // _LINES)

    def report(epoch: int, row: dict[str, float]) -> None:
        if epoch % every == 0 or epoch == epochs:
            pace = (time.perf_counter() - started) / epoch
            done = f"{epoch:>{len(str(epochs))}}/{epochs}"
            scores = {name.removeprefix("validation_"): value for name, value in row.items() if name != "epoch"}
            shown = "  ".join(f"{name} {value:.4f}" for name, value in scores.items())
            print(f"epoch {done}  {shown}  {1000 * pace:.1f} ms/epoch", flush=True)

    return report
