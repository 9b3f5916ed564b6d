"""Failed runs in words: one phrase per reason, however many cells and splits failed alike."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from fairgat import cells

_SHOWN = 3


def of_selection(selection: Mapping[str, Any]) -> str:
    """Say why no cell was chosen, and which cells failed; empty where neither is so.

    Such as `2 of 4 cells failed on every split (threshold 0.001, 0.01: the graph is too
    dense)`. A reason that begins with its cell loses that beginning.

    Args:
        selection: as `fairgat.scores.selection.select` gives it.
    """
    why = (
        selection["winners"][selection["rule"]]["reason"]
        if selection["winner"] is None
        else ""
    )
    if not selection["failed"]:
        return why
    failed, cells_of_method = pd.DataFrame(selection["failed"]), selection["cells"]
    failed["reason"] = [
        run["reason"].removeprefix(f"{run['cell']}: ").rstrip(".")
        for run in selection["failed"]
    ]
    alike = (
        failed.groupby(["cell", "reason"], sort=False)["split"]
        .agg(lambda splits: (*sorted(splits),))
        .reset_index()
    )
    everywhere = (
        alike["split"].map(len) == max(cell["n_splits"] for cell in cells_of_method)
    ).all()
    phrases = [
        f"{in_words(*names)}{'' if everywhere else f', {numbered(splits)}'}: {reason}"
        for (reason, splits), names in alike.groupby(["reason", "split"], sort=False)[
            "cell"
        ]
    ]
    text = "; ".join(phrases[:_SHOWN]) + (
        f"; and {len(phrases) - _SHOWN} more" if len(phrases) > _SHOWN else ""
    )
    where = " on every split" if everywhere else ""
    lost = f"{failed['cell'].nunique()} of {len(cells_of_method)} cells failed{where} ({text})"
    return f"{why}; {lost}" if why else lost


def in_words(*paths: str) -> str:
    """Cells for people: `alpha_chi_max 0.5, eta 1.0`; several with one parameter in common as `threshold 0.1, 0.3`."""
    parameters = [cells.from_path(path) for path in paths]
    names = {name for values in parameters for name in values}
    if len(names) == 1:
        return f"{names.pop()} " + ", ".join(
            str(value) for values in parameters for value in values.values()
        )
    return " and ".join(
        ", ".join(f"{name} {value}" for name, value in values.items()) or cells.DEFAULT
        for values in parameters
    )


def numbered(splits: Sequence[int]) -> str:
    *others, last = map(str, splits)
    return f"splits {', '.join(others)} and {last}" if others else f"split {last}"
