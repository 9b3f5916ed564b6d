"""A study: variants against what they vary, run against run on the same splits.

`compare` gives the numbers, `scores` those of each split behind them and `table` the table; forest.py draws them. The
paper's published test scores stand beside ours: for orientation in a study of validation scores, with their own
differences in one of test scores.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from fairgat import measures
from fairgat.config import TASKS
from fairgat.config.shown import StudySettings
from fairgat.errors import ConfigError, nearest
from fairgat.paper import means
from fairgat.report import labels, percent
from fairgat.report.failures import of_selection
from fairgat.report.model import Block, Cell, Notes, Panel, Row, Table, row
from fairgat.scores.paired import ROUNDING, against, for_other_people, half_width, leave_out_0, splits_needed
from fairgat.scores.summary import deviation

ROW = ["dataset", "of", "run_on", "method", "epochs", "of_epochs"]
COLUMNS = (
    *ROW, "cell", "metric", "n_splits", "mean", "std", "difference", "spread", "low", "high", "corrected", "constant",
    "paper_mean", "paper_std", "paper_difference", "splits_needed", "failure",
)  # fmt: skip

COLUMNS_OF_A_PAGE = 7  # of scores, in LaTeX's smallest type
ALIKE = 0.99  # of every group: with one answer for nearly everyone, a narrow gap says nothing


def compare(
    settings: StudySettings,
    runs: pd.DataFrame,
    selections: Iterable[Mapping[str, Any]],
) -> pd.DataFrame:
    """Compare the scores of every variant with those of the method as it is.

    Args:
        runs: shards of scores, as `fairgat.scores.runs.read` gives them.
        selections: selection.json of each method and data set; the cell that it chooses is compared.

    Returns:
        One line per row of the study and metric with COLUMNS, `ran` (the splits that there are), `pairs` (those that a
        difference is over), `note` (of more groups), `task`, `block`, `title`, `rules` and `changes`.
        Scores are fractions. `dataset` is the block's, `run_on` the one that the row was trained on. `difference`,
        `low` and `high` are the mean over the splits and its interval by the paired t, `spread` the differences'
        standard deviation; NaN for the methods as they are and, but for `difference`, for a single split.
        `corrected` is half the interval for other people, `constant` the number of splits on which a method says the
        same of nearly everyone.
        `paper_difference` is that of the published means, `splits_needed` how many splits find one of that size with
        80 % probability, given our spread. A row without a cell that finished has no numbers; `failure` says why.

    Raises:
        ConfigError: no run has one of the study's metrics.
    """
    known = runs["metric"].dropna().unique()
    if absent := [name for name in settings.metrics or () if len(known) and name not in known]:
        raise ConfigError(f"study.metrics: no run has {absent[0]!r}; {nearest(absent[0], known)}")
    blocks = [(block, row) for block in settings.blocks for row in block.rows]
    more_groups = {*runs.loc[runs["metric"] == measures.MORE_GROUPS, "dataset"]}
    lines = pd.DataFrame(
        [
            {"dataset": block.name, "run_on": row.dataset, "metric": metric, "task": block.task,
             "block": block.title, "changes": row.changes or "",
             "note": row.note_of_more_groups if row.dataset in more_groups else None,
             **{key: getattr(row, key) for key in ("of", "method", "epochs", "of_epochs", "title", "rules")}}
            for block, row in blocks for metric in metrics_of(settings, block.task)
        ]
    )  # fmt: skip
    chosen = {(entry["dataset"], entry["method"]): entry for entry in selections}
    unknown = {"winner": None}
    lines["cell"] = [chosen.get((line.run_on, line.method), unknown)["winner"] for line in lines.itertuples()]
    lines["failure"] = [_failure(chosen, line) for line in lines.itertuples()]
    keys, varied = [*ROW, "metric"], lines["changes"] != ""
    scored = lines.merge(by_rule(settings, runs))
    summary = scored.groupby(keys, sort=False)["value"].agg(
        n_splits="size", mean=fmean, std=lambda values: deviation(values, settings.ddof)
    )
    bases = ["dataset", "of", "of_epochs", "metric"]
    as_it_is = scored["changes"] == ""
    gaps = against(scored[~as_it_is], scored[as_it_is], [*bases, "split"], keys).rename(columns={"n_splits": "pairs"})
    paper = pd.concat(map(means, TASKS)).assign(epochs="accuracy").rename(columns={"dataset": "run_on"})
    compared = lines.merge(summary.reset_index(), how="left", on=keys).merge(gaps, how="left", on=keys)
    compared = compared.merge(paper, how="left", on=["run_on", "method", "metric", "epochs"])
    published = compared.loc[~varied, [*bases, "paper_mean"]].rename(columns={"paper_mean": "paper_base"})
    compared = compared.merge(published, how="left", on=bases)
    compared["paper_difference"] = (compared["paper_mean"] - compared["paper_base"]).where(varied)
    compared["splits_needed"] = [
        splits_needed(line.paper_difference, line.spread)
        if line.spread > ROUNDING and pd.notna(line.paper_difference)
        else None
        for line in compared.itertuples()
    ]
    compared["n_splits"] = compared["n_splits"].fillna(0).astype(int)
    ran = runs[runs["part"] == settings.part].groupby(["dataset", "method", "cell"])["split"].nunique().rename("ran")
    compared = compared.merge(ran.rename_axis(["run_on", "method", "cell"]).reset_index(), how="left")
    pairs = compared.assign(n_splits=compared["pairs"])
    compared["corrected"] = half_width(pairs, compared["task"].map(settings.ratios))
    compared = compared.merge(constant(settings, runs), how="left", on=["run_on", "method", "cell", "epochs"])
    return compared[[*COLUMNS, "ran", "pairs", "note", "task", "block", "title", "rules", "changes"]]


def scores(settings: StudySettings, runs: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """The scores behind `compare`'s frame: a line per data set, method, cell, rule for the epoch, split and metric."""
    compared = frame[["run_on", "method", "cell", "epochs", "metric"]].drop_duplicates()
    return compared.merge(by_rule(settings, runs)).rename(columns={"run_on": "dataset"})


