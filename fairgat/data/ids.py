"""Find the nodes that edges name: by a column of ids, or by the numbers of their rows.

Ids are texts, so that numbers of any length are told apart; where no id is written as an edge has it, 12.0 is 12.
"""

import contextlib
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from fairgat.data.options import paste
from fairgat.data.reading import Table
from fairgat.errors import DataError

_WHOLE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def row_finder(table: Table, name: str | None) -> Callable[[np.ndarray], np.ndarray]:
    """Make a function that finds the rows of K ids, -1 where no row has one. Without a column, ids are row numbers.

    Raises:
        DataError: an id is empty, or belongs to two rows.
    """
    import pandas as pd

    if name is None:
        return lambda texts: np.array([_row_number(text, len(table)) for text in texts], dtype=np.int64)
    column = table.column(name)
    if "" in column.texts:
        raise table.error(f"the id in column {name!r} is empty", column.rows() == "")
    if len(column.texts) < len(table):
        again = pd.Series(column.codes).duplicated().to_numpy()
        code = column.codes[np.argmax(again)]
        line = table.place(int(np.argmax(column.codes == code))).rpartition(", ")[2]
        text = f"the id {column.texts[code]!r} already belongs to {line}. Is `id` another column?"
        raise table.error(text, again)
    exact = pd.Index(column.texts, dtype=object)

    def find(texts: np.ndarray) -> np.ndarray:
        found = exact.get_indexer(pd.Index(texts, dtype=object))
        if (unknown := np.flatnonzero(found < 0)).size:
            plain = pd.Series(np.arange(len(exact)), index=[_plain(text) for text in exact])
            plain = plain[~plain.index.duplicated(keep=False)]  # else it is not known which
            asked = [_plain(text) for text in texts[unknown]]
            found[unknown] = plain.reindex(asked, fill_value=-1).to_numpy()
        return found

    return find


def _row_number(text: str, count: int) -> int:
    digits = (_plain(text).lstrip("0") or "0") if text else ""
    return int(digits) if digits.isdecimal() and len(digits) < 19 and int(digits) < count else -1


def check_ids(table: Table, texts: np.ndarray, rows: np.ndarray, where: str, options: Any) -> None:
    """Ask, where edges may name nodes by another column than `id`, or may count rows from another number.

    Args:
        texts: (K,) how the edges name nodes.
        rows: (K,) the rows that were found, -1 for none.
    """
    if options.id is not None and (rows >= 0).all():
        return
    asked, ids, last = set(texts), {*map(str, range(len(table)))}, str(len(table))
    given = "row numbers from 0" if options.id is None else f"the column {options.id!r}"
    own = ids if options.id is None else set(table.column(options.id).texts)
    one_too_many = own == ids and asked - own == {last} and "0" not in asked
    # R writes the rows' names from 1 in a column without a name; an edge with node 0 cannot mean these.
    by_r = options.id is None and table.index() == 1 and "0" not in asked
    taken = {options.label, options.id, *options.sensitive, *options.exclude, *(options.features or ())}
    for name, column in zip(table.names, table.columns, strict=True):
        if name in taken or len(column.texts) < len(table) or table.names.count(name) > 1:
            continue
        texts_of = set(column.texts)
        # Row numbers fit any small numbers: a column that has most of these may be meant, unless `id: null` is given.
        named = asked <= texts_of or ("id" not in options.model_fields_set and 2 * len(asked & texts_of) > len(asked))
        named |= by_r and column is table.columns[0]
        if named and column.texts.tolist() != [str(row) for row in range(len(table))]:
            ways = paste("id", name)
            if not one_too_many and ((rows >= 0).all() or "unknown_ids" in options.drop):
                ways += f", or {paste('exclude', [*options.exclude, name])} for {given}"
            raise DataError(f"{where}: do edges name nodes by their column {name!r}, or by {given}? Write {ways}")
    if one_too_many:
        raise DataError(
            f"{where}: edges name node {last}, but not node 0, and nodes are numbered from 0: do edges count from 1? "
            "Give the nodes a column that does, and name it as `id`"
        )
    if own == ids - {"0"} | {last} and asked - own == {"0"}:
        raise DataError(
            f"{where}: edges name node 0, and {given} counts from 1: do edges count rows from 0? Write `id: null`"
        )


def _plain(text: str) -> str:
    """Write a whole number without fraction and exponent, exactly: 12.0 and 1.2e1 as 12."""
    if _WHOLE.fullmatch(text) and not text.isdigit():
        with contextlib.suppress(ArithmeticError):  # an exponent beyond what it knows
            if abs(number := Decimal(text)) < 10**30 and number == int(number):
                return str(int(number))
    return text
