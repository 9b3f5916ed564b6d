"""Read a file of rows and columns with pandas, as its `read` says; what is no such file is said once."""

import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgat.data.roles import Delimited
from fairgat.data.table import Table
from fairgat.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_STARTS = (b"sep=", b"%%MatrixMarket", b"{", b"[", b"<")
# Blanks behind a separator are none of a text; longer rows than the header are refused, and shorter ones end in empty
# cells. Without `low_memory` a column has one type, and not one for each chunk of the file.
_DEFAULTS = {"skipinitialspace": True, "index_col": False, "low_memory": False}
_OTHER_NAMES = {
    "names",
    "usecols",
    "index_col",
    "skipfooter",
}  # under these, names are not all of line 1
_IF_EMPTY = "; pandas reads NA, None, null and the like as empty: with `read: {keep_default_na: false}` they are texts"
_SAY = "Say how it is written, as in {file: PATH, read: {sep: ';', encoding: cp1252}}"
_PACKED = (".gz", ".bz2", ".zip", ".xz")


def read(path: Path, written: Delimited, texts: Iterable[str] | None = None) -> Table:
    """Read the file.

    Args:
        path: where a copy of it lies, of the same ending.
        written: which file it is, and what pandas is told.
        texts: the columns to read as texts, all where absent; pandas tells by its cells what any other holds.

    Raises:
        DataError: it is no delimited text file, pandas refuses it, or columns have no name or the same one.
    """
    where, read_as = written.where, _DEFAULTS | written.read
    if not {"skiprows", "comment", "encoding"} & written.read.keys():
        _check_text(path, where)
        if "lineterminator" not in written.read and path.suffix not in _PACKED:
            _check_line_ends(path, where)
    if read_as.get("decimal", ".") != "." and read_as.get("engine", "c") != "c":
        texts = None  # these engines take 1.234 for a number all the same
    names = [
        key
        for name in texts or ()
        for key in (name, int(name) if name.isdecimal() else name)
    ]
    frame = _parsed(
        path,
        where,
        {"dtype": object if texts is None else dict.fromkeys(names, object)} | read_as,
    )
    if (
        written.read.get("header", 0) in (0, "infer")
        and not _OTHER_NAMES & written.read.keys()
    ):
        first = {
            "header": None,
            "nrows": 1,
            "dtype": str,
            "na_filter": False,
            "parse_dates": False,
        }
        _check_names(where, list(_parsed(path, where, read_as | first).iloc[0]))
    frame.columns = frame.columns.map(str)
    frame.index = range(1, len(frame) + 1)
    if frame.empty:
        raise DataError(f"{where}: there are no rows below the header; see `read`")
    sep = read_as.get("sep", ",")
    one = (
        f". It has one column, read with `sep: {sep!r}`; see `read`"
        if len(frame.columns) == 1
        else ""
    )
    if_empty = "" if "keep_default_na" in written.read else _IF_EMPTY
    marks = {
        name: written.read[name]
        for name in ("decimal", "thousands")
        if written.read.get(name)
    }
    return Table(frame, where, if_empty=if_empty, if_absent=one, **marks)


def _parsed(path: Path, where: str, read_as: dict[str, Any]) -> "pd.DataFrame":
    import pandas as pd

    if read_as.get("engine", "c") != "c":
        read_as = {
            key: value for key, value in read_as.items() if key != "low_memory"
        }  # which other engines lack
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            frame = pd.read_csv(path, **read_as)
        except (
            Exception
        ) as error:  # pandas passes on what decoders and decompressors raise
            raise DataError(
                f"{where}: pandas does not read it: {str(error).strip()}. {_SAY}"
            ) from None
    if not isinstance(frame, pd.DataFrame):
        raise DataError(f"{where}: with this `read`, pandas gives no table")
    return frame


def _check_text(path: Path, where: str) -> None:
    content = path.read_bytes()
    if content.lstrip(b"\xef\xbb\xbf").startswith(_STARTS):
        raise DataError(_no_text(where, f"it begins with {content[:12]!r}"))
    if path.suffix in _PACKED:
        return
    binary = re.search(rb"[\0-\x08]", content)
    if binary:
        found = f"{_byte(content, binary.start())} is {content[binary.start()]:#04x}"
        raise DataError(_no_text(where, found))


def _no_text(where: str, found: str) -> str:
    return (
        f"{where} is not a delimited text file: {found}. Save it as CSV. `read: "
        "{skiprows: 1}` passes over a line that is no part of the table, `read: {encoding: utf-16}` reads UTF-16"
    )


def _check_line_ends(path: Path, where: str) -> None:
    """Refuse a carriage return that pandas takes for a line's end among other ends."""
    content = path.read_bytes()
    alone = re.search(rb"\r(?!\n)", content)
    if alone and b"\n" in content:
        raise DataError(
            f"{where}: {_byte(content, alone.start())} is a carriage return alone, and "
            "lines end otherwise: take it out, or end all lines alike"
        )


def _byte(content: bytes, place: int) -> str:
    """Name a byte by its place, counted from 1, and by its line."""
    line = content.count(b"\n", 0, place) + 1
    return f"byte {place + 1}, in line {line},"


def _check_names(where: str, names: list[str]) -> None:
    """Refuse columns without a name or with another's, which pandas names for itself."""
    for place, name in enumerate(names):
        if not name.strip():
            raise DataError(
                f"{where}: column {place + 1} has no name: give it one, or see `read: {{usecols: ...}}`"
            )
        if names.count(name) > 1:
            raise DataError(
                f"{where}: two columns are called {name!r}: give each a name of its own"
            )
