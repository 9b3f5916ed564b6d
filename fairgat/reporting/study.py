"""A study: variants against what they vary, run against run on the same validation sets.

`compare` gives the numbers, `text` the table and `figure` a forest plot per task. Test scores play no part; the paper's
published ones stand beside ours for orientation.
"""

from collections.abc import Iterable, Mapping, Sequence
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

Settings = Mapping[str, Any]
"""As `fairgat.reporting.settings.study_settings` gives them."""


def compare(settings: Settings, runs: pd.DataFrame) -> pd.DataFrame:
    """Compare the validation scores of every variant with those of the method as it is.

    Args:
        settings: of the study.
        runs: shards of scores, as `fairgat.scores.runs.read` gives them; each row of the study has one cell.

    Returns:
        One line per row of the study and metric with COLUMNS, and the row's `task`, `block`, `title` and `changes`.
        Scores are fractions. `dataset` is the block's, `run_on` the one that the row was trained on. `difference`,
        `low` and `high` are the mean over the splits and its interval by the paired t; they are NaN for the methods as
        they are, `low` and `high` also for a single split. A row that failed on a split has no numbers; `failure` says
        why.
    """
    blocks = [(block, row) for block in settings["blocks"] for row in block["rows"]]
    lines = pd.DataFrame(
        [
            {"dataset": block["name"], "of": row["of"], "run_on": row["dataset"], "method": row["method"],
             "metric": metric, "task": block["task"], "block": block["title"], "title": row["title"],
             "changes": row["changes"] or ""}
            for block, row in blocks for metric in (UTILITY, *FAIRNESS[block["task"]])
        ]
    )  # fmt: skip
    runs = under(runs, settings["protocol"]).rename(columns={"dataset": "run_on"})
    lines["failure"] = _failures(lines, runs)
    # A method as it is failed: its variants keep their scores and lose their difference.
    usable = lines[lines["failure"].isna() | lines["failure"].str.startswith(_BASE, na=False)]
    scored = usable.merge(runs.loc[runs["part"] == "validation", ["run_on", "method", "split", "metric", "value"]])
    keys, varied = [*_ROW, "metric"], scored["changes"] != ""
    summary = scored.groupby(keys, sort=False)["value"].agg(
        n_splits="size", mean=fmean, std=lambda values: deviation(values, settings["ddof"])
    )
    base = scored.loc[~varied, ["dataset", "of", "metric", "split", "value"]].rename(columns={"value": "base"})
    gaps = differences(scored[varied].merge(base), keys).drop(columns="n_splits")
    paper = pd.DataFrame(
        [(*key, "", *value) for task in FAIRNESS for key, value in means(task).items()],
        columns=["dataset", "method", "metric", "changes", "paper_mean", "paper_std"],
    )
    found = lines.merge(summary.reset_index(), how="left", on=keys).merge(gaps, how="left", on=keys)
    found = found.merge(paper, how="left", on=["dataset", "method", "metric", "changes"])
    found["n_splits"] = found["n_splits"].fillna(0).astype(int)
    return found[[*COLUMNS, "task", "block", "title", "changes"]]


_BASE = "what it is compared with: "


def _failures(lines: pd.DataFrame, runs: pd.DataFrame) -> pd.Series:
    """Say why each row, or what it is compared with, has no scores; None where it has."""
    lost = runs[runs["metric"] == FAILURE]
    lost = lost.assign(text="split " + lost["split"].astype(str) + ": " + lost["reason"])
    why = lost.groupby(["run_on", "method"])["text"].agg("; ".join).to_dict()
    run = set(zip(runs["run_on"], runs["method"], strict=True))
    found = []
    for line in lines.itertuples():
        own, base = (
            why.get(key) or (None if key in run else "not run")
            for key in ((line.run_on, line.method), (line.dataset, line.of))
        )
        found.append(own or (f"{_BASE}{base}" if base and line.changes else None))
    return pd.Series(found, dtype=object)


def tasks(frame: pd.DataFrame) -> list[str]:
    """The tasks that the study has a block of."""
    return [task for task in FAIRNESS if task in set(frame["task"])]


def text(settings: Settings, frame: pd.DataFrame, form: str) -> str:
    """The table in a format of `fairgat.reporting.render`; in LaTeX one per task, as both exceed a page."""
    shown = [[task] for task in tasks(frame)] if form == "tex" else [tasks(frame)]
    return "\n".join(render(table(settings, frame, each), form) for each in shown)


