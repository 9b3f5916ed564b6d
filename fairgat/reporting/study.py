"""A study: variants against what they vary, run against run on the same validation sets.

`compare` gives the numbers, `text` the table and `figure` a forest plot per task. Test scores play no part; the paper's
published ones stand beside ours for orientation.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairgat.reporting import labels, percent, style
from fairgat.reporting.model import Block, Cell, Notes, Panel, Row, Table
from fairgat.reporting.paper import means
from fairgat.reporting.render import render
from fairgat.scores.paired import differences
from fairgat.scores.runs import FAILURE, FAIRNESS, UTILITY, under
from fairgat.scores.summary import deviation

COLUMNS = (
    "dataset", "of", "run_on", "method", "metric", "n_splits", "mean", "std",
    "difference", "low", "high", "paper_mean", "paper_std", "failure",
)  # fmt: skip
_ROW = ["dataset", "of", "run_on", "method"]
_HEADINGS = {"Validation score": "validation scores (%)", "Difference": "differences to the method as it is (points)"}

Settings = Mapping[str, Any]
"""As `fairgat.reporting.settings.study_settings` gives them."""


def compare(settings: Settings, runs: pd.DataFrame) -> pd.DataFrame:
    """Validation scores of every row, and each variant's difference to the method as it is.

    Args:
        settings: of the study.
        runs: shards of scores, as `fairgat.scores.runs.read` gives them; each row has one cell.

    Returns:
        One line per row and metric with COLUMNS; scores are fractions. `dataset` is the block's, `run_on` the one
        that the row was trained on. `difference`, `low` and `high` are the mean over the splits and its interval by
        the paired t; they are empty for the methods as they are, `low` and `high` also for a single split. A row that
        failed on a split has no numbers; `failure` says why.
    """
    rows = pd.DataFrame(
        [
            {"dataset": block["name"], "of": row["of"], "run_on": row["dataset"], "method": row["method"],
             "task": block["task"], "varied": row["changes"] is not None}
            for block in settings["blocks"] for row in block["rows"]
        ]
    )  # fmt: skip
    runs = under(runs, settings["protocol"]).rename(columns={"dataset": "run_on"})
    rows = _with_failures(rows, runs)
    metrics = pd.DataFrame(
        [(task, m) for task, ms in FAIRNESS.items() for m in (UTILITY, *ms)], columns=["task", "metric"]
    )
    lines = rows.merge(metrics)
    scores = runs.loc[runs["part"] == "validation", ["run_on", "method", "split", "metric", "value"]]
    scored = lines[~lines["failed"]].merge(scores)
    keys = [*_ROW, "metric"]
    summary = scored.groupby(keys, sort=False)["value"].agg(
        n_splits="size", mean=fmean, std=lambda values: deviation(values, settings["ddof"])
    )
    base = scored.loc[~scored["varied"], ["dataset", "of", "metric", "split", "value"]]
    pairs = scored[scored["varied"]].merge(base.rename(columns={"value": "base"}))
    paper = pd.DataFrame(
        [(*key, False, *value) for task in FAIRNESS for key, value in means(task).items()],
        columns=["dataset", "method", "metric", "varied", "paper_mean", "paper_std"],
    )
    found = lines.merge(summary.reset_index(), how="left", on=keys)
    found = found.merge(differences(pairs, keys).drop(columns="n_splits"), how="left", on=keys)
    found = found.merge(paper, how="left", on=["dataset", "method", "metric", "varied"])
    return found.assign(n_splits=found["n_splits"].fillna(0).astype(int))[list(COLUMNS)]


def _with_failures(rows: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The rows with `failed`, and in `failure` why they, or what they are compared with, have no scores."""
    lost = runs[runs["metric"] == FAILURE]
    lost = lost.assign(text="split " + lost["split"].astype(str) + ": " + lost["reason"])
    why = lost.groupby(["run_on", "method"])["text"].agg("; ".join).to_dict()
    wanted, run = (set(zip(frame["run_on"], frame["method"], strict=True)) for frame in (rows, runs))
    why |= dict.fromkeys(wanted - run, "not run")
    own = [why.get((row.run_on, row.method)) for row in rows.itertuples()]
    bases = [why.get((row.dataset, row.of)) for row in rows.itertuples()]
    failure = [
        mine or (f"what it is compared with: {base}" if base and varied else None)
        for mine, base, varied in zip(own, bases, rows["varied"], strict=True)
    ]
    return rows.assign(failed=[mine is not None for mine in own], failure=pd.Series(failure, dtype=object))


