"""Failed runs in words: one phrase per reason, however many cells and splits failed alike."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from fairgat import cells
from fairgat.report.labels import parameter

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
    """Cells for people: `α_χ^max 0.5, η 1.0`; of one parameter as `threshold 0.1, 0.3`."""
    parameters = [cells.from_path(path) for path in paths]
    names = set().union(*parameters)
    if len(names) == 1:
        (name,) = names
        values = [str(cell[name]) for cell in parameters if cell]
        return f"{parameter(name)} {', '.join(values)}"
    return " and ".join(map(_cell, parameters))


def _cell(parameters: Mapping[str, cells.Value]) -> str:
    values = [f"{parameter(name)} {value}" for name, value in parameters.items()]
    return ", ".join(values) or cells.DEFAULT


def numbered(splits: Sequence[int]) -> str:
    *others, last = map(str, splits)
    return f"splits {', '.join(others)} and {last}" if others else f"split {last}"
