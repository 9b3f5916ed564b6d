"""`trade-off`: what a narrower gap costs, over whole grids of several methods.

Of a penalty, of thresholds, of FairGAT and of step 1. Reads scores.csv. Writes
trade-off.csv, every cell's accuracy lost and gap narrowed, and the figure `trade-off`,
which shows them as fronts: exploration, as test scores show which cells are on a front.
Writes budgets.csv and budgets.md: what each method narrows where validation chooses its
cell with a given accuracy to spend, and how it compares with FairGAT.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from beyond.analyses import common
from fairgat import cells, measures
from fairgat.config import NodeTraining, Splits
from fairgat.report import labels, percent, style
from fairgat.report.figures import tradeoff
from fairgat.report.model import Block, Cell, Panel, Row, Table, row
from fairgat.scores.paired import FEWEST, ROUNDING, against, half_width

BASE, REFERENCE = "gat", "fairgat-uncapped"
ACCURACY, *GAPS = measures.names(NodeTraining.task, "audited")
LOST = ["lost", "lost_low", "lost_high"]
NARROWED = ["narrowed", "narrowed_low", "narrowed_high"]
CHOICE = ["dataset", "measure", "budget", "method"]
BUDGETS = (0.005, 0.01, 0.02)
"""Validation accuracy that may be lost against GAT."""
RATIO = Splits().test_ratio(NodeTraining.divides)
"""Test people for each one that is trained on, as config.yaml divides them."""
COMPARED = ("accuracy", "auc", "difference", "less_fairgat")
"""What `budgets` compares, in the order of the table's columns."""


def every_cell(scores: pd.DataFrame) -> pd.DataFrame:
    """Compute what every cell of every method loses and narrows, less GAT.

    Returns:
        A row per data set, measure, method and cell: `lost`, of accuracy, and
        `narrowed`, with their 95 % intervals (`_low`, `_high`; fractions), and `front`,
        whether no other cell of the method loses less and narrows as much.
    """
    is_base = scores["method"] == BASE
    less = common.less(scores[~is_base], scores[is_base])
    less = less.set_index([*common.RUN, "metric"])
    # What is less than GAT's is lost or narrowed: the low end becomes the high one.
    turned = -less[["difference", "high", "low"]]
    by_metric = turned.unstack("metric").swaplevel(axis=1)

    parts = []
    for gap in GAPS:
        lost = by_metric[ACCURACY].set_axis(LOST, axis=1)
        narrowed = by_metric[gap].set_axis(NARROWED, axis=1)
        part = lost.join(narrowed).reset_index()
        parts.append(part.assign(measure=gap))
    rows = pd.concat(parts, ignore_index=True)

    by_method = rows.groupby(["dataset", "measure", "method"])
    rows["front"] = pd.concat([on_front(lines) for _, lines in by_method])
    keys = ["dataset", "measure", "method", "cell"]
    return rows[[*keys, *LOST, *NARROWED, "front"]]


def on_front(rows: pd.DataFrame) -> pd.Series:
    """Say whether no other cell loses less accuracy and narrows the gap as much."""
    front = tradeoff.pareto(rows["lost"].to_numpy(), rows["narrowed"].to_numpy())
    is_on = np.zeros(len(rows), dtype=bool)
    is_on[front] = True
    return pd.Series(is_on, rows.index)


