"""The paper's means against ours."""

from itertools import product
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairgat import frames, measures
from fairgat.config import TASKS
from fairgat.paper import TASK_OF_RESULTS
from fairgat.report import labels, style
from fairgat.report.inputs import Files, Settings

READS = ("audit",)
TASK = None

_SIGNS = {  # of the verdicts, in the legend
    labels.AGREES: {"marker": "o"},
    "differs": {"marker": r"$\odot$", "markersize": 8},
    labels.UNDECIDED: {"marker": "o", "fillstyle": "none"},
}


def draw(settings: Settings, files: Files) -> Figure:
    """Draw both means in percent, with their standard deviations.

    Hollow where undecided, ringed where they differ. Where a few results leave the
    others little room, these are drawn once more from closer.
    """
    looks = style.looks_of(settings)
    frame = frames.read(*files["audit"])
    frame = frame[(frame["rule"] == settings.rule) & frame["mean"].notna()]
    panels = _panels(frame)
    height = 3.0 if panels else 0.5
    figure, _ = style.grid(max(1, (len(panels) + 1) // 2), 2, height)
    for ax, (title, lines) in zip(figure.axes, panels.items(), strict=False):
        for line in lines.itertuples():
            unknown = style.Look(line.method, style.GREY, "o")
            _point(ax, line, looks.get(line.method, unknown))
        ax.set_title(title, loc="left")
        _square(ax)
    for ax in figure.axes[len(panels) :]:
        ax.set_axis_off()
    if not panels:
        ax = figure.axes[0]
        nothing = "No published number has a counterpart in this run."
        ax.text(0, 0.5, nothing, transform=ax.transAxes)

    drawn = set(frame["method"])
    shown = [look for method, look in looks.items() if method in drawn]
    signs = [style.sign(verdict, **mark) for verdict, mark in _SIGNS.items()]
    title = (
        "Each published mean against ours, with their standard deviations: on the line "
        "they are equal"
    )
    style.legend(figure, shown, signs, title)
    return figure


def _panels(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Part the numbers by task, and utility from fairness; by title.

    Where there is a crowd, a closer look follows.
    """
    first_table = frame["table"].str.split("+").str[0]
    task_of = first_table.map(TASK_OF_RESULTS)
    panels = {}
    for task, of_utility in product(TASKS, (True, False)):
        is_utility = frame["metric"].isin(measures.names(task, "utility"))
        rows = frame[(task_of == task) & (is_utility == of_utility)]
        if rows.empty:
            continue
        what = measures.utility(task) if of_utility else "fairness measures"
        title = f"{TASKS[task].title}: {what} (%)"
        panels[title] = rows
        near = style.crowd(rows[["paper_mean", "mean"]].to_numpy())
        if near is not None:
            panels[f"{title}, closer"] = rows[near]
    return panels


def _point(ax: Axes, line: Any, look: style.Look) -> None:
    """Draw a number with its deviations, by its verdict."""
    if line.verdict not in (labels.AGREES, labels.UNDECIDED):
        ring = {"fillstyle": "none", "markersize": 8.5}
        ax.plot(line.paper_mean, line.mean, "o", color=look.colour, **ring)
    ax.errorbar(
        line.paper_mean,
        line.mean,
        xerr=line.paper_std,
        yerr=0 if pd.isna(line.std) else line.std,
        fmt=look.marker,
        color=look.colour,
        elinewidth=0.6,
        alpha=0.85,
        fillstyle="none" if line.verdict == labels.UNDECIDED else "full",
    )


def _square(ax: Axes) -> None:
    """Give both axes the same ends, and draw the line on which both means are equal."""
    lows, highs = zip(ax.get_xlim(), ax.get_ylim(), strict=True)
    ends = min(lows), max(highs)
    ax.plot(ends, ends, color="#999999", linewidth=0.8, zorder=1)
    ax.set(xlim=ends, ylim=ends, xlabel="paper", ylabel="ours", aspect="equal")