# ------------------------------------------------------------------------------------------------------- the table


def text(settings: Settings, frame: pd.DataFrame, form: str) -> str:
    """The table in a format of `fairgat.reporting.render`; in LaTeX one per task, as both exceed a page."""
    if form != "tex":
        return render(table(settings, frame), form)
    return "\n".join(render(table(settings, frame, [task]), form) for task in tasks(settings))


def tasks(settings: Settings) -> list[str]:
    """The tasks that the study has a block of."""
    return [task for task in FAIRNESS if any(block["task"] == task for block in settings["blocks"])]


def table(settings: Settings, frame: pd.DataFrame, shown: Sequence[str] = ()) -> Table:
    """Per task a panel of validation scores, with the published ones, and a panel of differences.

    Args:
        settings: as for `compare`.
        frame: as `compare` gives it.
        shown: tasks; all by default.
    """
    notes = Notes()
    panels = []
    for task in shown or tasks(settings):
        blocks = [block for block in settings["blocks"] if block["task"] == task]
        metrics = (UTILITY, *FAIRNESS[task])
        lookup = frame.set_index([*_ROW, "metric"])
        for heading, rows in [("Validation score", _score_rows), ("Difference", _difference_rows)]:
            panels.append(
                Panel(
                    "multirow",
                    ["Data set", heading, *map(labels.metric, metrics)],
                    [Block(block["title"], rows(block, lookup, metrics, notes)) for block in blocks],
                    title=f"{labels.TASKS[task]}: {_HEADINGS[heading]}",
                    align="ll" + "r" * len(metrics),
                )
            )
    return Table(
        name="_".join([settings["name"], *shown]),
        caption=settings["title"],
        explanation=(
            "Percent on the validation sets; ± beside a score is its standard deviation over the splits. A difference "
            "is the variant's mean less its method's over the same splits, ± half its 95 % confidence interval by the "
            "paired t, and bold where that leaves out 0: of differences that are none, one in twenty. The published "
            "scores are of test sets. Epochs, and in link prediction the cut-off, are chosen on validation too, so "
            "that scores there lean high, of variants and methods alike."
        ),
        panels=panels,
        notes=notes.all(),
        size="tiny",
    )


def _score_rows(block: Mapping, lookup: pd.DataFrame, metrics: Sequence[str], notes: Notes) -> list[Row]:
    rows = []
    for number, row, lines in _numbered(block, lookup, metrics):
        rows.append(
            Row([_name(row, lines, notes), *(percent.score(line["mean"], line["std"]) for line in lines)], number)
        )
        if row["changes"] is None and pd.notna(lines[0]["paper_mean"]):
            paper = [percent.score(line["paper_mean"], line["paper_std"]) for line in lines]
            rows.append(Row([Cell("– published (test)"), *paper], number))
    return rows


def _difference_rows(block: Mapping, lookup: pd.DataFrame, metrics: Sequence[str], notes: Notes) -> list[Row]:
    rows, varied = [], {row["method"] for row in _varied(block)}
    for number, row, lines in _numbered(block, lookup, metrics):
        if row["changes"]:
            cells = [percent.signed(line["difference"], line["low"], line["high"]) for line in lines]
            rows.append(Row([_name(row, lines, notes), *cells], number))
        elif row["of"] in varied:
            gaps = [percent.signed(line["paper_mean"] - line["mean"]) for line in lines]
            rows.append(Row([Cell(f"{row['title']}, published (test)"), *gaps], number))
    return rows


