"""The forest plot of a study: a line a variant, a panel a data set and metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairgat import measures
from fairgat.config.study import Study
from fairgat.report import percent, style
from fairgat.report.study import compared_with, with_variants

FAR = 12  # medians away, beyond which a difference has its number at the edge


def figure(study: Study, frame: pd.DataFrame, task: str) -> Figure:
    """Draw every variant's difference to its method (0) with its interval.

    The published score's is hollow. An axis ends where most differences do: what lies
    or reaches far beyond has a triangle at its edge; points there have their number.

    Args:
        frame: as `fairgat.report.study.compared` gives it.
        task: whose data sets are drawn.
    """
    of_task = frame[frame["task"] == task]
    mine = with_variants(of_task)
    variants = mine[mine["changes"] != ""]
    one_base = variants["of"].nunique() == 1
    mine = _with_something_to_draw(mine, heads=not one_base)
    # A method has several titles where it is run on several forms of a data set.
    look = mine["method"] + " " + mine["title"] if one_base else mine["of"]
    mine = mine.assign(look=look)
    looks = _looks(mine, one_base)

    n_rows = mine.groupby("dataset")["row"].nunique()
    height = 0.6 + 0.17 * max(n_rows, default=0)
    metrics = study.figure_metrics or of_task["metric"].unique()
    drawn, panels = style.panels_of(mine, metrics, 4, height, sharey="row")
    beyond = False
    for ax, metric, lines in panels:
        beyond |= _panel(ax, metric, lines, looks)

    label = f"difference to {compared_with(frame)}, in points"
    if beyond:
        label += "; a triangle at an edge: it goes on beyond"
    drawn.supxlabel(label, fontsize=8)

    signs = []
    if mine["published_gap"].notna().any():
        hollow = {"marker": "o", "markerfacecolor": "none"}
        signs.append(style.sign("published (test)", **hollow))
    style.legend(drawn, looks.values(), signs, percent.WITH_INTERVALS)
    return drawn


def _looks(frame: pd.DataFrame, one_base: bool) -> dict[str, style.Look]:
    """A look for each variant; where these are of several methods, for each of them."""
    is_variant = frame["changes"] != ""
    named = frame[is_variant == one_base].drop_duplicates("look")
    by_name = named.set_index("look")
    return style.looks(by_name["title"].to_dict(), by_name["drawn"].to_dict())


def _with_something_to_draw(frame: pd.DataFrame, heads: bool) -> pd.DataFrame:
    """Keep the rows with a difference or a published score.

    With `heads` the methods as they are, too.
    """
    kept = frame[["difference", "paper_mean"]].notna().any(axis=1)
    if heads:
        kept |= frame["changes"] == ""
    return frame[kept.groupby(frame["row"]).transform("any")]


def _panel(
    ax: Axes, metric: str, frame: pd.DataFrame, looks: dict[str, style.Look]
) -> bool:
    """Draw the rows of a data set and metric.

    Returns:
        Whether something lies beyond the panel's edge.
    """
    style.zero(ax, upright=True)
    ax.set_xlabel(style.label(metric))
    lines = list(frame.itertuples())
    _name_rows(ax, lines)

    values = frame[["difference", "low", "high", "published_gap"]]
    values = values.astype(float) * measures.find(metric).unit.factor
    sizes = values.abs().stack()
    usual = sizes.median()
    beyond = bool(sizes.max() > FAR * usual > 0)
    limit = FAR / 2 * usual if beyond else np.inf

    edge = Edge(ax, limit)
    for place, (line, row) in enumerate(zip(lines, values.itertuples(), strict=True)):
        if pd.notna(row.published_gap):
            hollow = {"color": style.GREY, "markerfacecolor": "none"}
            edge.mark(row.published_gap, place, "o", **hollow)
        if pd.notna(row.difference):
            look = looks[line.look]
            filled = {"color": look.colour, "markersize": 3.5}
            edge.interval(row, place, look)
            edge.mark(row.difference, place, look.marker, **filled)
    return beyond


def _name_rows(ax: Axes, lines: Sequence[Any]) -> None:
    """Name the rows of a panel, methods as they are in bold."""
    style.rows(ax, [style.plain(line.title + line.rules) for line in lines])
    for tick, line in zip(ax.get_yticklabels(), lines, strict=False):
        weight = "normal" if line.changes else "bold"
        tick.set_fontweight(weight)


@dataclass(frozen=True)
class Edge:
    """A panel that ends at `limit` on both sides."""

    ax: Axes
    limit: float

    def mark(self, value: float, place: int, marker: str, **looks: Any) -> None:
        """Draw a point, or a triangle at the edge that it lies beyond."""
        if value < -self.limit:
            marker = "<"
        elif value > self.limit:
            marker = ">"
        inside = np.clip(value, -self.limit, self.limit)
        self.ax.plot(inside, place, marker, **looks)

    def interval(self, row: Any, place: int, look: style.Look) -> None:
        """Draw an interval; of a point beyond the edge its number instead."""
        if abs(row.difference) > self.limit:
            self._number(row.difference, place)
        elif pd.notna(row.low):
            ends = np.clip([row.low, row.high], -self.limit, self.limit)
            self.ax.plot(ends, [place, place], color=look.colour, linewidth=1)
            for end in (row.low, row.high):
                self.mark(end, place, "|", color=look.colour, markersize=4)

    def _number(self, value: float, place: int) -> None:
        """Write a number beside the edge that it lies beyond."""
        side = np.sign(value)
        self.ax.annotate(
            f"{value:+.1f}".replace("-", "−"),
            (side * self.limit, place),
            xytext=(-5 * side, 0),
            textcoords="offset points",
            horizontalalignment="right" if side > 0 else "left",
            verticalalignment="center",
            fontsize=6,
        )
