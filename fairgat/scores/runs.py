"""The scores of training runs as one tidy table, and its CSV files.

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
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pandas as pd

from fairgat import frames
from fairgat.errors import DataError
from fairgat.files import damaged

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
    # A run's last row: without it the file was cut off.
    is_last = rows["metric"].isin([FAILURE, CLOCK[-1]])
    last_rows = rows.loc[is_last, ["dataset", "method", "cell", "split"]]
    found = set(last_rows.itertuples(index=False, name=None))
    expected = set(product([dataset], [method], cells, splits))

    for problem, runs in (
        ("lacks the end of", expected - found),
        ("has, besides its own runs,", found - expected),
    ):
        if runs:
            dataset, method, cell, split = min(runs)
            run = f"{method} ({cell}) on {dataset}, split {split}"
            raise damaged(path, f"{problem} {run}")
    return rows


def read_published(
    path: str | Path,
    dataset: str,
    method: str,
    cells: Sequence[str],
    splits: Sequence[int],
) -> pd.DataFrame:
    """Read the rows of a method's runs from the published scores of a task.

    They may be some of many: rows stand in the order of `cells` and `splits`.

    Raises:
        DataError: the file is damaged, or lacks one of the runs.
    """
    published = read(path)
    runs = product([dataset], [method], cells, splits)
    asked = pd.DataFrame(runs, columns=["dataset", "method", "cell", "split"])
    rows = asked.merge(published, how="left")
    lacking = rows[rows["metric"].isna()]
    if len(lacking):
        run = lacking.iloc[0]
        raise DataError(
            f"{path} has no run of {method} ({run.cell}) on {dataset}, split "
            f"{run.split}. Give the run's own configuration files, or leave it out by "
            "only_methods or only_datasets"
        )
    return rows


def untimed(scores: pd.DataFrame) -> pd.DataFrame:
    """Add the rows that a run ends with to published scores, without a value.

    Published scores have no times.
    """
    finished = scores[scores["metric"] == "epochs"]
    times = [finished.assign(metric=name, value=math.nan) for name in CLOCK]
    return pd.concat([scores, *times])


def rows_under(frame: pd.DataFrame, *protocols: str) -> pd.DataFrame:
    """Keep the rows under these protocols, or of tasks with a single one."""
    return frame[frame["protocol"].isin(["", *protocols])]
