"""Every cell against GAT on the same splits: paired differences of the test scores.

Splits differ from each other more than methods do on one of them; a paired difference is free of that part.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from scipy.special import stdtrit

from fairgat import cells
from fairgat.reporting import labels
from fairgat.reporting.model import Block, Cell, Math, Panel, Row, Table
from fairgat.reporting.results import DASH, REFERENCE
from fairgat.scores.runs import FAIRNESS, UTILITY

CONFIDENCE = 0.95
COLUMNS = ("dataset", "method", "cell", "selected", "metric", "n_splits", "difference", "low", "high")


def interval(differences: Sequence[float]) -> float | None:
    """Half the width of the mean's confidence interval by Student's t; None for fewer than two differences."""
    n = len(differences)
    if n < 2:
        return None
    return float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * statistics.stdev(differences) / math.sqrt(n)


def difference(differences: Sequence[float]) -> dict[str, float | None]:
    """`difference`, their mean, and the ends `low` and `high` of its interval, None where there is none."""
    if not differences:
        return dict.fromkeys(("difference", "low", "high"))
    mean, half = statistics.fmean(differences), interval(differences)
    return {
        "difference": mean,
        "low": None if half is None else mean - half,
        "high": None if half is None else mean + half,
    }


def compare(splits: pd.DataFrame, by_rule: pd.DataFrame, rule: str) -> pd.DataFrame:
    """The difference of every cell's test scores to the reference's selected cell, with the columns COLUMNS.

    Args:
        splits: rows of the `_splits` summaries (fractions); their order is kept.
        by_rule: rows of the `_by_rule` summaries.
        rule: by which selection rule cells count as `selected`.

    Returns:
        Fractions; splits that either side lacks are left out. Data sets without a result of the reference are, too.
    """
    winners = {(r.dataset, r.method): r.cell for r in by_rule[by_rule["rule"] == rule].itertuples() if pd.notna(r.cell)}
    test = splits[splits["part"] == "test"]
    keys = ["dataset", "method", "cell", "metric"]
    scores = {key: group.set_index("split")["value"].dropna() for key, group in test.groupby(keys, sort=False)}
    lines = []
    for (dataset, method, cell, metric), mine in scores.items():
        base = scores.get((dataset, REFERENCE, winners.get((dataset, REFERENCE)), metric))
        if method == REFERENCE or base is None:
            continue
        both = sorted(set(mine.index) & set(base.index))
        found = difference([mine[split] - base[split] for split in both])
        selected = winners.get((dataset, method)) == cell
        lines.append(dict(zip(COLUMNS, (dataset, method, cell, selected, metric, len(both)), strict=False)) | found)
    return pd.DataFrame(lines, columns=list(COLUMNS))


def page(frame: pd.DataFrame, settings: Mapping[str, Any]) -> Table:
    """The differences as a table with a panel per task.

    Args:
        frame: as `compare` gives it.
        settings: as `fairgat.reporting.settings.audit_settings` gives them.
    """
    panels = []
    for task, measures in FAIRNESS.items():
        metrics = (UTILITY, *measures)
        blocks = []
        for dataset, entry in settings["datasets"].items():
            group = frame[(frame["dataset"] == dataset) & frame["metric"].isin(metrics)]
            if entry["task"] == task and not group.empty:
                blocks.append(Block(entry["title"], _rows(group, metrics, settings["methods"])))
        if blocks:
            header = ["", "Cell", *map(labels.metric, metrics)]
            title = task.replace("_", " ").capitalize()
            panels.append(Panel("stacked", header, blocks, title, align="ll" + "r" * len(metrics)))
    return Table(
        name="paired",
        caption="Every cell against GAT on the same splits",
        panels=panels,
        notes=[],
        explanation=(
            "Test scores less GAT's on the same split, in percentage points: mean over the splits ± half its 95 % "
            "interval by the paired t, bold where that leaves out 0. Nothing is corrected for the number of "
            "comparisons: of differences that are none, one in twenty is bold. The cell that was selected has a bold "
            "name; the others say what other choices would have given, and chose nothing."
        ),
    )


def _rows(group: pd.DataFrame, metrics: Sequence[str], methods: Mapping[str, Any]) -> list[Row]:
    rows, shown = [], None
    for number, (method, mine) in enumerate(group.groupby("method", sort=False)):
        title = methods.get(method, {}).get("title") or method
        for cell, lines in mine.groupby("cell", sort=False):
            by_metric = {line.metric: line for line in lines.itertuples()}
            name = Cell(_name(cell), bold=bool(lines["selected"].iloc[0]))
            values = [_cell(by_metric.get(metric)) for metric in metrics]
            rows.append(Row([Cell(title if method != shown else ""), name, *values], group=number))
            shown = method
    return rows


def _name(cell: str) -> str:
    return ", ".join(f"{name} {value}" for name, value in cells.from_path(cell).items()) or "–"


def _cell(line: Any) -> Cell:
    return Cell(DASH) if line is None else signed(line.difference, line.low, line.high)


def signed(value: float | None, low: float | None = None, high: float | None = None) -> Cell:
    """A difference (a fraction) in percentage points, ± half its interval, bold where that leaves out 0."""
    if pd.isna(value):
        return Cell(DASH)
    shown = f"{round(100 * value, 2) + 0:+.2f}"  # + 0: no -0.00
    if pd.isna(low):
        return Cell(Math(shown, f"${shown}$"))
    return Cell(shown, std=f"{50 * (high - low):.2f}", bold=bool(low > 0 or high < 0))
