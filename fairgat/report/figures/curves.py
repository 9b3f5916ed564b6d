"""Validation scores along the epochs, of one task: a panel for each method."""

from collections.abc import Iterable, Mapping
from itertools import product

import pandas as pd
from matplotlib.axes import Axes
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
    looks, curves = style.looks(settings.method_titles), _histories(settings, files)
    known = _recorded(
        settings.task,
        {column for splits in curves.values() for each in splits for column in each},
    )
    shown = [*product(settings.dataset_titles.items(), known)]
    height = 0.95 if len(looks) > 4 else 1.4
    figure, axes = style.grid(
        max(1, len(shown)), max(1, len(looks)), height, sharex=True, sharey="row"
    )
    figure.set_figwidth(max(style.WIDTH, 0.75 * len(looks)))
    for row, ((dataset, title), metric) in zip(axes, shown, strict=False):
        drawn = {
            method: _means(curves.get((dataset, method), []), metric)
            for method in looks
        }
        reference = drawn.get(REFERENCE, pd.DataFrame())
        for ax, (method, look) in zip(row, looks.items(), strict=True):
            _panel(ax, drawn[method], reference, look)
        row[0].set_ylabel(style.label(metric))
        if metric == known[0]:
            _title(row, title, looks.values())
    for ax in axes[-1]:
        ax.set_xlabel("epoch")
    _legend(figure, looks)
    return figure


def _legend(figure: Figure, looks: Mapping[str, style.Look]) -> None:
    signs = [
        style.sign(
            "mean over the splits, and their range", linestyle="-", color="black"
        )
    ]
    if len(looks) > 1 and REFERENCE in looks:
        signs.append(
            style.sign(
                f"{looks[REFERENCE].title}, in every panel", linestyle="-", color=_GREY
            )
        )
    style.legend(
        figure,
        signs=signs,
        title="Scores on validation while each method's selected cell is trained",
    )


def _title(row: list[Axes], dataset: str, looks: Iterable[style.Look]) -> None:
    """Name the methods above their panels, and the data set above them all, wider than the first panel."""
    for ax, look in zip(row, looks, strict=True):
        lines = look.title.replace(" (", "\n(")
        ax.set_title(lines if "\n" in lines else f"\n{lines}", fontsize=7)
    text = row[0].annotate(
        style.plain(dataset), (0, 1), (0, 15), "axes fraction", "offset points"
    )
    text.set(fontsize=9, fontweight="bold", in_layout=False)


def _histories(
    settings: Settings, files: Files
) -> dict[tuple[str, str], list[pd.DataFrame]]:
    """The history of each split of the cells that were selected, by data set and method.

    Raises:
        DataError: the splits of one have different lengths, as where a file was cut
            off.
    """
    curves = {}
    for (dataset, method), selection in inputs.selections(files, settings).items():
        if selection["winner"] is None:
            continue
        splits = inputs.histories(
            files, settings.task, dataset, method, selection["winner"]
        )
        epochs = [len(history) for history in splits]
        if (
            len(set(epochs)) > 1
        ):  # a cell is selected where it was trained to the end on every split
            raise DataError(
                f"the history.csv of {method} on {dataset} have {epochs} epochs on its splits: "
                "the shorter ones were cut off. Delete them and run again."
            )
        curves[dataset, method] = splits
    return curves


def _recorded(task: str, columns: set[str]) -> list[str]:
    """The measures of the table that histories have, or the utility: link prediction records what chooses the epoch."""
    shown, utilities = (
        [name for name in measures.names(task, role) if f"validation_{name}" in columns]
        for role in ("shown", "utility")
    )
    return shown or utilities


def _panel(
    ax: Axes, mine: pd.DataFrame, reference: pd.DataFrame, look: style.Look
) -> None:
    """Draw a method's curve over that of the reference, where this is another one; each may be empty."""
    if len(reference) and reference is not mine:
        ax.plot(reference["epoch"], reference["mean"], color=_GREY, linewidth=0.8)
    if len(mine):
        ax.fill_between(
            mine["epoch"],
            mine["min"],
            mine["max"],
            color=look.colour,
            alpha=0.25,
            linewidth=0,
        )
        ax.plot(mine["epoch"], mine["mean"], color=look.colour)
    ax.locator_params(nbins=3)


def _means(histories: list[pd.DataFrame], metric: str) -> pd.DataFrame:
    """Mean, least and largest score over the splits and over a few epochs at a time, in the measure's unit."""
    if not histories:
        return pd.DataFrame()
    scores = pd.concat(
        [history.set_index("epoch")[f"validation_{metric}"] for history in histories]
    )
    scores = (scores * measures.find(metric).unit.factor).reset_index(name="score")
    window = (scores["epoch"] - 1) // -(-scores["epoch"].nunique() // POINTS)
    return scores.groupby(window.rename("window")).agg(
        epoch=("epoch", "mean"),
        mean=("score", "mean"),
        min=("score", "min"),
        max=("score", "max"),
    )
