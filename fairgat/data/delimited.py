"""Read a file of rows and columns with pandas, as its `read` says."""

import re
import warnings
from collections import defaultdict
from collections.abc import Container, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgat.data.roles import Delimited
from fairgat.data.table import READ_KINDS, Table
from fairgat.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_STARTS = (b"sep=", b"%%MatrixMarket", b"{", b"[", b"<")
# Blanks behind a separator are none of a text; longer rows than the header are refused,
# and shorter ones end in empty cells. Without `low_memory` a column has one type, and
# not one for each chunk of the file.
_DEFAULTS = {"skipinitialspace": True, "index_col": False, "low_memory": False}
# Under these, names are not all of line 1.
_OTHER_NAMES = {"names", "usecols", "index_col", "skipfooter"}
_FIRST_LINE = {
    "header": None,
    "nrows": 1,
    "dtype": str,
    "na_filter": False,
    "parse_dates": False,
}
_IF_EMPTY = (
    "; pandas reads NA, None, null and the like as empty: with `read: "
    "{keep_default_na: false}` they are texts"
)
_SAY = "Say how it is written, as in {file: PATH, read: {sep: ';', encoding: cp1252}}"
_PACKED = (".gz", ".bz2", ".zip", ".xz")
_LINE_END = re.compile(r"\r\n?|\n")


class Unreadable(DataError):
    """A file that is not read as it is declared."""

    def __init__(self, fault: str, advice: str) -> None:
        """Take what is wrong, and what `read` of a configuration may do about it."""
        super().__init__(f"{fault}{advice}")
        self.fault = fault


def read(
    path: Path,
    written: Delimited,
    texts: Iterable[str] | None = None,
    may_be_empty: bool = False,
) -> Table:
    """Read the file.

    Args:
        path: where a copy of it lies, of the same ending.
        written: which file it is, and what pandas is told.
        texts: the columns to read as texts, all where absent; pandas tells by its cells
            what any other holds.
        may_be_empty: whether there may be no rows below the header.

    Raises:
        Unreadable: it is no delimited text file, pandas refuses it, there are no rows,
            or a column has no name.
        DataError: two columns have the same name, or a cell has swallowed rows.
    """
    where = written.where
    read_as = _DEFAULTS | written.read
    if read_as.get("delimiter") and "sep" not in read_as:  # pandas' other name of it
        read_as["sep"] = read_as.pop("delimiter")
    texts = None if texts is None else set(texts)
    if not {"skiprows", "comment", "encoding"} & written.read.keys():
        _check_text(path, where)
        if "lineterminator" not in written.read and path.suffix not in _PACKED:
            _check_line_ends(path, where)

    thousands = _thousands(read_as.pop("thousands", None), where)
    types = _types(read_as, texts, thousands)
    read_as["dtype"] = types
    frame = _parsed(path, where, read_as)
    if len(frame.columns) == 1 and "skip_blank_lines" not in read_as:
        # A blank line is an empty cell here: without it all further rows move up.
        frame = _parsed(path, where, read_as | {"skip_blank_lines": False})
    names_are_line_1 = written.read.get("header", 0) in (0, "infer")
    if names_are_line_1 and not _OTHER_NAMES & written.read.keys():
        first = _parsed(path, where, read_as | _FIRST_LINE)
        _check_names(where, list(first.iloc[0]))
    frame.columns = frame.columns.map(str)
    frame.index = range(1, len(frame) + 1)
    if frame.empty and not may_be_empty:
        raise Unreadable(f"{where}: there are no rows below the header", "; see `read`")

    sep = read_as.get("sep", ",")
    _check_swallowed(frame, where, sep)
    if_absent = ""
    if len(frame.columns) == 1:
        if_absent = f". It has one column, read with `sep: {sep!r}`; see `read`"
    table = Table(
        frame,
        where,
        if_empty="" if "keep_default_na" in written.read else _IF_EMPTY,
        if_absent=if_absent,
        decimal=written.read.get("decimal") or ".",
        thousands=thousands,
    )
    if thousands and texts is not None:
        _read_numbers(table, texts)
    return table


def _thousands(mark: Any, where: str) -> str:
    """Check what stands between thousands, and give it; "" for nothing.

    Pandas is not told, which takes it out wherever it stands: 12,5 would be 125.
    """
    if mark is None:
        return ""
    if not isinstance(mark, str) or len(mark) != 1:
        raise DataError(f"{where}: `thousands` is one character, got {mark!r}")
    return " " if mark.isspace() else mark


def _read_numbers(table: Table, texts: Container[str]) -> None:
    """Read each column of nothing but numbers as such, in place, but those of texts."""
    for name in table.frame:
        if name in texts or table.frame[name].dtype.kind in READ_KINDS:
            continue
        numbers = table.numbers(name)
        is_number = ~np.isnan(numbers)
        is_empty = table.texts(name) == ""
        if is_number.any() and (is_number | is_empty).all():
            table.frame[name] = numbers


