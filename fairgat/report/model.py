"""A table as data, before it becomes Markdown, LaTeX, HTML or CSV."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from fairgat.errors import ConfigError


@dataclass(frozen=True)
class Math:
    """Text that LaTeX sets differently.

    `plain` is in Unicode, for the other formats; `tex` is not escaped.
    """

    plain: str
    tex: str

    def __str__(self) -> str:
        return self.plain


Text = str | Math
DASH = Math("–", r"\textendash{}")  # stands where a number is missing


@dataclass(frozen=True)
class Cell:
    """One entry: a text or a mean, perhaps with ± `std`; only the mean is bold.

    `mark` refers to a note.
    """

    text: Text
    std: str = ""
    bold: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Row:
    """One line; LaTeX draws a rule where `group` changes from one row to the next."""

    cells: list[Cell]
    group: int = 0


def row(*entries: Cell | Text | int, group: int = 0) -> Row:
    """Make a line of these entries; texts and counts become cells."""
    return Row([_cell(entry) for entry in entries], group)


def _cell(entry: Cell | Text | int) -> Cell:
    if isinstance(entry, Cell):
        return entry
    return Cell(entry if isinstance(entry, Math) else str(entry))


def titled(
    title: Cell | Text, lines: Iterable[Iterable[Cell | Text]], group: int
) -> list[Row]:
    """Make the rows of one thing, whose title stands in the first of them."""
    rows: list[Row] = []
    for line in lines:
        name = "" if rows else title
        rows.append(row(name, *line, group=group))
    return rows


@dataclass(frozen=True)
class Block:
    """The rows that belong together, such as those of one data set.

    `reason` says why there are none.
    """

    title: Text
    rows: list[Row] = field(default_factory=list)
    reason: str = ""


@dataclass(frozen=True)
class Panel:
    """One grid of columns.

    `stacked`: each block repeats the header, with its title in the first column (the
    paper's comparison table).
    `multirow`: one header, and the block's title in a first column of its own, beside
    all of its rows.
    `title` and `text` (one paragraph each) stand above it; a panel may consist of only
    these. With `aside` the last column is not in the paper's table: LaTeX puts it into
    a note.
    """

    layout: Literal["stacked", "multirow"]
    header: list[Text] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    title: str = ""
    text: tuple[str, ...] = ()
    aside: bool = False
    align: str = ""
    """One of l, c, r for each column of the rows; where empty, l for the first of them
    and c for the others."""

    @property
    def columns(self) -> str:
        return self.align or "l" + "c" * (len(self.header) - 1)


@dataclass(frozen=True)
class Table:
    """A whole table.

    `name` is its file name, `explanation` says how to read it, `notes` are (mark, text)
    pairs below it; a note without a mark is about the whole table. `source` says which
    files the numbers come from (not in LaTeX and CSV).

    Raises:
        ConfigError: a note is no pair.
    """

    name: str
    caption: Text
    panels: list[Panel]
    notes: list[tuple[str, str]]
    explanation: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        for note in self.notes:
            if isinstance(note, str) or len(note) != 2:
                raise ConfigError(
                    f"table {self.name!r}: a note is a pair (mark, text), got "
                    f"{note!r}; the mark of one about the whole table is empty: "
                    '("", text)'
                )


def noted(table: Table, note: str | None) -> Table:
    """Add a note about the whole table, if there is one."""
    if not note:
        return table
    return replace(table, notes=[*table.notes, ("", note)])


class Notes:
    """Numbers notes in the order of their first use; the same text keeps its number."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def mark(self, text: str) -> str:
        """Give the mark that refers to this note."""
        following = len(self._marks) + 1
        return self._marks.setdefault(text, str(following))

    def marks(self, *texts: str) -> str:
        """Give the marks that refer to these notes; empty texts have none."""
        return ", ".join([self.mark(text) for text in texts if text])

    def all(self) -> list[tuple[str, str]]:
        """List (mark, text) of every note."""
        return [(mark, text) for text, mark in self._marks.items()]
