"""The files that tables and figures read, and the types of what they are given."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fairgat import frames
from fairgat.config import Task
from fairgat.config.shown import Shown
from fairgat.files import damaged, read_json
from fairgat.plan import cell_folder
from fairgat.scores.compare import by_run
from fairgat.scores.perfect import COLUMNS
from fairgat.scores.runs import read, rows_under
from fairgat.scores.summary import with_same

Settings = Shown
"""Of a table or a figure."""
Files = Mapping[str, Sequence[str | Path]]
"""Paths by kind (`fairgat.plan.KINDS`)."""
Selections = Mapping[tuple[str, str], Mapping[str, Any]]
"""The content of selection.json by data set and method."""


def winners(files: Files, settings: Settings) -> pd.DataFrame:
    """Read winners.csv, under the rule and the protocols that are shown.

    Raises:
        DataError: it is cut off or damaged, or lacks a cell that a selection names.
    """
    frame = read(*files["winners"])
    known = frame[["dataset", "method", "rule"]]
    there = set(known.itertuples(index=False, name=None))
    for entry in map(read_json, files.get("selection", ())):
        dataset, method = entry["dataset"], entry["method"]
        for rule, winner in entry["winners"].items():
            is_there = (dataset, method, rule) in there
            if winner["cell"] is not None and not is_there:
                what = f"lacks {method} on {dataset}, chosen by the rule {rule}"
                raise damaged(files["winners"][0], what)
    frame = with_same(rows_under(frame, *settings.protocols), settings.same)
    return frame[frame["rule"] == settings.rule]


def scores_on_test(
    files: Files, settings: Settings, chosen: Selections
) -> pd.DataFrame:
    """Read the test scores of every run; also of methods that are another one.

    Raises:
        DataError: runs.csv is cut off or damaged, or lacks a run of a chosen cell.
    """
    runs = read(*files["runs"])
    splits = runs.groupby(["dataset", "method", "cell"])["split"].nunique()
    for (dataset, method), entry in chosen.items():
        if method in settings.same:
            continue
        for cell in entry["cells"]:
            found = splits.get((dataset, method, cell["cell"]), 0)
            if found < cell["n_splits"]:
                what = f"lacks runs of {method} ({cell['cell']}) on {dataset}"
                raise damaged(files["runs"][0], what)
    scores = by_run(runs, settings.protocols)
    return with_same(scores[scores["part"] == "test"], settings.same)


def perfect(files: Files) -> pd.DataFrame:
    """Read the scores of perfect predictions on each split, if they are given."""
    return frames.read(*files.get("perfect", ()), columns=COLUMNS, numbers=("value",))


def selections(files: Files, settings: Settings) -> Selections:
    """Read every selection.json; also for methods that are another one."""
    entries = [read_json(path) for path in files["selection"]]
    chosen = {(entry["dataset"], entry["method"]): entry for entry in entries}
    for name, other in settings.same.items():
        for entry in entries:
            if entry["method"] == other:
                chosen[entry["dataset"], name] = entry
    return chosen


def histories(
    files: Files, task: Task, dataset: str, method: str, cell: str
) -> list[pd.DataFrame]:
    """Read the history.csv of a cell's run on each split, of those that were given."""
    folder = f"/{cell_folder(task, dataset, method, cell)}/split-"
    paths = [path for path in files["histories"] if folder in str(path)]
    return [frames.read(path, columns=("epoch",)) for path in paths]


def by_dataset(paths: Sequence[str | Path]) -> dict[str, Any]:
    """Read JSON files that name their data set, by that."""
    return {entry["dataset"]: entry for entry in map(read_json, paths)}
