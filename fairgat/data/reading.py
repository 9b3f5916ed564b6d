"""Read a delimited text file as it was meant: what is open of its form is found by evidence in the file.

What is wrong with one is a DataError that names the line. A column is held as its different texts and, for each row,
which of them it holds, so that each text is looked at once.
"""

import bz2
import contextlib
import csv
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairgat.data.options import FileOptions, Form, composed, paste
from fairgat.errors import DataError, nearest

SEPARATORS = (",", ";", "\t", "|", " ")  # the last: any white space
_HEAD = 1_000_000  # bytes
_SAMPLE = 50  # rows by which the separator is found
_PACKED: dict[bytes, tuple[str, Callable[..., Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ": ("xz", lzma.open),
}
_NO_TEXT = {b"PAR1": "Parquet", b"ARROW1": "Feather", b"<stata_dta>": "Stata", b"$FL2": "SPSS", b"\x89HDF": "HDF5"}

csv.field_size_limit(2**31 - 1)  # as pandas, which has none


class Column(NamedTuple):
    """One column: row r holds `texts[codes[r]]`; every text occurs. Where all differ, texts[r] is that of row r."""

    codes: np.ndarray  # (R,) int32
    texts: np.ndarray  # (K,) different texts in the order of the rows, without the white space around them

    @classmethod
    def of(cls, codes: np.ndarray, texts: np.ndarray) -> "Column":
        """Strip the texts, write accented letters in one way (NFC), and leave out those that no row holds."""
        import pandas as pd

        plain = [composed(text.strip()) for text in texts]
        numbers, stripped = pd.factorize(np.array(plain, dtype=object))
        codes, occurring = pd.factorize(numbers[codes])
        return cls(codes.astype(np.int32), stripped[occurring])  # for memory

    def rows(self) -> np.ndarray:
        """Give the text of each row, (R,)."""
        return self.texts[self.codes]


def numbers(texts: Iterable[str]) -> np.ndarray:
    """Read each text as a number, NaN where it is not one: (K,) float64."""
    import pandas as pd

    return pd.to_numeric(pd.Series(list(texts), dtype=object), errors="coerce").to_numpy(np.float64, copy=True)


class Refused(Exception):
    """What is wrong with those of a column's texts for which `wrong` (K,) holds."""

    def __init__(self, text: str, wrong: np.ndarray) -> None:
        super().__init__(text)
        self.text, self.wrong = text, wrong


@dataclass(frozen=True)
class Table:
    """Columns of texts, by name."""

    where: str  # what messages call its head: the file, and the line of the header
    names: list[str]  # of the columns; their numbers from 0 where there is no header
    columns: list[Column]  # in the file's order
    place: Callable[[int], str]  # names a row in messages: its file and line
    form: str  # how it was read, for the statistics

    def __len__(self) -> int:
        return len(self.columns[0].codes)

    def column(self, name: str) -> Column:
        """Find a column by its name.

        Raises:
            DataError: none has it, or two have.
        """
        if self.names.count(name) != 1:
            if name in self.names:
                raise DataError(f"{self.where}: several columns are called {name!r}; rename all but one")
            raise DataError(f"{self.where}: there is no column {name!r}; {nearest(name, self.names)}")
        return self.columns[self.names.index(name)]

    def row(self, number: int) -> list[str]:
        """Give the texts of one row."""
        return [column.texts[column.codes[number]] for column in self.columns]

    def error(self, text: str, wrong: np.ndarray | None = None) -> DataError:
        """Say what is wrong with the first of the rows for which `wrong` (R,) holds, or with all where None."""
        return DataError(f"{self.place(0 if wrong is None else int(np.argmax(wrong)))}: {text}")

    @contextlib.contextmanager
    def refusing(self, column: Column) -> Iterator[None]:
        """Name the first row that holds a text of the column which is refused inside the block."""
        try:
            yield
        except Refused as error:
            raise self.error(error.text, error.wrong[column.codes]) from None

    def with_header(self) -> "Table":
        """Take the first row as the columns' names."""
        if len(self) < 2:
            raise DataError(f"{self.place(0)}: a header and no rows")
        below = self.only(np.arange(len(self)) > 0)
        return replace(below, where=self.place(0), names=self.row(0), form=f"{self.form}, a header")

    def only(self, kept: np.ndarray) -> "Table":
        """Keep the rows for which `kept` (R,) holds."""
        columns, rows = [Column.of(codes[kept], texts) for codes, texts in self.columns], np.flatnonzero(kept)
        return replace(self, columns=columns, place=lambda row: self.place(int(rows[row])))

    def count_from(self) -> int | None:
        """Find whether the first column numbers the rows: from 0, from 1, or None if it does not."""
        column = self.columns[0]
        if len(self.names) < 2 or len(column.texts) < len(self):
            return None
        ahead = numbers(column.texts) - np.arange(len(self))
        return int(ahead[0]) if ahead[0] in (0, 1) and (ahead == ahead[0]).all() else None

    def index(self) -> int | None:
        """Find an index that pandas or R wrote, a first column without a name that numbers the rows; see above."""
        return self.count_from() if self.names[0] == "" or self.names[0].startswith("Unnamed: ") else None


def table_of(columns: dict[str, list[str]], where: str, place: Callable[[int], str], form: str) -> Table:
    """Make a table of texts that do not come from a delimited file."""
    parts = [Column.of(np.arange(len(texts)), np.array(texts, dtype=object)) for texts in columns.values()]
    return Table(where, list(map(composed, columns)), parts, place, form)


def read_nodes(path: Path, options: Any) -> Table:
    """Read the table of the nodes that options have as `nodes`, its header as names where it has one.

    Raises:
        DataError: it cannot be read, it is open whether it has a header, or it lacks a column of a role.
    """
    written, table = options.nodes, read(path, options.nodes, options)
    header = written.header
    if header is None:
        roles = [options.id, options.label, *options.sensitive, *(options.features or ())]
        named = {name for name in (*roles, *options.exclude, *options.categories) if name is not None}
        numbered, first = named <= set(table.names), named & set(table.row(0))
        if numbered and first == named:
            raise DataError(
                f"{table.place(0)}: is this a header, or the first node? It holds {', '.join(sorted(first))}, which "
                f"are also the numbers of columns without a header. Write {written.with_header('nodes', True)} or "
                f"{written.with_header('nodes', False)}"
            )
        header = not numbered
    table = table.with_header() if header else table
    for name in (*options.sensitive, options.label, options.id):
        if name is not None:
            table.column(name)
    return replace(table, form=f"{table.form}; {len(table)} rows")


def read(path: Path, written: FileOptions, options: Form) -> Table:
    """Read every row of a file, the header as a row.

    Args:
        path: the file; gzip, bzip2, xz and zip are unpacked, whatever its name.
        written: how it is written, and what messages call it.
        options: the same, where `written` does not say it. By default, the separator is the one that gives the most
            even rows, the encoding UTF-8 (or UTF-16, where the file begins with its mark) or else Windows-1252, and
            lines of comment are found at the file's head.
    """
    import pandas as pd

    where = written.file
    separator, encoding, comment = (
        getattr(options if getattr(written, key) is None else written, key) for key in Form.model_fields
    )
    content, packed, encoding, comment, comments = _content(path, where, encoding, comment, separator)
    separator = separator or _separator(content, where)
    try:
        frame = pd.read_csv(
            io.BytesIO(content),
            sep=r"\s+" if separator == " " else separator,
            header=None,
            dtype=object,
            na_filter=False,
            skipinitialspace=True,
            low_memory=False,  # so that a text that is repeated is held once
        )
    except pd.errors.EmptyDataError:
        raise DataError(f"{where}, line 1: the file is empty") from None
    except pd.errors.ParserError as error:
        _check_widths(content, where, separator)
        *_, (line, _) = _rows(content, separator)
        raise DataError(f"{where}, line {line}: {error}. Is a quotation mark left open?") from None
    columns = [Column.of(*pd.factorize(frame.pop(name).to_numpy())) for name in list(frame)]
    if "" in columns[-1].texts:  # so does pandas fill up a row that is cut off
        _check_widths(content, where, separator)

    (first, _), content = next(_rows(content, separator)), b""  # `place` reads it again, for memory

    def place(row: int) -> str:
        again = _content(path, where, encoding, comment, separator)[0]
        return f"{where}, line {next(islice(_rows(again, separator), row, None))[0]}"

    read_as = f"{packed}{encoding.removesuffix('-sig')}, separator {separator!r}"
    read_as += f", {comments} lines that begin with {comment!r} left out" if comments else ""
    return Table(f"{where}, line {first}", [str(number) for number in range(len(columns))], columns, place, read_as)


def text_of(path: Path, where: str, encoding: str | None) -> str:
    """Read the text of a file, which may be packed."""
    return _decoded(_unpacked(path, where)[0], where, encoding)[0].removeprefix("\ufeff")


def _content(
    path: Path, where: str, encoding: str | None, comment: str | None, separator: str | None
) -> tuple[bytes, str, str, str, int]:
    """Read a file as UTF-8 without lines of comment; and say what packed it, its encoding, and the comments."""
    raw, packed = _unpacked(path, where)
    text, encoding = _decoded(raw, where, encoding)
    text, comment, comments = without_comments(text, where, comment, separator)
    return text.encode(), packed, encoding, comment, comments


def _unpacked(path: Path, where: str) -> tuple[bytes, str]:
    """Read the bytes of a file, and say what it was packed by."""
    try:
        with open(path, "rb") as file:
            head = file.read(6)
        if head.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(path) as archive:
                names = [name for name in archive.namelist() if not name.endswith("/") and "__MACOSX" not in name]
                if "[Content_Types].xml" in names:
                    raise DataError(f"{where}, line 1: this is a workbook of a spreadsheet program. Save it as CSV")
                if len(names) != 1:
                    raise DataError(f"{where}, line 1: this zip holds {len(names)} files; it should hold one")
                return archive.read(names[0]), "zip, "
        for mark, (name, opened) in _PACKED.items():
            if head.startswith(mark):
                with opened(path) as file:
                    return file.read(), f"{name}, "
        return path.read_bytes(), ""
    except FileNotFoundError:
        raise DataError(f"{where} does not exist") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as no:
        raise DataError(f"{where}, line 1: the file cannot be unpacked ({no}). Is it cut off?") from None


def _decoded(raw: bytes, where: str, encoding: str | None) -> tuple[str, str]:
    form = "tar" if raw[257:262] == b"ustar" else next((_NO_TEXT[m] for m in _NO_TEXT if raw.startswith(m)), "")
    if form:
        raise DataError(f"{where}, line 1: this is not a text, but a {form} file. Save the table as CSV")
    marked = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    for tried in [encoding] if encoding else [marked, "cp1252"]:
        try:
            text = raw.decode(tried)
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
        except (UnicodeError, LookupError):  # codecs of other things than texts
            line = 1
        else:
            if "\0" in text:
                line = text[: text.index("\0")].count("\n") + 1
                raise DataError(f"{where}, line {line}: a NUL character. Is this a text? In `encoding: utf-16`, say")
            return text, tried
    raise DataError(f"{where}, line {line}: the text is not in {tried}. Which one is it in? `encoding: latin-1`, say")


def without_comments(text: str, where: str, comment: str | None, separator: str | None) -> tuple[str, str, int]:
    """Blank the lines of comment; returns the text, what they begin with, and how many they are."""
    begin = text.lstrip("\ufeff \t\r\n")[:1] if comment is None else comment
    if not begin or (comment is None and begin not in "#%"):
        return text, "", 0
    line = re.compile(rf"^[ \t]*{re.escape(begin)}[^\r\n]*", re.MULTILINE)
    rest, count = line.subn("", text)
    if comment is None:
        if not rest.strip():  # they are rows
            return text, "", 0
        separator = separator or _separator(rest.encode(), where)
        width = len(next(_rows(rest.encode(), separator))[1])
        head = re.search(rf"^[ \t]*[^\s{begin}]", text, re.MULTILINE)  # there is one: `rest` is not empty
        for found in line.finditer(text, head.start() if head else 0):
            if len(next(_rows(found[0].encode(), separator))[1]) == width:
                raise DataError(
                    f"{where}, line {text.count(chr(10), 0, found.start()) + 1}: it begins with {begin!r}, as the "
                    f"first line, and has as many cells as a row. Are such lines comments, {paste('comment', begin)}, "
                    f"or are they rows, {paste('comment', '')}?"
                )
    return rest, begin, count


def _rows(content: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Give the line in which each row begins, and its cells."""
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", errors="replace", newline="")
    source = (line.replace("\t", " ").strip() for line in lines) if separator == " " else lines
    reader = csv.reader(source, delimiter=separator, skipinitialspace=True)
    start = 1
    for cells in reader:
        if len(cells) > 1 or any(cell.strip() for cell in cells):  # not a blank line
            yield start, cells
        start = reader.line_num + 1


def _check_widths(content: bytes, where: str, separator: str) -> None:
    """Refuse a row with fewer or more cells than the first."""
    width = None
    for line, cells in _rows(content, separator):
        width = width or len(cells)
        if len(cells) != width:
            hint = f" Or is it a comment, {paste('comment', cells[0][0])}?" if cells[0][:1] in ("#", "%") else ""
            raise DataError(
                f"{where}, line {line}: {len(cells)} cells instead of the first row's {width}, separated by "
                f"{separator!r}. Is the file cut off, a quotation mark left open, the first column without a name (as "
                f"R writes it), or the `separator` another?{hint}"
            )


def _separator(content: bytes, where: str) -> str:
    """Find the separator by which the most of the first rows have as many cells as the first, at least two.

    White space only where no other one divides all of them evenly.
    """
    fits = {}
    for separator in SEPARATORS:
        widths = [len(cells) for _, cells in islice(_rows(content[:_HEAD], separator), _SAMPLE)]
        if widths and widths[0] > 1:
            fits[separator] = (widths.count(widths[0]), widths[0], len(widths))
    even = [one for one, (fit, _, rows) in fits.items() if fit == rows and one != " "]
    if len(even) > 1:
        choices = " or ".join(paste("separator", one) for one in even)
        raise DataError(
            f"{where}, line 1: {' and '.join(map(repr, even))} both divide the rows evenly. Which is it? {choices}"
        )
    return even[0] if even else max(fits, key=lambda one: fits[one][:2], default=",")
