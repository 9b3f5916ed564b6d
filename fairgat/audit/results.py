"""What claims are judged by: means and deviations, the paper's own and ours."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairgat.paper import load, printed
from fairgat.scores.runs import rows_under

SECONDS = "seconds"  # the metric of times
Number = float | np.ndarray


class Key(NamedTuple):
    """What a result is of."""

    dataset: str
    method: str
    metric: str


class Result(NamedTuple):
    """A mean and a standard deviation, in percent or seconds, and their cell.

    Both may be arrays (n,): n results that were drawn, which are judged together. The
    cell is empty in the paper.
    """

    mean: Number
    std: Number = math.nan
    cell: str = ""


Results = Mapping[Key, Result]


def papers(table: str) -> Results:
    """List the results that one of the paper's tables prints."""
    if table == "runtime":
        return seconds(load()[table])
    numbers = printed(table)
    return {Key(*key): Result(*pair) for key, pair in numbers.items()}


def ours(winners: pd.DataFrame, rule: str, protocols: Iterable[str]) -> Results:
    """List our results under one selection rule, in percent.

    One split has no deviation: NaN.
    """
    by_rule = winners[winners["rule"] == rule]
    results = {}
    for row in rows_under(by_rule, *protocols).itertuples():
        std = 100 * row.std if row.n_splits > 1 else math.nan
        key = Key(row.dataset, row.method, row.metric)
        results[key] = Result(100 * row.mean, std, row.cell)
    return results


def seconds(times: Mapping[str, Mapping[str, float]]) -> Results:
    """List the seconds per epoch of each data set and method."""
    results = {}
    for dataset, methods in times.items():
        for method, value in methods.items():
            results[Key(dataset, method, SECONDS)] = Result(value)
    return results
