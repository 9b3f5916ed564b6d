"""The scores of a table as points with their deviations, beside the paper's."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairgat import measures, paper
from fairgat.report import inputs, style
from fairgat.report.inputs import Files, Settings

READS = ("winners",)
TASK = None


def draw(settings: Settings, files: Files) -> Figure:
    """Mean ± standard deviation of each method in every measure of a table; the paper's are hollow."""
    looks = style.looks(settings.method_titles)
    ours = inputs.winners(files, settings).set_index(["dataset", "method", "metric"])[
        ["mean", "std"]
    ]
    printed = paper.printed(settings.name)
    metrics = settings.config.table(settings.name).measures or measures.names(
        settings.task, "shown"
    )
    height = max(1.3, 0.5 + 0.22 * len(looks))
    figure, axes = style.panels(
        settings.dataset_titles, metrics, columns=4, height=height, sharey=True
    )
    for (dataset, metric), ax in axes.items():
        for place, (method, look) in enumerate(looks.items()):
            if (dataset, method, metric) in ours.index:
                mean, std = (
                    measures.find(metric).unit.factor
                    * ours.loc[(dataset, method, metric)]
                )
                _point(ax, mean, std, place - 0.12, look.colour, look.marker)
            if published := printed.get((dataset, method, metric)):
                _point(ax, *published, place + 0.2, style.GREY, "o", hollow=True)
        ax.set_xlabel(style.label(metric))
        style.rows(ax, [look.title for look in looks.values()])
    if printed and settings.config.compares_with_paper:
        hollow = style.sign("paper", marker="o", markerfacecolor="none")
        style.legend(
            figure, signs=[style.sign("ours", marker="o", color="black"), hollow]
        )
    return figure


def _point(
    ax: Axes,
    mean: float,
    std: float,
    y: float,
    colour: str,
    marker: str,
    hollow: bool = False,
) -> None:
    thin = (
        {"markerfacecolor": "none", "markersize": 4, "elinewidth": 0.8}
        if hollow
        else {"markersize": 5}
    )
    ax.errorbar(
        mean,
        y,
        xerr=None if pd.isna(std) else std,
        fmt=marker,
        color=colour,
        capsize=2,
        **thin,
    )
