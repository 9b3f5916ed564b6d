"""Every cell against GAT: what other choices of a cell would have given."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from fairgat import measures
from fairgat.config import TASKS
from fairgat.config.shown import AuditSettings
from fairgat.report import labels, percent
from fairgat.report.failures import in_words
from fairgat.report.model import DASH, Block, Cell, Panel, Table, Text, titled
from fairgat.report.rows import of_every_cell
from fairgat.scores.compare import by_run, compare
from fairgat.scores.paired import FEWEST, for_other_people, leave_out_0

COLUMNS = [
    "dataset",
    "method",
    "cell",
    "selected",
    "metric",
    "n_splits",
    "difference",
    "spread",
    "low",
    "high",
    "corrected",
]
"""Of paired.csv; `n_splits` are those that both have."""
_NOTHING = (
    "No cell is compared: that takes a cell that stands for GAT, and another method's "
    "on the same data set and splits."
)


def compared(
    runs: pd.DataFrame, winners: pd.DataFrame, settings: AuditSettings
) -> pd.DataFrame:
    """Compare every cell with the one that stands for GAT, on test, in every measure.

    Args:
        runs: as `fairgat.scores.runs.read` gives them.
        winners: as `fairgat.scores.summary.winners` gives them.

    Returns:
        COLUMNS, as fractions, with `task` and titles, in the order of `runs`. What
        cannot be compared is left out, as are data sets without a result of GAT.
    """
    scores = by_run(runs, settings.protocols)
    scores = scores[scores["part"] == "test"]
    cells = of_every_cell(settings, scores, winners)
    frame = compare(cells, scores, settings.ddof)
    frame = frame.dropna(subset="difference")
    frame["n_splits"] = frame["pairs"].astype(int)
    return frame


def page(frame: pd.DataFrame) -> Table:
    """Show the differences of all cells to GAT, with intervals for other splits.

    Those of the selected cells are shown once more, with intervals for other people.
    Where no cell can be compared, the page says so.

    Args:
        frame: as `compared` gives it.
    """
    shown = [name for task in TASKS for name in measures.names(task, "shown")]
    frame = frame[frame["metric"].isin(shown)]
    without_panels = Table(
        name="paired",
        caption="Every cell against GAT on the same splits",
        panels=[],
        notes=[],
        explanation=_NOTHING,
        source="From summary/(task)/runs.csv.",
    )
    if frame.empty:
        return without_panels
    selected = frame[frame["selected"]]
    for_people = for_other_people(selected)
    panels = []
    kinds = {percent.SPLITS: frame, percent.PEOPLE: for_people}
    for task in TASKS:
        for kind, lines in kinds.items():
            mine = lines[lines["task"] == task]
            if len(mine):
                panels.append(_panel(f"{TASKS[task].title}: {kind}", task, mine))
    counts = ""
    if frame["pairs"].max() >= FEWEST:
        counts = (
            f"Of the selected cells' differences {leave_out_0(selected)} for "
            f"{percent.SPLITS} and {leave_out_0(for_people)} for {percent.PEOPLE} do. "
        )
    return replace(
        without_panels,
        panels=panels,
        explanation=(
            "Test scores less GAT's on the same split, in percentage points: mean over "
            f"the splits {percent.half_intervals(frame['pairs'])}. {percent.INTERVALS} "
            f"{percent.NOT_CORRECTED} {counts}The cell that was selected has a bold "
            "name; the others say what other choices would have given, and chose "
            "nothing."
        ),
    )


def _panel(title: str, task: str, frame: pd.DataFrame) -> Panel:
    """Make the panel of a task: a block for each data set, a row for each cell."""
    metrics = measures.names(task, "shown")
    blocks = []
    for dataset, lines in frame.groupby("dataset_title", sort=False):
        rows = []
        methods = lines.groupby("method", sort=False)
        for number, (_, of_method) in enumerate(methods):
            name = of_method["title"].iloc[0]
            of_cells = of_method.groupby("cell", sort=False)
            entries = [_row_of_cell(cell, each, metrics) for cell, each in of_cells]
            rows += titled(name, entries, number)
        blocks.append(Block(dataset, rows))
    header = ["", "Cell", *map(labels.metric, metrics)]
    align = "ll" + "r" * len(metrics)
    return Panel("stacked", header, blocks, title, align=align)


def _row_of_cell(
    name: str, lines: pd.DataFrame, metrics: Sequence[str]
) -> list[Cell | Text]:
    """Make the row of a cell, a choice of hyperparameters: its name and differences.

    The name is bold if the cell was selected. A dash stands where there is no
    difference.
    """
    differences = {}
    for line in lines.itertuples():
        unit = measures.find(line.metric).unit
        ends = (line.low, line.high)
        difference = percent.signed(line.difference, *ends, unit, line.pairs)
        differences[line.metric] = difference
    shown_name = Cell(in_words(name), bold=bool(lines["selected"].iloc[0]))
    return [shown_name, *(differences.get(metric, DASH) for metric in metrics)]
