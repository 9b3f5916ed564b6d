"""Tables of results: one block per data set, one row per method, mean ± standard deviation in percent."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fairgat.failures import phrases
from fairgat.reporting import labels
from fairgat.reporting.model import Block, Cell, Math, Notes, Panel, Row, Table
from fairgat.scores.runs import FAIRNESS, HIGHER_IS_BETTER, UTILITY

REFERENCE, SUBJECT = "gat", "fairgat"  # set apart from the other rows, as in the paper
DASH = Math("–", "--")
RULES = {
    "fair": "the fairest cell among those about as accurate as the method's best, on validation",
    "accuracy": "the most accurate cell on validation",
    "paper": "the cell with the paper's hyperparameters",
}

Selections = Mapping[tuple[str, str], Mapping[str, Any]]


def build(name: str, caption: str, settings: Mapping[str, Any], summary: pd.DataFrame, selections: Selections) -> Table:
    """Comparison and ablation (stacked blocks), link prediction (one multirow per data set).

    The best mean of each block is bold, at the printed precision, so that ties are all bold; with a single result
    nothing is. A method without a result keeps its row, with a note that says why.
    """
    stacked = name != "link_prediction"
    task = "node_classification" if stacked else "link_prediction"
    metrics = (UTILITY, *FAIRNESS[task])
    printed = _printed(summary)
    notes = Notes()
    blocks = [
        Block(dataset["title"], reason=dataset["reason"])
        if dataset["reason"]
        else _block(dataset, settings["methods"], metrics, printed, selections, notes, grouped=stacked)
        for dataset in settings["datasets"]
    ]
    header = [labels.metric(metric) for metric in metrics]
    return Table(
        name=name,
        caption=caption,
        panels=[
            Panel("stacked", ["", *header], blocks)
            if stacked
            else Panel("multirow", ["", "", *header], blocks, align="ll" + "c" * len(header))
        ],
        notes=notes.all(),
        explanation=_explain(settings["rule"]),
        size="footnotesize" if stacked else "scriptsize",
    )


def group(method: str) -> int:
    """GAT, the others and FairGAT: the paper draws a rule between these."""
    return {REFERENCE: 0, SUBJECT: 2}.get(method, 1)


def _explain(rule: str) -> str:
    return (
        "Test mean ± standard deviation over the splits. Higher accuracy is better, lower differences are better; "
        f"the best mean is bold. Each method is represented by {RULES[rule]}."
    )


def _printed(summary: pd.DataFrame) -> dict[tuple[str, str, str], tuple[str, str]]:
    """(dataset, method, metric) → mean and standard deviation as printed; the deviation is empty where undefined."""
    return {
        (row.dataset, row.method, row.metric): (
            f"{100 * row.mean:.2f}",
            f"{100 * row.std:.2f}" if pd.notna(row.std) else "",
        )
        for row in summary.itertuples()
        if pd.notna(row.mean)
    }


def _block(
    dataset: Mapping[str, Any],
    methods: list[Mapping[str, Any]],
    metrics: tuple[str, ...],
    printed: Mapping[tuple[str, str, str], tuple[str, str]],
    selections: Selections,
    notes: Notes,
    grouped: bool,
) -> Block:
    def entry(method: Mapping[str, Any], metric: str) -> tuple[str, str] | None:
        return printed.get((dataset["name"], method["name"], metric))

    best = {metric: _best([e[0] for m in methods if (e := entry(m, metric))], metric) for metric in metrics}
    rows = []
    for method in methods:
        selection = selections.get((dataset["name"], method["name"]))
        cells = [Cell(method["title"], mark=_mark(dataset, method, selection, notes))]
        for metric in metrics:
            mean, std = entry(method, metric) or (DASH, "")
            cells.append(Cell(mean, std=std, bold=mean == best[metric]))
        rows.append(Row(cells, group=group(method["name"]) if grouped else 0))
    return Block(dataset["title"], rows)


def _best(means: list[str], metric: str) -> str | None:
    """The best printed mean; None where there is nothing to compare."""
    if len(means) < 2:
        return None
    return (max if metric in HIGHER_IS_BETTER else min)(means, key=float)


def _mark(dataset: Mapping[str, Any], method: Mapping[str, Any], selection: Mapping | None, notes: Notes) -> str:
    """A note on a row that has no result, or whose method lost cells; empty where all is well."""
    if method["reason"]:
        return notes.mark(f"{method['title']}: not run ({method['reason']}).")
    place = f"{method['title']} on {dataset['title']}"
    if selection is None:
        return notes.mark(f"{place}: not run.")
    failed = selection["failed"]
    lost = len({entry["cell"] for entry in failed})
    detail = f" {lost} of {len(selection['cells'])} cells failed: {_reasons(failed)}." if failed else ""
    if selection["winner"] is None:
        return notes.mark(f"{place}: {selection['winners'][selection['rule']]['reason']}.{detail}")
    return notes.mark(f"{place}:{detail}") if failed else ""


def _reasons(failed: list[Mapping[str, Any]], shown: int = 3) -> str:
    texts = phrases((entry["cell"], entry["cell"], entry["split"], entry["reason"]) for entry in failed)
    rest = len(texts) - shown
    return "; ".join(texts[:shown]) + (f"; and {rest} more" if rest > 0 else "")
