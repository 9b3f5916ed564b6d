"""Panels of what was measured on trained models: a block for each data set, lines for each method."""

from collections.abc import Callable, Container, Iterable, Sequence

import numpy as np
import pandas as pd

from fairgat.report.inputs import Settings
from fairgat.report.model import DASH, Block, Cell, Math, Notes, Panel, Text, titled


def panel(
    settings: Settings,
    notes: Notes,
    asked: Container[tuple[str, str]],
    measured: pd.DataFrame,
    header: Sequence[Text],
    lines: Callable[[pd.DataFrame], Iterable[list[Cell | Text]]],
    title: str,
    text: str = "",
    left: int = 2,
) -> Panel:
    """Make a panel in which a method without measures keeps a line of dashes, with a note that says why.

    Args:
        asked: the data sets and methods that the run was asked for; others have no
            line.
        measured: a row for each measure, with `dataset` and `method`.
        header: of the columns after those of the data set and the method.
        lines: makes one method's lines of its rows of `measured`.
        left: how many columns, from the first, are aligned left.
    """
    blocks = []
    for dataset in settings.datasets:
        rows = []
        for number, method in enumerate([] if dataset.reason else settings.methods):
            if (dataset.name, method.name) not in asked:
                continue
            mine, mark = (
                measured[
                    (measured["dataset"] == dataset.name)
                    & (measured["method"] == method.name)
                ],
                "",
            )
            if mine.empty:
                why = "no cell was selected, or the theory does not cover its network"
                mark = notes.mark(
                    f"{method.title} on {dataset.title}: not measured ({why})."
                )
            made = [[DASH] * len(header)] if mine.empty else lines(mine)
            rows += titled(Cell(method.title, mark=mark), made, number)
        blocks.append(Block(dataset.title, rows, dataset.reason or ""))
    columns = ["Data set", "Method", *header]
    align = "l" * left + "r" * (len(columns) - left)
    return Panel(
        "multirow", columns, blocks, title, (text,) if text else (), align=align
    )


def number(value: float, decimals: int | None = None, sign: bool = False) -> Text:
    """A number without an exponent, with three significant digits unless `decimals` says otherwise; a dash for none."""
    if not np.isfinite(value):
        return DASH
    if decimals is None:
        decimals = 3 if abs(value) < 0.9995 else max(0, 2 - int(np.log10(abs(value))))
    text = f"{value:{'+' if sign else ''}z.{decimals}f}"
    return Math(text, f"${text}$") if sign else text


def spread(
    values: pd.Series, ddof: int, decimals: int | None = None, sign: bool = False
) -> Cell:
    """A mean and its standard deviation over the splits, with as many decimals as each other."""
    mean, std = number(values.mean(), decimals, sign), values.std(ddof=ddof)
    places = len(str(mean).partition(".")[2])
    return Cell(mean, std=f"{std:.{places}f}" if np.isfinite(std) else "")
