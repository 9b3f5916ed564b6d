"""The utility against each of the other measures that are shown, of one task."""

import numpy as np
from matplotlib.figure import Figure

from fairgat import measures
from fairgat.report import inputs, style
from fairgat.report.inputs import Files, Settings
from fairgat.scores.runs import read, under

READS = ("cells", "selection")
TASK = None


def draw(settings: Settings, files: Files) -> Figure:
    """Every cell of every method by its test means, the method's Pareto front as a line, and the selected cell filled.

    Where lower is better, up and to the left is better, otherwise up and to the right. Cells that failed on a split are
    left out. Where a few cells leave the others little room, these are drawn once more from closer.
    """
    utility = measures.find(measures.utility(settings.task))
    shown = [each for each in measures.of_task(settings.task, "shown") if each != utility]
    selections = inputs.selections(files, settings)
    failed = {(*pair, run["cell"]) for pair, selection in selections.items() for run in selection["failed"]}
    rows = under(read(*files["cells"]), *settings.protocols).query("part == 'test'")
    means = rows.pivot_table(index=["dataset", "method", "cell"], columns="metric", values="mean", sort=False)
    means = means[~means.index.isin(failed)].reset_index()
    looks = style.looks(settings.method_titles)
    blocks, titles = {}, {}
    for dataset, title in settings.dataset_titles.items():
        mine = means[(means["dataset"] == dataset) & means["method"].isin(looks)]
        blocks[dataset], titles[dataset] = mine, title
        near = style.crowd(mine[[utility.name]].to_numpy())
        if near is not None:
            blocks[dataset, "closer"] = mine[near]
            titles[dataset, "closer"] = f"{title}, closer: {near.sum()} of {len(near)} cells"
    height = 1.9 if len(shown) > 2 else 2.4
    figure, axes = style.panels(titles, [each.name for each in shown], columns=3, height=height)
    for (block, name), ax in axes.items():
        measure = measures.find(name)
        for method, look in looks.items():
            cells = blocks[block][blocks[block]["method"] == method]
            if cells.empty or cells.get(name, cells[utility.name] * np.nan).isna().all():
                continue
            x, y = (each.unit.factor * cells[each.name].to_numpy() for each in (measure, utility))
            front = pareto(-x if measure.better == "higher" else x, y)
            ax.plot(x[front], y[front], look.line, color=look.colour, linewidth=0.9, alpha=0.7, drawstyle="steps-post")
            ax.plot(x, y, look.marker, color=look.colour, markerfacecolor="none", markersize=4, alpha=0.8)
            chosen = (cells["cell"] == selections[cells["dataset"].iloc[0], method]["winner"]).to_numpy()
            ax.plot(
                x[chosen], y[chosen], look.marker, color=look.colour, markersize=7, markeredgecolor="white", zorder=3
            )
        ax.margins(0.08, 0.12)  # room for the large markers
        ax.set(xlabel=style.label(name), ylabel=style.label(utility.name))
    chosen = style.sign("selected cell", marker="o", markersize=7)
    front = style.sign("Pareto front", linestyle="-", linewidth=0.9)
    style.legend(figure, looks.values(), [chosen, front])
    return figure


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
