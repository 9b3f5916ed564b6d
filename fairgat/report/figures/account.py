"""Account: the gap of the mean logits, as the parts that add up to it."""

import math

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fairgat.config.shown import ShownMethod
from fairgat.report import style
from fairgat.report.inputs import Files, Settings
from fairgat.report.tables.account import PARTS, read
from fairgat.scores.paired import REFERENCE

READS = ("account", "selection")
TASK = "node_classification"

COLOURS = {
    "mixing": "#0072B2",
    "label_selection": "#E69F00",
    "rest": "#CC79A7",
    "nonlinearity": "#BBBBBB",
}
_EDGE = {"edgecolor": "black", "linewidth": 0.4}
_FILLINGS = {part: {"facecolor": colour} | _EDGE for part, colour in COLOURS.items()}
_FILLINGS["label_selection"]["hatch"] = "////"
_FILLINGS["rest"]["hatch"] = "...."
WORDS = {
    "mixing": "mixing: attention between the groups",
    "label_selection": "label selection: attention to people of one label",
    "rest": "the rest: attention to people unlike others of their group and label",
    "nonlinearity": "nonlinearity: what ReLU makes of them",
}
_OVER = {"all": "everyone", "label 1": "label 1 only"}
_GAP = {"color": "black", "markerfacecolor": "white", "markersize": 4}
_SIDE_BY_SIDE = 4


def draw(settings: Settings, files: Files) -> Figure:
    """Draw a bar of parts for each method on each data set; a diamond is their sum.

    As in the table, a gap is the mean logit of group 1 less that of group 0; of more
    groups the one is drawn whose gap in GAT is the largest, less all others. Means over
    the splits, in standard deviations of each model's logits, as the scale of logits
    differs between methods and decides nothing.
    """
    accounts = read(files, settings)
    means = _in_deviations(accounts)
    on_datasets = set(accounts["dataset"])
    of_methods = set(accounts["method"])
    datasets = [each for each in settings.datasets if each.name in on_datasets]
    methods = [each for each in settings.methods if each.name in of_methods]

    n_groups = accounts.groupby("dataset")["group"].nunique()
    several = n_groups > 1  # each of them is compared with all others

    figure, panels = _panels(len(datasets), len(methods))
    for place, dataset in enumerate(datasets):
        for over in _OVER:
            ax = panels[place][over]
            group, parts = _of_one_group(means, over, dataset.name)
            _draw(ax, methods, parts)
            if several[dataset.name] and group is not None:
                ax.set_title(f"group {group}", loc="right", fontsize=7)
        title = style.plain(dataset.title)
        panels[place]["all"].set_title(title, fontsize=8, fontweight="bold")
    for ax in figure.axes:
        if not ax.has_data():
            ax.set_axis_off()

    compared = "mean logit of group 1 less that of group 0"
    if several.any():
        compared += ";\nof more groups, of the one named less that of all others"
    figure.suptitle(
        "What the gap between the groups is made of, in the second attention layer\n"
        f"({compared}, in standard deviations of the logits)",
        fontsize=8.5,
    )
    _legend(figure)
    return figure


def _panels(datasets: int, methods: int) -> tuple[Figure, list[dict[str, Axes]]]:
    """Make the panels of each data set, one above the other, data sets side by side."""
    lines = max(1, math.ceil(datasets / _SIDE_BY_SIDE))
    columns = max(1, math.ceil(datasets / lines))
    height = max(1.3, 0.45 + 0.17 * methods)
    shared = {"sharex": True, "sharey": True}
    figure, axes = style.grid(len(_OVER) * lines, columns, height, **shared)
    panels = []
    for place in range(datasets):
        line, column = divmod(place, columns)
        above = len(_OVER) * line
        mine = {over: axes[above + row][column] for row, over in enumerate(_OVER)}
        mine["all"].tick_params(labelbottom=False)
        if column == 0:
            for over, ax in mine.items():
                ax.set_ylabel(_OVER[over])
        panels.append(mine)
    return figure, panels


def _legend(figure: Figure) -> None:
    handles: list[Artist] = []
    for part, words in WORDS.items():
        handles.append(Patch(label=words, **_FILLINGS[part]))
    handles.append(style.sign("gap: their sum", marker="D", **_GAP))
    place = "outside lower center"
    figure.legend(handles=handles, loc=place, ncols=2, frameon=False)


def _in_deviations(accounts: pd.DataFrame) -> pd.DataFrame:
    """Average the parts of the gap over the splits, in deviations of the logits.

    Logits that are all equal have no gap but for rounding: it is 0.
    """
    logits = accounts[accounts["layer"] == "logit"]
    spread = logits["spread"].replace(0, np.inf)
    parts = logits[["gap", *PARTS]].div(spread, axis=0)
    keys = ["over", "dataset", "method", "group"]
    return logits[keys].join(parts).groupby(keys).mean()


def _of_one_group(
    means: pd.DataFrame, over: str, dataset: str
) -> tuple[int | None, pd.DataFrame]:
    """Choose the group whose gap in GAT is the largest; it, and its parts by method.

    None where nobody of a group is among the rows.
    """
    mine = means.loc[over, dataset].dropna()
    if mine.empty:
        return None, mine.droplevel("group")
    base = mine.groupby(level="group").mean()
    if REFERENCE in mine.index:
        base = mine.loc[REFERENCE]
    group = base["gap"].abs().idxmax()
    return group, mine.xs(group, level="group")


def _draw(ax: Axes, methods: list[ShownMethod], parts: pd.DataFrame) -> None:
    """Draw a method a row: its parts, and their sum as a mark and a number."""
    parts = parts.reindex([method.name for method in methods])
    lefts = _stack(ax, parts, -1)
    rights = _stack(ax, parts, 1)
    ax.axvline(0, color="black", linewidth=0.8)

    places = np.arange(len(parts))
    ax.plot(parts["gap"], places, "D", zorder=3, **_GAP)
    for place, (right, gap) in enumerate(zip(rights, parts["gap"], strict=True)):
        if np.isfinite(gap):
            number = f"  {gap:z.2f} ".replace("-", "−")
            ax.text(right, place, number, va="center", fontsize=7)

    style.rows(ax, [style.plain(method.title) for method in methods])
    # Panels share their limits: room for the printed gaps, too.
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, 1.1 * lefts.min()), max(high, 1.25 * rights.max()))


def _stack(ax: Axes, parts: pd.DataFrame, side: int) -> np.ndarray:
    """Stack the parts of one sign (`side`) from 0 outwards; (methods,) their ends."""
    ends = np.zeros(len(parts))
    for part in PARTS:
        lengths = (side * parts[part]).clip(lower=0).fillna(0).to_numpy()
        (drawn,) = np.nonzero(lengths)
        ax.barh(
            drawn,
            side * lengths[drawn],
            left=ends[drawn],
            height=0.75,
            **_FILLINGS[part],
        )
        ends += side * lengths
    return ends
