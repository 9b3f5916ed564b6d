"""The scores of training runs as one tidy table.

Each row is one number of one run (a cell on one split), with the columns COLUMNS:

- `part` is `validation`, `test` or `training`.
- `protocol` is one of link prediction's (`fairgat.config.LinkTraining`), or a rule that
  chooses the epoch of node classification (`fairgat.tasks.epochs`): empty for ours, and
  the others have only what the tables show.
- `value` is a fraction, and empty for a score that is missing, such as a rate over
  nobody.

`training` has `epoch` (the one reported), `epochs` (all), `seconds` and
`seconds_per_epoch`. A failed run is a single row with the metric `failure`, no value,
and why in `reason`.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairgat import frames, measures
from fairgat.config import TASKS, Task
from fairgat.data.graph import Graph, load_npz
from fairgat.data.splits import HELD_OUT
from fairgat.errors import DataError
from fairgat.files import damaged
from fairgat.measures import Scores
from fairgat.training.record import Record, unpack

COLUMNS = (
    "dataset",
    "method",
    "cell",
    "split",
    "part",
    "protocol",
    "metric",
    "value",
    "reason",
)
FAILURE = "failure"
CLOCK = ("seconds", "seconds_per_epoch")
"""Metrics that differ from run to run of the same code."""

_NUMBERS = ("split", "value", "mean", "std", "n_splits", "paper_mean", "paper_std")

Shard = tuple[str, str, Sequence[str], Sequence[int]]
"""A data set, a method, the method's cells there, and the numbers of the splits."""


@dataclass(frozen=True)
class Judged:
    """A run and its scores under each protocol; none where it failed."""

    run: Record
    scores: Mapping[str, Scores]


def judged(
    path: str | Path,
    graph: Graph,
    split: Mapping[str, np.ndarray],
    inputs: Mapping[str, str],
    check: Callable[[str | Path, Record], None] | None = None,
) -> Judged:
    """Judge the run of a run.json by its predictions, the graph and the split.

    Args:
        inputs: what `fairgat.training.record.digests` gives of the files of graph and
            split.
        check: what refuses the record at a path, such as
            `fairgat.scores.asked.Asked`'s.

    Raises:
        DataError: a file is missing or damaged, they are not of one run, or it is
            refused.
    """
    folder = Path(path).parent
    run = Record.read(path)
    if check:
        check(path, run)
    predictions = load_npz(folder / "predictions.npz")
    run.check_inputs(folder, inputs)

    scores = {}
    try:
        for protocol, epoch in run.epochs.items():
            kept = unpack(predictions, epoch)
            scores[protocol] = measures.judge(
                run.trained_by, graph, split, kept, protocol
            )
    except (DataError, IndexError, KeyError, ValueError) as error:
        raise DataError(
            f"{folder}: predictions.npz is not of this run: {error}"
        ) from None
    return Judged(run, scores)


