"""Validation scores along the epochs, of one task: a panel for each method."""

import math
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

Curves = Mapping[tuple[str, str], list[pd.DataFrame]]
"""The history of each split, by data set and method."""


def draw(settings: Settings, files: Files) -> Figure:
    """Draw each method's selected cell: the mean over the splits, and their range.

    Over a few epochs at a time where there are more than POINTS. GAT's mean, in grey,
    is in every panel.
    """
    looks = style.looks_of(settings)
    curves = _histories(settings, files)
    metrics = _recorded(settings.task, curves)
    rows = [*product(settings.dataset_titles.items(), metrics)]

    height = 0.95 if len(looks) > 4 else 1.4
    size = max(1, len(rows)), max(1, len(looks))
    figure, axes = style.grid(*size, height, sharex=True, sharey="row")
    figure.set_figwidth(max(style.WIDTH, 0.75 * len(looks)))
    for panels, ((dataset, title), metric) in zip(axes, rows, strict=False):
        drawn = {}
        for method in looks:
            drawn[method] = _means(curves.get((dataset, method), []), metric)
        reference = drawn.get(REFERENCE, pd.DataFrame())
        for ax, (method, look) in zip(panels, looks.items(), strict=True):
            _panel(ax, drawn[method], reference, look)
        panels[0].set_ylabel(style.label(metric))
        if metric == metrics[0]:
            _title(panels, title, looks.values())
    for ax in axes[-1]:
        ax.set_xlabel("epoch")
    _legend(figure, looks)
    return figure


def _panel(
    ax: Axes, mine: pd.DataFrame, reference: pd.DataFrame, look: style.Look
) -> None:
    """Draw a method's curve over the reference's; each may be empty."""
    if len(reference) and reference is not mine:
        ax.plot(reference["epoch"], reference["mean"], color=_GREY, linewidth=0.8)
    if len(mine):
        ends = mine["min"], mine["max"]
        shade = {"color": look.colour, "alpha": 0.25, "linewidth": 0}
        ax.fill_between(mine["epoch"], *ends, **shade)
        ax.plot(mine["epoch"], mine["mean"], color=look.colour)
    ax.locator_params(nbins=3)


def _title(row: list[Axes], dataset: str, looks: Iterable[style.Look]) -> None:
    """Name the methods above their panels, and the data set above them all."""
    for ax, look in zip(row, looks, strict=True):
        lines = look.title.replace(" (", "\n(")
        if "\n" not in lines:
            lines = f"\n{lines}"
        ax.set_title(lines, fontsize=7)
    title = style.plain(dataset)
    text = row[0].annotate(title, (0, 1), (0, 15), "axes fraction", "offset points")
    # It may be wider than the first panel.
    text.set(fontsize=9, fontweight="bold", in_layout=False)


def _legend(figure: Figure, looks: Mapping[str, style.Look]) -> None:
    mean = "mean over the splits, and their range"
    signs = [style.sign(mean, linestyle="-", color="black")]
    if len(looks) > 1 and REFERENCE in looks:
        everywhere = f"{looks[REFERENCE].title}, in every panel"
        signs.append(style.sign(everywhere, linestyle="-", color=_GREY))
    title = (
        "Scores on validation while each method's selected cell is trained, before "
        "what is done after that, such as thresholds"
    )
    style.legend(figure, signs=signs, title=title)


def _histories(settings: Settings, files: Files) -> Curves:
    """Read the history of each split of the cells that were selected.

    Raises:
        DataError: the splits of one have different lengths, as where a file was cut
            off.
    """
    curves = {}
    for (dataset, method), selection in inputs.selections(files, settings).items():
        cell = selection["winner"]
        if cell is None:
            continue
        splits = inputs.histories(files, settings.task, dataset, method, cell)
        # A cell is selected where it was trained to the end on every split.
        epochs = [len(history) for history in splits]
        if len(set(epochs)) > 1:
            raise DataError(
                f"the history.csv of {method} on {dataset} have {epochs} epochs on its "
                "splits: the shorter ones were cut off. Delete them and run again."
            )
        curves[dataset, method] = splits
    return curves


def _recorded(task: str, curves: Curves) -> list[str]:
    """The measures of the table that histories have, or else the utilities.

    Link prediction records what chooses the epoch.
    """
    columns = set()
    for histories in curves.values():
        columns.update(*histories)
    for role in ("shown", "utility"):
        names = measures.names(task, role)
        known = [name for name in names if f"validation_{name}" in columns]
        if known:
            return known
    return []


def _means(histories: list[pd.DataFrame], metric: str) -> pd.DataFrame:
    """Average the scores over the splits, a few epochs at a time.

    Returns:
        `epoch`, and `mean`, `min` and `max` in the measure's unit; nothing without
        histories.
    """
    if not histories:
        return pd.DataFrame()
    scores = pd.concat(histories)
    factor = measures.find(metric).unit.factor
    scores = scores.assign(score=factor * scores[f"validation_{metric}"])

    at_a_time = math.ceil(scores["epoch"].nunique() / POINTS)
    window = (scores["epoch"] - 1) // at_a_time
    return scores.groupby(window).agg(
        epoch=("epoch", "mean"),
        mean=("score", "mean"),
        min=("score", "min"),
        max=("score", "max"),
    )
