"""Failed runs in words: one phrase per reason, however many cells and splits failed alike."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fairgat import cells

_SHOWN = 3


def failed_cells(failed: Iterable[Mapping[str, Any]], n_cells: int, n_splits: int) -> str:
    """Such as `2 of 4 cells failed on every split (threshold 0.001, 0.01: the graph is too dense)`.

    Args:
        failed: `cell`, `split` and `reason` of each failed run of one method on one data set. A reason that begins
            with its cell loses that beginning.
        n_cells: cells of the method's grid.
        n_splits: splits of the data set.
    """
    splits: dict[tuple[str, str], list[int]] = {}
    for run in failed:
        reason = run["reason"].removeprefix(f"{run['cell']}: ").rstrip(".")
        splits.setdefault((run["cell"], reason), []).append(run["split"])
    alike: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for (cell, reason), numbers in splits.items():
        alike.setdefault((reason, tuple(sorted(numbers))), []).append(cell)
    everywhere = all(len(numbers) == n_splits for _, numbers in alike)
    phrases = [
        f"{in_words(*names)}{'' if everywhere else f', {_numbered(numbers)}'}: {reason}"
        for (reason, numbers), names in alike.items()
    ]
    rest = len(phrases) - _SHOWN
    text = "; ".join(phrases[:_SHOWN]) + (f"; and {rest} more" if rest > 0 else "")
    lost = len({cell for cell, _ in splits})
    return f"{lost} of {n_cells} cells failed{' on every split' if everywhere else ''} ({text})"


def of_selection(selection: Mapping[str, Any]) -> str:
    """Say why no cell was chosen, and which cells failed; empty where neither is so.

    Args:
        selection: as `fairgat.scores.selection.select` gives it.
    """
    why = selection["winners"][selection["rule"]]["reason"] if selection["winner"] is None else ""
    if not selection["failed"]:
        return why
    lost = failed_cells(
        selection["failed"], len(selection["cells"]), max(cell["n_splits"] for cell in selection["cells"])
    )
    return f"{why}; {lost}" if why else lost


def in_words(*paths: str) -> str:
    """Cells for people: `alpha_chi_max 0.5, eta 1.0`; several with one parameter in common as `threshold 0.1, 0.3`."""
    parameters = [cells.from_path(path) for path in paths]
    names = {name for values in parameters for name in values}
    if len(names) == 1:
        return f"{names.pop()} " + ", ".join(str(value) for values in parameters for value in values.values())
    return " and ".join(
        ", ".join(f"{name} {value}" for name, value in values.items()) or cells.DEFAULT for values in parameters
    )


def _numbered(splits: Sequence[int]) -> str:
    *others, last = map(str, splits)
    return f"splits {', '.join(others)} and {last}" if others else f"split {last}"
