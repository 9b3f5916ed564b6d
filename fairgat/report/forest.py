"""The forest plot of a study: a line for each variant, a panel for each data set and metric."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairgat import measures
from fairgat.config.shown import StudySettings
from fairgat.report import style
from fairgat.report.study import ROW, compared_with, metrics_of, published_gap, rows_of, with_variants


def figure(settings: StudySettings, frame: pd.DataFrame, task: str) -> Figure:
    """Draw every variant's difference to its method (0) with its interval, and the published score's (hollow).

    An axis ends where most differences do: what lies or reaches far beyond has a triangle at its edge; points there
    have their number.

    Args:
        settings, frame: as for `fairgat.report.study.compare`, and as it gives it.
        task: whose data sets are drawn.
    """
    mine = with_variants(frame[frame["task"] == task])
    own = mine.loc[mine["changes"] != "", "of"].nunique() == 1  # a colour for each variant, or else for each `of`
    heads = (mine["changes"] == "") & (not own)  # stand above their variants, also without a published score
    kept = mine[["difference", "paper_mean"]].notna().any(axis=1) | heads
    mine = mine.groupby(ROW, sort=False).filter(lambda row: kept[row.index].any())
    varied = mine[mine["changes"] != ""]
    named = (varied if own else mine[mine["changes"] == ""]).drop_duplicates("method")
    looks = style.looks({row.method: row.title for row in named.itertuples()})
    blocks = {name: [*rows_of(block)] for name, block in mine.groupby("dataset", sort=False)}
    panels = {name: rows[0][1]["block"] for name, rows in blocks.items()}
    height = 0.6 + 0.17 * max(map(len, blocks.values()), default=0)
    metrics = settings.figure_metrics or metrics_of(settings, task)
    drawn, axes = style.panels(panels, metrics, columns=4, height=height, sharey="row")
    published = beyond = False
    for (dataset, metric), ax in axes.items():
        style.zero(ax, upright=True)
        lines = [next(line for line in lines if line["metric"] == metric) for _, _, lines in blocks[dataset]]
        values = pd.DataFrame(lines)[["difference", "low", "high"]].assign(paper=[*map(published_gap, lines)])
        values = values.astype(float) * measures.find(metric).unit.factor
        ends = values.abs().stack()
        limit = 6 * ends.median() if ends.max() > 12 * ends.median() > 0 else np.inf
        beyond |= bool(ends.max() > limit)
        for place, (line, row) in enumerate(zip(lines, values.itertuples(), strict=True)):
            if pd.notna(row.paper):
                published = True
                _mark(ax, row.paper, place, "o", limit, color=style.GREY, markerfacecolor="none")
            if pd.isna(row.difference):
                continue
            look = looks[line["method" if own else "of"]]
            if abs(row.difference) > limit:
                side = np.sign(row.difference)
                number = f"{row.difference:+.1f}".replace("-", "−")
                at = {"xytext": (-5 * side, 0), "textcoords": "offset points", "ha": "right" if side > 0 else "left"}
                ax.annotate(number, (side * limit, place), va="center", fontsize=6, **at)
            elif pd.notna(row.low):
                ax.plot(np.clip([row.low, row.high], -limit, limit), [place, place], color=look.colour, linewidth=1)
                for end in (row.low, row.high):
                    _mark(ax, end, place, "|", limit, color=look.colour, markersize=4)
            _mark(ax, row.difference, place, look.marker, limit, color=look.colour, markersize=3.5)
        style.rows(ax, [style.plain(row["title"] + row["rules"]) for _, row, _ in blocks[dataset]])
        for tick, (_, row, _) in zip(ax.get_yticklabels(), blocks[dataset], strict=False):
            tick.set_fontweight("normal" if row["changes"] else "bold")
        ax.set_xlabel(style.label(metric))
    said = "; a triangle at an edge: it goes on beyond" if beyond else ""
    drawn.supxlabel(f"difference to {compared_with(settings)}, in points{said}", fontsize=8)
    paper = style.sign("published (test)", marker="o", markerfacecolor="none")
    style.legend(drawn, looks.values(), [paper] if published else [])
    return drawn


def _mark(ax: Axes, value: float, place: int, marker: str, limit: float, **looks: Any) -> None:
    """Draw a point, or a triangle at the edge that it lies beyond."""
    marker = marker if abs(value) <= limit else "<" if value < 0 else ">"
    ax.plot(np.clip(value, -limit, limit), place, marker, **looks)
