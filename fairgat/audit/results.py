"""What claims are judged by: means and deviations, the paper's own and ours."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairgat import frames
from fairgat.paper import load, printed
from fairgat.scores.runs import under

SECONDS = "seconds"  # the metric of times
Number = float | np.ndarray


class Key(NamedTuple):
    """What a result is of."""

    dataset: str
    method: str
    metric: str


class Result(NamedTuple):
    """A mean and a standard deviation, in percent or seconds, and the cell that they are of (empty in the paper).

    Both may be arrays (n,): n results that were drawn, which are judged together.
    """

    mean: Number
    std: Number = math.nan
    cell: str = ""


Results = Mapping[Key, Result]


def papers(table: str) -> Results:
    """The results that one of the paper's tables prints."""
    if table == "runtime":
        return seconds(load()[table])
    return {Key(*key): Result(*pair) for key, pair in printed(table).items()}


def ours(winners: pd.DataFrame, rule: str, protocols: Iterable[str]) -> Results:
    """Our results under one selection rule."""
    return _scores(under(winners[winners["rule"] == rule], *protocols))


def read_study(path: str | Path) -> pd.DataFrame:
    """The rows of a study's differences.csv."""
    columns = (
        *Key._fields,
        "run_on",
        "of",
        "epochs",
        "of_epochs",
        "cell",
        "mean",
        "std",
        "n_splits",
        "spread",
    )
    return frames.read(path, columns=columns)


def of_study(frame: pd.DataFrame) -> Results:
    """The results of a study: of what is trained on the data set itself, reported at the epoch that all here are."""
    kept = (
        (frame["run_on"] == frame["dataset"])
        & (frame["epochs"] == "accuracy")
        & frame["mean"].notna()
    )
    return _scores(frame[kept])


def _scores(frame: pd.DataFrame) -> Results:
    """Means and deviations in percent; one split has no deviation: NaN."""
    return {
        Key(row.dataset, row.method, row.metric): Result(
            100 * row.mean, 100 * row.std if row.n_splits > 1 else math.nan, row.cell
        )
        for row in frame.itertuples()
    }


def seconds(times: Mapping[str, Mapping[str, float]]) -> Results:
    """The seconds per epoch of each data set and method."""
    return {
        Key(d, m, SECONDS): Result(value)
        for d, methods in times.items()
        for m, value in methods.items()
    }
