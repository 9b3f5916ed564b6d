"""The table of a study: for each task its scores and differences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from fairgat import measures
from fairgat.config import TASKS
from fairgat.config.study import Study
from fairgat.report import labels, percent
from fairgat.report.model import Block, Cell, Notes, Panel, Row, Table, row
from fairgat.report.rows import lines_of
from fairgat.report.study import bases, compared_with, with_variants
from fairgat.scores.compare import ALIKE, RUN
from fairgat.scores.paired import FEWEST, for_other_people, leave_out_0


@dataclass(frozen=True)
class View:
    """A view of a study: its title, and what makes the rows of a data set.

    `heading` is that of the column with the rows' names.
    """

    heading: str
    title: str
    rows: Callable[[pd.DataFrame, Notes], list[Row]]


def table(study: Study, frame: pd.DataFrame) -> Table:
    """Make the table of `frame`, as `fairgat.report.study.compared` gives it."""
    several_bases = len(bases(frame)) > 1
    base = frame["of_title"] if several_bases else ""
    frame = frame.assign(base=base)

    notes = Notes()
    panels = []
    for task in TASKS:
        mine = frame[frame["task"] == task]
        for view in _views(study, frame):
            panel = _panel(view, task, mine, notes)
            if panel.blocks:
                panels.append(panel)
    return Table(
        name=study.name,
        caption=study.title,
        explanation=_explanation(study, frame, panels),
        panels=panels,
        notes=notes.all(),
        source="From differences.csv; each split's scores: scores.csv.",
    )


def _views(study: Study, frame: pd.DataFrame) -> list[View]:
    differences = f"differences to {compared_with(frame)} (points)"
    views = [
        View("Score", f"{study.part} scores (%)", _scores),
        View("Difference", f"{differences}, for {percent.SPLITS}", _differences),
    ]
    if study.part == "test":
        needed = "splits that a difference of the published size takes"
        views += [
            View(
                "Difference",
                f"{differences}, for {percent.PEOPLE}",
                _differences_for_people,
            ),
            View("Splits", needed, _splits_needed),
        ]
    return views


def _panel(view: View, task: str, frame: pd.DataFrame, notes: Notes) -> Panel:
    metrics = frame["metric"].unique()
    blocks = []
    for title, block in frame.groupby("dataset_title", sort=False):
        made = view.rows(block, notes)
        if made:
            blocks.append(Block(title, made))
    header = ["Data set", view.heading, *map(labels.metric, metrics)]
    title = f"{TASKS[task].title}: {view.title}"
    align = "ll" + "r" * len(metrics)
    return Panel("multirow", header, blocks, title, align=align)


# ------------------------------------------------------------- the rows of a data set


def _scores(block: pd.DataFrame, notes: Notes) -> list[Row]:
    """Make a row of scores for each run, and one of the published scores below it."""
    made = []
    # A run may be in several comparisons.
    once = block.drop_duplicates([*RUN, "metric"])
    for number, lines in _rows(once):
        entries = [_score(line, notes) for line in lines]
        made.append(row(_name(lines[0], notes), *entries, group=number))
        if any(pd.notna(line.paper_mean) for line in lines):
            published = [_published_score(line) for line in lines]
            made.append(row("– published (test)", *published, group=number))
    return made


def _differences(block: pd.DataFrame, notes: Notes) -> list[Row]:
    """Make a row of each variant's differences, and of the published ones below it."""
    made = []
    for number, lines in _rows(with_variants(block)):
        first = lines[0]
        title = f"{first.title}{first.rules}, published (test)"
        if first.changes:
            entries = [_difference(line, notes) for line in lines]
            made.append(row(_name(first, notes), *entries, group=number))
            title = "– published"
        if any(pd.notna(line.published_gap) for line in lines):
            gaps = [_published_gap(line) for line in lines]
            made.append(row(title, *gaps, group=number))
    return made


def _differences_for_people(block: pd.DataFrame, notes: Notes) -> list[Row]:
    """Make the rows of the variants' differences, with intervals for other people.

    Published differences, which have no such intervals (Nadeau and Bengio's), are left
    out.
    """
    variants = block[block["changes"] != ""].groupby("row", sort=False)
    known = variants.filter(lambda lines: lines["difference"].notna().any())
    if known.empty:
        return []
    without_published = known.assign(published_gap=np.nan)
    return _differences(for_other_people(without_published), notes)


def _splits_needed(block: pd.DataFrame, notes: Notes) -> list[Row]:
    """Make a row of each variant's counts of splits, where one is known."""
    made = []
    for number, lines in _rows(block):
        needed = [line.splits_needed for line in lines]
        if any(map(pd.notna, needed)):
            counts = [_count(splits) for splits in needed]
            made.append(row(_name(lines[0], notes), *counts, group=number))
    return made


