"""Seconds per training epoch."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairgat.report import style
from fairgat.report.inputs import Files, Settings, by_dataset

READS = ("runtime",)
TASK = "node_classification"


def draw(settings: Settings, files: Files) -> Figure:
    """Draw every timed epoch as a tick, and the median as the method's marker."""
    measured = by_dataset(files["runtime"])
    looks = style.looks_of(settings)
    height = max(1.0, 0.5 + 0.22 * len(looks))
    figure, axes = style.grid(max(1, len(settings.datasets)), 1, height)
    for (ax,), dataset in zip(axes, settings.datasets, strict=True):
        times = measured.get(dataset.name, {}).get("epoch_seconds", {})
        for place, (method, look) in enumerate(looks.items()):
            if times.get(method):
                _draw(ax, times[method], place, look)
        style.rows(ax, [look.title for look in looks.values()])
        longest = max(map(max, filter(None, times.values())), default=1)
        ax.set_xlim(left=0, right=1.03 * longest)
        ax.set_title(style.plain(dataset.title), loc="left", fontweight="bold")
    axes[-1][0].set_xlabel(
        "seconds per training epoch (a tick for each, the marker is the median)"
    )
    return figure


def _draw(ax: Axes, times: list[float], place: int, look: style.Look) -> None:
    row = [place] * len(times)
    ax.plot(times, row, "|", color=look.colour, alpha=0.5, markersize=9)
    ax.plot(np.median(times), place, look.marker, color=look.colour, markersize=6)