def table(runs: Iterable[Judged]) -> pd.DataFrame:
    """List the rows of judged runs, in the order given."""
    rows = [row for run in runs for row in _rows(run)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(judged: Judged) -> Iterator[dict[str, Any]]:
    """List the rows of a run."""
    run = judged.run

    def row(
        part: str, protocol: str, metric: str, value: float = math.nan, reason: str = ""
    ) -> dict[str, Any]:
        return {
            "dataset": run.dataset,
            "method": run.method,
            "cell": run.cell,
            "split": run.split,
            "part": part,
            "protocol": protocol,
            "metric": metric,
            "value": value,
            "reason": reason,
        }

    failure = run.failure or _unusable(judged.scores, measures.utility(run.task))
    if failure:
        yield row("training", "", FAILURE, reason=failure)
        return

    for protocol, parts in judged.scores.items():
        for part in HELD_OUT:
            kept = _kept(run.task, protocol, parts[part])
            for metric, value in kept.items():
                yield row(part, protocol, metric, value)
    for protocol, epoch in run.epochs.items():
        yield row("training", protocol, "epoch", epoch)
    yield row("training", "", "epochs", run.training["epochs"])
    for name in CLOCK:
        yield row("training", "", name, run.runtime[name])


def _kept(
    task: Task, protocol: str, scores: Mapping[str, float]
) -> Mapping[str, float]:
    """Choose the scores to keep: of further rules for the epoch those shown."""
    if protocol not in TASKS[task].epoch_rules:
        return scores
    shown = measures.names(task, "shown")
    return {metric: value for metric, value in scores.items() if metric in shown}


def _unusable(scores: Mapping[str, Scores], utility: str) -> str | None:
    """Say why a run cannot be used.

    The measure that cells are chosen by is missing, or a score is infinite.
    """
    for parts in scores.values():
        for part in HELD_OUT:
            if math.isnan(parts[part][utility]):
                return f"{part} {utility} is missing"
            for name, value in parts[part].items():
                if math.isinf(value):
                    return f"{part} {name} is {value}"
    return None


def trained_at(runs: Iterable[Record]) -> list[dict[str, Any]]:
    """Count the runs by the code that trained them; most runs first.

    Returns:
        The `commit` of each, whether it was `modified`, and its number of `runs`.
    """
    codes = [(run.code.get("commit"), run.code.get("modified")) for run in runs]
    counts = Counter(codes).most_common()
    return [
        {"commit": commit, "modified": modified, "runs": count}
        for (commit, modified), count in counts
    ]


def read(*paths: str | Path) -> pd.DataFrame:
    """Read runs.csv, cells.csv or winners.csv files, one after the other.

    Raises:
        DataError: a file is missing, cut off or damaged.
    """
    if not paths:  # no data set of a task is run
        return pd.DataFrame(columns=list(COLUMNS))
    needed = ("dataset", "method", "metric")
    return frames.read(*paths, columns=needed, numbers=_NUMBERS)


def read_shards(paths: Sequence[str | Path], shards: Sequence[Shard]) -> pd.DataFrame:
    """Read the runs.csv of methods on data sets, one after the other.

    Args:
        paths: the file of each of `shards`.
        shards: the data set, the method, its cells, and the numbers of the splits.

    Raises:
        DataError: a file is missing, cut off or damaged, or does not hold each of the
            cells on each of the splits.
    """
    parts = [
        _read_shard(path, *shard) for path, shard in zip(paths, shards, strict=True)
    ]
    return frames.join(parts, COLUMNS)


def _read_shard(
    path: str | Path,
    dataset: str,
    method: str,
    cells: Sequence[str],
    splits: Sequence[int],
) -> pd.DataFrame:
    """Read a runs.csv, which has these runs and no others."""
    rows = read(path)
    is_last = rows["metric"].isin([FAILURE, CLOCK[-1]])  # of a run's rows
    ends = rows.loc[is_last, ["dataset", "method", "cell", "split"]]
    there = set(ends.itertuples(index=False, name=None))
    wanted = set(product([dataset], [method], cells, splits))

    for what, runs in (
        ("lacks the end of", wanted - there),
        ("has, besides its own runs,", there - wanted),
    ):
        if runs:
            dataset, method, cell, split = min(runs)
            raise damaged(path, f"{what} {method} ({cell}) on {dataset}, split {split}")
    return rows


def untimed(scores: pd.DataFrame) -> pd.DataFrame:
    """Add the rows that a run ends with to published scores, without a value.

    Published scores have no times.
    """
    finished = scores[scores["metric"] == "epochs"]
    times = [finished.assign(metric=name, value=math.nan) for name in CLOCK]
    return pd.concat([scores, *times])


def under(frame: pd.DataFrame, *protocols: str) -> pd.DataFrame:
    """Keep the rows under these protocols, or of tasks with a single one."""
    return frame[frame["protocol"].isin(["", *protocols])]
