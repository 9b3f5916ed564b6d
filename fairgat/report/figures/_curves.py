"""Validation scores along the epochs, of one task."""

import pandas as pd
from matplotlib.figure import Figure

from fairgat.errors import DataError
from fairgat.report import inputs, style
from fairgat.report.inputs import Files, Settings
from fairgat.tasks import measures

POINTS = 100  # of a curve: more make the figure larger, not clearer


def draw(settings: Settings, files: Files) -> Figure:
    """Each method's selected cell: the mean over the splits, and their range as a band; both over a few epochs at a
    time where there are more than POINTS.
    """
    looks = style.looks(settings.method_titles)
    curves = {
        (dataset, method): inputs.histories(files, settings.task, dataset, method, selection["winner"])
        for (dataset, method), selection in inputs.selections(files).items()
        if selection["winner"] is not None
    }
    for (dataset, method), splits in curves.items():
        epochs = [len(history) for history in splits]
        if len(set(epochs)) > 1:  # a cell is selected where it was trained to the end on every split
            raise DataError(
                f"the history.csv of {method} on {dataset} have {epochs} epochs on its splits: "
                "the shorter ones were cut off. Delete them and run again."
            )
    scored = {column for splits in curves.values() for history in splits for column in history}
    # Not every measure is computed in every epoch: in link prediction only what chooses the epoch is.
    shown, others = (measures.names(settings.task, role) for role in ("shown", "utility"))
    known = [name for name in shown if f"validation_{name}" in scored]
    known = known or [name for name in others if f"validation_{name}" in scored]
    figure, axes = style.panels(settings.dataset_titles, known, columns=3, height=1.9)
    for (dataset, metric), ax in axes.items():
        for method, look in looks.items():
            histories = curves.get((dataset, method), [])
            if not histories:
                continue
            scores = pd.concat([history.set_index("epoch")[f"validation_{metric}"] for history in histories])
            scores *= measures.find(metric).unit.factor
            width = -(-scores.index.nunique() // POINTS)
            window = (scores.index - 1) // width
            windows = scores.groupby(window)
            epochs = scores.index.to_series().groupby(window).mean()
            ax.fill_between(epochs, windows.min(), windows.max(), color=look.colour, alpha=0.15, lw=0)
            ax.plot(epochs, windows.mean(), look.line, color=look.colour)
        ax.set(xlabel="epoch", ylabel=style.label(metric))
    style.legend(figure, looks.values(), line=True)
    return figure
