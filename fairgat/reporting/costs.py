"""What the training cost, per data set and method, beside what the paper's seconds per epoch add up to."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from fairgat.reporting.model import Block, Cell, Panel, Row, Table

COLUMNS = ("dataset", "method", "jobs", "epochs", "hours", "debias_hours", "paper_hours")
_HEADER = ["", "jobs", "epochs", "hours", "debiasing (h)", "paper's (h)", "ratio"]


def collect(
    metrics: Iterable[Mapping[str, Any]],
    debiasing: Mapping[tuple[str, str], list[float]],
    published: Mapping[str, Mapping[str, float]],
) -> pd.DataFrame:
    """One row per data set and method, in the order given, with the columns COLUMNS.

    Args:
        metrics: the content of every metrics.json. Jobs that failed are left out.
        debiasing: (data set, method) → seconds of each split's debiasing.
        published: the paper's seconds per epoch, by data set and method.

    Returns:
        `hours` are the jobs' epochs one after the other, each job's at its own median: a machine that stood still in
        between changes nothing. `paper_hours` is `epochs` times the paper's seconds per epoch; None where it gives
        none. FairGAT's ablations count as FairGAT there.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in metrics:
        if entry.get("failure"):
            continue
        key = entry["dataset"], entry["method"]
        row = rows.setdefault(key, dict(zip(COLUMNS, [*key, 0, 0, 0.0, None, None], strict=True)))
        row["jobs"] += 1
        row["epochs"] += entry["training"]["epochs"]
        row["hours"] += entry["training"]["epochs"] * entry["runtime"]["seconds_per_epoch"] / 3600
    for (dataset, method), row in rows.items():
        if seconds := debiasing.get((dataset, method)):
            row["debias_hours"] = sum(seconds) / 3600
        times = published.get(dataset, {})
        epoch = times.get(method, times.get("fairgat") if method.startswith("fairgat-steps") else None)
        if epoch is not None:
            row["paper_hours"] = row["epochs"] * epoch / 3600
    return pd.DataFrame(rows.values(), columns=list(COLUMNS))


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
