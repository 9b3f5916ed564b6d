"""The table of a study: a panel of scores, one of differences and, of test scores, one of splits for each task."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fairgat import measures
from fairgat.config import TASKS
from fairgat.report import labels, percent
from fairgat.report.inputs import Settings
from fairgat.report.model import Block, Cell, Notes, Panel, Row, Table, row
from fairgat.report.study import (
    ALIKE,
    ROW,
    base_titles,
    compared_with,
    metrics_of,
    published_gap,
    rows_of,
    tasks,
    with_variants,
)
from fairgat.scores.paired import for_other_people, leave_out_0

COLUMNS_OF_A_PAGE = 8  # of scores, in LaTeX's smallest type


@dataclass(frozen=True)
class Kind:
    """A kind of panels: the heading of its second column, its title, and what makes the rows of a data set."""

    heading: str
    title: str
    rows: Callable[[pd.DataFrame, Notes], list[Row]]


def table(settings: Settings, frame: pd.DataFrame) -> Table:
    """Make the table of `frame`, as `fairgat.report.study.compare` gives it."""
    titles = base_titles(frame)
    frame = frame.assign(base=frame["of"].map(titles) if len(titles) > 1 else "")
    notes, panels = Notes(), list[Panel]()
    for task in tasks(frame):
        mine = frame[frame["task"] == task]
        metrics = metrics_of(settings, task)
        parts = np.array_split(metrics, -(-len(metrics) // COLUMNS_OF_A_PAGE))
        for kind in _kinds(settings, frame):
            panels += [_panel(kind, task, list(part), mine, notes) for part in parts]
    panels = [panel for panel in panels if panel.blocks]
    return Table(
        name=settings.config.study.name,
        caption=settings.config.study.title,
        explanation=_explanation(settings, frame, panels),
        panels=panels,
        notes=notes.all(),
        size="tiny",
    )


def _kinds(settings: Settings, frame: pd.DataFrame) -> list[Kind]:
    base, part = compared_with(frame), settings.config.study.part
    kinds = [
        Kind("Score", f"{part} scores (%)", _score_rows),
        Kind(
            "Difference",
            f"differences to {base} (points), for {percent.SPLITS}",
            _difference_rows,
        ),
    ]
    if part == "test":
        kinds += [
            Kind(
                "Difference",
                f"differences to {base} (points), for {percent.PEOPLE}",
                _people_rows,
            ),
            Kind(
                "Splits",
                "splits that a difference of the published size takes",
                _splits_rows,
            ),
        ]
    return kinds


def _panel(
    kind: Kind, task: str, metrics: list[str], frame: pd.DataFrame, notes: Notes
) -> Panel:
    lines = frame[frame["metric"].isin(metrics)]
    blocks = [
        Block(title, kind.rows(block, notes))
        for title, block in lines.groupby("dataset_title", sort=False)
    ]
    header = ["Data set", kind.heading, *map(labels.metric, metrics)]
    title = f"{TASKS[task].title}: {kind.title}"
    return Panel(
        "multirow",
        header,
        [each for each in blocks if each.rows],
        title,
        align="ll" + "r" * len(metrics),
    )


def _explanation(settings: Settings, frame: pd.DataFrame, panels: list[Panel]) -> str:
    """Say how to read the table."""
    base, study, varied = (
        compared_with(frame),
        settings.config.study,
        with_variants(frame),
    )
    test = study.part == "test"
    said = [
        f"Percent on the {study.part} sets; ± beside a score is its standard deviation over the splits.",
        f"A difference is a mean less that of {base} over the same {_splits(frame)}, ± half a 95 % interval, and bold "
        "where that leaves out 0.",
        percent.INTERVALS if test else percent.OF_SPLITS,
        percent.NOT_CORRECTED,
    ]
    counts = f"Here they do, for {percent.SPLITS}, {leave_out_0(varied)}"
    said.append(
        f"{counts}; for {percent.PEOPLE}, {leave_out_0(for_other_people(varied))}."
        if test
        else f"{counts}."
    )
    if frame["rules"].ne("").any():
        said.append(
            f"In brackets: the rule that chooses the epoch; after a slash, the one for {base} where that is another."
        )
    if not test:
        said.append(
            "The published scores are of test sets. Epochs, and in link prediction the cut-off, are chosen on "
            "validation too, so that scores there lean high, of variants and methods alike."
        )
    if any(panel.header[1] == "Splits" for panel in panels):
        said.append(
            "Splits: how many the paired t-test at 5 % takes to find a difference as large as the published one with a "
            "probability of 80 %, given the spread of ours."
        )
    if left_out := [
        row.title for row in study.rows if row.title not in set(frame["title"])
    ]:
        said.append(f"Not run here: {'; '.join(left_out)}.")
    return " ".join(said)


def _splits(frame: pd.DataFrame) -> str:
    """Say how many splits there are; in brackets, data sets that have another number."""
    counts = frame.groupby("dataset_title", sort=False)["n_splits"].max()
    usual = counts.value_counts().index[0]
    others = ", ".join(
        f"{name} {count}" for name, count in counts.items() if count != usual
    )
    return f"{usual} {'split' if usual == 1 else 'splits'}{f' ({others})' if others else ''}"


def _score_rows(block: pd.DataFrame, notes: Notes) -> list[Row]:
    rows = []
    for number, first, lines in rows_of(
        block.drop_duplicates(["run_on", "method", "cell", "epochs", "metric"])
    ):
        ours = [
            _over(
                percent.score(line["mean"], line["std"], _unit(line)),
                line,
                "n_splits",
                notes,
            )
            for line in lines
        ]
        rows.append(row(_name(first, notes), *ours, group=number))
        if any(pd.notna(line["paper_mean"]) for line in lines):
            paper = (
                percent.score(line["paper_mean"], line["paper_std"], _unit(line))
                for line in lines
            )
            rows.append(row("– published (test)", *paper, group=number))
    return rows


def _difference_rows(block: pd.DataFrame, notes: Notes) -> list[Row]:
    rows = []
    for number, first, lines in rows_of(with_variants(block)):
        if first["changes"]:
            ours = [
                percent.signed(
                    line["difference"], line["low"], line["high"], _unit(line)
                )
                for line in lines
            ]
            ours = [
                _over(cell, line, "pairs", notes)
                for cell, line in zip(ours, lines, strict=True)
            ]
            rows.append(row(_name(first, notes), *ours, group=number))
        if any(pd.notna(published_gap(line)) for line in lines):
            gaps = (
                percent.signed(published_gap(line), unit=_unit(line)) for line in lines
            )
            title = (
                "– published"
                if first["changes"]
                else f"{_title(first)}, published (test)"
            )
            rows.append(row(title, *gaps, group=number))
    return rows


def _people_rows(block: pd.DataFrame, notes: Notes) -> list[Row]:
    """The differences without the published ones, which have no such interval."""
    varied = block[block["changes"] != ""].groupby(ROW, sort=False, dropna=False)
    mine = for_other_people(
        varied.filter(lambda lines: lines["difference"].notna().any())
    )
    return (
        _difference_rows(mine.assign(paper_difference=None), notes) if len(mine) else []
    )


def _splits_rows(block: pd.DataFrame, notes: Notes) -> list[Row]:
    rows = []
    for number, first, lines in rows_of(block):
        needed = [line["splits_needed"] for line in lines]
        if any(map(pd.notna, needed)):
            texts = (
                "> 1000"
                if value == float("inf")
                else percent.formatted("{:.0f}", value)
                for value in needed
            )
            rows.append(row(_name(first, notes), *texts, group=number))
    return rows


def _over(cell: Cell, line: pd.Series, count: str, notes: Notes) -> Cell:
    """Mark a number that is over fewer splits than the row was run on, or a difference without an interval."""
    if 0 < line[count] < line["ran"]:
        return replace(
            cell,
            mark=notes.mark(f"Over {line[count]:.0f} of {line['ran']:.0f} splits."),
        )
    if count == "pairs" and line["pairs"] > 1 and pd.isna(line["low"]):
        return replace(
            cell,
            mark=notes.mark(
                "All splits differ by this amount, as may be chance: no interval."
            ),
        )
    return cell


def _unit(line: pd.Series) -> measures.Unit:
    return measures.find(line["metric"]).unit


def _name(row: pd.Series, notes: Notes) -> Cell:
    """A row's title, with a note on what it changes and on what its numbers are about."""
    said = []
    if pd.notna(row["note"]):
        on = row["dataset_title"] if row["run_on"] == row["dataset"] else row["run_on"]
        said.append(f"On {on} {row['note']}")
    if pd.notna(row["failure"]):
        said.append(f"Not compared ({row['failure']}).")
    if row["constant"] > 0:
        splits = f"{row['constant']:.0f} of {row['n_splits']} splits"
        said.append(
            f"The same answer for {100 * ALIKE:.0f} % of every group on {splits}."
        )
    if row["changes"]:
        to = [f"Compared with {row['base']}."] if row["base"] else []
        return Cell(
            _title(row), mark=notes.mark(" ".join([row["changes"], *to, *said]))
        )
    return Cell(
        _title(row),
        mark=notes.mark(f"{row['title']}: {' '.join(said)}") if said else "",
    )


def _title(row: pd.Series) -> str:
    return f"{row['title']}{row['rules']}"
