"""Account: the gap of the mean logits as the parts that add up to it, data sets side by side."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fairgat.report import style
from fairgat.report.inputs import Files, Settings
from fairgat.report.tables.account import PARTS, read
from fairgat.scores.paired import REFERENCE

READS = ("account", "selection")
TASK = "node_classification"

COLOURS = {"mixing": "#0072B2", "label_selection": "#E69F00", "rest": "#F0E442", "gate": "#BBBBBB"}  # Okabe & Ito
HATCHES = {"mixing": "", "label_selection": "//", "rest": "..", "gate": ""}
_ROWS = {"all": "all nodes", "label 1": "nodes with label 1"}


def draw(settings: Settings, files: Files) -> Figure:
    """Draw a bar for each method on each data set: parts that widen GAT's gap above 0, those that narrow it below.

    The marker is the gap, the sum of the parts; bars are means over the splits, in standard deviations of each model's
    logits, as the scale of logits differs between methods and decides nothing. Of more than two groups the one with
    GAT's largest gap is drawn, less all others.
    """
    accounts, methods = read(files), settings.methods
    datasets = [each for each in settings.datasets if each.name in set(accounts["dataset"])]
    figure, axes = style.grid(len(_ROWS), 1, height=2.3, sharex=True)
    logits = accounts[accounts["layer"] == "logit"]
    logits = logits.assign(**{column: logits[column] / logits["spread"] for column in ("gap", *PARTS)})
    means = logits.groupby(["over", "dataset", "method", "group"])[["gap", *PARTS]].mean()
    for (over, title), (ax,) in zip(_ROWS.items(), axes, strict=True):
        ticks = {}
        for place, dataset in enumerate(datasets):
            mine = _largest(means, over, dataset.name)
            for number, method in enumerate(each for each in methods if each.name in mine.index):
                at = place * (len(methods) + 1) + number
                ticks[at] = method.title
                _bar(ax, at, mine.loc[method.name])
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_xticks(list(ticks), list(map(style.plain, ticks.values())), rotation=45, ha="right")
        ax.grid(axis="x", visible=False)
        ax.set_ylabel(title)
    for place, dataset in enumerate(datasets):
        middle = place * (len(methods) + 1) + (len(methods) - 1) / 2
        top = axes[0][0].get_xaxis_transform()
        axes[0][0].text(middle, 1.0, style.plain(dataset.title), transform=top, ha="center", va="bottom", weight="bold")
    figure.supylabel("gap of the mean logits in their standard deviations, GAT's positive", fontsize=8)
    patches = [
        Patch(facecolor=COLOURS[part], hatch=HATCHES[part], label=name, edgecolor="black", linewidth=0.4)
        for part, name in PARTS.items()
    ]
    gap = Line2D([], [], color="black", marker="D", markerfacecolor="white", linestyle="", label="gap (their sum)")
    figure.legend(handles=[*patches, gap], loc="outside upper center", ncols=5, frameon=False)
    return figure


def _largest(means: pd.DataFrame, over: str, dataset: str) -> pd.DataFrame:
    """The parts by method, of the group with GAT's largest gap, signed so that GAT's gap is positive."""
    try:
        mine = means.loc[over, dataset].dropna()
    except KeyError:
        return means.iloc[:0].droplevel([0, 1, 3])
    base = mine.loc[REFERENCE] if REFERENCE in mine.index else mine.groupby(level="group").mean()
    group = base["gap"].abs().idxmax()
    return mine.xs(group, level="group") * np.sign(base.loc[group, "gap"])


def _bar(ax: Axes, at: float, parts: pd.Series) -> None:
    """Stack the positive parts upwards and the negative ones downwards, and mark their sum."""
    ends = {1: 0.0, -1: 0.0}
    for part in PARTS:
        side = 1 if parts[part] >= 0 else -1
        ax.bar(
            at, parts[part], bottom=ends[side], width=0.8, color=COLOURS[part], hatch=HATCHES[part],
            edgecolor="black", linewidth=0.4,
        )  # fmt: skip
        ends[side] += parts[part]
    ax.plot(at, parts["gap"], "D", color="black", markerfacecolor="white", markersize=4, zorder=3)
