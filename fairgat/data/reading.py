"""Read CSV and edge files. What is wrong with one is a DataError that names the file, the line and the column."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd

from fairgat.errors import DataError, nearest


def table(path: Path, where: str) -> pd.DataFrame:
    """Read a CSV file with a header, fast, for large ones of a known form (others: `delimited.py`).

    Args:
        where: what messages call it.
    """
    try:
        _check_widths(path, where)
        frame = pd.read_csv(path, skipinitialspace=True)
    except FileNotFoundError:
        raise DataError(f"{where} does not exist") from None
    except (csv.Error, pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"{where} is not a whole CSV table: {str(error).strip()}") from None
    if frame.empty:
        raise DataError(f"{where} has a header and no rows")
    return frame


def column(frame: pd.DataFrame, name: str, where: str) -> pd.Series:
    """Take one column, which has no missing values."""
    if name not in frame.columns:
        raise DataError(f"{where} has no column {name!r}; {nearest(name, map(str, frame.columns))}")
    values = frame[name]
    if values.isna().any():
        raise DataError(f"{where}, line {_line(frame, values.isna())}: column {name!r} is empty or NaN")
    return values


def numbers(frame: pd.DataFrame, names: list[str], where: str) -> np.ndarray:
    """Take numeric columns as a (rows, len(names)) float64 matrix."""
    columns = []
    for name in names:
        values = column(frame, name, where)
        try:
            array = pd.to_numeric(values).to_numpy(dtype=np.float64)
        except (ValueError, TypeError):
            parsed = pd.to_numeric(values, errors="coerce")
            wrong = parsed.isna()
            raise DataError(
                f"{where}, line {_line(frame, wrong)}: column {name!r} holds {values[wrong].iloc[0]!r}, "
                "which is not a number"
            ) from None
        if not np.isfinite(array).all():
            raise DataError(f"{where}, line {_line(frame, ~np.isfinite(array))}: column {name!r} is infinite")
        columns.append(array)
    return np.stack(columns, axis=1) if columns else np.zeros((len(frame), 0))


def binary(frame: pd.DataFrame, name: str, where: str) -> np.ndarray:
    """Take one column of zeros and ones as (rows,) int64."""
    values = numbers(frame, [name], where)[:, 0]
    wrong = ~np.isin(values, (0, 1))
    if wrong.any():
        value = values[wrong][0]
        raise DataError(f"{where}, line {_line(frame, wrong)}: column {name!r} must be 0 or 1, got {value:g}")
    return values.astype(np.int64)


def pairs(path: Path) -> np.ndarray:
    """Read a text file with two whole numbers a line and no header; returns (m, 2) int64."""
    try:
        frame = pd.read_csv(path, sep=r"\s+", header=None, dtype=np.float64)
    except FileNotFoundError:
        raise DataError(f"{path} does not exist") from None
    except (ValueError, pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not a list of edges: {str(error).strip()}") from None
    values = frame.to_numpy()
    if values.shape[1] != 2:
        raise DataError(f"{path} must have two numbers a line, got {values.shape[1]}")
    whole = np.isfinite(values) & (values == np.floor(values))
    if not whole.all():
        row = int(np.flatnonzero(~whole.all(axis=1))[0]) + 1
        raise DataError(f"{path}, line {row}: expected two whole numbers")
    return values.astype(np.int64)


def positions(ids: pd.Series, named: np.ndarray, where: str) -> np.ndarray:
    """Find the rows of `ids` that hold the (m, 2) `named` ids; -1 for an id that is in none."""
    if ids.duplicated().any():
        row = int(np.flatnonzero(ids.duplicated())[0])
        raise DataError(f"{where}, line {row + 2}: the id {str(ids.iloc[row])!r} already belongs to an earlier row")
    return pd.Index(ids).get_indexer(named.reshape(-1)).reshape(named.shape)


def _line(frame: pd.DataFrame, wrong: np.ndarray | pd.Series) -> int:
    """The line in the file of the first of these rows, which `frame` may hold a part of."""
    return int(frame.index[np.flatnonzero(wrong)[0]]) + 2


def _check_widths(path: Path, where: str) -> None:
    """Refuse a row that is cut off, which pandas would fill with NaN."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, skipinitialspace=True)
        width = len(next(rows, []))
        for row in rows:
            if row and len(row) != width:
                raise DataError(
                    f"{where}, line {rows.line_num}: {len(row)} cells instead of the header's {width}. "
                    "Is the file cut off?"
                )
