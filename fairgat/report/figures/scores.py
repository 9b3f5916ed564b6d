"""The scores of a table as points with their deviations, beside the paper's."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairgat import measures
from fairgat.report import rows, style
from fairgat.report.inputs import Files, Settings

READS = ("selection", "runs")
TASK = None


def draw(settings: Settings, files: Files) -> Figure:
    """Mean ± standard deviation of each method in every measure of a table.

    The paper's are hollow.
    """
    frame = rows.table(settings, files)
    looks = style.looks_of(settings)
    looks = {name: looks[name] for name in frame["method"].unique()}
    metrics = frame["metric"].unique()

    height = max(1.3, 0.5 + 0.22 * len(looks))
    figure, panels = style.panels_of(frame, metrics, 4, height, sharey=True)
    for ax, metric, lines in panels:
        for place, line in enumerate(lines.itertuples()):
            _draw(ax, line, place, looks[line.method])
        ax.set_xlabel(style.label(metric))
        style.rows(ax, [look.title for look in looks.values()])
    if frame["paper_mean"].notna().any():
        ours = style.sign("ours", marker="o", color="black")
        hollow = style.sign("paper", marker="o", markerfacecolor="none")
        style.legend(figure, signs=[ours, hollow])
    return figure


def _draw(ax: Axes, line: Any, place: int, look: style.Look) -> None:
    """Draw a method's mean, and the paper's below it."""
    factor = measures.find(line.metric).unit.factor
    filled = {"fmt": look.marker, "color": look.colour, "markersize": 5}
    hollow = {"fmt": "o", "color": style.GREY, "markerfacecolor": "none"}
    hollow |= {"markersize": 4, "elinewidth": 0.8}
    ours = factor * line.mean, factor * line.std
    papers = factor * line.paper_mean, factor * line.paper_std
    _point(ax, *ours, place - 0.12, **filled)
    _point(ax, *papers, place + 0.2, **hollow)


def _point(ax: Axes, mean: float, std: float, y: float, **looks: Any) -> None:
    if pd.notna(mean):
        deviation = None if pd.isna(std) else std
        ax.errorbar(mean, y, xerr=deviation, capsize=2, **looks)
