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

_SIDES = {"higher": "right", "lower": "left"}


def draw(settings: Settings, files: Files) -> Figure:
    """Draw every cell of every method by its test means.

    A line joins a method's Pareto front, where one way is better, and the selected cell
    is filled. Where a few cells leave the others little room, these are drawn once more
    from closer.
    """
    utility = measures.find(measures.utility(settings.task))
    shown = measures.of_task(settings.task, "shown")
    others = {each.name: each for each in shown if each != utility}
    sides = {_SIDES.get(each.better) for each in others.values()}
    common_side = sides.pop() if len(sides) == 1 else None
    looks = style.looks_of(settings)
    blocks = _blocks(settings, _cells(settings, files), utility.name)

    titles = {title: title for title in blocks}
    height = 1.9 if len(others) > 2 else 2.4
    figure, axes = style.panels(titles, list(others), 3, height)
    for (title, name), ax in axes.items():
        for method, look in looks.items():
            cells = blocks[title]
            mine = cells[cells["method"] == method]
            _points(ax, mine, others[name], utility, look)
        ax.margins(0.08, 0.12)  # room for the large markers
        ax.set(xlabel=style.label(name), ylabel=style.label(utility.name))
        side = _SIDES.get(others[name].better)
        if side and not common_side:
            ax.set_xlabel(f"{style.label(name)}, {side}: better")

    title = "Every cell of every method, mean of the test scores over the splits: up "
    title += f"and to the {common_side} is better" if common_side else "is better"
    chosen = style.sign("cell selected on validation", marker="o", markersize=7)
    front = style.sign("best of a method (Pareto front)", linestyle="-", linewidth=0.9)
    style.legend(figure, looks.values(), [chosen, front], title)
    return figure


def _blocks(
    settings: Settings, cells: pd.DataFrame, utility: str
) -> dict[str, pd.DataFrame]:
    """Part the cells by data set; by title. Where there is a crowd, a closer look."""
    blocks = {}
    for dataset, title in settings.dataset_titles.items():
        mine = cells[cells["dataset"] == dataset]
        blocks[title] = mine
        near = style.crowd(mine[[utility]].to_numpy())
        if near is not None:
            blocks[f"{title}, closer: {near.sum()} of {len(near)} cells"] = mine[near]
    return blocks


def _cells(settings: Settings, files: Files) -> pd.DataFrame:
    """Average the test scores of each cell that finished on every split.

    Returns:
        A column for each measure, and whether the cell was `selected`.
    """
    failed = set()
    selected = set()
    for pair, selection in inputs.selections(files, settings).items():
        failed |= {(*pair, run["cell"]) for run in selection["failed"]}
        selected.add((*pair, selection["winner"]))

    rows = rows_under(read(*files["cells"]), *settings.protocols)
    is_shown = rows["method"].isin(settings.rows)
    rows = rows[(rows["part"] == "test") & is_shown]
    cell = ["dataset", "method", "cell"]
    means = rows.pivot_table("mean", index=cell, columns="metric", sort=False)
    means = means.reindex(columns=measures.names(settings.task, "shown", "utility"))
    means = means[~means.index.isin(failed)]
    return means.assign(selected=means.index.isin(selected)).reset_index()


def _points(
    ax: Axes, cells: pd.DataFrame, measure: Measure, utility: Measure, look: style.Look
) -> None:
    """Draw the cells of a method; none where the measure is missing."""
    if measure.name not in cells or cells[measure.name].isna().all():
        return
    x = measure.unit.factor * cells[measure.name].to_numpy()
    y = utility.unit.factor * cells[utility.name].to_numpy()
    chosen = cells["selected"].to_numpy()

    line = {"linewidth": 0.9, "alpha": 0.7, "drawstyle": "steps-post"}
    hollow = {"markerfacecolor": "none", "markersize": 4, "alpha": 0.8}
    filled = {"markersize": 7, "markeredgecolor": "white", "markeredgewidth": 0.5}
    if measure.better:
        cost = -x if measure.better == "higher" else x
        front = pareto(cost, y)
        ax.plot(x[front], y[front], look.line, color=look.colour, **line)
    ax.plot(x, y, look.marker, color=look.colour, **hollow)
    on_top = {"color": look.colour, "zorder": 3}
    ax.plot(x[chosen], y[chosen], look.marker, **on_top, **filled)


def pareto(cost: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Find the points that no other beats in both: lower cost, higher gain.

    Of equal points it is the first. A point without either value is on no front.

    Args:
        cost, gain: (n,) values of the same points.

    Returns:
        Their indices, by rising cost.
    """
    front: list[int] = []
    is_known = ~np.isnan(cost + gain)
    for index in np.lexsort((-gain, cost)):
        is_better = not front or gain[index] > gain[front[-1]]
        if is_known[index] and is_better:
            front.append(int(index))
    return np.array(front, dtype=int)