def _numbered(
    block: Mapping, lookup: pd.DataFrame, metrics: Sequence[str]
) -> list[tuple[int, Mapping, list[pd.Series]]]:
    """Each row with its method's number (a rule is drawn between methods) and its lines of these metrics."""
    methods = list(dict.fromkeys(row["of"] for row in block["rows"]))
    return [(methods.index(row["of"]), row, _lines(block, row, lookup, metrics)) for row in block["rows"]]


def _lines(block: Mapping, row: Mapping, lookup: pd.DataFrame, metrics: Sequence[str]) -> list[pd.Series]:
    return [lookup.loc[(block["name"], row["of"], row["dataset"], row["method"], metric)] for metric in metrics]


def _name(row: Mapping, lines: Sequence[pd.Series], notes: Notes) -> Cell:
    failure = lines[0]["failure"]
    why = f" Not compared ({failure})." if pd.notna(failure) else ""
    if row["changes"] is None:
        return Cell(row["title"], mark=notes.mark(f"{row['title']}:{why}") if why else "")
    return Cell(f"– {row['title']}", mark=notes.mark(f"{row['changes']}{why}"))


def _varied(block: Mapping) -> list[Mapping]:
    """The rows of methods that have a variant."""
    varied = {row["of"] for row in block["rows"] if row["changes"]}
    return [row for row in block["rows"] if row["of"] in varied]


# ------------------------------------------------------------------------------------------------------ the figure


def figure(settings: Settings, frame: pd.DataFrame, task: str) -> Figure:
    """Every variant's difference to its method (0) with its interval, and the published score's distance (hollow).

    Args:
        settings: as for `compare`.
        frame: as `compare` gives it.
        task: whose data sets are drawn.
    """
    blocks = {block["name"]: block for block in settings["blocks"] if block["task"] == task}
    shown = {name: _varied(block) for name, block in blocks.items()}
    methods = {row["method"]: row["title"] for rows in shown.values() for row in rows if not row["changes"]}
    looks = style.looks({"name": name, "title": title} for name, title in methods.items())
    height = 0.6 + 0.17 * max(map(len, shown.values()))
    drawn, axes = style.panels(
        list(blocks.values()), (UTILITY, *FAIRNESS[task]), columns=4, height=height, sharey="row"
    )
    lookup = frame.set_index([*_ROW, "metric"])
    for (dataset, metric), ax in axes.items():
        ax.axvline(0, color="#999999", linewidth=0.8, zorder=1)
        for place, row in enumerate(shown[dataset]):
            (line,) = _lines(blocks[dataset], row, lookup, [metric])
            look, gap = looks[row["of"]], line["paper_mean"] - line["mean"]
            if not row["changes"] and pd.notna(gap):
                ax.plot(100 * gap, place, "o", color="#666666", markerfacecolor="none")
            elif pd.notna(line["difference"]):
                half = 50 * (line["high"] - line["low"]) if pd.notna(line["low"]) else None
                ax.errorbar(
                    100 * line["difference"], place, xerr=half,
                    fmt=look.marker, color=look.colour, markersize=3.5, elinewidth=1, capsize=2,
                )  # fmt: skip
        names = [f"– {row['title']}" if row["changes"] else row["title"] for row in shown[dataset]]
        style.rows(ax, list(map(style.plain, names)))
        ax.set_xlabel(style.label(metric))
    drawn.supxlabel("difference to the method as it is, in points", fontsize=8)
    paper = Line2D([], [], color="#666666", marker="o", markerfacecolor="none", linestyle="", label="published (test)")
    style.legend(drawn, looks.values(), [paper])
    return drawn