def by_rule(settings: StudySettings, runs: pd.DataFrame) -> pd.DataFrame:
    """The scores of the study's part, with the rule that chose the epoch in `epochs` and the data set in `run_on`."""
    ours = runs["protocol"].isin(["", *settings.protocols])
    runs = runs.assign(epochs=runs["protocol"].mask(ours, "accuracy")).rename(columns={"dataset": "run_on"})
    return runs.loc[
        (runs["part"] == settings.part) & runs["value"].notna(),
        ["run_on", "method", "cell", "epochs", "split", "metric", "value"],
    ]


def constant(settings: StudySettings, runs: pd.DataFrame) -> pd.DataFrame:
    """Count the splits on which a cell gives nearly everyone in each group the same answer: `constant`."""
    scores, cell = by_rule(settings, runs), ["run_on", "method", "cell", "epochs"]
    rates = scores[scores["metric"].str.fullmatch(r"positive_rate_\d+")].groupby([*cell, "split"])["value"]
    same = (rates.max() <= 1 - ALIKE) | (rates.min() >= ALIKE)
    return same.groupby(cell).sum().rename("constant").reset_index()


def metrics_of(settings: StudySettings, task: str) -> tuple[str, ...]:
    return tuple(settings.metrics or measures.names(task, "shown"))


def _failure(chosen: Mapping[tuple[str, str], Mapping[str, Any]], line: Any) -> str | None:
    """Say why a row, or what it is compared with, has no scores; None where it has."""

    def why(dataset: str, method: str) -> str | None:
        if (dataset, method) not in chosen:
            return "not run"
        entry = chosen[dataset, method]
        return of_selection(entry) if entry["winner"] is None else None

    base = why(line.dataset, line.of)
    return why(line.run_on, line.method) or (f"what it is compared with: {base}" if base and line.changes else None)


def tasks(frame: pd.DataFrame) -> list[str]:
    """The tasks that the study has a block of."""
    return [task for task in TASKS if task in set(frame["task"])]


