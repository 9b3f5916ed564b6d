"""A `Table` as text in each format, through the Jinja templates beside this file."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from fairgat.report import escape, latex
from fairgat.report.model import Block, Cell, Panel, Table, Text
from fairgat.texts import shown

FORMATS = ("md", "tex", "html", "csv")
# In full, so that the rules see which files a table is rendered with.
TEMPLATES = {
    "md": "templates/table.md.j2",
    "tex": "templates/table.tex.j2",
    "html": "templates/table.html.j2",
}
DOCUMENT = "templates/all_tables.tex.j2"
# LaTeX is full of braces and per cent signs, so its templates use their own delimiters.
_IN_LATEX = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}
# Below a header, by how a column is aligned.
_RULES = {"l": ":{}-", "c": ":{}:", "r": "-{}:"}
_SUPERSCRIPTS = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def render(table: Table, form: str) -> str:
    """Write a table as `md`, `tex`, `html` or `csv`.

    The LaTeX needs amssymb and booktabs; one that does not fit a page longtable and
    pdflscape, too.
    """
    if form == "csv":
        return to_csv(table)
    template = _environment(form).get_template(TEMPLATES[form])
    if form == "tex":
        page = latex.printed(table)
        return template.render(table=page.table, long=page.long)
    return template.render(table=table)


def document(tables: Iterable[str], title: str) -> str:
    """Write a LaTeX document of these tables, as `render(table, "tex")` gives them.

    It compiles as it is. Those that do not fit a page are its supplement.
    """
    floating, long = [], []
    for table in tables:
        place = long if r"\begin{landscape}" in table else floating
        place.append(table)
    template = _environment("tex").get_template(DOCUMENT)
    return template.render(floating=floating, long=long, title=title)


@cache
def _environment(form: str) -> jinja2.Environment:
    options: dict[str, Any] = {}
    if form == "html":
        options = {"autoescape": True, "finalize": _on_one_line}
    elif form == "tex":
        options = dict(_IN_LATEX)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fairgat.report", ""),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **options,
    )
    environment.filters.update(
        tex=latex.text,
        tex_header=latex.header,
        tex_cell=latex.cell,
        tex_ends=latex.ends,
    )
    environment.filters.update(
        md=escape.markdown,
        md_line=escape.markdown_line,
        md_grid=markdown_grid,
        superscript=superscript,
        html=escape.html,
    )
    return environment


def _on_one_line(value: Any) -> Any:
    """Put a text on one line; what is HTML already stays as it is."""
    if isinstance(value, Markup | int):
        return value
    return shown(str(value))


def superscript(mark: str) -> str:
    """Write a note's number in superscripts, readable without rendering."""
    return mark.translate(_SUPERSCRIPTS)


def _markdown_cell(cell: Cell) -> str:
    """Write an entry for a GitHub table: its text, deviation and mark."""
    text = escape.markdown(cell.text)
    if cell.bold:
        text = f"**{text}**"
    if cell.std:
        text += f" ± {cell.std}"
    if cell.mark:
        text += f" {superscript(cell.mark)}"
    return text


def markdown_grid(panel: Panel, block: Block | None = None) -> str:
    """Write a GitHub table of a stacked panel's block, or of a multirow panel."""
    lines = _stacked(panel, block) if block else _multirow(panel)
    columns = []
    for side, entries in zip(panel.columns, zip(*lines, strict=True), strict=True):
        columns.append(_column(side, entries))
    padded = [" | ".join(line) for line in zip(*columns, strict=True)]
    return "\n".join(f"| {line} |" for line in padded)


def _stacked(panel: Panel, block: Block) -> list[list[str]]:
    """Write the lines of a block, below its title and the panel's header."""
    header = [block.title, *panel.header[1:]]
    rows = [[_markdown_cell(cell) for cell in row.cells] for row in block.rows]
    return [[escape.markdown(text) for text in header], *rows]


def _multirow(panel: Panel) -> list[list[str]]:
    """Write the lines of a panel, the title of a block beside its first row."""
    lines = [[escape.markdown(text) for text in panel.header]]
    for block in panel.blocks:
        title = escape.markdown(block.title)
        for row in block.rows:
            lines.append([title, *map(_markdown_cell, row.cells)])
            title = ""
    return lines


def _column(side: str, entries: Sequence[str]) -> list[str]:
    """Pad the entries of a column; a rule goes below the first, which is its header."""
    width = max(3, *map(len, entries))
    pad = str.ljust if side == "l" else str.rjust
    header, *others = [pad(entry, width) for entry in entries]
    rule = _RULES[side].format("-" * (width - 2))
    return [header, rule, *others]


def to_csv(table: Table) -> str:
    """Write every panel as plain rows, a block's title in their first column.

    The notes follow.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for line in _lines(table):
        writer.writerow([escape.csv(entry) for entry in line])
    return text.getvalue()


def _lines(table: Table) -> Iterator[list[Text]]:
    """Give the lines of a table as plain entries."""
    for panel in table.panels:
        if panel.title:
            yield [panel.title]
        title = [""] if panel.layout == "multirow" else ["", ""]
        yield [*title, *panel.header[1:]]
        for block in panel.blocks:
            if block.reason:
                yield [block.title, f"not run: {block.reason}"]
            for row in block.rows:
                yield [block.title, *map(plain, row.cells)]
    for mark, note in table.notes:
        yield [f"[{mark}]" if mark else "", note]


def plain(cell: Cell) -> str:
    """Write a cell as text."""
    text = str(cell.text)
    if cell.std:
        text += f" ± {cell.std}"
    if cell.mark:
        text += f" [{cell.mark}]"
    return text
