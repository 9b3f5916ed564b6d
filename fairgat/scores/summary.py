"""Mean and standard deviation over the splits.

Of every cell, and of the cells that each rule selected.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from fairgat.config import TASKS
from fairgat.data.splits import HELD_OUT
from fairgat.scores.compare import averages
from fairgat.scores.runs import CLOCK

WINNERS = (
    "rule",
    "protocol",
    "dataset",
    "method",
    "cell",
    "metric",
    "mean",
    "std",
    "n_splits",
    "paper_mean",
    "paper_std",
)


def without_times(runs: pd.DataFrame) -> pd.DataFrame:
    """Leave out clock times, so that a second run of the same code gives the same file.

    Further rules for the epoch are left out, too: studies read them from the shards.
    """
    rules: list[str] = []
    for task in TASKS.values():
        rules += task.epoch_rules
    is_time = runs["metric"].isin(CLOCK)
    by_other_rule = runs["protocol"].isin(rules)
    return runs[~is_time & ~by_other_rule]


def cells(runs: pd.DataFrame, ddof: int) -> pd.DataFrame:
    """Average the validation and test results of every cell.

    A split that failed, or on which a metric is missing, is not counted, which
    `n_splits` shows. Selection goes by the validation rows; the test rows say what
    other choices would have given.

    Args:
        runs: as `fairgat.scores.runs.read` gives them.
        ddof: 1 for the sample standard deviation, 0 for the population one.

    Returns:
        `mean`, `std` and `n_splits` of each metric, as fractions.
    """
    keys = ["dataset", "method", "cell", "part", "protocol", "metric"]
    rows = without_times(runs).dropna(subset="value")
    held_out = rows[rows["part"].isin(HELD_OUT)]
    return averages(held_out, keys, ddof).reset_index()


def with_same(winners: pd.DataFrame, same: Mapping[str, str]) -> pd.DataFrame:
    """Give each method that is `same_as` another one the other's rows.

    They take the place of any that it has.
    """
    winners = winners[~winners["method"].isin([*same])]
    parts = [winners]
    for name, other in same.items():
        rows = winners[winners["method"] == other]
        parts.append(rows.assign(method=name))
    return pd.concat(parts)


def winners(
    selections: Iterable[Mapping[str, Any]],
    cells: pd.DataFrame,
    published: pd.DataFrame,
) -> pd.DataFrame:
    """List the test results of every rule's winner under every protocol.

    The winner is the same under all protocols: it was selected under the configured
    one. A rule without a winner has no rows; selection.json says why.

    Args:
        selections: selection.json of each method and data set, in the order that the
            rows shall have.
        cells: as `cells` gives them.
        published: what the paper prints, as `fairgat.paper.means` gives it.

    Returns:
        The columns WINNERS.
    """
    chosen = []
    for entry in selections:
        for rule, winner in entry["winners"].items():
            if winner["cell"] is not None:
                row = (rule, entry["dataset"], entry["method"], winner["cell"])
                chosen.append(row)
    identity = ["rule", "dataset", "method", "cell"]
    chosen = pd.DataFrame(chosen, columns=identity, dtype=str)

    test = cells[cells["part"] == "test"]
    rows = chosen.merge(test).merge(published, how="left")
    return rows[list(WINNERS)]