def _types(read_as: dict[str, Any], texts: Iterable[str] | None, thousands: str) -> Any:
    """Give what pandas is told of the types of columns, by name or number.

    What a `dtype` says of columns of texts does not count, as 007 would be 7.
    """
    given = read_as.get("dtype") or {}
    comma = read_as.get("decimal", ".") != "."
    if comma and read_as.get("engine", "c") != "c":
        return object  # other engines take 1.234 for a number all the same

    types: dict[str | int, Any] = {}
    if isinstance(given, dict):
        types |= given
    for name in texts or ():
        types[name] = object
        if name.isdecimal():
            types[int(name)] = object
    if texts is None or thousands:
        return defaultdict(lambda: object, types)
    if not isinstance(given, dict):
        return defaultdict(lambda: given, types)
    return types


def _parsed(path: Path, where: str, read_as: dict[str, Any]) -> "pd.DataFrame":
    """Let pandas read the file; what it raises or warns of is a DataError."""
    import pandas as pd

    if read_as.get("engine", "c") != "c":  # other engines lack this one
        read_as = {key: read_as[key] for key in read_as if key != "low_memory"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            frame = pd.read_csv(path, **read_as)
        except Exception as error:  # what decoders and decompressors raise, too
            text = str(error).strip()
            fault = f"{where}: pandas does not read it: {text}"
            raise Unreadable(fault, f". {_SAY}") from None
    if not isinstance(frame, pd.DataFrame):
        raise DataError(f"{where}: with this `read`, pandas gives no table")
    return frame


def _check_text(path: Path, where: str) -> None:
    """Refuse a spreadsheet, a packed file under another ending, or other binary."""
    content = path.read_bytes()
    if content.lstrip(b"\xef\xbb\xbf").startswith(_STARTS):
        raise _no_text(where, f"it begins with {content[:12]!r}")
    if path.suffix in _PACKED:
        return
    binary = re.search(rb"[\0-\x08]", content)
    if binary:
        found = f"{_byte(content, binary.start())} is {content[binary.start()]:#04x}"
        raise _no_text(where, found)


def _no_text(where: str, found: str) -> Unreadable:
    return Unreadable(
        f"{where} is not a delimited text file: {found}",
        ". Save it as CSV. `read: {skiprows: 1}` passes over a line that is no part of "
        "the table, `read: {encoding: utf-16}` reads UTF-16",
    )


def _check_line_ends(path: Path, where: str) -> None:
    """Refuse a carriage return that pandas takes for a line's end among other ends."""
    content = path.read_bytes()
    lone = re.search(rb"\r(?!\n)", content)
    if lone and b"\n" in content:
        raise DataError(
            f"{where}: {_byte(content, lone.start())} is a carriage return alone, and "
            "lines end otherwise: take it out, or end all lines alike"
        )


def _byte(content: bytes, place: int) -> str:
    """Name a byte by its place, counted from 1, and by its line."""
    line = content.count(b"\n", 0, place) + 1
    return f"byte {place + 1}, in line {line},"


def _check_names(where: str, names: list[str]) -> None:
    """Refuse columns without a name or with another's, which pandas renames."""
    for place, name in enumerate(names):
        if not name.strip():
            raise Unreadable(
                f"{where}: column {place + 1} has no name",
                ": give it one, or see `read: {usecols: ...}`",
            )
        if names.count(name) > 1:
            raise DataError(
                f"{where}: two columns are called {name!r}: give each a name of its own"
            )


def _check_swallowed(frame: "pd.DataFrame", where: str, sep: str | None) -> None:
    """Refuse a cell that a stray quote made of several rows.

    A line within it has as many separators as a row, or all lines that it joins do.
    """
    expected = len(frame.columns) - 1
    if not sep or not expected:
        return
    pattern = re.compile(sep if len(sep) > 1 else re.escape(sep))
    for place, name in enumerate(frame):
        if frame[name].dtype.kind in "iufbM":
            continue
        for cell in frame[name].unique():
            if not isinstance(cell, str):
                continue
            lines = _LINE_END.split(cell)
            if len(lines) == 1:
                continue
            counts = [len(pattern.findall(line)) for line in lines]
            whole = list(counts)
            whole[0] += place
            whole[-1] += expected - place
            if expected in counts or whole == [expected] * len(whole):
                row = frame.index[frame[name] == cell][0]
                raise DataError(
                    f"{where}: column {name!r} is {cell[:80]!r}, which has a row "
                    "within it: take out the stray quote before it, or the line break "
                    f"(row {row} of the data)"
                )
