"""Hyperparameters: the values searched and those chosen, per data set and method."""

from collections.abc import Mapping, Sequence
from typing import Any

from fairgat import paper
from fairgat.cells import from_path
from fairgat.config.shown import ShownDataset, ShownMethod
from fairgat.report import inputs, labels
from fairgat.report.failures import of_selection
from fairgat.report.inputs import Files, Settings
from fairgat.report.model import DASH, Block, Cell, Notes, Panel, Table, Text, titled

READS = ("selection",)
TASK = None


def build(settings: Settings, files: Files) -> Table:
    """Show a row for each hyperparameter of each method with a grid.

    A method that the paper gives no cell of (an ablation) shows what the configuration
    lists as its published one.
    """
    selections = inputs.selections(files, settings)
    notes = Notes()
    blocks = []
    for dataset in settings.datasets:
        rows = []
        for number, method in enumerate(settings.methods):
            selection = selections.get((dataset.name, method.name))
            if selection is None or not selection["cells"][0]["parameters"]:
                continue
            name = Cell(method.title, mark=_failed(selection, dataset, method, notes))
            choices = [_cell(selection["winner"])]
            if settings.compares_with_paper:
                papers = _papers(selection, dataset.name, method.name)
                choices.insert(0, papers)
            rows += titled(name, _lines(selection, choices), number)
        if rows or dataset.reason:
            blocks.append(Block(dataset.title, rows, dataset.reason or ""))

    chosen: list[Text] = ["Chosen"]
    what = "and those that were chosen"
    if settings.compares_with_paper:
        chosen = ["Paper", "Ours"]
        what = "the paper's choice and ours"
    header = ["Data set", "Method", "Hyperparameter", "Examined", *chosen]
    align = "llll" + "c" * len(chosen)
    return Table(
        name="hyperparameters",
        caption=f"Hyperparameters: the values examined, {what}.",
        explanation=(
            f"{chosen[-1]} is {labels.rule(settings)}, of each method. Methods without "
            "a grid are left out."
        ),
        panels=[Panel("multirow", header, blocks, align=align)],
        notes=notes.all(),
    )


def _failed(
    selection: Mapping[str, Any],
    dataset: ShownDataset,
    method: ShownMethod,
    notes: Notes,
) -> str:
    """Mark a method of which no cell was chosen."""
    if selection["winner"]:
        return ""
    failed = f"{method.title} on {dataset.title}: {of_selection(selection)}."
    return notes.marks(method.note or "", failed)


def _lines(
    selection: Mapping[str, Any], choices: Sequence[Mapping[str, Any]]
) -> list[list[Text]]:
    """Show of each hyperparameter its name, the values examined, and those chosen."""
    cells = [cell["parameters"] for cell in selection["cells"]]
    lines = []
    for name in cells[0]:
        values = dict.fromkeys(_value(cell[name]) for cell in cells)
        line: list[Text] = [labels.parameter(name), ", ".join(values)]
        for choice in choices:
            line.append(_value(choice[name]) if name in choice else DASH)
        lines.append(line)
    return lines


def _papers(
    selection: Mapping[str, Any], dataset: str, method: str
) -> Mapping[str, Any]:
    """Give the cell of the paper's appendix, or the one that is taken for it."""
    printed = paper.load()["hyperparameters"].get(method, {})
    chosen = printed.get("chosen", {}).get(dataset)
    return chosen or _cell(selection["winners"]["paper"]["cell"])


def _cell(path: str | None) -> Mapping[str, Any]:
    return from_path(path) if path else {}


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
