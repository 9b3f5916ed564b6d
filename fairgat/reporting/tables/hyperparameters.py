"""The hyperparameter table: what the paper reports and what our selection chose, per data set and method."""

from collections.abc import Mapping
from typing import Any

from fairgat.cells import from_path
from fairgat.reporting import labels
from fairgat.reporting.model import Block, Cell, Notes, Panel, Row, Table
from fairgat.reporting.results import DASH, RULES, Selections


def build(settings: Mapping[str, Any], selections: Selections, published: Mapping[str, Any]) -> Table:
    """One row per hyperparameter of each method with a grid, one block per data set.

    Args:
        published: method → `chosen` → data set → the paper's cell. A method that is not in it (an ablation) shows
            what the configuration lists as its published cell.
    """
    notes = Notes()
    blocks = []
    for dataset in settings["datasets"]:
        if dataset["reason"]:
            blocks.append(Block(dataset["title"], reason=dataset["reason"]))
            continue
        rows = []
        for number, method in enumerate(settings["methods"]):
            grid = method["grids"][dataset["name"]]
            if dataset["task"] not in method["tasks"] or not grid:
                continue
            chosen, mark = _chosen(dataset, method, selections, notes)
            paper = published.get(method["name"], {}).get("chosen", {}).get(dataset["name"])
            paper = paper or method["published"].get(dataset["name"], {})
            for position, (name, values) in enumerate(grid.items()):
                rows.append(
                    Row(
                        [
                            Cell(method["title"] if position == 0 else "", mark=mark if position == 0 else ""),
                            Cell(labels.parameter(name)),
                            Cell(", ".join(_value(value) for value in values)),
                            Cell(_value(paper[name]) if name in paper else DASH),
                            Cell(_value(chosen[name]) if name in chosen else DASH),
                        ],
                        group=number,
                    )
                )
        if rows:
            blocks.append(Block(dataset["title"], rows))
    header = ["Data set", "Method", "Hyperparameter", "Examined", "Paper", "Ours"]
    return Table(
        name="hyperparameters",
        caption="Hyperparameters: the values examined, the paper's choice and ours.",
        explanation=f"Ours is {RULES[settings['rule']]}. Methods without a grid are left out.",
        panels=[Panel("multirow", header, blocks, align="llllcc")],
        notes=notes.all(),
    )


def _chosen(
    dataset: Mapping[str, Any], method: Mapping[str, Any], selections: Selections, notes: Notes
) -> tuple[dict[str, Any], str]:
    """Our parameters, and the mark of a note where there are none."""
    selection = selections.get((dataset["name"], method["name"]))
    if selection is None:
        reason = f" ({method['reason']})" if method["reason"] else ""
        return {}, notes.mark(f"{method['title']}: not run{reason}.")
    if selection["winner"] is None:
        reason = selection["winners"][selection["rule"]]["reason"]
        return {}, notes.mark(f"{method['title']} on {dataset['title']}: {reason}.")
    return from_path(selection["winner"]), ""


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
