"""Seconds per training epoch."""

import numpy as np
from matplotlib.figure import Figure

from fairgat.report import style
from fairgat.report.inputs import Files, Settings, by_dataset

READS = ("runtime",)
TASK = "node_classification"


def draw(settings: Settings, files: Files) -> Figure:
    """Every timed epoch as a tick, the median as the method's marker."""
    measured = by_dataset(files["runtime"])
    looks, datasets = style.looks_of(settings), settings.datasets
    figure, axes = style.grid(
        max(1, len(datasets)), 1, max(1.0, 0.5 + 0.22 * len(looks))
    )
    for (ax,), dataset in zip(axes, datasets, strict=True):
        times = measured.get(dataset.name, {}).get("epoch_seconds", {})
        for place, (method, look) in enumerate(looks.items()):
            if times.get(method):
                ax.plot(
                    times[method],
                    [place] * len(times[method]),
                    "|",
                    color=look.colour,
                    alpha=0.5,
                    markersize=9,
                )
                ax.plot(
                    np.median(times[method]),
                    place,
                    look.marker,
                    color=look.colour,
                    markersize=6,
                )
        style.rows(ax, [look.title for look in looks.values()])
        ax.set_xlim(
            left=0,
            right=1.03
            * max((max(values) for values in times.values() if values), default=1),
        )
        ax.set_title(style.plain(dataset.title), loc="left", fontweight="bold")
    axes[-1][0].set_xlabel(
        "seconds per training epoch (a tick for each, the marker is the median)"
    )
    return figure
