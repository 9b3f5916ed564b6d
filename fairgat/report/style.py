"""One look for every figure, and a colour and a marker for each method.

Its entry in the configuration has them (`fairgat.config.Look`).
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("Agg")  # no display is needed
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import hsv_to_rgb, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairgat import config, measures
from fairgat.files import replacing
from fairgat.report.inputs import Settings
from fairgat.texts import shown

FORMATS = ("pdf", "png", "svg")
WIDTH = 7.0  # inches, a text width
GREY = "#666666"  # of the paper, and of signs that stand for all methods
_MARKERS = "hpd*H8"  # of methods without a look
matplotlib.rcParams.update(
    {
        "font.size": 8,
        "axes.titlesize": 9,
        "axes.labelsize": 8,
        "legend.fontsize": 8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#DDDDDD",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "lines.linewidth": 1.2,
        "lines.markersize": 4.5,
        "figure.constrained_layout.use": True,
        "savefig.dpi": 200,
        "pdf.fonttype": 42,  # editable text
        "svg.hashsalt": "fairgat",  # the same identifiers in every run
    }
)


@dataclass(frozen=True)
class Look:
    """A method's name, colour, marker and line."""

    title: str
    colour: str
    marker: str
    line: str = "-"


def looks(
    titles: Mapping[str, str], chosen: Mapping[str, config.Look | None]
) -> dict[str, Look]:
    """Give each method a look of which no other has the colour.

    Args:
        titles: of the methods, by name.
        chosen: what their entries say; a method without has a colour that is left.
    """
    drawn: dict[str, Look] = {}
    taken = set()
    for name, title in titles.items():
        look = chosen.get(name)
        if look and look.colour.lower() not in taken:
            taken.add(look.colour.lower())
            drawn[name] = Look(plain(title), look.colour, look.marker, look.line)

    others = [name for name in titles if name not in drawn]
    for number, name in enumerate(others):
        marker = _MARKERS[number % len(_MARKERS)]
        drawn[name] = Look(plain(titles[name]), _spare(number), marker)
    return {name: drawn[name] for name in titles}


def _spare(number: int) -> str:
    """A colour for the method of this number, which differs from all others'.

    Steps of the golden ratio around the circle of hues never come back to one.
    """
    hue = (0.15 + number * 0.618034) % 1
    return to_hex(hsv_to_rgb((hue, 0.9, 0.75)))


def looks_of(settings: Settings) -> dict[str, Look]:
    """Give each method that a figure shows its look."""
    chosen = {method.name: method.look for method in settings.methods}
    return looks(settings.method_titles, chosen)


def plain(text: str) -> str:
    """Write text on one line, in which Matplotlib sees no formula."""
    return shown(text).replace("$", r"\$")


def label(metric: str) -> str:
    """Label a metric on an axis."""
    measure = measures.find(metric)
    text = plain(measure.label)
    if "$" in measure.tex:
        text = _without_escapes(measure.tex)
    text = text.replace("{which}", plain(measure.which))
    if measure.unit.tex:
        text += f" ({measure.unit.tex})"
    return text


def _without_escapes(tex: str) -> str:
    """Write LaTeX for Matplotlib, which reads it in formulas and nowhere else."""
    parts = tex.split("$")
    texts = [re.sub(r"\\([_&#{}%])", r"\1", text) for text in parts[::2]]
    parts[::2] = texts
    return "$".join(parts)


def rows(ax: Axes, titles: Sequence[str]) -> None:
    """Name the rows of a panel, the first of them on top."""
    ax.set_yticks(range(len(titles)), list(titles))
    ax.set_ylim(len(titles) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)


def zero(ax: Axes, upright: bool = False, at: float = 0) -> None:
    """Mark where there is no difference."""
    draw = ax.axvline if upright else ax.axhline
    draw(at, color="#999999", linewidth=0.8, zorder=1)


