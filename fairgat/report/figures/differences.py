"""Each method's difference to GAT on the same splits, of one task."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairgat import measures, paper
from fairgat.report import percent, rows, style
from fairgat.report.inputs import Files, Settings
from fairgat.report.labels import counted
from fairgat.scores.paired import FEWEST, REFERENCE

READS = ("selection", "runs")
TASK = None

GAPS = 2  # of a task, beside its utilities: the others are in the table
_FILLED, _HOLLOW = {"marker": "o"}, {"marker": "o", "markerfacecolor": "none"}


def draw(settings: Settings, files: Files) -> Figure:
    """Draw a panel for each data set and measure, with a row for each method.

    The paper's differences are hollow.
    """
    frame = rows.table(settings, files, paper.means(settings.task))
    metrics = _metrics(settings.task)
    is_other = frame["method"] != REFERENCE
    is_run = frame["reason"] == ""
    shown = frame[is_other & is_run & frame["metric"].isin(metrics)]
    looks = style.looks_of(settings)
    looks = {name: looks[name] for name in shown["method"].unique()}

    height = 0.55 + 0.19 * len(looks)
    figure, panels = style.panels_of(shown, metrics, len(metrics), height, sharey=True)
    for ax, metric, lines in panels:
        style.zero(ax, upright=True)
        for place, line in enumerate(lines.itertuples()):
            _draw(ax, line, place, looks[line.method])
        ax.set_xlabel(_label(metric))
        style.rows(ax, [look.title for look in looks.values()])

    ours = f"mean and 95 % interval for {percent.SPLITS}"
    signs = [style.sign(ours, color="black", **_FILLED)]
    if shown["paper_difference"].notna().any():
        signs.append(style.sign("in the paper", **_HOLLOW))
    style.legend(figure, signs=signs, title=_title(shown))
    return figure


def _metrics(task: str) -> tuple[str, ...]:
    """The utilities and the first of the gaps."""
    return measures.names(task, "utility") + measures.names(task, "chosen")[:GAPS]


def _title(shown: pd.DataFrame) -> str:
    """Say what is shown, and whether there are too few splits to decide anything.

    Data sets may have other numbers of them.
    """
    compared = shown[shown["difference"].notna()]
    if compared.empty:
        return (
            "No difference to GAT: that takes a result of GAT, and another method's on "
            "the same data set and splits"
        )
    fewest, most = int(compared["pairs"].min()), int(compared["pairs"].max())
    splits = counted(most, "split")
    if fewest < most:
        splits = f"{fewest} to {splits}"
    title = f"Difference to GAT on the same {splits}, in points"
    if fewest < FEWEST:
        title += f": fewer than {FEWEST} decide nothing"
    return title


def _label(metric: str) -> str:
    better = {"higher": "right", "lower": "left"}.get(measures.find(metric).better)
    label = style.label(metric).replace(r" ($\%$)", "")
    return f"{label} ({better}: better)" if better else label


def _draw(ax: Axes, line: Any, place: int, look: style.Look) -> None:
    """Draw a method's difference, and the paper's a little below it."""
    factor = measures.find(line.metric).unit.factor
    if pd.notna(line.low):
        ends = [factor * line.low, factor * line.high]
        ax.plot(ends, [place, place], color=look.colour)
    if pd.notna(line.difference):
        ax.plot(factor * line.difference, place, look.marker, color=look.colour)
    if pd.notna(line.paper_difference):
        published = factor * line.paper_difference
        ax.plot(published, place + 0.25, color=style.GREY, markersize=4, **_HOLLOW)
