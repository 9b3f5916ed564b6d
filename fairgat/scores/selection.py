"""Which cell stands for a method on a data set, by its mean validation scores over the splits.

Test scores play no part. Three rules are computed; the tables show one of them (`selection.rule`):

- `fair`: among the cells whose mean validation accuracy is within `tolerance` of the method's best, the one with the
  lowest sum of fairness measures (statistical parity + equal opportunity; all six for link prediction).
- `accuracy`: the most accurate cell.
- `paper`: the hyperparameters that the paper reports.

Ties go to the more accurate cell, then to the earlier one in the grid. A cell that failed on any split is left out,
because a mean over fewer splits is not comparable; it is listed with its reason.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import pandas as pd

from fairgat import cells
from fairgat.errors import DataError
from fairgat.scores.runs import FAILURE, FAIRNESS, UTILITY, under

RULES = ("fair", "accuracy", "paper")
_SLACK = 1e-12  # 0.90 - 0.01 must admit 0.89 in floating point too


def select(
    runs: pd.DataFrame,
    task: str,
    protocol: str,
    rule: str,
    tolerance: float,
    published: Mapping[str, cells.Value] | None,
) -> dict[str, Any]:
    """Choose a cell by each rule.

    Args:
        runs: as `fairgat.scores.runs.collect` gives them: every cell of one method on one data set, in grid order.
        task: the data set's.
        protocol: of link prediction, by whose validation scores cells are chosen.
        rule: the rule that the tables show.
        tolerance: accuracy that `fair` may give up, as a fraction.
        published: the paper's hyperparameters, None where it gives none. Keys that are not in the grid are ignored,
            so an ablation may take FairGAT's.

    Returns:
        The content of selection.json: `winners` maps each rule to `{"cell": path or None, "reason": words}`, `winner`
        is the cell of the rule that the tables show, `cells` holds each cell's number of splits and mean validation
        scores (fractions) in grid order, `failed` each failed cell and split with its reason.

    Raises:
        DataError: there are no runs, or runs of more than one method or data set.
    """
    identity = list(dict.fromkeys(zip(runs["dataset"], runs["method"], strict=True)))
    if len(identity) != 1:
        raise DataError(f"selection takes the cells of one method on one data set, got {identity or 'none'}")
    ((dataset, method),) = identity
    failed = runs[runs["metric"] == FAILURE]
    splits = runs.groupby("cell", sort=False)["split"].nunique()
    usable = _means(under(runs, protocol)).reindex([cell for cell in splits.index if cell not in set(failed["cell"])])
    every, nothing = list(splits.index), {"cell": None, "reason": "no cell finished on every split"}
    winners = {
        "fair": nothing if usable.empty else _fair(usable, list(FAIRNESS[task]), tolerance),
        "accuracy": nothing if usable.empty else _accuracy(usable),
        "paper": nothing if usable.empty and every == [cells.DEFAULT] else _paper(every, usable, published),
    }
    return {
        "task": task,
        "dataset": dataset,
        "method": method,
        "rule": rule,
        "tolerance": tolerance,
        "utility": UTILITY,
        "fairness": list(FAIRNESS[task]),
        "winner": winners[rule]["cell"],
        "winners": winners,
        "cells": [
            {
                "cell": cell,
                "parameters": cells.from_path(cell),
                "n_splits": int(count),
                "validation": usable.loc[cell].to_dict() if cell in usable.index else None,
            }
            for cell, count in splits.items()
        ],
        "failed": failed[["cell", "split", "reason"]].to_dict("records"),
    }


def _means(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean validation scores: a row per cell, a column per metric."""
    rows = runs[runs["part"] == "validation"]
    means = rows.groupby(["cell", "metric"], sort=False)["value"].agg(fmean)
    return means.unstack()[list(dict.fromkeys(rows["metric"]))]


def _fair(usable: pd.DataFrame, fairness: Sequence[str], tolerance: float) -> dict[str, Any]:
    best = usable[UTILITY].max()
    near = usable[usable[UTILITY] >= best - tolerance - _SLACK]
    unfairness = near[fairness].apply(math.fsum, axis=1)
    winner = min(near.index, key=lambda cell: (unfairness[cell], -near.at[cell, UTILITY]))  # min keeps grid order
    near_best = f"within {100 * tolerance:g} points of the best validation accuracy ({100 * best:.2f} %)"
    reason = (
        f"lowest sum of {' + '.join(fairness)} ({100 * unfairness[winner]:.2f} %) among the {len(near)} of "
        f"{len(usable)} cells {near_best}"
    )
    return {"cell": winner, "reason": reason}


def _accuracy(usable: pd.DataFrame) -> dict[str, Any]:
    winner = usable[UTILITY].idxmax()  # the first of equals, in grid order
    score = usable.at[winner, UTILITY]
    return {"cell": winner, "reason": f"highest validation accuracy ({100 * score:.2f} %) of {len(usable)} cells"}


def _paper(every: Sequence[str], usable: pd.DataFrame, published: Mapping[str, cells.Value] | None) -> dict[str, Any]:
    if every == [cells.DEFAULT]:
        return {"cell": cells.DEFAULT, "reason": "the method has no hyperparameters to choose"}
    if published is None:
        return {"cell": None, "reason": "the paper gives no hyperparameters for this method on this data set"}
    matching = [cell for cell in every if cells.agrees(cells.from_path(cell), published)]
    if not matching:
        return {"cell": None, "reason": f"the published cell {cells.to_path(published)} is not in the grid"}
    if matching[0] not in usable.index:
        return {"cell": None, "reason": f"the published cell {matching[0]} failed"}
    return {"cell": matching[0], "reason": "the hyperparameters that the paper reports"}