def crowd(values: np.ndarray) -> np.ndarray | None:
    """Find the points that outliers squeeze into a quarter of every axis or less.

    These lie within five median deviations of the median.

    Args:
        values: (n, axes) coordinates.

    Returns:
        (n,) bool; None where nothing is squeezed.
    """
    if not len(values):
        return None
    away = np.abs(values - np.median(values, axis=0))
    near = (away <= 5 * np.median(away, axis=0)).all(axis=1)
    if not near.any():
        return None

    whole = np.ptp(values, axis=0)
    closer = np.ptp(values[near], axis=0)
    crowded = (closer > 0) & (whole >= 4 * closer)
    return near if crowded.all() else None


def grid(
    rows: int, columns: int, height: float, **options
) -> tuple[Figure, list[list[Axes]]]:
    """Make a figure of rows × columns axes; `height` is that of one row, in inches."""
    size = (WIDTH, 0.5 + height * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, **options)
    return figure, axes.tolist()


def panels(
    datasets: Mapping[str, str],
    names: Sequence[str],
    columns: int,
    height: float,
    **options,
) -> tuple[Figure, dict[tuple[str, str], Axes]]:
    """Make a figure with a panel for each data set and each of `names`.

    Every data set begins a row, with its title above.

    Args:
        datasets: titles by name.
        columns: how many panels stand side by side, at most.
        height: of a row, in inches.
    """
    columns = max(1, min(columns, len(names)))
    of_dataset = max(1, math.ceil(len(names) / columns))  # rows
    n_rows = of_dataset * max(1, len(datasets))
    figure, axes = grid(n_rows, columns, height, **options)
    for ax in figure.axes:
        ax.set_axis_off()

    axes_of = {}
    for place, (dataset, title) in enumerate(datasets.items()):
        first = place * of_dataset
        mine = axes[first : first + of_dataset]
        mine[0][0].set_title(plain(title), loc="left", fontweight="bold")
        for name, ax in zip(names, chain.from_iterable(mine), strict=False):
            ax.set_axis_on()
            axes_of[dataset, name] = ax
    return figure, axes_of


def panels_of(
    frame: pd.DataFrame, metrics: Sequence[str], columns: int, height: float, **options
) -> tuple[Figure, list[tuple[Axes, str, pd.DataFrame]]]:
    """Make `panels` of compared rows: of each its axes, its metric and its rows."""
    titles = frame.drop_duplicates("dataset").set_index("dataset")["dataset_title"]
    figure, axes = panels(titles, metrics, columns, height, **options)
    filled = []
    for (dataset, metric), ax in axes.items():
        here = (frame["dataset"] == dataset) & (frame["metric"] == metric)
        filled.append((ax, metric, frame[here]))
    return figure, filled


def sign(text: str, **drawn: Any) -> Line2D:
    """Make an entry of a legend: a grey mark unless `drawn` says otherwise."""
    return Line2D([], [], label=text, **{"color": GREY, "linestyle": ""} | drawn)


def legend(
    figure: Figure,
    shown: Iterable[Look] = (),
    signs: Iterable[Line2D] = (),
    title: str = "",
) -> None:
    """Put one legend above the whole figure, no wider than it.

    Args:
        title: what is shown and how to read it.
    """
    methods = [
        sign(look.title, color=look.colour, marker=look.marker) for look in shown
    ]
    handles = [*methods, *signs]
    for columns in range(min(len(handles), 6), 0, -1):
        placed = figure.legend(
            handles=handles,
            loc="outside upper center",
            ncols=columns,
            frameon=False,
            title=title,
            title_fontsize=8.5,
        )
        width = placed.get_window_extent().width
        if width <= figure.bbox.width or columns == 1:
            break
        placed.remove()


_WITHOUT_DATE = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def save(figure: Figure, paths: Mapping[str, str | Path]) -> None:
    """Write a figure once per format (`pdf`, `png`, `svg` → path).

    Without dates: equal figures, equal bytes.
    """
    for form, path in paths.items():
        with replacing(path) as file:
            figure.savefig(file, format=form, metadata=_WITHOUT_DATE[form])
    plt.close(figure)
