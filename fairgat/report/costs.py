"""Hours of training per data set and method, beside what the paper's seconds per epoch add up to."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from fairgat.report import percent
from fairgat.report.model import Block, Panel, Row, Table, Text, row

COLUMNS = ("dataset", "method", "jobs", "epochs", "hours", "debias_hours", "paper_hours")
_HEADER = ["", "jobs", "epochs", "time", "debiasing", "paper's", "ratio"]
_COMPARED = (
    " The paper's: the same number of epochs at the seconds per epoch of its runtime table, on its machine. Ratio: the "
    "paper's time over ours, where there is one, without the debiasing."
)


def collect(
    runs: pd.DataFrame, bias: Iterable[Mapping[str, Any]], published: Mapping[str, Mapping[str, float]]
) -> pd.DataFrame:
    """Add up a row per data set and method, in order of appearance, with the columns COLUMNS.

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
    jobs = jobs.reindex(columns=["epochs", "seconds_per_epoch"])  # where no run was trained to its end, there is none
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
    papers = [(dataset, *entry) for dataset, times in published.items() for entry in times.items()]
    papers = pd.DataFrame(papers, columns=[*keys, "seconds"])
    named = frame.assign(method=frame["method"].replace("^fairgat-steps.*", "fairgat", regex=True))
    frame["paper_hours"] = frame["epochs"] * named.merge(papers, how="left", on=keys)["seconds"] / 3600
    return frame[list(COLUMNS)]


def page(frame: pd.DataFrame, titles: Mapping[str, str], compared: bool = True) -> Table:
    """Show the costs, a block per data set with its sum last.

    Args:
        frame: as `collect` gives it.
        titles: of data sets and methods, by name.
        compared: whether the paper's times stand beside ours.
    """
    blocks, columns = [], len(_HEADER) - (0 if compared else 2)
    for dataset, group in frame.groupby("dataset", sort=False):
        rows = [_row(titles.get(name, name), group[group["method"] == name]) for name in group["method"]]
        blocks.append(Block(titles.get(dataset, dataset), [*rows, _row("all", group, 1)]))
    if len(blocks) > 1:
        blocks.append(Block("All data sets", [_row("all", frame)]))
    blocks = [replace(b, rows=[replace(line, cells=line.cells[:columns]) for line in b.rows]) for b in blocks]
    return Table(
        name="costs",
        caption="What the training cost",
        panels=[Panel("stacked", _HEADER[:columns], blocks, align="l" + "r" * (columns - 1))],
        notes=[],
        explanation=("" if blocks else "No run was trained to its end; the tables say why. ")
        + (
            "All epochs one after the other, each job's at its own median, validation included, on the "
            "threads that the configuration gives it and beside the jobs that ran at the same time. EDITS's debiasing "
            "stands apart; start-up, FairGNN's estimator and writing are not counted."
        )
        + (_COMPARED if compared else ""),
    )


def _row(title: str, lines: pd.DataFrame, group: int = 0) -> Row:
    """The sums of some lines; the ratio is of those for which the paper has a time."""
    total = lines[list(COLUMNS[2:])].astype(float).sum(min_count=1)
    compared = lines.loc[lines["paper_hours"].notna(), "hours"].sum()
    total["ratio"] = total["paper_hours"] / compared if compared else math.nan
    counts = (f"{total[name]:.0f}" for name in ("jobs", "epochs"))
    times = (duration(total[name]) for name in ("hours", "debias_hours", "paper_hours"))
    return row(title, *counts, *times, percent.formatted("{:.1f}", total["ratio"]), group=group)


def duration(hours: float) -> Text:
    """Hours, or seconds where these would be 0.00."""
    brief = pd.notna(hours) and hours < 0.01
    return f"{3600 * hours:.0f} s" if brief else percent.formatted("{:.2f} h", hours)
