"""The sensitivity study: what each decision that the paper leaves open changes on validation, as a table and a figure.

Test scores are never looked at; the paper's published ones stand beside ours for orientation.
"""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairgat.reporting import labels, style
from fairgat.reporting.model import Block, Cell, Math, Notes, Panel, Row, Table
from fairgat.reporting.paper import means
from fairgat.reporting.render import render
from fairgat.reporting.results import DASH
from fairgat.scores.paired import difference, signed
from fairgat.scores.runs import FAIRNESS, UTILITY, Record
from fairgat.scores.summary import deviation

COLUMNS = (
    "dataset", "of", "run_on", "method", "metric", "n_splits", "mean", "std",
    "difference", "low", "high", "paper_mean", "paper_std", "failure",
)  # fmt: skip
_TASKS = {"node_classification": "Node classification", "link_prediction": "Link prediction"}

Blocks = Sequence[Mapping[str, Any]]


def compare(blocks: Blocks, records: Sequence[Record], ddof: int) -> pd.DataFrame:
    """Validation scores of every row, and each variant's difference to the method as it is.

    Args:
        blocks: as `fairgat.reporting.settings.sensitivity_settings` gives them.
        records: the one cell of every row on every split.
        ddof: as for `fairgat.scores.summary.deviation`.

    Returns:
        One line per row and metric with COLUMNS; scores are fractions. `dataset` is the block's, `run_on` the one
        that the row was trained on. `difference`, `low` and `high` are the mean over the splits and its interval by
        the paired t; they are empty for the methods as they are, `low` and `high` also for a single split. `failure`
        says why there are no numbers.
    """
    runs: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        runs.setdefault((record.dataset, record.method), []).append(record)
    published = {task: means(task) for task in _TASKS}
    lines = []
    for block in blocks:
        for row in block["rows"]:
            failure, scores = _scores(runs.get((row["dataset"], row["method"]), []))
            base_failure, base = _scores(runs.get((block["name"], row["of"]), []))
            for metric in (UTILITY, *FAIRNESS[block["task"]]):
                values = {split: score[metric] for split, score in scores.items()}
                line = dict.fromkeys(COLUMNS) | {
                    "dataset": block["name"],
                    "of": row["of"],
                    "run_on": row["dataset"],
                    "method": row["method"],
                    "metric": metric,
                    "n_splits": len(values),
                    "mean": statistics.fmean(values.values()) if values else None,
                    "std": deviation(list(values.values()), ddof),
                    "failure": failure,
                }
                if row["changes"] is None:
                    found = published[block["task"]].get((block["name"], row["method"], metric), (None, None))
                    line["paper_mean"], line["paper_std"] = found
                elif base_failure:
                    line["failure"] = failure or f"what it is compared with: {base_failure}"
                elif values:
                    both = sorted(values.keys() & base.keys())
                    line |= difference([values[split] - base[split][metric] for split in both])
                lines.append(line)
    return pd.DataFrame(lines, columns=COLUMNS)


def _scores(records: Sequence[Record]) -> tuple[str | None, dict[int, Mapping[str, float]]]:
    """Why there are no scores, or the validation scores by split: of all splits or of none, as in a selection."""
    if not records:
        return "not run", {}
    failed = [f"split {record.split}: {record.failure}" for record in records if record.failure]
    if failed:
        return "; ".join(failed), {}
    return None, {record.split: record.validation for record in records}


# ------------------------------------------------------------------------------------------------------- the table


def text(blocks: Blocks, frame: pd.DataFrame, form: str) -> str:
    """The table in a format of `fairgat.reporting.render`; in LaTeX one per task, as both exceed a page."""
    if form != "tex":
        return render(table(blocks, frame), form)
    tasks = [[block for block in blocks if block["task"] == task] for task in _TASKS]
    return "\n".join(render(table(mine, frame), form) for mine in tasks if mine)


def table(blocks: Blocks, frame: pd.DataFrame) -> Table:
    """Per task a panel of validation scores, with the published ones, and a panel of differences.

    Args:
        blocks: as for `compare`.
        frame: as `compare` gives it.
    """
    notes = Notes()
    panels = []
    for task, name in _TASKS.items():
        mine = [block for block in blocks if block["task"] == task]
        if not mine:
            continue
        metrics = (UTILITY, *FAIRNESS[task])
        lookup = frame.set_index(["dataset", "run_on", "method", "metric"])
        for heading, rows in [("Validation score", _score_rows), ("Difference", _difference_rows)]:
            panels.append(
                Panel(
                    "multirow",
                    ["Data set", heading, *map(labels.metric, metrics)],
                    [Block(block["title"], rows(block, lookup, metrics, notes)) for block in mine],
                    title=f"{name}: {_HEADINGS[heading]}",
                    align="ll" + "r" * len(metrics),
                )
            )
    tasks = {block["task"] for block in blocks}
    return Table(
        name="sensitivity" if len(tasks) > 1 else f"sensitivity_{tasks.pop()}",
        caption="What the paper leaves open, decided otherwise one decision at a time.",
        explanation=(
            "Percent on the validation sets, at the cells that the paper reports; ± beside a score is its standard "
            "deviation over the splits. A difference is the variant's mean less its method's over the same splits, "
            "± half its 95 % confidence interval by the paired t, and bold where that leaves out 0: of differences "
            "that are none, one in twenty. The published scores are of test sets. Epochs, and in link prediction the "
            "cut-off, are chosen on validation too, so that scores there lean high, of variants and methods alike."
        ),
        panels=panels,
        notes=notes.all(),
        size="tiny",
    )


