"""The scores of a perfect prediction: its gaps are those of the labels.

The groups have other shares of positive labels, so that a gap of 0 is not what being
right gives.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from fairgat.config import Training
from fairgat.data.graph import Graph
from fairgat.data.splits import HELD_OUT, pairs_of
from fairgat.measures import judge

COLUMNS = ("dataset", "split", "metric", "value")
CERTAIN = np.float32(10)  # a logit beyond every cut-off


def scores(
    dataset: str,
    training: Training,
    graph: Graph,
    splits: Mapping[int, Mapping[str, np.ndarray]],
) -> pd.DataFrame:
    """Judge the labels of every split as if they were predictions, on test.

    Returns:
        COLUMNS, in every measure of the task.
    """
    rows = []
    for number, split in splits.items():
        labels = _labels(training, graph, split)
        scores_of = judge(
            training, graph, split, predictions=labels, protocol=training.reported
        )
        for metric, value in scores_of["test"].items():
            rows.append((dataset, number, metric, value))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _labels(
    training: Training, graph: Graph, split: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Give the labels of nodes, or of each part's pairs, in the form of predictions."""
    if training.divides == "nodes":
        return {"logits": _logits(graph.labels)}
    return {f"{part}_logits": _logits(pairs_of(split, part)[1]) for part in HELD_OUT}


def _logits(labels: np.ndarray) -> np.ndarray:
    """Logits that are certain of labels (n,)."""
    return np.where(labels == 1, CERTAIN, -CERTAIN)
