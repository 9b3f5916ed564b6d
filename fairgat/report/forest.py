"""The forest plot of a study: a line for each variant, a panel for each data set and metric."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairgat import measures
from fairgat.report import style
from fairgat.report.inputs import Settings
from fairgat.report.study import (
    ROW,
    compared_with,
    metrics_of,
    published_gap,
    rows_of,
    with_variants,
)

FAR = 12  # medians away, beyond which a difference has its number at the edge


def figure(settings: Settings, frame: pd.DataFrame, task: str) -> Figure:
    """Draw every variant's difference to its method (0) with its interval, and the published score's (hollow).

    An axis ends where most differences do: what lies or reaches far beyond has a triangle at its edge; points there
    have their number.

    Args:
        settings, frame: as for `fairgat.report.study.compare`, and as it gives it.
        task: whose data sets are drawn.
    """
    mine = with_variants(frame[frame["task"] == task])
    one_base = mine.loc[mine["changes"] != "", "of"].nunique() == 1
    mine = _with_something_to_draw(mine, heads=not one_base)
    looks = _looks(mine, one_base)
    coloured_by = "method" if one_base else "of"
    rows = {
        name: [lines for _, _, lines in rows_of(block)]
        for name, block in mine.groupby("dataset", sort=False)
    }
    titles = {name: lines[0][0]["dataset_title"] for name, lines in rows.items()}
    height = 0.6 + 0.17 * max(map(len, rows.values()), default=0)
    metrics = settings.config.study.figure_metrics or metrics_of(settings, task)
    drawn, axes = style.panels(titles, metrics, columns=4, height=height, sharey="row")
    beyond = [
        _panel(ax, _of_metric(rows[dataset], metric), looks, coloured_by)
        for (dataset, metric), ax in axes.items()
    ]
    said = "; a triangle at an edge: it goes on beyond" if any(beyond) else ""
    drawn.supxlabel(
        f"difference to {compared_with(frame)}, in points{said}", fontsize=8
    )
    published = any(pd.notna(published_gap(line)) for _, line in mine.iterrows())
    paper = style.sign("published (test)", marker="o", markerfacecolor="none")
    style.legend(drawn, looks.values(), [paper] if published else [])
    return drawn


def _looks(frame: pd.DataFrame, one_base: bool) -> dict[str, style.Look]:
    """A look for each variant; where these are of several methods, for each of the methods."""
    named = frame[frame["changes"].ne("") == one_base].drop_duplicates("method")
    return style.looks(dict(zip(named["method"], named["title"], strict=True)))


def _with_something_to_draw(frame: pd.DataFrame, heads: bool) -> pd.DataFrame:
    """Keep the rows with a difference or a published score; with `heads` the methods as they are, too."""
    kept = frame[["difference", "paper_mean"]].notna().any(axis=1) | (
        (frame["changes"] == "") & heads
    )
    return frame.groupby(ROW, sort=False).filter(lambda row: kept[row.index].any())


def _of_metric(rows: list[list[pd.Series]], metric: str) -> list[pd.Series]:
    """Each row's line of a metric."""
    return [line for row in rows for line in row if line["metric"] == metric]


def _panel(
    ax: Axes, lines: list[pd.Series], looks: dict[str, style.Look], coloured_by: str
) -> bool:
    """Draw the rows of a data set and metric; True where something lies beyond the panel's edge."""
    metric = lines[0]["metric"]
    style.zero(ax, upright=True)
    ax.set_xlabel(style.label(metric))
    style.rows(ax, [style.plain(line["title"] + line["rules"]) for line in lines])
    for tick, line in zip(ax.get_yticklabels(), lines, strict=False):
        tick.set_fontweight("normal" if line["changes"] else "bold")
    values = pd.DataFrame(lines)[["difference", "low", "high"]].assign(
        paper=[*map(published_gap, lines)]
    )
    values = values.astype(float) * measures.find(metric).unit.factor
    sizes = values.abs().stack()
    beyond = bool(sizes.max() > FAR * sizes.median() > 0)
    edge = Edge(ax, FAR / 2 * sizes.median() if beyond else np.inf)
    for place, (line, row) in enumerate(zip(lines, values.itertuples(), strict=True)):
        if pd.notna(row.paper):
            edge.mark(row.paper, place, "o", color=style.GREY, markerfacecolor="none")
        if pd.notna(row.difference):
            look = looks[line[coloured_by]]
            edge.interval(row, place, look)
            edge.mark(
                row.difference, place, look.marker, color=look.colour, markersize=3.5
            )
    return beyond


@dataclass(frozen=True)
class Edge:
    """A panel that ends at `limit` on both sides."""

    ax: Axes
    limit: float

    def mark(self, value: float, place: int, marker: str, **looks: Any) -> None:
        """Draw a point, or a triangle at the edge that it lies beyond."""
        marker = marker if abs(value) <= self.limit else "<" if value < 0 else ">"
        self.ax.plot(np.clip(value, -self.limit, self.limit), place, marker, **looks)

    def interval(self, row: Any, place: int, look: style.Look) -> None:
        """Draw an interval; of a point beyond the edge its number instead."""
        if abs(row.difference) > self.limit:
            side = np.sign(row.difference)
            number = f"{row.difference:+.1f}".replace("-", "−")
            where = {
                "xytext": (-5 * side, 0),
                "textcoords": "offset points",
                "ha": "right" if side > 0 else "left",
            }
            self.ax.annotate(
                number, (side * self.limit, place), va="center", fontsize=6, **where
            )
        elif pd.notna(row.low):
            ends = np.clip([row.low, row.high], -self.limit, self.limit)
            self.ax.plot(ends, [place, place], color=look.colour, linewidth=1)
            for end in (row.low, row.high):
                self.mark(end, place, "|", color=look.colour, markersize=4)
