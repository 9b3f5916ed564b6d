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
_RULES = {
    "l": ":{}-",
    "c": ":{}:",
    "r": "-{}:",
}  # below a header, by how a column is aligned
_SUPERSCRIPTS = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def render(table: Table, form: str) -> str:
    """The table as `md`, `tex`, `html` or `csv`.

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
    """A LaTeX document of these tables, each as `render(table, "tex")` gives it.

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
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fairgat.report", ""),
        autoescape=form == "html",
        finalize=_on_one_line if form == "html" else None,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **(_IN_LATEX if form == "tex" else {}),
    )
    environment.filters.update(
        tex=latex.text,
        tex_header=latex.header,
        tex_cell=latex.cell,
        tex_ends=latex.ends,
    )
    environment.filters.update(
        md=markdown,
        md_line=markdown_line,
        md_grid=markdown_grid,
        superscript=superscript,
        html=escape.html,
    )
    return environment


def _on_one_line(value: Any) -> Any:
    """What a page shows; what is HTML already stays as it is."""
    if isinstance(value, Markup | int):
        return value
    return shown(str(value))


def markdown(text: Text) -> str:
    """Markdown of a text."""
    return escape.markdown(str(text))


def markdown_line(text: Text) -> str:
    """Markdown of a text that begins a line."""
    return escape.markdown_line(str(text))


def superscript(mark: str) -> str:
    """A note's number in Unicode superscripts, readable without rendering."""
    return mark.translate(_SUPERSCRIPTS)


def _markdown_cell(cell: Cell) -> str:
    text = markdown(cell.text)
    text = f"**{text}**" if cell.bold else text
    return (
        text
        + (f" ± {cell.std}" if cell.std else "")
        + (f" {superscript(cell.mark)}" if cell.mark else "")
    )


def markdown_grid(panel: Panel, block: Block | None = None) -> str:
    """A GitHub table with aligned columns: of one stacked block, or of a whole multirow panel."""
    blocks = panel.blocks if block is None else [block]
    header = panel.header if block is None else [block.title, *panel.header[1:]]
    lines = [[markdown(text) for text in header]]
    for item in blocks:
        for number, line in enumerate(item.rows):
            title = (
                [markdown(item.title) if number == 0 else ""] if block is None else []
            )
            lines.append([*title, *map(_markdown_cell, line.cells)])
    columns = [
        _column(side, entries)
        for side, entries in zip(panel.columns, zip(*lines, strict=True), strict=True)
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in zip(*columns, strict=True))


def _column(side: str, entries: Sequence[str]) -> list[str]:
    """Pad the entries of a column, of which the first is its header, and put the rule below that."""
    width = max(3, *map(len, entries))
    first, *others = (
        format(entry, f"{'<' if side == 'l' else '>'}{width}") for entry in entries
    )
    return [first, _RULES[side].format("-" * (width - 2)), *others]


def to_csv(table: Table) -> str:
    """Every panel as plain rows, with the block's title in the first column; the notes follow."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for line in _lines(table):
        writer.writerow([escape.csv(str(entry)) for entry in line])
    return text.getvalue()


def _lines(table: Table) -> Iterator[list[Text]]:
    """The lines of a table as plain entries."""
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
    """The cell as text."""
    text = str(cell.text)
    if cell.std:
        text += f" ± {cell.std}"
    if cell.mark:
        text += f" [{cell.mark}]"
    return text
