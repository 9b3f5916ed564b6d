"""A table as a journal prints it: what is done to one before its LaTeX template.

One that fits a page floats, in \\small; a longer one goes on over pages, landscape.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairgat.report import escape
from fairgat.report.model import DASH, Block, Cell, Panel, Row, Table, Text

PORTRAIT, LANDSCAPE = 92, 170  # signs across A4 with margins of 2.5 cm
LINES_OF_A_PAGE = 44
WHOLE = 24  # rows of a block that no page break parts
_BETWEEN = 2  # columns, in signs


@dataclass(frozen=True)
class Printed:
    """A table with all that LaTeX shows of it; `long` where it does not fit a page."""

    table: Table
    long: bool


def printed(table: Table) -> Printed:
    """Lay out a table.

    A column that the paper lacks, and what is not run, become notes.
    """
    table = _with_notes(table)
    floating = _narrowed(table, PORTRAIT)
    if _lines(floating) <= LINES_OF_A_PAGE:
        return Printed(floating, long=False)
    beside = [_titles_beside(panel) for panel in table.panels]
    return Printed(_narrowed(replace(table, panels=beside), LANDSCAPE), long=True)


# ------------------------------------------------------------------- columns and rows


def _with_notes(table: Table) -> Table:
    """Make notes of blocks that are not run and of columns that the paper lacks."""
    panels = []
    notes = list(table.notes)
    for panel in table.panels:
        notes += [("", text) for text in _not_run(panel)]
        run = [block for block in panel.blocks if not block.reason]
        panel = replace(panel, blocks=run)
        if panel.aside:
            notes += [("", text) for text in _aside(panel, run)]
            panel = _with_columns(panel, range(len(panel.columns) - 1))
        panels.append(panel)
    return replace(table, panels=panels, notes=list(dict.fromkeys(notes)))


def _not_run(panel: Panel) -> Iterator[str]:
    """Say of all blocks with the same reason why they have no rows."""
    reasons = dict.fromkeys(block.reason for block in panel.blocks if block.reason)
    for reason in reasons:
        alike = [str(block.title) for block in panel.blocks if block.reason == reason]
        yield f"{', '.join(alike)}: not run ({reason})."


def _aside(panel: Panel, blocks: Sequence[Block]) -> Iterator[str]:
    """Say what the last column has, of each block in which it has anything."""
    for block in blocks:
        known = [row for row in block.rows if row.cells[-1].text != DASH]
        said = [f"{row.cells[0].text} {row.cells[-1].text}" for row in known]
        if said:
            yield f"{panel.header[-1]}, {block.title}: {'; '.join(said)}."


def _titles_beside(panel: Panel) -> Panel:
    """Give the blocks' titles a column of their own, so that one header is for all.

    The title of a single block stays above the names of its rows.
    """
    if panel.layout == "multirow" or not panel.blocks:
        return panel
    if len(panel.blocks) == 1:
        return replace(panel, header=[panel.blocks[0].title, *panel.header[1:]])
    header = ["", *panel.header]
    return replace(panel, layout="multirow", header=header, align=f"l{panel.columns}")


def _narrowed(table: Table, width: int) -> Table:
    """Part panels that are wider, each part with the columns that name the rows."""
    panels = []
    for panel in table.panels:
        panels += _parts(panel, width)
    return replace(table, panels=panels)


def _parts(panel: Panel, width: int) -> list[Panel]:
    """Part a panel's columns evenly, into as few parts as fit."""
    if not panel.blocks:
        return [panel]
    widths = np.array(_widths(panel))
    names = range(_naming(panel))
    left = width - widths[names].sum()
    others = np.arange(len(names), len(widths))

    parts = [others]
    for count in range(1, len(others) + 1):
        parts = np.array_split(others, count)
        if all(widths[part].sum() <= left for part in parts):
            break
    if len(parts) == 1:
        return [panel]
    first, *following = [_with_columns(panel, [*names, *part]) for part in parts]
    return [first, *[replace(part, title="", text=()) for part in following]]


def _naming(panel: Panel) -> int:
    """How many columns, from the first, name a row: those of texts, two or three."""
    most = 2 if panel.layout == "stacked" else 3
    others = panel.columns.lstrip("l")
    texts = len(panel.columns) - len(others)
    return min(max(1, texts), most)


def _widths(panel: Panel) -> list[int]:
    """How wide the columns are, in signs."""
    columns = zip(*_entries(panel), strict=True)
    return [_BETWEEN + max(map(len, column)) for column in columns]


def _entries(panel: Panel) -> Iterator[list[str]]:
    """The lines of a panel, with a block's title in the first column if it has one."""
    yield [str(text) for text in panel.header]
    for block in panel.blocks:
        bold = str(block.title)
        bold += " " * (len(bold) // 5)  # it is so much wider
        title = [bold] if panel.layout == "multirow" else []
        for row in block.rows:
            yield [*title, *map(_plain, row.cells)]


def _plain(cell: Cell) -> str:
    deviation = f" ± {cell.std}" if cell.std else ""
    return f"{cell.text}{deviation}"


def _with_columns(panel: Panel, places: Sequence[int]) -> Panel:
    """Keep some columns. The first of a multirow panel has the blocks' titles."""
    shift = 1 if panel.layout == "multirow" else 0
    cells = [place - shift for place in places if place >= shift]
    blocks = []
    for block in panel.blocks:
        rows = []
        for row in block.rows:
            kept = [row.cells[cell] for cell in cells]
            rows.append(Row(kept, row.group))
        blocks.append(replace(block, rows=rows))
    return replace(
        panel,
        header=[panel.header[place] for place in places],
        align="".join(panel.columns[place] for place in places),
        blocks=blocks,
        aside=False,
    )


def _lines(table: Table) -> int:
    """How many lines of a page a table takes, with its caption and notes, about."""
    texts = [f"{table.caption}{table.explanation}"]
    texts += [text for _, text in table.notes]
    lines = 0
    for panel in table.panels:
        texts += [panel.title, *panel.text]
        heads = len(panel.blocks) if panel.layout == "stacked" else 1
        lines += 1 + heads + sum(len(block.rows) for block in panel.blocks)
    return lines + sum(math.ceil(len(text) / PORTRAIT) for text in texts)


# ---------------------------------------------------------------------------- entries


def text(content: Text) -> str:
    """Write a text; `Math` passes unescaped."""
    return escape.tex(content) if isinstance(content, str) else content.tex


def header(panel: Panel) -> str:
    """Write the line of a panel's headings."""
    return " & ".join(map(text, panel.header)) + r" \\"


def cell(entry: Cell) -> str:
    """Write an entry: `$\\mathbf{66.26}\\pm0.95$`, or text, with its mark."""
    mark = f"^{{{entry.mark}}}" if entry.mark else ""
    if entry.std:
        mean = rf"\mathbf{{{entry.text}}}" if entry.bold else str(entry.text)
        return rf"${mean}\pm{entry.std}{mark}$"
    said = text(entry.text)
    if entry.bold:
        said = rf"\textbf{{{said}}}"
    return f"{said}${mark}$" if mark else said


def ends(block: Block) -> Iterator[tuple[Row, str]]:
    """Give each row of a block over pages, with what ends its line.

    A small block stays whole; a page ends after a group of rows of another.
    """
    last = len(block.rows) - 1
    for place, row in enumerate(block.rows):
        if place == last:
            yield row, r"\\"
        elif row.group != block.rows[place + 1].group:
            whole = len(block.rows) <= WHOLE
            yield row, r"\\*[2pt]" if whole else r"\\[2pt]"
        else:
            yield row, r"\\*"
