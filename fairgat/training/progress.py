"""Show how far a job is: lines in a log, or a bar on a terminal."""

import time
from collections.abc import Callable

from tqdm import tqdm

_LINES = 20  # per job


def log_lines(epochs: int) -> Callable[[int, dict[str, float]], None]:
    """Print about twenty lines over all epochs."""
    started = time.perf_counter()
    every = max(1, epochs // _LINES)

    def report(epoch: int, row: dict[str, float]) -> None:
        if epoch % every == 0 or epoch == epochs:
            pace = (time.perf_counter() - started) / epoch
            done = f"{epoch:>{len(str(epochs))}}/{epochs}"
            print(f"epoch {done}  {_describe(row)}  {1000 * pace:.1f} ms/epoch", flush=True)

    return report


def bar(epochs: int, title: str) -> Callable[[int, dict[str, float]], None]:
    progress = tqdm(total=epochs, desc=title, unit="epoch", dynamic_ncols=True)

    def report(epoch: int, row: dict[str, float]) -> None:
        progress.set_postfix_str(_describe(row), refresh=False)
        progress.update()
        if epoch == epochs:
            progress.close()

    return report


def _describe(row: dict[str, float]) -> str:
    return "  ".join(
        f"{name.removeprefix('validation_')} {value:.4f}" for name, value in row.items() if name != "epoch"
    )