_HEADINGS = {"Validation score": "validation scores (%)", "Difference": "differences to the method as it is (points)"}


def _score_rows(block: Mapping, lookup: pd.DataFrame, metrics: Sequence[str], notes: Notes) -> list[Row]:
    rows = []
    for number, row in _numbered(block):
        lines = [lookup.loc[block["name"], row["dataset"], row["method"], metric] for metric in metrics]
        cells = [_cell(line["mean"], line["std"]) for line in lines]
        rows.append(Row([_name(row, lines[0]["failure"], notes), *cells], number))
        if row["changes"] is None and lines[0].notna()["paper_mean"]:
            paper = [_cell(line["paper_mean"], line["paper_std"]) for line in lines]
            rows.append(Row([Cell("– published (test)"), *paper], number))
    return rows


def _difference_rows(block: Mapping, lookup: pd.DataFrame, metrics: Sequence[str], notes: Notes) -> list[Row]:
    rows = []
    varied = {row["of"] for row in block["rows"] if row["changes"]}
    for number, row in _numbered(block):
        lines = [lookup.loc[block["name"], row["dataset"], row["method"], metric] for metric in metrics]
        if row["changes"]:
            cells = [signed(line["difference"], line["low"], line["high"]) for line in lines]
            rows.append(Row([_name(row, lines[0]["failure"], notes), *cells], number))
        elif row["of"] in varied:
            gap = [signed(_less(line["paper_mean"], line["mean"])) for line in lines]
            rows.append(Row([Cell(f"{row['title']}, published (test)"), *gap], number))
    return rows


def _numbered(block: Mapping) -> list[tuple[int, Mapping]]:
    """Each row with its method's number: a rule is drawn between methods."""
    methods = list(dict.fromkeys(row["of"] for row in block["rows"]))
    return [(methods.index(row["of"]), row) for row in block["rows"]]


def _name(row: Mapping, failure: str | None, notes: Notes) -> Cell:
    why = f" Not compared ({failure})." if pd.notna(failure) else ""
    if row["changes"] is None:
        return Cell(row["title"], mark=notes.mark(f"{row['title']}:{why}") if why else "")
    return Cell(f"– {row['title']}", mark=notes.mark(f"{row['changes']}{why}"))


def _cell(mean: float | None, std: float | None) -> Cell:
    if pd.isna(mean):
        return Cell(DASH)
    return Cell(f"{100 * mean:.2f}", std=f"{100 * std:.2f}" if pd.notna(std) else "")


def _less(a: float | None, b: float | None) -> float | None:
    return None if pd.isna(a) or pd.isna(b) else a - b


# ------------------------------------------------------------------------------------------------------ the figure


def figure(blocks: Blocks, frame: pd.DataFrame, task: str) -> Figure:
    """Every variant's difference to its method (0) with its interval, and the published score's distance (hollow).

    Args:
        blocks: as for `compare`.
        frame: as `compare` gives it.
        task: whose data sets are drawn.
    """
    mine = [block for block in blocks if block["task"] == task]
    shown = {block["name"]: _varied(block) for block in mine}
    methods = {row["method"]: row["title"] for rows in shown.values() for row in rows if not row["changes"]}
    looks = style.looks({"name": name, "title": title} for name, title in methods.items())
    height = 0.6 + 0.17 * max(map(len, shown.values()))
    drawn, axes = style.panels(mine, (UTILITY, *FAIRNESS[task]), columns=4, height=height, sharey="row")
    lookup = frame.set_index(["dataset", "run_on", "method", "metric"])
    for (dataset, metric), ax in axes.items():
        rows = shown[dataset]
        ax.axvline(0, color="#999999", linewidth=0.8, zorder=1)
        for place, row in enumerate(rows):
            line, look = lookup.loc[dataset, row["dataset"], row["method"], metric], looks[row["of"]]
            gap = _less(line["paper_mean"], line["mean"])
            if not row["changes"] and gap is not None:
                ax.plot(100 * gap, place, "o", color="#666666", markerfacecolor="none")
            elif pd.notna(line["difference"]):
                half = 50 * (line["high"] - line["low"]) if pd.notna(line["low"]) else None
                ax.errorbar(
                    100 * line["difference"], place, xerr=half,
                    fmt=look.marker, color=look.colour, markersize=3.5, elinewidth=1, capsize=2,
                )  # fmt: skip
        names = [f"– {row['title']}" if row["changes"] else row["title"] for row in rows]
        ax.set_yticks(range(len(rows)), list(map(style.plain, names)))
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.grid(axis="y", visible=False)
        label = labels.metric(metric)
        ax.set_xlabel(label.tex if isinstance(label, Math) else style.plain(label))
    drawn.supxlabel("difference to the method as it is, in points", fontsize=8)
    paper = Line2D([], [], color="#666666", marker="o", markerfacecolor="none", linestyle="", label="published (test)")
    style.legend(drawn, looks.values(), [paper])
    return drawn


def _varied(block: Mapping) -> list[Mapping]:
    """The rows of methods that have a variant."""
    varied = {row["of"] for row in block["rows"] if row["changes"]}
    return [row for row in block["rows"] if row["of"] in varied]
