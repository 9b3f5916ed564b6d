"""Failed runs in words: a phrase for each reason, with its cells and splits."""

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
    said = []
    if selection["winner"] is None:
        winner = selection["winners"][selection["rule"]]
        said.append(winner["reason"])
    if selection["failed"]:
        said.append(_lost(selection["failed"], selection["cells"]))
    return "; ".join(filter(None, said))


def _lost(failed: Sequence[Mapping[str, Any]], of: Sequence[Mapping[str, Any]]) -> str:
    """Say which cells failed, on which splits, and why.

    Args:
        failed: `cell`, `split` and `reason` of each run that failed.
        of: every cell, with the number of its splits, `n_splits`.
    """
    runs = pd.DataFrame(failed)
    runs["reason"] = [_reason(run) for run in failed]
    by_cell = runs.groupby(["cell", "reason"], sort=False)["split"]
    alike = by_cell.agg(lambda splits: tuple(sorted(splits))).reset_index()
    n_splits = max(cell["n_splits"] for cell in of)
    on_every_split = bool((alike["split"].map(len) == n_splits).all())

    phrases = []
    for (reason, splits), rows in alike.groupby(["reason", "split"], sort=False):
        what = in_words(*rows["cell"])
        if not on_every_split:
            what += f", {numbered(splits)}"
        phrases.append(f"{what}: {reason}")
    text = "; ".join(phrases[:_SHOWN])
    if len(phrases) > _SHOWN:
        text += f"; and {len(phrases) - _SHOWN} more"

    lost = f"{runs['cell'].nunique()} of {len(of)} cells failed"
    if on_every_split:
        lost += " on every split"
    return f"{lost} ({text})"


def _reason(run: Mapping[str, Any]) -> str:
    reason = run["reason"].removeprefix(f"{run['cell']}: ")
    return reason.rstrip(".")


def in_words(*paths: str) -> str:
    """Name cells: `α_χ^max 0.5, η 1.0`; of one parameter as `threshold 0.1, 0.3`."""
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
    """Name splits: `split 2`, or `splits 0, 1 and 2`."""
    *others, last = map(str, splits)
    if not others:
        return f"split {last}"
    return f"splits {', '.join(others)} and {last}"
