"""`trade-off`: what a narrower gap costs, over whole grids of a penalty, of thresholds, of FairGAT and of step 1.

Reads scores.csv. Writes trade-off.csv, every cell's accuracy lost and gap narrowed, and the figure `trade-off`, which
shows them as fronts: exploration, as test scores show which cells are on a front. Writes budgets.csv and budgets.md:
what each method narrows where validation chooses its cell with a given accuracy to spend, and how it compares with
FairGAT.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from beyond.analyses import common
from fairgat import cells, measures
from fairgat.config import NodeTraining, Splits
from fairgat.report import labels, percent, style
from fairgat.report.figures import tradeoff
from fairgat.report.model import Block, Cell, Panel, Table, row
from fairgat.scores.paired import against, half_width

BASE, REFERENCE = "gat", "fairgat-uncapped"
ACCURACY, *GAPS = measures.names(NodeTraining.task, "audited")
CHOICE = ["dataset", "measure", "budget", "method"]
BUDGETS = (0.005, 0.01, 0.02)
"""Validation accuracy that may be lost against GAT."""
RATIO = Splits().test_ratio(NodeTraining.divides)
"""Test people for each one that is trained on, as config.yaml divides them."""


def every_cell(scores: pd.DataFrame) -> pd.DataFrame:
    """What every cell of every method loses and narrows, less GAT on the same splits.

    Returns:
        A row per data set, measure, method and cell: `lost`, of accuracy, and `narrowed`, with their 95 % intervals
        (`_low`, `_high`; fractions), and `front`, whether no other cell of the method loses less and narrows as much.
    """
    is_base = scores["method"] == BASE
    less = common.less(scores[~is_base], scores[is_base]).set_index(
        [*common.RUN, "metric"]
    )
    turned = pd.DataFrame(
        {"": -less["difference"], "_low": -less["high"], "_high": -less["low"]}
    )
    wide = turned.unstack("metric")
    parts = []
    for gap in GAPS:
        found = {f"lost{end}": wide[end, ACCURACY] for end in turned} | {
            f"narrowed{end}": wide[end, gap] for end in turned
        }
        parts.append(pd.DataFrame(found).reset_index().assign(measure=gap))
    rows = pd.concat(parts, ignore_index=True)
    front = pd.concat(
        [on_front(mine) for _, mine in rows.groupby(["dataset", "measure", "method"])]
    )
    return rows.assign(front=front)[
        ["dataset", "measure", "method", "cell", *found, "front"]
    ]


def on_front(rows: pd.DataFrame) -> pd.Series:
    """Whether no other of the cells loses less accuracy and narrows the gap at least as much."""
    front = tradeoff.pareto(rows["lost"].to_numpy(), rows["narrowed"].to_numpy())
    return pd.Series(np.isin(np.arange(len(rows)), front), rows.index)


def choices(validation: pd.DataFrame) -> pd.DataFrame:
    """The cell that validation chooses for each data set, gap, budget and method; no row where none is within it."""
    means = (
        validation.groupby([*common.RUN, "metric"])["value"]
        .mean()
        .unstack("metric")
        .reset_index()
    )
    base = means[means["method"] == BASE].set_index("dataset")[ACCURACY]
    asked = means[means["method"] != BASE].melt(
        [*common.RUN, ACCURACY], GAPS, "measure", "validation_gap"
    )
    asked = asked.merge(pd.DataFrame({"budget": BUDGETS}), how="cross")
    within = asked[asked[ACCURACY] >= asked["dataset"].map(base) - asked["budget"]]
    least = within.sort_values("validation_gap", kind="stable").drop_duplicates(CHOICE)
    return least.sort_index()[[*CHOICE, "cell"]]


def budgets(validation: pd.DataFrame, test: pd.DataFrame) -> pd.DataFrame:
    """What each method narrows where it may lose so much accuracy, at the cell that validation chooses.

    Of the cells whose mean validation accuracy is at most the budget below GAT's, it is the one with the least mean
    validation gap. Thresholds are fitted to validation nodes, so that their gap there is less than elsewhere.

    Returns:
        A row per data set, measure, budget and method with its cell: `accuracy`, `auc` and `difference`, its test
        scores and gap less GAT's, and `less_fairgat`, its gap less FairGAT's at the same budget, each with `_low` and
        `_high`, and `_corrected`, half the interval for other people.
    """
    chosen = choices(validation)
    scored, base = chosen.merge(test, on=common.RUN), test[test["method"] == BASE]
    gaps = scored[scored["metric"] == scored["measure"]]
    fairgat = gaps["method"] == REFERENCE
    same_split = ["dataset", "split", "metric"]
    compared = {
        "accuracy": against(
            scored[scored["metric"] == ACCURACY], base, same_split, CHOICE
        ),
        "auc": against(scored[scored["metric"] == "auc"], base, same_split, CHOICE),
        "difference": against(gaps, base, same_split, CHOICE),
        "less_fairgat": against(
            gaps[~fairgat], gaps[fairgat], [*same_split, "measure", "budget"], CHOICE
        ),
    }
    for name, less in compared.items():
        less["corrected"] = half_width(less, RATIO)
        columns = {"difference": name} | {
            end: f"{name}_{end}" for end in ("low", "high", "corrected")
        }
        chosen = chosen.merge(
            less.rename(columns=columns)[[*CHOICE, *columns.values()]],
            how="left",
            on=CHOICE,
        )
    return chosen


def figure(rows: pd.DataFrame, titles: dict[str, str], datasets: dict[str, str]):
    """Every cell's accuracy lost and gap narrowed with 95 % intervals, in points; a line joins a method's front."""
    names = list(rows["dataset"].unique())
    looks = common.looks({name: titles[name] for name in rows["method"].unique()})
    drawn, axes = style.grid(len(names), len(GAPS), height=2.8)
    for dataset, panels in zip(names, axes, strict=True):
        for gap, ax in zip(GAPS, panels, strict=True):
            style.zero(ax)
            style.zero(ax, upright=True)
            mine = rows[(rows["dataset"] == dataset) & (rows["measure"] == gap)]
            for method, lines in mine.groupby("method", sort=False):
                _cells(ax, lines, looks[method])
            ax.set_xlabel("accuracy lost")
            ax.set_ylabel(f"{style.label(gap)}: narrowed")
        panels[0].set_title(
            style.plain(datasets[dataset]), loc="left", fontweight="bold"
        )
    said = "in points on test, less GAT on the same splits; a line joins the cells of a method's front"
    drawn.supxlabel(said, fontsize=8)
    style.legend(drawn, looks.values())
    return drawn


def _cells(ax, lines: pd.DataFrame, look: style.Look) -> None:
    values = (
        100
        * lines[
            [
                "lost",
                "lost_low",
                "lost_high",
                "narrowed",
                "narrowed_low",
                "narrowed_high",
            ]
        ]
    )
    for name, other, draw in (
        ("lost", "narrowed", ax.hlines),
        ("narrowed", "lost", ax.vlines),
    ):
        draw(
            values[other],
            values[f"{name}_low"],
            values[f"{name}_high"],
            color=look.colour,
            alpha=0.35,
            linewidth=0.8,
        )
    ax.plot(
        values["lost"],
        values["narrowed"],
        look.marker,
        color=look.colour,
        markersize=4,
        alpha=0.6,
    )
    front = values[lines["front"]].sort_values("lost")
    ax.plot(
        front["lost"],
        front["narrowed"],
        look.line,
        color=look.colour,
        marker=look.marker,
        markersize=5,
    )


def table(
    rows: pd.DataFrame, titles: dict[str, str], datasets: dict[str, str]
) -> Table:
    """A panel for each gap and budget, with a row for each method."""
    panels = []
    for (gap, budget), mine in rows.groupby(["measure", "budget"], sort=False):
        blocks = [
            Block(datasets[name], _rows(lines, titles))
            for name, lines in mine.groupby("dataset", sort=False)
        ]
        header = [
            "Data set",
            "Method",
            "Cell",
            "Accuracy",
            "AUC",
            labels.metric(gap),
            "less FairGAT's",
        ]
        title = f"{measures.find(gap).label}, up to {100 * budget:g} points of validation accuracy"
        panels.append(Panel("multirow", header, blocks, title, align="lllrrrr"))
    return Table(
        name="budgets",
        caption="What a method narrows where it may lose so much accuracy.",
        explanation=(
            "Of the cells that lose no more than the budget against GAT on validation, in the mean over the splits, "
            "the one with the least gap there, where thresholds are fitted, too. Test scores less GAT's, and the gap "
            "less FairGAT's at that budget, in points, ± half the 95 % interval; bold where that leaves out 0. "
            f"{percent.OF_SPLITS}"
        ),
        panels=panels,
        notes=[],
    )


def _rows(lines: pd.DataFrame, titles: dict[str, str]) -> list:
    compared = ("accuracy", "auc", "difference", "less_fairgat")
    return [
        row(
            titles[line["method"]],
            _cell_text(line["cell"]),
            *(_signed(line, name) for name in compared),
        )
        for _, line in lines.iterrows()
    ]


def _cell_text(path: str) -> str:
    return ", ".join(
        f"{labels.parameter(name)} {value}"
        for name, value in cells.from_path(path).items()
    )


def _signed(line: pd.Series, name: str) -> Cell:
    return percent.signed(line[name], line[f"{name}_low"], line[f"{name}_high"])


def main(folder: Path) -> list[Path]:
    """Analyse the study in a folder; the paths written."""
    test, titles, datasets = (
        common.scores(folder),
        common.titles(folder),
        common.datasets(folder),
    )
    found, spent = every_cell(test), budgets(common.scores(folder, "validation"), test)
    found = common.ordered(found, test, "dataset", "method")
    spent = common.ordered(spent, test, "dataset", "method")
    return [
        *common.tabled(folder, "trade-off", found),
        *common.tabled(folder, "budgets", spent, table(spent, titles, datasets)),
        *common.published(folder, "trade-off", figure(found, titles, datasets)),
    ]
