"""Scores: a block for each data set, a row for each method; in bold what beats GAT."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from fairgat import measures
from fairgat.measures import Measure
from fairgat.report import inputs, labels, percent, rows
from fairgat.report.failures import in_words
from fairgat.report.inputs import Files, Settings
from fairgat.report.model import DASH, Block, Cell, Notes, Panel, Row, Table, row
from fairgat.scores.compare import averages
from fairgat.scores.paired import FEWEST, REFERENCE, leaves_out_0

READS = ("selection", "runs", "perfect")
TASK = None

BETTER, WORSE = "+", "-"
_BOLD = (
    f"In bold and with a superscript {BETTER}: better than GAT on the same splits, as "
    "the 95 % interval of the paired difference, which is for other splits of the same "
    "data, leaves out 0; one in twenty does by chance. With a superscript "
    f"{WORSE}: worse."
)
_TAKES = f"that takes {FEWEST} splits or more."
_FEW = f"Nothing is marked as better or worse than GAT: {_TAKES}"
_SOME_FEW = f"On some data sets nothing is marked: {_TAKES}"
_MISSING = "it is missing, such as a rate over nobody"
_PERFECT = (
    "Perfect prediction: the labels themselves, whose gaps are those of the data. A "
    "gap below them is no sign of fewer errors."
)
_MANY = 6  # measures: data sets then stand beside their rows, as in the paper's table


def build(settings: Settings, files: Files) -> Table:
    """Make a table of the measures of the task, or of those that its entry lists.

    A method without a result keeps its row, with a note that says why. The last column
    is the cell.
    """
    entry = settings.table
    frame = rows.table(settings, files)
    columns = [measures.find(name) for name in frame["metric"].unique()]
    notes = Notes()
    labels_alone = _perfect(frame, files, settings.ddof)
    panel = _panel(frame, labels_alone, columns, notes)
    about = _about_all(frame, labels_alone)
    if settings.left_out:
        titles = ", ".join(settings.left_out)
        about.append(("", f"Run, and in no table of scores: {titles}."))

    summary = f"summary/{settings.task}"
    explanation = "Test mean ± standard deviation over the splits. "
    explanation += _directions(columns)
    explanation += _definitions(columns)
    explanation += labels.represented(settings)
    return Table(
        name=settings.name,
        caption=entry.title or settings.name,
        panels=[panel],
        notes=[*notes.all(), *about],
        explanation=explanation,
        source=f"From {summary}/winners.csv; each split's scores: {summary}/runs.csv.",
    )


def _perfect(frame: pd.DataFrame, files: Files, ddof: int) -> pd.DataFrame:
    """Average a perfect prediction's scores in the measures of the table.

    Returns:
        `mean` and `std` by data set and measure, of the data sets that have them.
    """
    scores = inputs.perfect(files).dropna(subset="value")
    shown = frame[["dataset", "metric"]].drop_duplicates()
    known = scores.merge(shown, on=["dataset", "metric"])
    means = averages(known, ["dataset", "metric"], ddof)
    return means[["mean", "std"]]


def _about_all(
    frame: pd.DataFrame, labels_alone: pd.DataFrame
) -> list[tuple[str, str]]:
    """Say what the marks mean, and what the row of a perfect prediction is."""
    said = []
    if frame["pairs"].max() >= FEWEST:
        few = frame.groupby("dataset")["pairs"].max() < FEWEST
        said.append(("", f"{_BOLD} {_SOME_FEW}" if few.any() else _BOLD))
    elif frame["low"].notna().any():
        said.append(("", _FEW))
    if len(labels_alone):
        said.append(("", _PERFECT))
    return said


def _panel(
    frame: pd.DataFrame,
    labels_alone: pd.DataFrame,
    columns: Sequence[Measure],
    notes: Notes,
) -> Panel:
    blocks = []
    for name, block in frame.groupby("dataset", sort=False):
        title, reason = block[["dataset_title", "reason"]].iloc[0]
        made = []
        if not reason:
            made = [_row(lines, notes) for lines in rows.lines_of(block)]
            made += _perfect_row(labels_alone, name, columns)
        blocks.append(Block(title, made, reason))

    header = [labels.metric(measure.name) for measure in columns]
    align = "l" + "c" * len(columns) + "l"
    if len(columns) < _MANY:
        header = ["", *header, "Cell"]
        return Panel("stacked", header, blocks, aside=True, align=align)
    header = ["", "", *header, "Cell"]
    return Panel("multirow", header, blocks, aside=True, align="l" + align)


def _row(lines: Sequence[Any], notes: Notes) -> Row:
    """Show a method on a data set: its name, its scores, and the cell."""
    first = lines[0]
    name = Cell(first.title, mark=_about(first, notes))
    entries = [_entry(line, notes) for line in lines]
    cell = in_words(first.cell) if first.cell else DASH
    return row(name, *entries, cell, group=group(first.method))


def _perfect_row(
    labels_alone: pd.DataFrame, dataset: str, columns: Sequence[Measure]
) -> list[Row]:
    """Show what a perfect prediction of a data set scores, where that is known."""
    if dataset not in labels_alone.index.get_level_values("dataset"):
        return []
    means = labels_alone.loc[dataset].reindex([each.name for each in columns])
    entries = []
    for line, measure in zip(means.itertuples(), columns, strict=True):
        entries.append(percent.score(line.mean, line.std, measure.unit))
    return [row("Perfect prediction", *entries, DASH, group=3)]


def _about(line: Any, notes: Notes) -> str:
    """Mark a row whose method is special here, lost cells, or has no result."""
    place = f"{line.title} on {line.dataset_title}"
    of_groups = f"{place}: {line.groups_note}" if line.groups_note else ""
    failed = f"{place}: {line.failure}." if line.failure else ""
    return notes.marks(line.note, of_groups, failed)


def _entry(line: Any, notes: Notes) -> Cell:
    """Show a mean, with a note where it is missing or over fewer splits than ran."""
    if not line.cell:
        return Cell(DASH)
    if not line.n_splits:
        return Cell(DASH, mark=notes.mark(f"On every split {_MISSING}."))
    measure = measures.find(line.metric)
    sign = verdict(line, measure)
    fewer = ""
    if line.n_splits < line.ran:
        over = f"Over {line.n_splits} of {line.ran:.0f} splits"
        fewer = notes.mark(f"{over}: on the others {_MISSING}.")
    score = percent.score(line.mean, line.std, measure.unit)
    marks = ", ".join(filter(None, [sign, fewer]))
    return replace(score, bold=sign == BETTER, mark=marks)


def group(method: str) -> int:
    """GAT, the others and FairGAT: the paper draws a rule between these."""
    return {REFERENCE: 0, labels.SUBJECT: 2}.get(method, 1)


def verdict(line: Any, measure: Measure) -> str:
    """Mark a difference to GAT with the interval `low` to `high` over `pairs` splits.

    Empty where that has 0, over few splits, and where neither way is better.
    """
    if not leaves_out_0(line.low, line.high, line.pairs) or measure.better is None:
        return ""
    rises = line.low > 0
    return BETTER if rises == (measure.better == "higher") else WORSE


def _directions(columns: Sequence[Measure]) -> str:
    """Say which way is better: of the utilities, of which there are few, by name."""
    said = ""
    higher = [each.label for each in columns if each.better == "higher"]
    names = [_in_a_sentence(label) for label in higher]
    if names:
        verb = "is" if len(names) == 1 else "are"
        said += f"Higher {listed(names)} {verb} better. "
    if any(each.better == "lower" for each in columns):
        said += "Lower differences are better. "
    return said


def _definitions(columns: Sequence[Measure]) -> str:
    """Say what the gaps are, where any of a task's own is shown."""
    said = ""
    shown = {each.name for each in columns}
    for task, definition in labels.GAPS.items():
        if not shown.isdisjoint(measures.names(task, "chosen")):
            said += f"{definition} "
    return said


def listed(names: Sequence[str]) -> str:
    """Join names as `a, b and c`."""
    *others, last = names
    if not others:
        return last
    return f"{', '.join(others)} and {last}"


def _in_a_sentence(label: str) -> str:
    return label if label.isupper() else label.lower()
