"""CSV files between jobs: written whole, and read strictly.

A file that is cut off still looks like one: pandas takes a row that ends early for one
with missing values, and a file that ends early for a shorter one.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from fairgat.files import damaged, read_text, write_text

# Columns that are text whatever they hold: a data set may be called NA, and a cell 0.5.
TEXT = (
    "dataset",
    "run_on",
    "method",
    "of",
    "cell",
    "part",
    "protocol",
    "metric",
    "reason",
    "rule",
)


def write(path: str | Path, frame: pd.DataFrame) -> None:
    """Write CSV whose floats are read back exactly."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def read(
    *paths: str | Path, columns: Sequence[str] = (), numbers: Sequence[str] = ()
) -> pd.DataFrame:
    """Read the rows of CSV files, one file after the other.

    Args:
        paths: files with the same columns.
        columns: those that a file must have; those of the frame where there is no file.
        numbers: columns that have numbers or missing values where a file has them.

    Raises:
        DataError: naming the file that is missing, empty, cut off or damaged.
    """
    found = [_read(path, columns, numbers) for path in paths]
    return join(found, columns)


def join(frames: Sequence[pd.DataFrame], columns: Sequence[str] = ()) -> pd.DataFrame:
    """Put frames one after the other; of none, make one with these columns."""
    # A header without rows would make every column one of objects.
    frames = [frame for frame in frames if len(frame)] or frames
    if not frames:
        return pd.DataFrame(columns=list(columns))
    return pd.concat(frames, ignore_index=True)


def _read(
    path: str | Path, columns: Sequence[str], numbers: Sequence[str]
) -> pd.DataFrame:
    """Read one file, and check it, as `read` says."""
    text = read_text(path)
    header = _header(path, text)
    for name in columns:
        if name not in header:
            raise damaged(path, f"lacks the column {name}")

    text_columns = set(header).intersection(TEXT)
    other_columns = set(header).difference(TEXT)
    frame = pd.read_csv(
        io.StringIO(text),
        dtype=dict.fromkeys(text_columns, str),
        keep_default_na=False,
        na_values=dict.fromkeys(other_columns, ""),
    )
    for name in set(numbers) & set(header):
        is_numeric = pd.api.types.is_numeric_dtype(frame[name])
        if len(frame) and not is_numeric:
            raise damaged(path, f"has a {name} that is not a number")
    return frame


def _header(path: str | Path, text: str) -> list[str]:
    """Give the columns' names, where every row has a value for each."""
    if not text.strip():
        raise damaged(path, "is empty")
    if not text.endswith("\n"):
        raise damaged(path, "was cut off: its last line has no end")
    try:
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    except csv.Error as error:
        raise damaged(path, f"is not CSV ({error})") from None
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise damaged(
                path, f"has {len(row)} values instead of {len(header)} in row {number}"
            )
    return header
