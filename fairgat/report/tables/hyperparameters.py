"""Hyperparameters: the values searched, the paper's choice and ours, per data set and method."""

from collections.abc import Mapping
from typing import Any

from fairgat import paper
from fairgat.cells import from_path
from fairgat.config.shown import TableSettings
from fairgat.report import inputs, labels
from fairgat.report.inputs import Files
from fairgat.report.model import DASH, Block, Cell, Notes, Panel, Table, Text, titled
from fairgat.report.tables._scores import why

READS = ("selection",)
TASK = None


def build(settings: TableSettings, files: Files) -> Table:
    """One row per hyperparameter of each method with a grid, one block per data set.

    A method that the paper gives no cell of (an ablation) shows what the configuration lists as its published one.
    """
    selections, papers = inputs.selections(files, settings), paper.load()["hyperparameters"]
    notes = Notes()
    blocks = []
    for dataset in settings.datasets:
        if dataset.reason:
            blocks.append(Block(dataset.title, reason=dataset.reason))
            continue
        rows = []
        for number, method in enumerate(settings.searched):
            grid = method.grids[dataset.name]
            if dataset.task not in method.tasks or not grid:
                continue
            selection = selections.get((dataset.name, method.name))
            winner = selection and selection["winner"]
            chosen = from_path(winner) if winner else {}
            mark = "" if winner else why(dataset, method, selection, notes)
            published = papers.get(method.name, {}).get("chosen", {}).get(dataset.name)
            published = published or method.published.get(dataset.name, {})
            lines = [
                [labels.parameter(name), ", ".join(map(_value, values)), _of(published, name), _of(chosen, name)]
                for name, values in grid.items()
            ]
            rows += titled(Cell(method.title, mark=mark), lines, number)
        if rows:
            blocks.append(Block(dataset.title, rows))
    header = ["Data set", "Method", "Hyperparameter", "Examined", "Paper", "Ours"]
    return Table(
        name="hyperparameters",
        caption="Hyperparameters: the values examined, the paper's choice and ours.",
        explanation=f"Ours is {labels.RULES[settings.rule]}. Methods without a grid are left out.",
        panels=[Panel("multirow", header, blocks, align="llllcc")],
        notes=notes.all(),
    )


def _of(chosen: Mapping[str, Any], name: str) -> Text:
    return _value(chosen[name]) if name in chosen else DASH


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