def choices(validation: pd.DataFrame) -> pd.DataFrame:
    """Choose a cell by validation for each data set, gap, budget and method.

    There is no row where no cell is within the budget. As in `fairgat.scores.selection`
    a cell that failed on a split is left out.
    """
    of_cell = validation.groupby(common.RUN)["split"].transform("nunique")
    of_dataset = validation.groupby("dataset")["split"].transform("nunique")
    finished = validation[of_cell == of_dataset]
    means = finished.groupby([*common.RUN, "metric"])["value"].mean()
    means = means.unstack("metric").reset_index()
    is_base = means["method"] == BASE
    accuracy_of_base = means[is_base].set_index("dataset")[ACCURACY]

    rows = means[~is_base].melt(
        id_vars=[*common.RUN, ACCURACY],
        value_vars=GAPS,
        var_name="measure",
        value_name="gap",
    )
    rows = rows.merge(pd.DataFrame({"budget": BUDGETS}), how="cross")
    least_accuracy = rows["dataset"].map(accuracy_of_base) - rows["budget"]
    within = rows[rows[ACCURACY] >= least_accuracy - ROUNDING]
    narrowest = within.sort_values("gap", kind="stable").drop_duplicates(CHOICE)
    return narrowest.sort_index()[[*CHOICE, "cell"]]


def budgets(validation: pd.DataFrame, test: pd.DataFrame) -> pd.DataFrame:
    """Compute what each method narrows where it may lose so much accuracy.

    That is at the cell that validation chooses: of those whose mean validation accuracy
    is at most the budget below GAT's, the one with the least mean validation gap.
    Thresholds are fitted to validation nodes, so that their gap there is less than
    elsewhere.

    Returns:
        A row per data set, measure, budget and method with its cell: `accuracy`, `auc`
        and `difference`, its test scores and gap less GAT's, and `less_fairgat`, its
        gap less FairGAT's at the same budget, each with `_low` and `_high`, and
        `_corrected`, half the interval for other people.
    """
    chosen = choices(validation)
    scored = chosen.merge(test, on=common.RUN)
    accuracy = scored[scored["metric"] == ACCURACY]
    auc = scored[scored["metric"] == "auc"]
    gaps = scored[scored["metric"] == scored["measure"]]
    is_fairgat = gaps["method"] == REFERENCE

    base = test[test["method"] == BASE]
    split = ["dataset", "split", "metric"]
    choice = [*split, "measure", "budget"]
    compared = {
        "accuracy": against(accuracy, base, split, CHOICE),
        "auc": against(auc, base, split, CHOICE),
        "difference": against(gaps, base, split, CHOICE),
        "less_fairgat": against(gaps[~is_fairgat], gaps[is_fairgat], choice, CHOICE),
    }
    rows = chosen
    for name, less in compared.items():
        less["corrected"] = half_width(less, RATIO)
        columns = {"difference": name}
        for end in ("low", "high", "corrected"):
            columns[end] = f"{name}_{end}"
        less = less[[*CHOICE, *columns]].rename(columns=columns)
        rows = rows.merge(less, how="left", on=CHOICE)
    return rows


def figure(rows: pd.DataFrame, titles: dict[str, str], datasets: dict[str, str]):
    """Draw every cell's accuracy lost and gap narrowed with 95 % intervals, in points.

    A line joins a method's front. A row of panels for each data set, a column for each
    gap.
    """
    names = list(rows["dataset"].unique())
    looks = common.looks({name: titles[name] for name in rows["method"].unique()})
    drawn, axes = style.grid(len(names), len(GAPS), height=2.8)
    for dataset, panels in zip(names, axes, strict=True):
        for gap, ax in zip(GAPS, panels, strict=True):
            style.zero(ax)
            style.zero(ax, upright=True)
            is_panel = (rows["dataset"] == dataset) & (rows["measure"] == gap)
            for method, lines in rows[is_panel].groupby("method", sort=False):
                _draw_cells(ax, lines, looks[method])
            ax.set_xlabel("accuracy lost")
            ax.set_ylabel(f"{style.label(gap)}: narrowed")
        title = style.plain(datasets[dataset])
        panels[0].set_title(title, loc="left", fontweight="bold")
    text = (
        "in points on test, less GAT on the same splits; "
        "a line joins the cells of a method's front"
    )
    drawn.supxlabel(text, fontsize=8)
    style.legend(drawn, looks.values(), title=percent.WITH_INTERVALS)
    return drawn


