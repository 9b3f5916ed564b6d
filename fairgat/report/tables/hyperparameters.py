"""Hyperparameters: the values searched and those chosen, per data set and method."""

from collections.abc import Mapping
from typing import Any

from fairgat import paper
from fairgat.cells import from_path
from fairgat.config.shown import ShownDataset, ShownMethod
from fairgat.report import inputs, labels
from fairgat.report.failures import of_selection
from fairgat.report.inputs import Files, Settings
from fairgat.report.model import (
    DASH,
    Block,
    Cell,
    Notes,
    Panel,
    Row,
    Table,
    Text,
    titled,
)

READS = ("selection",)
TASK = None


def build(settings: Settings, files: Files) -> Table:
    """One row per hyperparameter of each method with a grid, one block per data set.

    A method that the paper gives no cell of (an ablation) shows what the configuration
    lists as its published one.
    """
    selections, notes = inputs.selections(files, settings), Notes()
    with_paper = settings.compares_with_paper

    def rows(dataset: ShownDataset) -> list[Row]:
        made: list[Row] = []
        for number, method in enumerate(settings.methods):
            selection = selections.get((dataset.name, method.name))
            if selection is None or not selection["cells"][0]["parameters"]:
                continue
            mark = ""
            if not selection["winner"]:
                failed = (
                    f"{method.title} on {dataset.title}: {of_selection(selection)}."
                )
                mark = notes.marks(method.note or "", failed)
            lines = _lines(
                selection, _published(selection, dataset, method), with_paper
            )
            made += titled(Cell(method.title, mark=mark), lines, number)
        return made

    blocks = [
        Block(each.title, rows(each), each.reason or "") for each in settings.datasets
    ]
    chosen: list[Text] = ["Paper", "Ours"] if with_paper else ["Chosen"]
    header = ["Data set", "Method", "Hyperparameter", "Examined", *chosen]
    what = "the paper's choice and ours" if with_paper else "and those that were chosen"
    return Table(
        name="hyperparameters",
        caption=f"Hyperparameters: the values examined, {what}.",
        explanation=(
            f"{chosen[-1]} is {labels.rule(settings)}, of each method. Methods without a grid are left out."
        ),
        panels=[
            Panel(
                "multirow",
                header,
                [b for b in blocks if b.rows or b.reason],
                align="llll" + "c" * len(chosen),
            )
        ],
        notes=notes.all(),
    )


def _lines(
    selection: Mapping[str, Any], published: Mapping[str, Any], with_paper: bool
) -> list[list[Text]]:
    """A line for each hyperparameter: its name, the values examined, and those that were chosen."""
    cells = [each["parameters"] for each in selection["cells"]]
    chosen = from_path(selection["winner"]) if selection["winner"] else {}
    lines: list[list[Text]] = []
    for name in cells[0]:
        values = dict.fromkeys(_value(cell[name]) for cell in cells)
        choices = (
            [_of(published, name), _of(chosen, name)]
            if with_paper
            else [_of(chosen, name)]
        )
        lines.append([labels.parameter(name), ", ".join(values), *choices])
    return lines


def _published(
    selection: Mapping[str, Any], dataset: ShownDataset, method: ShownMethod
) -> Mapping[str, Any]:
    """The paper's cell: that of its appendix or else the one that the configuration takes for it."""
    printed = (
        paper.load()["hyperparameters"]
        .get(method.name, {})
        .get("chosen", {})
        .get(dataset.name)
    )
    cell = selection["winners"]["paper"]["cell"]
    return printed or (from_path(cell) if cell else {})


def _of(chosen: Mapping[str, Any], name: str) -> Text:
    return _value(chosen[name]) if name in chosen else DASH


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
