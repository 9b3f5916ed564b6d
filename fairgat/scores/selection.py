"""Which cell stands for a method on a data set, by its mean validation scores over the splits.

Test scores are never looked at here. Three rules are computed; the tables render one of them (`selection.rule`):

- `fair`: among the cells whose mean validation accuracy is within `tolerance` of the method's best, the one with the
  lowest sum of fairness measures (statistical parity + equal opportunity; all six for link prediction).
- `accuracy`: the most accurate cell.
- `paper`: the hyperparameters that the paper reports.

Ties go to the more accurate cell, then to the earlier one in the grid. A cell that failed on any split is left out,
because a mean over fewer splits is not comparable; it is listed with its reason.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fairgat import cells
from fairgat.errors import DataError
from fairgat.scores.runs import FAIRNESS, UTILITY, Record

RULES = ("fair", "accuracy", "paper")
_SLACK = 1e-12  # 0.90 - 0.01 must admit 0.89 in floating point too


def select(
    records: Sequence[Record], rule: str, tolerance: float, published: Mapping[str, cells.Value] | None
) -> dict[str, Any]:
    """Choose a cell by each rule.

    Args:
        records: every cell of one method on one data set, on every split, cells in grid order.
        rule: the rule that the tables render.
        tolerance: accuracy that `fair` may give up, as a fraction.
        published: the paper's hyperparameters, None where it gives none. Keys that are not in the grid are ignored,
            so an ablation may take FairGAT's.

    Returns:
        The content of selection JSON: `winners` maps each rule to `{"cell": path or None, "reason": words}`, `winner`
        is the rendered rule's cell, `cells` holds each cell's mean and per-split validation scores (fractions) in grid
        order, `failed` each failed cell and split with its reason.

    Raises:
        DataError: the records are none, or of more than one method, data set or task.
    """
    identity = {(record.task, record.dataset, record.method) for record in records}
    if len(identity) != 1:
        raise DataError(f"selection takes the cells of one method on one data set, got {sorted(identity) or 'none'}")
    ((task, dataset, method),) = identity
    entries = [_summarise(cell, group) for cell, group in _by_cell(records).items()]
    usable = {entry["cell"]: entry["validation"] for entry in entries if entry["validation"]}
    fairness = FAIRNESS[task]
    winners = {
        "fair": _fair(usable, fairness, tolerance),
        "accuracy": _accuracy(usable),
        "paper": _paper([entry["cell"] for entry in entries], usable, published),
    }
    return {
        "task": task,
        "dataset": dataset,
        "method": method,
        "rule": rule,
        "tolerance": tolerance,
        "utility": UTILITY,
        "fairness": list(fairness),
        "winner": winners[rule]["cell"],
        "winners": winners,
        "cells": entries,
        "failed": [
            {"cell": record.cell, "split": record.split, "reason": record.failure}
            for record in records
            if record.failure
        ],
    }


def _by_cell(records: Sequence[Record]) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.cell, []).append(record)
    return groups


def _summarise(cell: str, records: list[Record]) -> dict[str, Any]:
    complete = not any(record.failure for record in records)
    return {
        "cell": cell,
        "parameters": cells.from_path(cell),
        "n_splits": len(records),
        "validation": _means([record.validation for record in records]) if complete else None,
        "splits": [{"split": record.split, "validation": dict(record.validation)} for record in records],
    }


def _means(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: math.fsum(score[name] for score in scores) / len(scores) for name in scores[0]}


def _fair(usable: Mapping[str, Mapping[str, float]], fairness: Sequence[str], tolerance: float) -> dict[str, Any]:
    if not usable:
        return _none_finished()
    best = max(scores[UTILITY] for scores in usable.values())
    near = {cell: scores for cell, scores in usable.items() if scores[UTILITY] >= best - tolerance - _SLACK}
    unfairness = {cell: math.fsum(scores[name] for name in fairness) for cell, scores in near.items()}
    winner = min(near, key=lambda cell: (unfairness[cell], -near[cell][UTILITY]))  # min keeps grid order in ties
    near_best = f"within {100 * tolerance:g} points of the best validation accuracy ({100 * best:.2f} %)"
    reason = (
        f"lowest sum of {' + '.join(fairness)} ({100 * unfairness[winner]:.2f} %) among the {len(near)} of "
        f"{len(usable)} cells {near_best}"
    )
    return {"cell": winner, "reason": reason}


def _accuracy(usable: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    if not usable:
        return _none_finished()
    winner = max(usable, key=lambda cell: usable[cell][UTILITY])  # max keeps grid order in ties
    score = usable[winner][UTILITY]
    return {"cell": winner, "reason": f"highest validation accuracy ({100 * score:.2f} %) of {len(usable)} cells"}


def _paper(
    every: Sequence[str], usable: Mapping[str, Mapping[str, float]], published: Mapping[str, cells.Value] | None
) -> dict[str, Any]:
    if every == [cells.DEFAULT]:
        if not usable:
            return _none_finished()
        return {"cell": cells.DEFAULT, "reason": "the method has no hyperparameters to choose"}
    if published is None:
        return {"cell": None, "reason": "the paper gives no hyperparameters for this method on this data set"}
    matching = [cell for cell in every if cells.agrees(cells.from_path(cell), published)]
    if not matching:
        return {"cell": None, "reason": f"the published cell {cells.to_path(published)} is not in the grid"}
    if matching[0] not in usable:
        return {"cell": None, "reason": f"the published cell {matching[0]} failed"}
    return {"cell": matching[0], "reason": "the hyperparameters that the paper reports"}


def _none_finished() -> dict[str, Any]:
    return {"cell": None, "reason": "no cell finished on every split"}
