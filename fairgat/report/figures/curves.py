"""Validation scores along the epochs, of one task: a panel for each method."""

from itertools import product

import pandas as pd
from matplotlib.figure import Figure

from fairgat import measures
from fairgat.errors import DataError
from fairgat.report import inputs, style
from fairgat.report.inputs import Files, Settings
from fairgat.scores.paired import REFERENCE

READS = ("histories", "selection")
TASK = None

POINTS = 100  # of a curve: more make the figure larger, not clearer
_GREY = "#AAAAAA"


def draw(settings: Settings, files: Files) -> Figure:
    """Each method's selected cell: the mean over the splits, and their range as a band; both over a few epochs at a
    time where there are more than POINTS. GAT's mean, in grey, is in every panel.
    """
    looks = style.looks(settings.method_titles)
    curves = {
        (dataset, method): inputs.histories(files, settings.task, dataset, method, selection["winner"])
        for (dataset, method), selection in inputs.selections(files, settings).items()
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
    datasets = settings.dataset_titles
    height = 0.95 if len(looks) > 4 else 1.4
    figure, axes = style.grid(max(1, len(datasets) * len(known)), max(1, len(looks)), height, sharex=True, sharey="row")
    figure.set_figwidth(max(style.WIDTH, 0.75 * len(looks)))
    for row, (dataset, metric) in zip(axes, product(datasets, known), strict=False):
        drawn = {method: _means(curves.get((dataset, method), []), metric) for method in looks}
        for ax, (method, look) in zip(row, looks.items(), strict=True):
            if method != REFERENCE and len(drawn.get(REFERENCE, ())):
                ax.plot(drawn[REFERENCE]["epoch"], drawn[REFERENCE]["mean"], color=_GREY, linewidth=0.8)
            if len(mine := drawn[method]):
                ax.fill_between(mine["epoch"], mine["min"], mine["max"], color=look.colour, alpha=0.25, linewidth=0)
                ax.plot(mine["epoch"], mine["mean"], color=look.colour)
            ax.locator_params(nbins=3)
            if metric == known[0]:
                lines = look.title.replace(" (", "\n(")
                ax.set_title(lines if "\n" in lines else f"\n{lines}", fontsize=7)
        row[0].set_ylabel(style.label(metric))
        if metric == known[0]:  # above the methods' titles, and wider than the first panel
            title = row[0].annotate(style.plain(datasets[dataset]), (0, 1), (0, 15), "axes fraction", "offset points")
            title.set(fontsize=9, fontweight="bold", in_layout=False)
    figure.supxlabel("epoch", fontsize=8)
    if len(looks) > 1 and REFERENCE in looks:
        label = f"{looks[REFERENCE].title}, in every panel"
        style.legend(figure, signs=[style.sign(label, linestyle="-", color=_GREY)])
    return figure


def _means(histories: list[pd.DataFrame], metric: str) -> pd.DataFrame:
    """Mean, least and largest score over the splits and over a few epochs at a time, in the measure's unit."""
    if not histories:
        return pd.DataFrame()
    scores = pd.concat([history.set_index("epoch")[f"validation_{metric}"] for history in histories])
    scores = (scores * measures.find(metric).unit.factor).reset_index(name="score")
    window = (scores["epoch"] - 1) // -(-scores["epoch"].nunique() // POINTS)
    return scores.groupby(window.rename("window")).agg(
        epoch=("epoch", "mean"), mean=("score", "mean"), min=("score", "min"), max=("score", "max")
    )
