"""One look for every figure: Okabe-Ito colours with a marker each, so that colour is never the only sign."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no display is needed
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairgat.files import replacing
from fairgat.report import labels
from fairgat.report.model import Math

FORMATS = ("pdf", "png", "svg")
WIDTH = 7.0  # inches, a text width
# Okabe & Ito (2008), distinguishable with every common colour blindness.
_BLACK, _ORANGE, _SKY, _GREEN, _YELLOW, _BLUE, _RED, _PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
_KNOWN = {
    "gat": (_BLACK, "s"),
    "fairgat": (_BLUE, "o"),
    "fairgnn": (_ORANGE, "^"),
    "edits": (_GREEN, "D"),
    "nifty": (_RED, "v"),
    "fairdrop": (_PURPLE, "P"),
    "mlp": (_YELLOW, "h"),
    "gat-penalty": (_SKY, "*"),
    "gat-thresholds": (_PURPLE, "d"),
    "fairsin": (_RED, "p"),
    "fairsin-f": (_ORANGE, "H"),
    "fairsin-g": (_GREEN, "8"),
    "fairgb": (_BLACK, "X"),
    "gat-common-threshold": (_PURPLE, "s"),
    "a-fame": (_GREEN, "P"),
    "a-fame-released": (_GREEN, "*"),
    "bemap": (_ORANGE, "D"),
    "fairgat-uncapped": (_BLUE, "o"),
    "placebo": (_PURPLE, "d"),
    "equal-weights": (_SKY, "*"),
    "balanced": (_YELLOW, "h"),
    "fairgat-balanced": (_SKY, "P"),
    "fairgat-steps-12": (_SKY, "<"),
    "fairgat-steps-13": (_ORANGE, ">"),
    "fairgat-steps-23": (_GREEN, "X"),
    "fairgat-steps-1": (_RED, ">"),
    "fairgat-steps-2": (_ORANGE, "<"),
    "fairgat-steps-3": (_GREEN, "s"),
}
_ABLATION = "fairgat-steps-"  # these share colours with the baselines: their lines are dashed
_OTHERS = [(_YELLOW, "h"), (_RED, "p"), (_PURPLE, "d"), (_SKY, "*"), (_ORANGE, "H"), (_GREEN, "8")]  # of a user's own
_SETTINGS = {
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
matplotlib.rcParams.update(_SETTINGS)


@dataclass(frozen=True)
class Look:
    """A method's name, colour, marker and line."""

    title: str
    colour: str
    marker: str
    line: str = "-"


def looks(methods: Mapping[str, str]) -> dict[str, Look]:
    """Give each method (name → title) a look; the paper's methods look the same in every figure."""
    spare = iter(_OTHERS * 100)
    chosen = {}
    for name, title in methods.items():
        line = "--" if name.startswith(_ABLATION) else "-"
        chosen[name] = Look(plain(title), *(_KNOWN.get(name) or next(spare)), line)
    return chosen


def plain(text: str) -> str:
    """Text in which matplotlib sees no formula."""
    return text.replace("$", r"\$")


def label(metric: str) -> str:
    """The label of a metric on an axis."""
    text = labels.metric(metric)
    return text.tex if isinstance(text, Math) else plain(text)


def rows(ax: Axes, titles: Sequence[str]) -> None:
    """Name the rows of a panel, the first of them on top."""
    ax.set_yticks(range(len(titles)), list(titles))
    ax.set_ylim(len(titles) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)


def grid(rows: int, columns: int, height: float, **options) -> tuple[Figure, list[list[Axes]]]:
    """A figure of rows × columns axes; `height` is that of one row, in inches."""
    figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, 0.5 + height * rows), squeeze=False, **options)
    return figure, axes.tolist()


def panels(
    datasets: Mapping[str, str], names: Sequence[str], columns: int, height: float, **options
) -> tuple[Figure, dict[tuple[str, str], Axes]]:
    """A figure with axes for each data set (name → title) and each of `names`, at most `columns` side by side.

    Every data set begins a row, with its title above.
    """
    columns = max(1, min(columns, len(names)))
    rows = max(1, -(-len(names) // columns))  # rows of one data set
    figure, axes = grid(rows * max(1, len(datasets)), columns, height, **options)
    for row in axes:
        for ax in row:
            ax.set_axis_off()
    axes_of = {}
    for place, (dataset, title) in enumerate(datasets.items()):
        for number, name in enumerate(names):
            ax = axes_of[dataset, name] = axes[place * rows + number // columns][number % columns]
            ax.set_axis_on()
        axes[place * rows][0].set_title(plain(title), loc="left", fontweight="bold")
    return figure, axes_of


def legend(figure: Figure, shown: Iterable[Look], extra: Iterable[Line2D] = (), line: bool = False) -> None:
    """One legend for the whole figure, above it and no wider."""
    handles = []
    for look in shown:
        drawn = {"marker": "", "linestyle": look.line} if line else {"marker": look.marker, "linestyle": ""}
        handles.append(Line2D([], [], color=look.colour, label=look.title, **drawn))
    handles += extra
    for columns in range(min(len(handles), 6), 0, -1):
        placed = figure.legend(handles=handles, loc="outside upper center", ncols=columns, frameon=False)
        if placed.get_window_extent().width <= figure.bbox.width or columns == 1:
            break
        placed.remove()


def save(figure: Figure, paths: Mapping[str, str | Path]) -> None:
    """Write a figure once per format (`pdf`, `png`, `svg` → path), without dates: equal figures, equal bytes."""
    for form, path in paths.items():
        metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[form]
        with replacing(path) as file:
            figure.savefig(file, format=form, metadata=metadata)
    plt.close(figure)