def table(settings: StudySettings, frame: pd.DataFrame) -> Table:
    """Make a panel of scores, with the published ones, one of differences and, of test scores, of splits per task.

    Args:
        settings, frame: as for `compare`, and as it gives it.
    """
    notes, panels, test, base = Notes(), [], settings.part == "test", compared_with(settings)
    titles = _bases(settings)
    frame = frame.assign(base=frame["of"].map(titles) if len(titles) > 1 else "")
    kinds = [
        ("Score", f"{settings.part} scores (%)", _score_rows),
        ("Difference", f"differences to {base} (points), for {percent.SPLITS}", _difference_rows),
    ]
    if test:
        kinds.append(("Difference", f"differences to {base} (points), for {percent.PEOPLE}", _people_rows))
        kinds.append(("Splits", "splits that a difference of the published size takes", _splits_rows))
    for task in tasks(frame):
        mine = frame[frame["task"] == task]
        metrics = metrics_of(settings, task)
        parts = np.array_split(metrics, -(-len(metrics) // COLUMNS_OF_A_PAGE))
        for (heading, title, rows), part in product(kinds, parts):
            here = mine[mine["metric"].isin(part)]
            made = [Block(name, rows(block, notes)) for name, block in here.groupby("block", sort=False)]
            header, align = ["Data set", heading, *map(labels.metric, part)], "ll" + "r" * len(part)
            if blocks := [block for block in made if block.rows]:
                panels.append(Panel("multirow", header, blocks, f"{TASKS[task].title}: {title}", align=align))
    rules = (
        f"In brackets: the rule that chooses the epoch and, after a slash, the one for {base} where that is another. "
        if frame["rules"].ne("").any()
        else ""
    )
    validation = (
        ""
        if test
        else "The published scores are of test sets. Epochs, and in link prediction the cut-off, are chosen on "
        "validation too, so that scores there lean high, of variants and methods alike. "
    )
    splits = (
        "Splits: how many the paired t-test at 5 % takes to find a difference as large as the published one with a "
        "probability of 80 %, given the spread of ours."
        if any(panel.header[1] == "Splits" for panel in panels)
        else ""
    )
    left_out = f" Not run here: {'; '.join(settings.left_out)}." if settings.left_out else ""
    varied = with_variants(frame)
    counts = f"for {percent.SPLITS}, {leave_out_0(varied)}"
    if test:
        counts += f"; for {percent.PEOPLE}, {leave_out_0(for_other_people(varied))}"
    intervals = percent.INTERVALS if test else percent.OF_SPLITS
    return Table(
        name=settings.name,
        caption=settings.title,
        explanation=(
            f"Percent on the {settings.part} sets; ± beside a score is its standard deviation over the splits. A "
            f"difference is a mean less that of {base} over the same {_splits(frame)}, ± half a 95 % "
            f"interval, and bold where that leaves out 0. {intervals} {percent.NOT_CORRECTED} Here they do, {counts}. "
            f"{rules}{validation}{splits}{left_out}".strip()
        ),
        panels=panels,
        notes=notes.all(),
        size="tiny",
    )


def _splits(frame: pd.DataFrame) -> str:
    """Say how many splits there are; in brackets, data sets that have another number."""
    counts = frame.groupby("block", sort=False)["n_splits"].max()
    usual = counts.value_counts().index[0]
    others = ", ".join(f"{name} {count}" for name, count in counts.items() if count != usual)
    return f"{usual} {'split' if usual == 1 else 'splits'}{f' ({others})' if others else ''}"


def compared_with(settings: StudySettings) -> str:
    """Name what the differences are to: a method, where all variants have the same."""
    titles = [*_bases(settings).values()]
    return titles[0] if len(titles) == 1 else "each row's reference"


def _bases(settings: StudySettings) -> dict[str, str]:
    """The titles of the methods that have variants, by name."""
    varied = {row.of for row in settings.rows if row.changes}
    return {row.of: row.title for row in settings.rows if not row.changes and row.of in varied}


def rows_of(block: pd.DataFrame) -> Iterable[tuple[int, pd.Series, list[pd.Series]]]:
    """Each row of a block: the number of its method (a rule is drawn between methods), its first line, its lines."""
    methods = list(dict.fromkeys(block["of"]))
    for (method, *_), lines in block.groupby(ROW[1:], sort=False):
        yield methods.index(method), lines.iloc[0], [line for _, line in lines.iterrows()]


def _score_rows(block: pd.DataFrame, notes: Notes) -> list[Row]:
    rows = []
    for number, first, lines in rows_of(block.drop_duplicates(["run_on", "method", "epochs", "metric"])):
        ours = [percent.score(line["mean"], line["std"], _unit(line)) for line in lines]
        rows.append(row(_name(first, notes), *_over(ours, lines, "n_splits", notes), group=number))
        if any(pd.notna(line["paper_mean"]) for line in lines):
            paper = (percent.score(line["paper_mean"], line["paper_std"], _unit(line)) for line in lines)
            rows.append(row("– published (test)", *paper, group=number))
    return rows


def _difference_rows(block: pd.DataFrame, notes: Notes) -> list[Row]:
    rows = []
    for number, first, lines in rows_of(with_variants(block)):
        if first["changes"]:
            ours = [percent.signed(line["difference"], line["low"], line["high"], _unit(line)) for line in lines]
            rows.append(row(_name(first, notes), *_over(ours, lines, "pairs", notes), group=number))
        if any(pd.notna(published_gap(line)) for line in lines):
            gaps = (percent.signed(published_gap(line), unit=_unit(line)) for line in lines)
            title = "– published" if first["changes"] else f"{_title(first)}, published (test)"
            rows.append(row(title, *gaps, group=number))
    return rows


def _over(cells: list[Cell], lines: list[pd.Series], count: str, notes: Notes) -> list[Cell]:
    """Mark the numbers that are over fewer splits than the row was run on, and differences without an interval."""

    def marked(cell: Cell, line: pd.Series) -> Cell:
        if 0 < line[count] < line["ran"]:
            return replace(cell, mark=notes.mark(f"Over {line[count]:.0f} of {line['ran']:.0f} splits."))
        if count == "pairs" and line["pairs"] > 1 and pd.isna(line["low"]):
            return replace(cell, mark=notes.mark("All splits differ by this amount, as may be chance: no interval."))
        return cell

    return list(map(marked, cells, lines))


def published_gap(line: pd.Series) -> float:
    """A variant's published difference; of a method as it is, what is published less ours."""
    return line["paper_difference"] if line["changes"] else line["paper_mean"] - line["mean"]


def _people_rows(block: pd.DataFrame, notes: Notes) -> list[Row]:
    """The differences without the published ones, which have no such interval."""
    varied = block[block["changes"] != ""].groupby(ROW, sort=False, dropna=False)
    mine = for_other_people(varied.filter(lambda lines: lines["difference"].notna().any()))
    return _difference_rows(mine.assign(paper_difference=None), notes) if len(mine) else []


def _splits_rows(block: pd.DataFrame, notes: Notes) -> list[Row]:
    rows = []
    for number, first, lines in rows_of(block):
        needed = [line["splits_needed"] for line in lines]
        if any(map(pd.notna, needed)):
            texts = ("> 1000" if value == float("inf") else percent.formatted("{:.0f}", value) for value in needed)
            rows.append(row(_name(first, notes), *texts, group=number))
    return rows


def _unit(line: pd.Series) -> measures.Unit:
    return measures.find(line["metric"]).unit


def _name(row: pd.Series, notes: Notes) -> Cell:
    why = f"Not compared ({row['failure']})." if pd.notna(row["failure"]) else ""
    if row["constant"] > 0:
        splits = f"{row['constant']:.0f} of {row['n_splits']} splits"
        why = f"{why} The same answer for {100 * ALIKE:.0f} % of every group on {splits}.".lstrip()
    if pd.notna(row["note"]):
        on = row["block"] if row["run_on"] == row["dataset"] else row["run_on"]
        why = f"On {on} {row['note']} {why}".rstrip()
    if row["changes"]:
        to = f"Compared with {row['base']}." if row["base"] else ""
        return Cell(_title(row), mark=notes.mark(" ".join(filter(None, [row["changes"], to, why]))))
    return Cell(_title(row), mark=notes.mark(f"{row['title']}: {why}") if why else "")


def _title(row: pd.Series) -> str:
    return f"{row['title']}{row['rules']}"


def with_variants(frame: pd.DataFrame) -> pd.DataFrame:
    """The lines of methods that have a variant."""
    return frame.groupby(["dataset", "of"], sort=False).filter(lambda lines: (lines["changes"] != "").any())
