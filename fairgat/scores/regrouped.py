"""Scores of finished runs by other groups than those that they were trained for."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from fairgat import measures
from fairgat.data import splits as split_files
from fairgat.data.graph import Graph, load_npz
from fairgat.errors import DataError
from fairgat.scores.compare import OURS, SCORES
from fairgat.training.record import Record, unpack


def regrouped(
    runs: Iterable[str | Path],
    winners: Mapping[str, str | None],
    dataset: str,
    by: str,
    graphs: Sequence[str | Path],
    splits: Mapping[int, str | Path],
) -> pd.DataFrame:
    """Measure a data set's selected cells by another's groups of the same people.

    The runs are of `dataset`, and the groups those that `by` has for the same nodes.

    Args:
        runs: run.json of every run on `dataset`, with predictions.npz beside it.
        winners: the selected cell of each method on `dataset`.
        dataset, by: the data sets' names.
        graphs: their graphs.
        splits: of `dataset`, by their number.

    Returns:
        Every measure on test, of `METHOD@DATASET` on `by`: the columns SCORES.

    Raises:
        DataError: the graphs have other people, or a run cannot be read.
    """
    own, other = map(Graph.load, graphs)
    if not np.array_equal(own.labels, other.labels):
        raise DataError(
            f"{dataset} and {by} have other nodes: its runs cannot be measured by the "
            f"groups of {by}"
        )
    split_of = {number: split_files.load(path) for number, path in splits.items()}

    rows = []
    for path in runs:
        run = Record.read(path)
        if winners.get(run.method) != run.cell:
            continue
        predictions = load_npz(Path(path).with_name("predictions.npz"))
        reported = unpack(predictions, run.reported)
        scores = measures.judge(
            run.trained_by, other, split_of[run.split], reported, protocol=""
        )
        identity = (by, f"{run.method}@{dataset}", run.cell, "test", OURS)
        for metric, value in scores["test"].items():
            rows.append((*identity, metric, run.split, value))
    return pd.DataFrame(rows, columns=SCORES).dropna(subset="value")
