"""Which cell stands for a method on a data set, by its mean validation scores over the splits.

Test scores play no part. Three rules are computed; the tables show one of them (`selection.rule`):

- `fair`: among the cells whose mean validation accuracy is within `tolerance` of the method's best, the one with the
  lowest sum of the measures with the role `chosen` in `fairgat.measures` (statistical parity + equal opportunity;
  all six for link prediction).
- `accuracy`: the most accurate cell, by the task's first measure with the role `utility`.
- `paper`: the hyperparameters that the paper reports.

Ties go to the more accurate cell, then to the earlier one in the grid. A cell that failed on any split is left out,
because a mean over fewer splits is not comparable; it is listed with its reason. For the same reason a measure's mean
is over those splits on which no cell lacks it, and a measure that is missing on all of them is left out of the sum.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import pandas as pd

from fairgat import cells, measures
from fairgat.scores.runs import FAILURE, under

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
        runs: as `fairgat.scores.runs.table` gives them: every cell of one method on one data set, in grid order.
        task: the data set's.
        protocol: of the task, by whose validation scores cells are chosen.
        rule: the rule that the tables show.
        tolerance: accuracy that `fair` may give up, as a fraction.
        published: the paper's hyperparameters, None where it gives none. Keys that are not in the grid are ignored,
            so an ablation may take FairGAT's.

    Returns:
        The content of selection.json: `winners` maps each rule to `{"cell": path or None, "reason": words}`, `winner`
        is the cell of the rule that the tables show, `cells` holds each cell's number of splits and mean validation
        scores (fractions) in grid order, None for one that is missing, `failed` each failed cell and split with its
        reason.
    """
    failed = runs[runs["metric"] == FAILURE]
    splits = runs.groupby("cell", sort=False)["split"].nunique()
    usable = _means(
        under(runs, protocol),
        [cell for cell in splits.index if cell not in set(failed["cell"])],
    )
    utility, chosen = measures.utility(task), measures.names(task, "chosen")
    grid, nothing = (
        list(splits.index),
        {"cell": None, "reason": "no cell finished on every split"},
    )
    means = usable.astype(object).where(usable.notna(), None).to_dict("index")
    winners = {
        "fair": nothing if usable.empty else _fair(usable, utility, chosen, tolerance),
        "accuracy": nothing if usable.empty else _accuracy(usable, utility),
        "paper": nothing
        if usable.empty and grid == [cells.DEFAULT]
        else _paper(grid, usable, published),
    }
    return {
        "task": task,
        "dataset": runs["dataset"].iat[0],
        "method": runs["method"].iat[0],
        "rule": rule,
        "tolerance": tolerance,
        "utility": utility,
        "fairness": list(chosen),
        "winner": winners[rule]["cell"],
        "winners": winners,
        "cells": [
            {
                "cell": cell,
                "parameters": cells.from_path(cell),
                "n_splits": int(count),
                "validation": means.get(cell),
            }
            for cell, count in splits.items()
        ],
        "failed": failed[["cell", "split", "reason"]].to_dict("records"),
    }


def _means(runs: pd.DataFrame, cells: Sequence[str]) -> pd.DataFrame:
    """Mean validation scores of these cells: a row per cell, a column per metric; over the splits that all have it."""
    rows = runs[(runs["part"] == "validation") & runs["cell"].isin(cells)]
    lacking = rows.loc[rows["value"].isna(), ["metric", "split"]].drop_duplicates()
    common = (
        rows.merge(lacking, how="left", on=["metric", "split"], indicator=True)[
            "_merge"
        ]
        == "left_only"
    )
    means = (
        rows[common.to_numpy()]
        .groupby(["cell", "metric"], sort=False)["value"]
        .agg(fmean)
    )
    return means.unstack().reindex(cells, columns=list(dict.fromkeys(rows["metric"])))


def _fair(
    usable: pd.DataFrame, utility: str, chosen: Sequence[str], tolerance: float
) -> dict[str, Any]:
    best = usable[utility].max()
    near = usable[usable[utility] >= best - tolerance - _SLACK]
    known = [name for name in chosen if near[name].notna().all()]
    unfairness = near[known].apply(math.fsum, axis=1) if known else near[utility] * 0
    winner = min(
        near.index, key=lambda cell: (unfairness[cell], -near.at[cell, utility])
    )  # min keeps grid order
    near_best = f"within {100 * tolerance:g} points of the best validation {utility} ({100 * best:.2f} %)"
    among = f"the {len(near)} of {len(usable)} cells {near_best}"
    if not known:
        reason = f"highest validation {utility} among {among}, as {' and '.join(chosen)} are missing on some cell"
    else:
        missing = (
            f"; {', '.join(name for name in chosen if name not in known)} missing"
            if known != [*chosen]
            else ""
        )
        reason = f"lowest sum of {' + '.join(known)} ({100 * unfairness[winner]:.2f} %{missing}) among {among}"
    return {"cell": winner, "reason": reason}


def _accuracy(usable: pd.DataFrame, utility: str) -> dict[str, Any]:
    winner = usable[utility].idxmax()  # the first of equals, in grid order
    score = usable.at[winner, utility]
    return {
        "cell": winner,
        "reason": f"highest validation {utility} ({100 * score:.2f} %) of {len(usable)} cells",
    }


def _paper(
    grid: Sequence[str],
    usable: pd.DataFrame,
    published: Mapping[str, cells.Value] | None,
) -> dict[str, Any]:
    if grid == [cells.DEFAULT]:
        return {
            "cell": cells.DEFAULT,
            "reason": "the method has no hyperparameters to choose",
        }
    if published is None:
        return {
            "cell": None,
            "reason": "the paper gives no hyperparameters for this method on this data set",
        }
    matching = [cell for cell in grid if cells.agrees(cells.from_path(cell), published)]
    if not matching:
        return {
            "cell": None,
            "reason": f"the published cell {cells.to_path(published)} is not in the grid",
        }
    if matching[0] not in usable.index:
        return {"cell": None, "reason": f"the published cell {matching[0]} failed"}
    return {"cell": matching[0], "reason": "the hyperparameters that the paper reports"}
