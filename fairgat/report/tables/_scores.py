"""Tables of scores: one block per data set, one row per method, mean ± standard deviation in percent."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairgat.report import inputs, labels, percent
from fairgat.report.failures import in_words, of_selection
from fairgat.report.inputs import Files, Selections, Settings
from fairgat.report.model import DASH, Block, Cell, Notes, Panel, Row, Table
from fairgat.scores.paired import REFERENCE
from fairgat.scores.runs import FAIRNESS, HIGHER_IS_BETTER, UTILITY

SUBJECT = "fairgat"


def build(name: str, caption: str, settings: Settings, files: Files, multirow: bool = False) -> Table:
    """A table of every metric of the task, from `winners` and `selection` files.

    The best mean of each block is bold, at the printed precision, so that ties are all bold; with a single result
    nothing is. A method without a result keeps its row, with a note that says why. The last column is the cell.

    Args:
        multirow: the paper's layout of link prediction, with a data set's title beside its rows.
    """
    metrics = (UTILITY, *FAIRNESS[settings["task"]])
    winners = inputs.winners(files, settings)
    printed = {(row.dataset, row.method, row.metric): percent.score(row.mean, row.std) for row in winners.itertuples()}
    selections = inputs.selections(files)
    notes = Notes()
    blocks = [
        Block(dataset["title"], reason=dataset["reason"])
        if dataset["reason"]
        else _block(dataset, settings["methods"], metrics, printed, selections, notes, grouped=not multirow)
        for dataset in settings["datasets"]
    ]
    align = "l" * (1 + multirow) + "c" * len(metrics) + "l"
    header = ["", *[""] * multirow, *map(labels.metric, metrics), "Cell"]
    return Table(
        name=name,
        caption=caption,
        panels=[Panel("multirow" if multirow else "stacked", header, blocks, aside=True, align=align)],
        notes=notes.all(),
        explanation=(
            "Test mean ± standard deviation over the splits. Higher accuracy is better, lower differences are better; "
            f"the best mean is bold. Each method is represented by {labels.RULES[settings['rule']]}."
        ),
        source=(
            f"From summary/{settings['task']}/winners.csv. The scores of each split are in "
            f"runs/{settings['task']}/(data set)/(method)/runs.csv, its predictions in the cell's folder beside it, "
            "the files of the data set in data/raw/(data set)/."
        ),
        size="scriptsize" if multirow else "footnotesize",
    )


def group(method: str) -> int:
    """GAT, the others and FairGAT: the paper draws a rule between these."""
    return {REFERENCE: 0, SUBJECT: 2}.get(method, 1)


def _block(
    dataset: Mapping[str, Any],
    methods: Sequence[Mapping[str, Any]],
    metrics: Sequence[str],
    printed: Mapping[tuple[str, str, str], Cell],
    selections: Selections,
    notes: Notes,
    grouped: bool,
) -> Block:
    found = {m["name"]: [printed.get((dataset["name"], m["name"], metric)) for metric in metrics] for m in methods}
    best = [
        _best([cell.text for cell in column if cell], metric)
        for metric, column in zip(metrics, zip(*found.values(), strict=True), strict=True)
    ]
    rows = []
    for method in methods:
        selection = selections.get((dataset["name"], method["name"]))
        winner = selection and selection["winner"]
        cells = [Cell(method["title"], mark=_mark(dataset, method, selection, notes))]
        for cell, target in zip(found[method["name"]], best, strict=True):
            cells.append(replace(cell, bold=cell.text == target) if cell else Cell(DASH))
        cells.append(Cell(in_words(winner) if winner else DASH))
        rows.append(Row(cells, group(method["name"]) if grouped else 0))
    return Block(dataset["title"], rows)


def _best(means: Sequence[str], metric: str) -> str | None:
    """The best printed mean; None where there is nothing to compare, or where nobody declared which way is better."""
    if len(means) < 2 or metric not in HIGHER_IS_BETTER:
        return None
    return (max if HIGHER_IS_BETTER[metric] else min)(means, key=float)


def _mark(dataset: Mapping[str, Any], method: Mapping[str, Any], selection: Mapping | None, notes: Notes) -> str:
    """A note on a row that has no result, or whose method lost cells; empty where all is well."""
    if method["reason"]:
        return notes.mark(f"{method['title']}: not run ({method['reason']}).")
    place = f"{method['title']} on {dataset['title']}"
    if selection is None:
        return notes.mark(f"{place}: not run.")
    why = of_selection(selection)
    return notes.mark(f"{place}: {why}.") if why else ""
