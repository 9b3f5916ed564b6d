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
    """Both means in percent with their standard deviations: hollow where undecided, ringed where they differ.

    Where a few results leave the others little room, these are drawn once more from
    closer.
    """
    looks = style.looks_of(settings)
    frame = frames.read(*files["audit"])
    frame = frame[(frame["rule"] == settings.rule) & frame["mean"].notna()]
    panels = _panels(frame)
    figure, axes = style.grid(max(1, (len(panels) + 1) // 2), 2, 3.0 if panels else 0.5)
    for ax, (title, rows) in zip(figure.axes, panels.items(), strict=False):
        for line in rows.itertuples():
            _point(
                ax,
                line,
                looks.get(line.method) or style.Look(line.method, style.GREY, "o"),
            )
        ax.set_title(title, loc="left")
        _square(ax)
    for ax in figure.axes[len(panels) :]:
        ax.set_axis_off()
    if not panels:
        axes[0][0].text(
            0,
            0.5,
            "No published number has a counterpart in this run.",
            transform=axes[0][0].transAxes,
        )
    shown = [look for method, look in looks.items() if method in set(frame["method"])]
    title = "Each published mean against ours, with their standard deviations: on the line they are equal"
    style.legend(
        figure,
        shown,
        [style.sign(what, **sign) for what, sign in _SIGNS.items()],
        title,
    )
    return figure


def _square(ax: Axes) -> None:
    """Give both axes the same ends, and draw the line on which paper and ours are equal."""
    low, high = (
        min(ax.get_xlim()[0], ax.get_ylim()[0]),
        max(ax.get_xlim()[1], ax.get_ylim()[1]),
    )
    ax.plot([low, high], [low, high], color="#999999", linewidth=0.8, zorder=1)
    ax.set(
        xlim=(low, high),
        ylim=(low, high),
        xlabel="paper",
        ylabel="ours",
        aspect="equal",
    )


def _panels(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Part the numbers by task, and utility from fairness, and take a closer look where there is a crowd; by title."""
    task_of = frame["table"].str.split("+").str[0].map(TASK_OF_RESULTS)
    panels = {}
    for task, is_utility in product(TASKS, (True, False)):
        rows = frame[
            (task_of == task)
            & (frame["metric"].isin(measures.names(task, "utility")) == is_utility)
        ]
        if rows.empty:
            continue
        title = f"{TASKS[task].title}: {measures.utility(task) if is_utility else 'fairness measures'} (%)"
        panels[title] = rows
        near = style.crowd(rows[["paper_mean", "mean"]].to_numpy())
        if near is not None:
            panels[f"{title}, closer"] = rows[near]
    return panels


def _point(ax: Axes, line: Any, look: style.Look) -> None:
    """Draw a number with its deviations, by its verdict."""
    if line.verdict not in (labels.AGREES, labels.UNDECIDED):
        ax.plot(
            line.paper_mean,
            line.mean,
            "o",
            color=look.colour,
            fillstyle="none",
            markersize=8.5,
        )
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
