"""The test decisions of a method's selected cell in all splits, in one file: what the bootstrap over people reads."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fairgat.data import splits
from fairgat.data.graph import Graph, save_npz
from fairgat.files import read_json
from fairgat.scores.bootstrap import NOBODY
from fairgat.scores.runs import read, under
from fairgat.tasks.base import reported_logits


def pool(
    graph: str | Path,
    split_files: Iterable[str | Path],
    runs: str | Path,
    selection: str | Path,
    predictions: Mapping[tuple[str, int], str | Path],
    output: str | Path,
) -> None:
    """Write decisions.npz of one method on one data set of node classification.

    Args:
        graph: its graph.
        split_files: its splits, in their order.
        runs: the method's runs.csv, which says at which epoch each run is reported.
        selection: the method's selection.json.
        predictions: predictions.npz of each cell and split.
        output: `decisions` (splits, n) int8, 0 or 1, NOBODY outside a split's test set; `labels` and `groups` (n,) of
            the n labelled nodes; `dataset`, `method` and `cell`. Without a selected cell there are no splits.

    Raises:
        DataError: a file is missing or damaged, or not of this version.
    """
    chosen, whole = read_json(selection), Graph.load(graph)
    cell, people = chosen["winner"], whole.labelled
    rows = []
    if cell is not None:
        reported = under(read(runs)).query("cell == @cell and metric == 'epoch'").set_index("split")["value"]
        for number, split in enumerate(split_files):
            logits = reported_logits(predictions[cell, number], reported.get(number))
            row, test = np.full(len(logits), NOBODY, np.int8), splits.load(split)["test"]
            row[test] = logits[test] > 0
            rows.append(row[people])
    arrays: dict[str, Any] = {
        "decisions": np.array(rows, np.int8).reshape(-1, len(people)),
        "labels": whole.labels[people],
        "groups": whole.sensitive[people],
        **{name: np.array(chosen[name]) for name in ("dataset", "method")},
        "cell": np.array(cell or ""),
    }
    save_npz(output, **arrays)
