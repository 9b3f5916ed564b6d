"""Hours of training per data set and method, beside what the paper's seconds per epoch add up to."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from fairgat.reporting.model import Block, Cell, Panel, Row, Table

COLUMNS = ("dataset", "method", "jobs", "epochs", "hours", "debias_hours", "paper_hours")
_HEADER = ["", "jobs", "epochs", "hours", "debiasing (h)", "paper's (h)", "ratio"]


def collect(
    runs: pd.DataFrame, bias: Iterable[Mapping[str, Any]], published: Mapping[str, Mapping[str, float]]
) -> pd.DataFrame:
    """One row per data set and method, in order of appearance, with the columns COLUMNS.

    Args:
        runs: shards of scores, as `fairgat.scores.runs.read` gives them. Runs that failed are left out.
        bias: the report on each debiased graph, with what its `debiasing` took.
        published: the paper's seconds per epoch, by data set and method.

    Returns:
        `hours` are the jobs' epochs one after the other, each job's at its own median: a machine that stood still in
        between changes nothing. `paper_hours` is `epochs` times the paper's seconds per epoch; NaN where it gives
        none. FairGAT's ablations count as FairGAT there.
    """
    keys = ["dataset", "method"]
    timed = runs[runs["metric"].isin(["epochs", "seconds_per_epoch"])]
    jobs = timed.pivot_table(index=[*keys, "cell", "split"], columns="metric", values="value", sort=False)
    jobs["hours"] = jobs["epochs"] * jobs["seconds_per_epoch"] / 3600
    frame = jobs.groupby(keys, sort=False).agg(
        jobs=("epochs", "size"), epochs=("epochs", "sum"), hours=("hours", "sum")
    )
    frame = frame.astype({"epochs": int}).reset_index()
    debiasing = pd.DataFrame(
        [(entry["dataset"], entry["method"], entry["debiasing"]["seconds"] / 3600) for entry in bias],
        columns=[*keys, "debias_hours"],
    )
    frame = frame.merge(debiasing.groupby(keys).sum().reset_index(), how="left", on=keys)
    frame["paper_hours"] = [
        row.epochs * _papers_epoch(published.get(row.dataset, {}), row.method) / 3600 for row in frame.itertuples()
    ]
    return frame[list(COLUMNS)]


def _papers_epoch(times: Mapping[str, float], method: str) -> float:
    return times.get(method, times.get("fairgat", math.nan) if method.startswith("fairgat-steps") else math.nan)


def page(frame: pd.DataFrame, titles: Mapping[str, str]) -> Table:
    """The costs as a table, a block per data set with its sum last.

    Args:
        frame: as `collect` gives it.
        titles: of data sets and methods, by name.
    """
    blocks = []
    for dataset, group in frame.groupby("dataset", sort=False):
        rows = [_row(titles.get(line.method, line.method), line) for line in group.itertuples()]
        rows.append(_row("all", _sum(group), 1))
        blocks.append(Block(titles.get(dataset, dataset), rows))
    if len(blocks) > 1:
        blocks.append(Block("All data sets", [_row("all", _sum(frame))]))
    return Table(
        name="costs",
        caption="What the training cost",
        panels=[Panel("stacked", _HEADER, blocks, align="lrrrrrr")],
        notes=[],
        explanation=(
            "Hours of all epochs one after the other, each job's at its own median, validation included, on the "
            "threads that the configuration gives it and beside the jobs that ran at the same time. EDITS's debiasing "
            "stands apart; start-up, FairGNN's estimator and writing are not counted. The paper's: the same number of "
            "epochs at the seconds per epoch of its runtime table, on its machine. Ratio: the paper's hours over "
            "ours, where there are some, without the debiasing."
        ),
    )


def _sum(group: pd.DataFrame) -> pd.Series:
    """The sums of a group; `compared` are the hours of those for which the paper has a time."""
    total = group[list(COLUMNS[2:])].sum(min_count=1)
    total["compared"] = group.loc[group["paper_hours"].notna(), "hours"].sum()
    return total


def _row(title: str, line: Any, group: int = 0) -> Row:
    compared = getattr(line, "compared", line.hours)
    ratio = line.paper_hours / compared if pd.notna(line.paper_hours) and compared else None
    numbers = [
        f"{line.jobs:.0f}",
        f"{line.epochs:.0f}",
        *("–" if pd.isna(hours) else f"{hours:.2f}" for hours in (line.hours, line.debias_hours, line.paper_hours)),
        "–" if ratio is None else f"{ratio:.1f}",
    ]
    return Row([Cell(title), *map(Cell, numbers)], group=group)
