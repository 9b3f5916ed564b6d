"""Read a delimited text file as it was meant: its encoding and its separator are found where they are not given.

What is wrong with one is a DataError that names the line.
"""

import csv
import io
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from fairgat.errors import DataError, nearest

SEPARATORS = (",", ";", "\t", "|", " ")  # in the order in which they are preferred; the last: any white space
MISSING = ("", "na", "n/a", "nan", "none", "null")  # how an empty cell is written, in any case
_SAMPLE = 50  # rows by which the separator is found


@dataclass(frozen=True)
class Table:
    """The rows of a file as texts, without the white space around them.

    Attributes:
        where: what messages call the file.
        names: the columns' names; their numbers from 0 where there is no header.
        cells: (R, C) object array of texts.
        lines: (R,) the line of the file in which each row begins.
        form: the encoding and separator, for the statistics.
    """

    where: str
    names: list[str]
    cells: np.ndarray
    lines: np.ndarray
    form: str

    def column(self, name: str) -> np.ndarray:
        """One column, (R,) texts."""
        if self.names.count(name) != 1:
            known = nearest(name, self.names) if name not in self.names else "two have it; rename one"
            raise DataError(f"{self.where}, line 1: there is no one column {name!r}; {known}")
        return self.cells[:, self.names.index(name)]

    def error(self, wrong: np.ndarray, text: str) -> DataError:
        """Say what is wrong with the first of the rows for which `wrong` (R,) holds."""
        return DataError(f"{self.where}, line {self.lines[np.flatnonzero(wrong)[0]]}: {text}")

    def with_header(self) -> "Table":
        """Take the first row as the columns' names."""
        if len(self.cells) < 2:
            raise DataError(f"{self.where}, line {self.lines[0]}: a header and no rows")
        return Table(self.where, self.cells[0].tolist(), self.cells[1:], self.lines[1:], self.form)


def read(path: Path, where: str, separator: str | None = None, encoding: str | None = None) -> Table:
    """Read every row of a file, the header as a row.

    Args:
        where: what messages call it.
        separator: one character, a blank for any white space; by default the one that gives the most even rows.
        encoding: by default UTF-8 (or UTF-16, where the file begins with its mark), and else Windows-1252.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{where} does not exist") from None
    text, encoding = _decoded(raw, where, encoding)
    separator = separator or _separator(text)
    rows, lines, start = [], [], 1
    reader = _reader(text, separator)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if len(cells) > 1 or any(cells):  # not a blank line
                if rows and len(cells) != len(rows[0]):
                    raise DataError(
                        f"{where}, line {start}: {len(cells)} cells instead of the first row's {len(rows[0])}, "
                        f"separated by {separator!r}. Is the file cut off, a quotation mark left open, or the "
                        "`separator` another?"
                    )
                rows.append(cells)
                lines.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{where}, line {start}: {error}. Is a quotation mark left open?") from None
    if not rows:
        raise DataError(f"{where}, line 1: the file is empty")
    cells = np.array(rows, dtype=object)
    names = [str(number) for number in range(cells.shape[1])]
    return Table(where, names, cells, np.array(lines), f"{encoding}, separator {separator!r}")


def _decoded(raw: bytes, where: str, encoding: str | None) -> tuple[str, str]:
    marked = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    for tried in [encoding] if encoding else [marked, "cp1252"]:
        try:
            return raw.decode(tried), tried.removesuffix("-sig")
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
    raise DataError(f"{where}, line {line}: the text is not in {tried}. Which one is it in? `encoding: latin-1`, say")


class _Words:
    """Rows of cells between white space, by `csv.reader`'s interface."""

    def __init__(self, text: str) -> None:
        self.line_num, self._lines = 0, text.splitlines()

    def __iter__(self):
        for line in self._lines:
            self.line_num += 1
            yield line.split()


def _reader(text: str, separator: str):
    if separator == " ":
        return _Words(text)
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)


def _separator(text: str) -> str:
    """The separator by which the most of the first rows have as many cells as the first, at least two."""
    best, found = (0, 0), ","
    for separator in SEPARATORS:
        try:
            widths = [len(row) for row in islice(_reader(text, separator), _SAMPLE) if row]
        except csv.Error:
            continue
        fit = (widths.count(widths[0]), widths[0]) if widths and widths[0] > 1 else (0, 0)
        if fit > best:
            best, found = fit, separator
    return found
