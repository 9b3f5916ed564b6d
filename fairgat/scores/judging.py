"""Judge training runs by their predictions, and list their scores.

`fairgat.scores.runs` says which rows and columns these have.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairgat import measures
from fairgat.config import TASKS, Task
from fairgat.data.graph import Graph, load_npz
from fairgat.data.splits import HELD_OUT
from fairgat.errors import DataError
from fairgat.measures import Scores
from fairgat.scores.runs import CLOCK, COLUMNS, FAILURE
from fairgat.training.record import Record, unpack


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

    A published run keeps the reported epoch's predictions only (`fairgat.publish`):
    protocols that report another one have no scores then.

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

    epoch_of = run.epochs
    if len(predictions.get("epochs", ())) == 1:  # as of a published run
        epoch_of = {
            protocol: epoch
            for protocol, epoch in epoch_of.items()
            if epoch == run.reported
        }

    scores = {}
    try:
        for protocol, epoch in epoch_of.items():
            reported = unpack(predictions, epoch)
            scores[protocol] = measures.judge(
                run.trained_by, graph, split, reported, protocol
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
            listed = _scores_to_list(run.task, protocol, parts[part])
            for metric, value in listed.items():
                yield row(part, protocol, metric, value)
    for protocol, epoch in run.epochs.items():
        yield row("training", protocol, "epoch", epoch)
    yield row("training", "", "epochs", run.training["epochs"])
    for name in CLOCK:
        yield row("training", "", name, run.runtime[name])


def _scores_to_list(
    task: Task, protocol: str, scores: Mapping[str, float]
) -> Mapping[str, float]:
    """Choose the scores to list: of further rules for the epoch those shown."""
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
