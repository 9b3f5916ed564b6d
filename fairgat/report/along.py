"""What a study's differences depend on: drawn against counts of the graphs, beside the theory's terms."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from fairgat.config import NodeTraining
from fairgat.config.shown import StudySettings
from fairgat.report import style
from fairgat.report.study import compared_with, metrics_of

QUANTITIES = {
    "group_homophily": "homophily by group",
    "label_homophily": "homophily by label",
    "label_gap": "label gap",
}
_SHARES = {"0": ("--", r"$R^{\chi}_0$"), "1": ("-.", r"$R^{\chi}_1$")}  # by group
_TERMS = {"alpha_chi": (":", r"$\alpha^{\chi}$"), "tau": ("-", "Theorem 1's factor")}


def figure(
    settings: StudySettings, frame: pd.DataFrame, stats: Mapping[str, Any], terms: pd.DataFrame | None
) -> Figure:
    """Draw a row of panels for each quantity that the study varies, against that quantity as measured.

    Args:
        frame: its comparison, as `fairgat.report.study.compare` gives it.
        stats: the content of .stats.json, by data set.
        terms: the theory's measures, as `fairgat.report.tables.theory.read` gives them; None where there are none.

    Returns:
        For each metric the variants' differences to their method, in points, with their 95 % intervals; at the right
        the graphs' R^chi and the theory's terms of each method's first layer, means over the splits.
    """
    named = [row for row in settings.rows if not row.changes] + [row for row in settings.rows if row.method != row.of]
    looks = style.looks({row.method: row.title for row in named})
    varied = frame[frame["method"] != frame["of"]]
    varied = varied.drop_duplicates(["dataset", "method", "of", "metric"])  # one rule's epochs
    first = pd.DataFrame()
    if terms is not None:
        first = terms[terms["layer"] == "conv1"].groupby(["method", "dataset"])[[*_TERMS]].mean()
    metrics = settings.figure_metrics or metrics_of(settings, NodeTraining.task)
    drawn, axes = style.grid(len(settings.along), len(metrics) + 1, height=1.7)
    for (quantity, datasets), (*panels, last) in zip(settings.along.items(), axes, strict=True):
        places = pd.Series({name: stats[name]["counts"][quantity] for name in datasets}).sort_values()
        for metric, ax in zip(metrics, panels, strict=True):
            style.zero(ax)
            for method, lines in varied[varied["metric"] == metric].groupby("method", sort=False):
                gaps = 100 * lines.set_index("dataset").loc[:, ["difference", "low", "high"]].reindex(places.index)
                style.curve(ax, places, gaps.to_numpy().T, looks[method])
        for group, (line, _) in _SHARES.items():
            last.plot(places, [stats[name]["counts"]["r_chi"][group] for name in places.index], line, color=style.GREY)
        for method, (term, (line, _)) in product((name for name in looks if name in first.index), _TERMS.items()):
            values, look = first.loc[method, term].reindex(places.index), looks[method]
            last.plot(places, values, line, color=look.colour, marker=look.marker, markersize=3, linewidth=1)
        for ax in (*panels, last):
            ax.set_xlabel(QUANTITIES[quantity])
    for ax, title in zip(axes[0], [*map(style.label, metrics), "first layer: shares, factor"], strict=True):
        ax.set_title(title, fontsize=8)
    drawn.supylabel(f"difference to {compared_with(settings)}, in points", fontsize=8)
    lines = [style.sign(text, linestyle=line) for line, text in {**_SHARES, **_TERMS}.values()]
    style.legend(drawn, looks.values(), below=lines)
    return drawn
