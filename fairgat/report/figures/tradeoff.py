"""The utility against each of the other measures that are shown, of one task."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairgat import measures
from fairgat.measures import Measure
from fairgat.report import inputs, style
from fairgat.report.inputs import Files, Settings
from fairgat.scores.runs import read, rows_under

READS = ("cells", "selection")
TASK = None


def draw(settings: Settings, files: Files) -> Figure:
    """Every cell of every method by its test means, the method's Pareto front as a line, and the selected cell filled.

    Where a few cells leave the others little room, these are drawn once more from
    closer.
    """
    utility = measures.find(measures.utility(settings.task))
    shown = [
        each for each in measures.of_task(settings.task, "shown") if each != utility
    ]
    looks, blocks = (
        style.looks_of(settings),
        _blocks(settings, _cells(settings, files), utility.name),
    )
    titles, height = {title: title for title in blocks}, 1.9 if len(shown) > 2 else 2.4
    figure, axes = style.panels(
        titles, [each.name for each in shown], columns=3, height=height
    )
    for (title, name), ax in axes.items():
        for method, look in looks.items():
            _points(
                ax,
                blocks[title][blocks[title]["method"] == method],
                measures.find(name),
                utility,
                look,
            )
        ax.margins(0.08, 0.12)  # room for the large markers
        ax.set(xlabel=style.label(name), ylabel=style.label(utility.name))
    where = "right" if all(each.better == "higher" for each in shown) else "left"
    title = f"Every cell of every method, mean of the test scores over the splits: up and to the {where} is better"
    chosen = style.sign("cell selected on validation", marker="o", markersize=7)
    front = style.sign("best of a method (Pareto front)", linestyle="-", linewidth=0.9)
    style.legend(figure, looks.values(), [chosen, front], title)
    return figure


def _blocks(
    settings: Settings, cells: pd.DataFrame, utility: str
) -> dict[str, pd.DataFrame]:
    """Part the cells by data set, and take a closer look where there is a crowd; by title."""
    blocks = {}
    for dataset, title in settings.dataset_titles.items():
        mine = blocks[title] = cells[cells["dataset"] == dataset]
        near = style.crowd(mine[[utility]].to_numpy())
        if near is not None:
            blocks[f"{title}, closer: {near.sum()} of {len(near)} cells"] = mine[near]
    return blocks


def _cells(settings: Settings, files: Files) -> pd.DataFrame:
    """The test means of each cell that finished on every split: a column for each measure, and `selected`."""
    selections = inputs.selections(files, settings)
    failed = {
        (*pair, run["cell"])
        for pair, selection in selections.items()
        for run in selection["failed"]
    }
    selected = {(*pair, selection["winner"]) for pair, selection in selections.items()}
    rows = rows_under(read(*files["cells"]), *settings.protocols).query(
        "part == 'test'"
    )
    rows = rows[rows["method"].isin(settings.rows)]
    means = rows.pivot_table(
        index=["dataset", "method", "cell"], columns="metric", values="mean", sort=False
    )
    means = means[~means.index.isin(failed)]
    return means.assign(selected=means.index.isin(selected)).reset_index()


def _points(
    ax: Axes, cells: pd.DataFrame, measure: Measure, utility: Measure, look: style.Look
) -> None:
    """Draw the cells of a method; none where the measure is missing."""
    if measure.name not in cells or cells[measure.name].isna().all():
        return
    x, y = (
        each.unit.factor * cells[each.name].to_numpy() for each in (measure, utility)
    )
    front, chosen = (
        pareto(-x if measure.better == "higher" else x, y),
        cells["selected"].to_numpy(),
    )
    ax.plot(
        x[front],
        y[front],
        look.line,
        color=look.colour,
        linewidth=0.9,
        alpha=0.7,
        drawstyle="steps-post",
    )
    ax.plot(
        x,
        y,
        look.marker,
        color=look.colour,
        markerfacecolor="none",
        markersize=4,
        alpha=0.8,
    )
    ax.plot(
        x[chosen],
        y[chosen],
        look.marker,
        color=look.colour,
        markersize=7,
        markeredgecolor="white",
        zorder=3,
    )


def pareto(cost: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Indices of the points that no other beats in both (lower cost, higher gain), by rising cost.

    Args:
        cost, gain: (n,) values of the same points.
    """
    front: list[int] = []
    for index in np.lexsort((-gain, cost)):
        if not front or gain[index] > gain[front[-1]]:
            front.append(int(index))
    return np.array(front, dtype=int)
