"""What the training cost: time per data set and method."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from fairgat.report import percent
from fairgat.report.model import Block, Panel, Row, Table, Text, row

COLUMNS = ("dataset", "method", "jobs", "epochs", "hours", "debias_hours")


def collect(runs: pd.DataFrame, debiasing: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Add up a row per data set and method, in order of appearance, with the columns COLUMNS.

    Args:
        runs: shards of scores, as `fairgat.scores.runs.read` gives them. Runs that failed are left out.
        debiasing: what the debiasing of each graph took.

    Returns:
        `hours` are the jobs' epochs one after the other, each job's at its own median: a machine that stood still in
        between changes nothing.
    """
    keys = ["dataset", "method"]
    timed = runs[runs["metric"].isin(["epochs", "seconds_per_epoch"])]
    jobs = timed.pivot_table(
        index=[*keys, "cell", "split"], columns="metric", values="value", sort=False
    )
    jobs = jobs.reindex(
        columns=["epochs", "seconds_per_epoch"]
    )  # where no run was trained to its end, there is none
    jobs["hours"] = jobs["epochs"] * jobs["seconds_per_epoch"] / 3600
    frame = jobs.groupby(keys, sort=False).agg(
        jobs=("epochs", "size"), epochs=("epochs", "sum"), hours=("hours", "sum")
    )
    frame = frame.astype({"epochs": int}).reset_index()
    hours = [
        (entry["dataset"], entry["method"], entry["seconds"] / 3600)
        for entry in debiasing
    ]
    debiased = pd.DataFrame(hours, columns=[*keys, "debias_hours"])
    return frame.merge(debiased.groupby(keys).sum().reset_index(), how="left", on=keys)[
        list(COLUMNS)
    ]


def page(frame: pd.DataFrame, titles: Mapping[str, str]) -> Table:
    """Show the costs, a block per data set with its sum last.

    Args:
        frame: as `collect` gives it.
        titles: of data sets and methods, by name.
    """
    blocks = []
    for dataset, group in frame.groupby("dataset", sort=False):
        rows = [
            _row(titles.get(name, name), group[group["method"] == name])
            for name in group["method"]
        ]
        blocks.append(
            Block(titles.get(dataset, dataset), [*rows, _row("all", group, 1)])
        )
    if len(blocks) > 1:
        blocks.append(Block("All data sets", [_row("all", frame)]))
    return Table(
        name="costs",
        caption="What the training cost",
        panels=[
            Panel(
                "stacked",
                ["", "jobs", "epochs", "time", "debiasing"],
                blocks,
                align="lrrrr",
            )
        ],
        notes=[],
        explanation=(
            "" if blocks else "No run was trained to its end; the tables say why. "
        )
        + (
            "All epochs one after the other, each job's at its own median, validation included, on the threads that "
            "the configuration gives it and beside the jobs that ran at the same time. EDITS's debiasing stands apart; "
            "start-up, FairGNN's estimator and writing are not counted."
        ),
    )


def _row(title: str, lines: pd.DataFrame, group: int = 0) -> Row:
    """The sums of some lines."""
    total = lines[list(COLUMNS[2:])].sum(min_count=1)
    times = (duration(total[name]) for name in ("hours", "debias_hours"))
    return row(
        title, f"{total['jobs']:.0f}", f"{total['epochs']:.0f}", *times, group=group
    )


def duration(hours: float) -> Text:
    """Hours, or seconds where these would be 0.00."""
    brief = pd.notna(hours) and hours < 0.01
    return f"{3600 * hours:.0f} s" if brief else percent.formatted("{:.2f} h", hours)
