"""One look for every figure, and a colour and a marker for each method.

Its entry in the configuration has them (`fairgat.config.Look`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")  # no display is needed
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import hsv_to_rgb, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairgat import config
from fairgat.files import replacing
from fairgat.report import labels
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
        if look and look.colour not in taken:
            taken.add(look.colour)
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
    """Text on one line, in which Matplotlib sees no formula."""
    return shown(text).replace("$", r"\$")


def label(metric: str) -> str:
    """The label of a metric on an axis."""
    return re.sub(
        r"\\([_&#{}])", r"\1", labels.metric(metric).tex
    )  # escapes that Matplotlib keeps


def rows(ax: Axes, titles: Sequence[str]) -> None:
    """Name the rows of a panel, the first of them on top."""
    ax.set_yticks(range(len(titles)), list(titles))
    ax.set_ylim(len(titles) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)


def zero(ax: Axes, upright: bool = False, at: float = 0) -> None:
    """Mark where there is no difference."""
    (ax.axvline if upright else ax.axhline)(
        at, color="#999999", linewidth=0.8, zorder=1
    )


def crowd(values: np.ndarray) -> np.ndarray | None:
    """Find the points that lie so close together that the others leave them a quarter of each axis or less.

    Args:
        values: (n, axes) coordinates.

    Returns:
        (n,) bool; None where no closer look is needed.
    """
    if not len(values):
        return None
    away = np.abs(values - np.median(values, axis=0))
    near = (away <= 5 * np.median(away, axis=0)).all(axis=1)
    ranges = (
        [np.ptp(points, axis=0) for points in (values, values[near])]
        if near.any()
        else []
    )
    return (
        near
        if ranges and ((ranges[1] > 0) & (ranges[0] >= 4 * ranges[1])).all()
        else None
    )


def grid(
    rows: int, columns: int, height: float, **options
) -> tuple[Figure, list[list[Axes]]]:
    """A figure of rows × columns axes; `height` is that of one row, in inches."""
    figure, axes = plt.subplots(
        rows, columns, figsize=(WIDTH, 0.5 + height * rows), squeeze=False, **options
    )
    return figure, axes.tolist()


def panels(
    datasets: Mapping[str, str],
    names: Sequence[str],
    columns: int,
    height: float,
    **options,
) -> tuple[Figure, dict[tuple[str, str], Axes]]:
    """A figure with axes for each data set (name → title) and each of `names`, at most `columns` side by side.

    Every data set begins a row, with its title above.
    """
    columns = max(1, min(columns, len(names)))
    rows = max(1, -(-len(names) // columns))  # rows of one data set
    figure, axes = grid(rows * max(1, len(datasets)), columns, height, **options)
    for ax in figure.axes:
        ax.set_axis_off()
    axes_of = {}
    for place, (dataset, title) in enumerate(datasets.items()):
        for number, name in enumerate(names):
            ax = axes_of[dataset, name] = axes[place * rows + number // columns][
                number % columns
            ]
            ax.set_axis_on()
        axes[place * rows][0].set_title(plain(title), loc="left", fontweight="bold")
    return figure, axes_of


def sign(text: str, **drawn: Any) -> Line2D:
    """An entry of a legend: a grey mark unless `drawn` says otherwise."""
    return Line2D([], [], label=text, **{"color": GREY, "linestyle": ""} | drawn)


def legend(
    figure: Figure,
    shown: Iterable[Look] = (),
    signs: Iterable[Line2D] = (),
    title: str = "",
) -> None:
    """One legend for the whole figure, above it and no wider; its `title` says what is shown and how to read it."""
    handles = [
        *(sign(look.title, color=look.colour, marker=look.marker) for look in shown),
        *signs,
    ]
    for columns in range(min(len(handles), 6), 0, -1):
        placed = figure.legend(
            handles=handles,
            loc="outside upper center",
            ncols=columns,
            frameon=False,
            title=title,
            title_fontsize=8.5,
        )
        if placed.get_window_extent().width <= figure.bbox.width or columns == 1:
            break
        placed.remove()


def save(figure: Figure, paths: Mapping[str, str | Path]) -> None:
    """Write a figure once per format (`pdf`, `png`, `svg` → path), without dates: equal figures, equal bytes."""
    for form, path in paths.items():
        metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[
            form
        ]
        with replacing(path) as file:
            figure.savefig(file, format=form, metadata=metadata)
    plt.close(figure)