def table(settings: Settings, frame: pd.DataFrame, shown: Sequence[str]) -> Table:
    """Make a panel of validation scores, with the published ones, and a panel of differences per task.

    Args:
        settings, frame: as for `compare`, and as it gives it.
        shown: the tasks.
    """
    notes, panels = Notes(), []
    for task in shown:
        mine = frame[frame["task"] == task]
        metrics = [*map(labels.metric, (UTILITY, *FAIRNESS[task]))]
        for heading, title, rows in [
            ("Validation score", "validation scores (%)", _score_rows),
            ("Difference", "differences to the method as it is (points)", _difference_rows),
        ]:
            blocks = [Block(name, rows(block, notes)) for name, block in mine.groupby("block", sort=False)]
            header, align = ["Data set", heading, *metrics], "ll" + "r" * len(metrics)
            panels.append(Panel("multirow", header, blocks, f"{labels.TASKS[task]}: {title}", align=align))
    return Table(
        name="_".join([settings["name"], *(shown if len(shown) == 1 else [])]),
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


def _rows(block: pd.DataFrame) -> Iterable[tuple[int, pd.Series, list[pd.Series]]]:
    """Each row of a block: the number of its method (a rule is drawn between methods), its first line, its lines."""
    methods = list(dict.fromkeys(block["of"]))
    for (method, *_), lines in block.groupby(["of", "run_on", "method"], sort=False):
        yield methods.index(method), lines.iloc[0], [line for _, line in lines.iterrows()]


def _score_rows(block: pd.DataFrame, notes: Notes) -> list[Row]:
    rows = []
    for number, first, lines in _rows(block):
        rows.append(Row([_name(first, notes), *(percent.score(line["mean"], line["std"]) for line in lines)], number))
        if pd.notna(first["paper_mean"]):
            paper = [percent.score(line["paper_mean"], line["paper_std"]) for line in lines]
            rows.append(Row([Cell("– published (test)"), *paper], number))
    return rows


def _difference_rows(block: pd.DataFrame, notes: Notes) -> list[Row]:
    rows = []
    for number, first, lines in _rows(_varied(block)):
        if first["changes"]:
            cells = [percent.signed(line["difference"], line["low"], line["high"]) for line in lines]
            rows.append(Row([_name(first, notes), *cells], number))
        elif pd.notna(first["paper_mean"]):
            gaps = [percent.signed(line["paper_mean"] - line["mean"]) for line in lines]
            rows.append(Row([Cell(f"{first['title']}, published (test)"), *gaps], number))
    return rows


def _name(row: pd.Series, notes: Notes) -> Cell:
    why = f"Not compared ({row['failure']})." if pd.notna(row["failure"]) else ""
    if row["changes"]:
        return Cell(f"– {row['title']}", mark=notes.mark(f"{row['changes']} {why}".strip()))
    return Cell(row["title"], mark=notes.mark(f"{row['title']}: {why}") if why else "")


def _varied(frame: pd.DataFrame) -> pd.DataFrame:
    """The lines of methods that have a variant."""
    return frame.groupby(["dataset", "of"], sort=False).filter(lambda lines: (lines["changes"] != "").any())


def figure(frame: pd.DataFrame, task: str) -> Figure:
    """Draw every variant's difference to its method (0) with its interval, and the published score's (hollow).

    Args:
        frame: as `compare` gives it.
        task: whose data sets are drawn.
    """
    mine = _varied(frame[frame["task"] == task])
    looks = style.looks({"name": row.of, "title": row.title} for row in mine[mine["changes"] == ""].itertuples())
    blocks = {name: [*_rows(block)] for name, block in mine.groupby("dataset", sort=False)}
    panels = [{"name": name, "title": rows[0][1]["block"]} for name, rows in blocks.items()]
    height = 0.6 + 0.17 * max(map(len, blocks.values()))
    drawn, axes = style.panels(panels, (UTILITY, *FAIRNESS[task]), columns=4, height=height, sharey="row")
    for (dataset, metric), ax in axes.items():
        ax.axvline(0, color="#999999", linewidth=0.8, zorder=1)
        for place, (_, first, lines) in enumerate(blocks[dataset]):
            (line,) = (line for line in lines if line["metric"] == metric)
            look, gap = looks[first["of"]], line["paper_mean"] - line["mean"]
            if pd.notna(gap):
                ax.plot(100 * gap, place, "o", color="#666666", markerfacecolor="none")
            elif pd.notna(line["difference"]):
                half = 50 * (line["high"] - line["low"]) if pd.notna(line["low"]) else None
                ax.errorbar(
                    100 * line["difference"], place, xerr=half,
                    fmt=look.marker, color=look.colour, markersize=3.5, elinewidth=1, capsize=2,
                )  # fmt: skip
        names = [f"– {row['title']}" if row["changes"] else row["title"] for _, row, _ in blocks[dataset]]
        style.rows(ax, [*map(style.plain, names)])
        ax.set_xlabel(style.label(metric))
    drawn.supxlabel("difference to the method as it is, in points", fontsize=8)
    paper = Line2D([], [], color="#666666", marker="o", markerfacecolor="none", linestyle="", label="published (test)")
    style.legend(drawn, looks.values(), [paper])
    return drawn