def _rows(block: pd.DataFrame) -> list[tuple[int, list[Any]]]:
    """The lines of each row, with its method's number: LaTeX parts the methods."""
    methods = list(block["of"].unique())
    rows = []
    for lines in lines_of(block):
        number = methods.index(lines[0].of)
        rows.append((number, lines))
    return rows


# ------------------------------------------------------------------------ the entries


def _score(line: Any, notes: Notes) -> Cell:
    score = percent.score(line.mean, line.std, _unit(line))
    return replace(score, mark=_over(line.n_splits, line.ran, notes))


def _difference(line: Any, notes: Notes) -> Cell:
    """Show a difference with half its interval; note why one has no interval."""
    ends = (line.low, line.high)
    gap = percent.signed(line.difference, *ends, _unit(line), line.pairs)
    mark = _over(line.pairs, line.ran, notes)
    if not mark and line.pairs > 1 and pd.isna(line.low):
        by_chance = "All splits differ by this amount, as may be chance: no interval."
        mark = notes.mark(by_chance)
    return replace(gap, mark=mark)


def _published_score(line: Any) -> Cell:
    return percent.score(line.paper_mean, line.paper_std, _unit(line))


def _published_gap(line: Any) -> Cell:
    return percent.signed(line.published_gap, unit=_unit(line))


def _over(n_splits: float, ran: float, notes: Notes) -> str:
    """Mark a number that is over fewer splits than the row was run on."""
    if not 0 < n_splits < ran:
        return ""
    return notes.mark(f"Over {n_splits:.0f} of {ran:.0f} splits.")


def _count(splits: float) -> str:
    if splits == float("inf"):
        return "> 1000"
    return percent.formatted("{:.0f}", splits)


def _unit(line: Any) -> measures.Unit:
    return measures.find(line.metric).unit


def _name(line: Any, notes: Notes) -> Cell:
    """A row's title, with a note on what it changes and what its numbers are about."""
    said = []
    if line.changes:
        said.append(line.changes)
        if line.base:
            said.append(f"Compared with {line.base}.")
    if line.groups_note:
        on = line.dataset_title if line.run_on == line.dataset else line.run_on
        said.append(f"On {on} {line.groups_note}")
    if line.failure:
        said.append(f"Not compared ({line.failure}).")
    if line.constant > 0:
        alike = f"The same answer for {100 * ALIKE:.0f} % of every group"
        said.append(f"{alike} on {line.constant:.0f} of {line.n_splits} splits.")

    note = " ".join(said)
    if note and not line.changes:
        note = f"{line.title}: {note}"
    return Cell(f"{line.title}{line.rules}", mark=notes.marks(note))


# -------------------------------------------------------------------- how to read it


def _explanation(study: Study, frame: pd.DataFrame, panels: Sequence[Panel]) -> str:
    """Say how to read the table."""
    base = compared_with(frame)
    test = study.part == "test"
    enough = frame["pairs"].max() >= FEWEST
    said = [
        f"Percent on the {study.part} sets; ± beside a score is its standard deviation "
        "over the splits.",
        f"A difference is a mean less that of {base} over the same {_splits(frame)}, "
        f"{percent.half_intervals(frame['pairs'])}.",
        percent.INTERVALS if test else percent.OF_SPLITS,
        percent.NOT_CORRECTED,
    ]
    if enough:
        said.append(_counts(frame, test))
    if frame["rules"].ne("").any():
        said.append(
            "In brackets: the rule that chooses the epoch; after a slash, the one for "
            f"{base} where that is another."
        )
    if not test:
        said.append(
            "The published scores are of test sets. Epochs, and in link prediction the "
            "cut-off, are chosen on validation too, so that scores there lean high, of "
            "variants and methods alike."
        )
    if any(panel.header[1] == "Splits" for panel in panels):
        said.append(
            "Splits: how many the paired t-test at 5 % takes to find a difference as "
            "large as the published one with a probability of 80 %, given the spread "
            "of ours."
        )
    shown = set(frame["title"])
    left_out = [row.title for row in study.rows if row.title not in shown]
    if left_out:
        said.append(f"Not run here: {'; '.join(left_out)}.")
    return " ".join(said)


def _counts(frame: pd.DataFrame, test: bool) -> str:
    """Say how many differences leave out 0."""
    varied = with_variants(frame)
    counts = f"Here they do, for {percent.SPLITS}, {leave_out_0(varied)}"
    if test:
        people = leave_out_0(for_other_people(varied))
        counts += f"; for {percent.PEOPLE}, {people}"
    return f"{counts}."


def _splits(frame: pd.DataFrame) -> str:
    """Say how many splits there are; in brackets, where there is another number."""
    counts = frame.groupby("dataset_title", sort=False)["n_splits"].max()
    usual = counts.value_counts().index[0]
    said = "1 split" if usual == 1 else f"{usual} splits"
    others = [f"{name} {count}" for name, count in counts.items() if count != usual]
    if others:
        said += f" ({', '.join(others)})"
    return said
