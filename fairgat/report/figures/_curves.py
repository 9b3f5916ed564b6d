"""Validation metrics along the epochs, of one task."""

import pandas as pd
from matplotlib.figure import Figure

from fairgat.report import inputs, style
from fairgat.report.inputs import Files, Settings
from fairgat.scores.runs import FAIRNESS, UTILITY

POINTS = 100  # of a curve: more make the figure larger, not clearer


def draw(settings: Settings, files: Files) -> Figure:
    """Each method's selected cell: the mean over the splits, and their range as a band; both over a few epochs at a
    time where there are more than POINTS.
    """
    looks = style.looks(settings["methods"])
    found = {
        (dataset, method): inputs.histories(files, settings["task"], dataset, method, selection["winner"])
        for (dataset, method), selection in inputs.selections(files).items()
        if selection["winner"] is not None
    }
    shown = (UTILITY, "auc") if settings["task"] == "link_prediction" else (UTILITY, *FAIRNESS[settings["task"]])
    known = [name for name in shown if any(f"validation_{name}" in f for fs in found.values() for f in fs)]
    figure, axes = style.panels(settings["datasets"], known, columns=3, height=1.9)
    for (dataset, metric), ax in axes.items():
        for method, look in looks.items():
            frames = found.get((dataset, method), [])
            if not frames:
                continue
            scores = 100 * pd.concat([frame.set_index("epoch")[f"validation_{metric}"] for frame in frames])
            width = -(-scores.index.nunique() // POINTS)
            window = (scores.index - 1) // width
            windows = scores.groupby(window)
            epochs = scores.index.to_series().groupby(window).mean()
            ax.fill_between(epochs, windows.min(), windows.max(), color=look.colour, alpha=0.15, lw=0)
            ax.plot(epochs, windows.mean(), look.line, color=look.colour)
        ax.set(xlabel="epoch", ylabel=style.label(metric))
    style.legend(figure, looks.values(), line=True)
    return figure
