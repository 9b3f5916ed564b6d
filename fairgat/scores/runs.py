"""The scores of training runs as one tidy table.

Each row is one number of one run (a cell on one split), with the columns COLUMNS: `part` is `validation`, `test` or
`training`, `protocol` one of link prediction's (`fairgat.config.LinkTraining`), or a rule that chooses the epoch of
node classification (`fairgat.tasks.epochs`): empty for ours, and the others have only what the tables show. Scores are
fractions; one that is missing, such as a rate over nobody, has no value. `training` has `epoch` (the one reported),
`epochs` (all), `seconds` and `seconds_per_epoch`. A failed run is a single row with the metric `failure`, no value, and
why in `reason`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fairgat import frames, measures
from fairgat.config import TASKS
from fairgat.errors import DataError
from fairgat.files import damaged, read_json

COLUMNS = ("dataset", "method", "cell", "split", "part", "protocol", "metric", "value", "reason")
FAILURE = "failure"
CLOCK = ("seconds", "seconds_per_epoch")  # metrics that differ from run to run of the same code

_NUMBERS = ("split", "value", "mean", "std", "n_splits", "paper_mean", "paper_std")

Shard = tuple[str, str, Sequence[str], int]
"""A data set, a method, the method's cells there, and the number of splits."""


def collect(paths: Iterable[str | Path]) -> pd.DataFrame:
    """The rows of metrics.json files, in the order given.

    Raises:
        DataError: a file is missing, damaged or not a metrics.json.
    """
    return pd.DataFrame([row for path in paths for row in _rows(path)], columns=list(COLUMNS))


def _rows(path: str | Path) -> Iterator[dict[str, Any]]:
    content = read_json(path)
    try:
        run = {key: content[key] for key in ("dataset", "method", "cell", "split")}
        task = TASKS[content["task"]]
        judged = {} if "failure" in content else content["protocols"]
    except (KeyError, TypeError) as error:
        raise DataError(f"{path} is not a metrics.json of this version: {error} is missing or unknown") from None
    shown = measures.names(task.task, "shown")
    failure = content.get("failure") or _unusable(judged, measures.utility(task.task))
    if failure:
        yield run | {"part": "training", "protocol": "", "metric": FAILURE, "reason": failure}
        return
    for protocol, scores in judged.items():
        for part in ("validation", "test"):
            for metric, value in scores[part].items():
                if metric in shown or protocol not in task.epoch_rules:
                    yield run | {"part": part, "protocol": protocol, "metric": metric, "value": value, "reason": ""}
    training = {(protocol, "epoch"): scores.get("epoch") for protocol, scores in judged.items()}
    training["", "epochs"] = content.get("training", {}).get("epochs")
    training |= {("", name): content.get("runtime", {}).get(name) for name in CLOCK}
    for (protocol, metric), value in training.items():
        if value is not None:
            yield run | {"part": "training", "protocol": protocol, "metric": metric, "value": value, "reason": ""}


def _unusable(judged: Mapping[str, Mapping[str, Any]], utility: str) -> str | None:
    """Say why a run cannot be used: the measure that cells are chosen by is missing, or a score is not finite."""
    for scores in judged.values():
        for part in ("validation", "test"):
            values = scores.get(part) or {}
            if not isinstance(values.get(utility), int | float):
                return f"{part} {utility} is missing"
            for name, value in values.items():
                if value is not None and not math.isfinite(value):
                    return f"{part} {name} is {value}"
    return None


def trained_at(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """The `commit` of the code that trained, whether it was `modified`, and its number of `runs`; most runs first."""
    codes = [read_json(path).get("code") or {} for path in paths]
    counts = pd.Series([(code.get("commit"), code.get("modified")) for code in codes], dtype=object).value_counts()
    return [{"commit": code[0], "modified": code[1], "runs": int(runs)} for code, runs in counts.items()]


def read(*paths: str | Path) -> pd.DataFrame:
    """The rows of runs.csv, cells.csv or winners.csv files, one file after the other.

    Raises:
        DataError: a file is missing, cut off or damaged.
    """
    needed = ("dataset", "method", "metric")
    # There are no files where no data set of a task is run.
    return frames.read(*paths, columns=needed, numbers=_NUMBERS) if paths else pd.DataFrame(columns=list(COLUMNS))


def read_shards(paths: Sequence[str | Path], shards: Sequence[Shard]) -> pd.DataFrame:
    """The rows of the runs.csv of methods on data sets, one after the other.

    Args:
        paths: the file of each of `shards`.
        shards: the data set, the method, its cells, and the number of splits.

    Raises:
        DataError: a file is missing, cut off or damaged, or does not hold each of the cells on each of the splits.
    """
    for path, (dataset, method, cells, splits) in zip(paths, shards, strict=True):
        rows = read(path)
        ends = rows[rows["metric"].isin([FAILURE, CLOCK[-1]])]  # with which the rows of a run end
        there = set(ends[["dataset", "method", "cell", "split"]].itertuples(index=False, name=None))
        wanted = {(dataset, method, cell, split) for cell in cells for split in range(splits)}
        for what, runs in (("lacks the end of", wanted - there), ("has, besides its own runs,", there - wanted)):
            if runs:
                dataset, method, cell, split = min(runs)
                raise damaged(path, f"{what} {method} ({cell}) on {dataset}, split {split}")
    return read(*paths)


def under(frame: pd.DataFrame, *protocols: str) -> pd.DataFrame:
    """The rows of tasks with a single protocol, and of the others those under these protocols."""
    return frame[frame["protocol"].isin(["", *protocols])]
