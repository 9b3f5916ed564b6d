"""Scores of finished runs by other groups than those that they were trained for."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from fairgat import measures
from fairgat.config import NodeTraining
from fairgat.data import splits as split_files
from fairgat.data.graph import Graph, load_npz
from fairgat.errors import DataError
from fairgat.scores.runs import COLUMNS, rows_under
from fairgat.training.record import unpack


def regrouped(
    runs: pd.DataFrame,
    winners: Mapping[str, str | None],
    dataset: str,
    by: str,
    graphs: Sequence[str | Path],
    splits: Mapping[int, str | Path],
    predictions: Iterable[tuple[str, str, int, str | Path]],
) -> pd.DataFrame:
    """Measure a data set's selected cells by another's groups of the same people.

    The runs are of `dataset`, and the groups those that `by` has for the same nodes.

    Args:
        runs: shards of scores, which say at which epoch each run is reported.
        winners: the selected cell of each method on `dataset`.
        dataset, by: the data sets' names.
        graphs: their graphs.
        splits: of `dataset`, by their number.
        predictions: method, cell, split and predictions.npz of every run on `dataset`.

    Returns:
        Test scores, as `fairgat.scores.runs.read` gives them, of `METHOD@DATASET` on
        `by`.

    Raises:
        DataError: the graphs have other people, or predictions cannot be read.
    """
    own, other = map(Graph.load, graphs)
    if not np.array_equal(own.labels, other.labels):
        raise DataError(
            f"{dataset} and {by} have other nodes: its runs cannot be measured by the "
            f"groups of {by}"
        )
    split_of = {number: split_files.load(path) for number, path in splits.items()}

    is_epoch = runs["metric"] == "epoch"
    epochs = runs[is_epoch & (runs["dataset"] == dataset)]
    epochs = rows_under(epochs)  # no protocol: the epoch by our own rule
    epoch_of = epochs.set_index(["method", "cell", "split"])["value"]

    rows = []
    for method, cell, split, path in predictions:
        if winners.get(method) != cell:
            continue
        reported = unpack(load_npz(path), epoch_of[method, cell, split])
        scores = measures.judge(
            NodeTraining(), other, split_of[split], reported, protocol=""
        )
        for metric, value in scores["test"].items():
            row = {
                "dataset": by,
                "method": f"{method}@{dataset}",
                "cell": cell,
                "split": split,
                "part": "test",
                "protocol": "",
                "metric": metric,
                "value": value,
                "reason": "",
            }
            rows.append(row)
    return pd.DataFrame(rows, columns=list(COLUMNS))
