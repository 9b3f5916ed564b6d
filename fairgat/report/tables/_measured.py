"""Panels of what was measured on trained models: lines for each method and data set."""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from fairgat.config.shown import ShownDataset, ShownMethod
from fairgat.report.inputs import Settings
from fairgat.report.model import (
    DASH,
    Block,
    Cell,
    Math,
    Notes,
    Panel,
    Row,
    Text,
    titled,
)

Line = list[Cell | Text]


@dataclass(frozen=True)
class Measured:
    """What the panels of a table share."""

    settings: Settings
    asked: Container[tuple[str, str]]
    """The data sets and methods that the run was asked for; others have no line."""
    notes: Notes = field(default_factory=Notes)

    def panel(
        self,
        measured: pd.DataFrame,
        header: Sequence[Text],
        lines: Callable[[pd.DataFrame], Iterable[Line]],
        title: str,
        text: str = "",
        left: int = 2,
    ) -> Panel:
        """Make a panel in which a method without measures has dashes, and a note.

        Args:
            measured: a row for each measure, with `dataset` and `method`.
            header: of the columns after those of the data set and the method.
            lines: makes one method's lines of its rows of `measured`.
            left: how many columns, from the first, are aligned left.
        """
        blocks = []
        for dataset in self.settings.datasets:
            mine = measured[measured["dataset"] == dataset.name]
            rows = []
            if not dataset.reason:
                rows = self._rows(dataset, mine, lines, len(header))
            blocks.append(Block(dataset.title, rows, dataset.reason or ""))
        columns = ["Data set", "Method", *header]
        align = "l" * left + "r" * (len(columns) - left)
        texts = (text,) if text else ()
        return Panel("multirow", columns, blocks, title, texts, align=align)

    def _rows(
        self,
        dataset: ShownDataset,
        measured: pd.DataFrame,
        lines: Callable[[pd.DataFrame], Iterable[Line]],
        width: int,
    ) -> list[Row]:
        rows = []
        for number, method in enumerate(self.settings.methods):
            if (dataset.name, method.name) not in self.asked:
                continue
            mine = measured[measured["method"] == method.name]
            if mine.empty:
                name = Cell(method.title, mark=self._not_measured(dataset, method))
                rows += titled(name, [[DASH] * width], number)
            else:
                rows += titled(Cell(method.title), lines(mine), number)
        return rows

    def _not_measured(self, dataset: ShownDataset, method: ShownMethod) -> str:
        why = "no cell was selected, or the theory does not cover its network"
        place = f"{method.title} on {dataset.title}"
        return self.notes.mark(f"{place}: not measured ({why}).")


def number(value: float, decimals: int | None = None, sign: bool = False) -> Text:
    """Write a number without an exponent, with three significant digits.

    `decimals` says otherwise. A dash for none.
    """
    if not np.isfinite(value):
        return DASH
    if decimals is None:
        decimals = _decimals(abs(value))
    if not sign:
        return f"{value:z.{decimals}f}"
    text = f"{value:+z.{decimals}f}"
    return Math(text, f"${text}$")


def _decimals(size: float) -> int:
    """How many decimals three significant digits take."""
    if size < 0.9995:
        return 3
    return max(0, 2 - int(np.log10(size)))


def spread(
    values: pd.Series, ddof: int, decimals: int | None = None, sign: bool = False
) -> Cell:
    """Write a mean and the standard deviation over the splits, with its decimals."""
    mean = number(values.mean(), decimals, sign)
    std = values.std(ddof=ddof)
    if not np.isfinite(std):
        return Cell(mean)
    _, _, after_point = str(mean).partition(".")
    return Cell(mean, std=f"{std:.{len(after_point)}f}")
