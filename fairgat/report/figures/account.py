"""Account: the gap of the mean logits as the parts that add up to it, data sets side by side."""

from itertools import product

import numpy as np
import pandas as pd
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
_HATCHES = {"mixing": "", "label_selection": "////", "rest": "....", "nonlinearity": ""}
WORDS = {
    "mixing": "mixing: attention between the groups",
    "label_selection": "label selection: attention to people of one label",
    "rest": "the rest: attention to people unlike others of their group and label",
    "nonlinearity": "nonlinearity: what ReLU makes of them",
}
_OVER = {"all": "everyone", "label 1": "label 1 only"}
_SIDE_BY_SIDE = 4


def draw(settings: Settings, files: Files) -> Figure:
    """Draw a bar for each method on each data set: parts that widen GAT's gap to the right, others to the left.

    The diamond is the gap, the sum of the parts; bars are means over the splits, in
    standard deviations of each model's logits, as the scale of logits differs between
    methods and decides nothing. Of more than two groups the one with GAT's largest gap
    is drawn, less all others.
    """
    accounts = read(files, settings)
    datasets = [
        each for each in settings.datasets if each.name in set(accounts["dataset"])
    ]
    methods = [
        each for each in settings.methods if each.name in set(accounts["method"])
    ]
    means = _in_deviations(accounts)
    lines = max(1, -(-len(datasets) // _SIDE_BY_SIDE))
    columns = max(1, -(-len(datasets) // lines))
    height = max(1.3, 0.45 + 0.17 * len(methods))
    figure, axes = style.grid(
        len(_OVER) * lines, columns, height, sharex=True, sharey=True
    )
    for (place, dataset), (row, over) in product(enumerate(datasets), enumerate(_OVER)):
        line, column = divmod(place, columns)
        ax = axes[line * len(_OVER) + row][column]
        _panel(ax, methods, _largest(means, over, dataset.name))
        ax.tick_params(labelbottom=row > 0)
        if row == 0:
            ax.set_title(style.plain(dataset.title), fontsize=8, fontweight="bold")
        if column == 0:
            ax.set_ylabel(_OVER[over])
    for ax in figure.axes:
        if not ax.has_data():
            ax.set_axis_off()
    figure.suptitle(
        "What the gap between the groups is made of, in the second attention layer\n"
        "(difference of their mean logits, in standard deviations of the logits; GAT's gap is positive)",
        fontsize=8.5,
    )
    _legend(figure)
    return figure


def _legend(figure: Figure) -> None:
    patches = [
        Patch(
            facecolor=COLOURS[part],
            hatch=_HATCHES[part],
            label=words,
            edgecolor="black",
            linewidth=0.4,
        )
        for part, words in WORDS.items()
    ]
    gap = style.sign(
        "gap: their sum", color="black", marker="D", markerfacecolor="white"
    )
    figure.legend(
        handles=[*patches, gap], loc="outside lower center", ncols=2, frameon=False
    )


def _in_deviations(accounts: pd.DataFrame) -> pd.DataFrame:
    """The parts of the gap of the mean logits over each model's standard deviation: means over the splits."""
    logits = accounts[accounts["layer"] == "logit"]
    parts = logits[["gap", *PARTS]].div(logits["spread"], axis=0)
    keys = ["over", "dataset", "method", "group"]
    return logits[keys].join(parts).groupby(keys).mean()


def _largest(means: pd.DataFrame, over: str, dataset: str) -> pd.DataFrame:
    """The parts by method, of the group with GAT's largest gap, signed so that GAT's gap is positive.

    None where nobody of a group is among the rows.
    """
    mine = means.loc[over, dataset].dropna()
    if mine.empty:
        return mine.droplevel("group")
    base = (
        mine.loc[REFERENCE]
        if REFERENCE in mine.index
        else mine.groupby(level="group").mean()
    )
    group = base["gap"].abs().idxmax()
    return mine.xs(group, level="group") * np.sign(base.loc[group, "gap"])


def _panel(ax: Axes, methods: list[ShownMethod], parts: pd.DataFrame) -> None:
    """Stack a method's positive parts to the right and its negative ones to the left, and mark and print their sum."""
    parts = parts.reindex([method.name for method in methods])
    ends = {}
    for side in (1, -1):
        ends[side] = np.zeros(len(parts))
        for part in PARTS:
            widths = side * (side * parts[part]).clip(lower=0).to_numpy()
            (drawn,) = np.nonzero(np.nan_to_num(widths))
            ax.barh(
                drawn,
                widths[drawn],
                left=ends[side][drawn],
                height=0.75,
                color=COLOURS[part],
                hatch=_HATCHES[part],
                edgecolor="black",
                linewidth=0.4,
            )
            ends[side] += np.nan_to_num(widths)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.plot(
        parts["gap"],
        np.arange(len(parts)),
        "D",
        color="black",
        markerfacecolor="white",
        markersize=4,
        zorder=3,
    )
    for place, (end, gap) in enumerate(zip(ends[1], parts["gap"], strict=True)):
        if np.isfinite(gap):
            ax.text(
                end, place, f"  {gap:.2f} ".replace("-", "−"), va="center", fontsize=7
            )
    style.rows(ax, [style.plain(method.title) for method in methods])
    # Panels share their limits: room for the printed gaps, too.
    low, high = (
        min(ax.get_xlim()[0], 1.1 * ends[-1].min()),
        max(ax.get_xlim()[1], 1.25 * ends[1].max()),
    )
    ax.set_xlim(low, high)