def _draw_cells(ax, lines: pd.DataFrame, look: style.Look) -> None:
    """Draw a method's cells as crosses of their intervals, and its front."""
    points = 100 * lines[[*LOST, *NARROWED]]
    lost, narrowed = points["lost"], points["narrowed"]
    faint = {"color": look.colour, "alpha": 0.35, "linewidth": 0.8}
    ax.hlines(narrowed, points["lost_low"], points["lost_high"], **faint)
    ax.vlines(lost, points["narrowed_low"], points["narrowed_high"], **faint)
    clear = {"color": look.colour, "markersize": 4, "alpha": 0.6}
    ax.plot(lost, narrowed, look.marker, **clear)

    front = points[lines["front"]].sort_values("lost")
    joined = {"color": look.colour, "marker": look.marker, "markersize": 5}
    ax.plot(front["lost"], front["narrowed"], look.line, **joined)


def table(
    rows: pd.DataFrame,
    titles: dict[str, str],
    datasets: dict[str, str],
    n_splits: Mapping[str, int],
) -> Table:
    """Make a panel for each gap and budget, with a row for each method.

    Args:
        rows: as `budgets` gives them.
        titles, datasets: of methods and data sets.
        n_splits: of each data set.
    """
    panels = []
    for (gap, budget), mine in rows.groupby(["measure", "budget"], sort=False):
        blocks = []
        for name, lines in mine.groupby("dataset", sort=False):
            of_dataset = []
            for _, line in lines.iterrows():
                of_dataset.append(_row(line, titles, n_splits[name]))
            blocks.append(Block(datasets[name], of_dataset))
        header = ["Data set", "Method", "Cell"]
        header += ["Accuracy", "AUC", labels.metric(gap), "less FairGAT's"]
        measure = measures.find(gap)
        points = f"{100 * budget:g} points"
        title = f"{measure.label}, up to {points} of validation accuracy"
        panels.append(Panel("multirow", header, blocks, title, align="lllrrrr"))
    enough = ""
    if min(n_splits.values()) < FEWEST:
        enough = f" over {FEWEST} splits or more"
    return Table(
        name="budgets",
        caption="What a method narrows where it may lose so much accuracy.",
        explanation=(
            "Of the cells that lose no more than the budget against GAT on validation, "
            "in the mean over the splits, the one with the least gap there, where "
            "thresholds are fitted, too. Test scores less GAT's, and the gap less "
            "FairGAT's at that budget, in points, ± half the 95 % interval; bold where "
            f"that leaves out 0{enough}. {percent.OF_SPLITS}"
        ),
        panels=panels,
        notes=[],
    )


def _row(line: pd.Series, titles: dict[str, str], n_splits: int) -> Row:
    differences = [_signed(line, name, n_splits) for name in COMPARED]
    return row(titles[line["method"]], _cell_text(line["cell"]), *differences)


def _cell_text(path: str) -> str:
    """Write a cell's hyperparameters as a table names them."""
    parts = []
    for name, value in cells.from_path(path).items():
        parts.append(f"{labels.parameter(name)} {value}")
    return ", ".join(parts)


def _signed(line: pd.Series, name: str, n_splits: int) -> Cell:
    ends = line[f"{name}_low"], line[f"{name}_high"]
    return percent.signed(line[name], *ends, n_splits=n_splits)


def main(folder: Path) -> list[Path]:
    """Analyse the study in a folder; give the paths written."""
    titles, datasets = common.titles(folder), common.datasets(folder)
    test = common.scores(folder)
    validation = common.scores(folder, "validation")

    found = common.ordered(every_cell(test), test, "dataset", "method")
    chosen = common.ordered(budgets(validation, test), test, "dataset", "method")
    drawn = figure(found, titles, datasets)
    n_splits = test.groupby("dataset")["split"].nunique().to_dict()
    page = table(chosen, titles, datasets, n_splits)
    return [
        *common.tabled(folder, "trade-off", found),
        *common.tabled(folder, "budgets", chosen, page),
        *common.published(folder, "trade-off", drawn),
    ]
