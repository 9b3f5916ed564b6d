"""A table of a user's data: its columns as texts or numbers, and what is wrong.

A wrong cell is noted, not raised: `told` says in one error what is wrong with all
files.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fairgat.data.roles import MOST_GROUPS, REST
from fairgat.errors import DataError, nearest
from fairgat.groups import missing
from fairgat.texts import compared

if TYPE_CHECKING:  # importing it takes a second, and Snakemake's processes import this
    import pandas as pd

_SHOWN = 5  # values of many that are shown
_MOST_TOLD = 10
# As pandas reads them, if no blank stands behind one.
_BOOLEANS = dict.fromkeys(("True", "TRUE", "true"), 1.0)
_BOOLEANS |= dict.fromkeys(("False", "FALSE", "false"), 0.0)
_DATE = r"\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4}"
_CURRENCY = r"[$€£¥%]|[A-Z]{3}"
_READ_AS = {  # what is a number to people and none to pandas, and what makes it one
    r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?": "`read: {thousands: ','}` reads such numbers",
    r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?": (
        "`read: {thousands: '.', decimal: ','}` reads such numbers"
    ),
    r"[+-]?\d+,\d+": "`read: {decimal: ','}` reads such numbers",
    r"[+-]?\d{1,3}( \d{3})+(\.\d+)?": "`read: {thousands: ' '}` reads such numbers",
    r"[+-]?\d{1,3}( \d{3})+,\d+": (
        "`read: {thousands: ' ', decimal: ','}` reads such numbers"
    ),
    r"[+-]?\d{1,3}('\d{3})+(\.\d+)?": ('`read: {thousands: "\'"}` reads such numbers'),
    rf"({_DATE})\D?.*": (
        "write a date as a number, of years or days, or list the column in `exclude`"
    ),
    rf"({_CURRENCY})? ?[+-]?[\d.,]+ ?({_CURRENCY})?": (
        "write the number without its unit, or list the column in `exclude`"
    ),
}
READ_KINDS = "iufbmM"
"""NumPy's kinds of columns that pandas has read as numbers, flags or dates."""
NO_NUMBER = "list the column in `categories`, or in `exclude`"
Value = TypeVar("Value")


@dataclass(frozen=True)
class Table:
    """Rows and columns, how messages name them, and what was found wrong."""

    frame: "pd.DataFrame"
    """Texts, numbers or bool. The index names the rows."""
    where: str
    """The file."""
    row: str = "row {} of the data"
    if_empty: str = ""
    """What a message about an empty cell adds."""
    if_absent: str = ""
    """What a message about a column that is not there adds."""
    decimal: str = "."
    """The decimal mark of numbers among texts: pandas reads none of such a column."""
    thousands: str = ""
    """What stands between their thousands; a blank is any blank."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """The option that names a column, for messages."""
    wrong: list[str] = field(default_factory=list)
    """A sentence for each problem."""

    def column(self, name: str) -> "pd.Series":
        """Give the cells of a column.

        Raises:
            DataError: there is none of this name.
        """
        if name in self.frame:
            return self.frame[name]
        what = f"{self.where}: there is no column {name!r}"
        if name in self.asked:
            what += f", which the option `{self.asked[name]}` names"
        advice = nearest(name, self.frame, "its columns are")
        raise DataError(f"{what}; {advice}{self.if_absent}")

    def there(self, names: Iterable[str]) -> list[str]:
        """List those of the columns that the table has."""
        return [name for name in names if name in self.frame]

    def texts(self, name: str) -> "pd.Series":
        """Give each cell's text, as it is compared; "" is an empty or blank one."""
        return texts(self.column(name))

    def numbers(self, name: str) -> np.ndarray:
        """Give each cell's number, (N,) float64; NaN where it is none.

        In a column of nothing but true and false, these are 1 and 0.
        """
        values = self.column(name)
        if values.dtype.kind in READ_KINDS:
            return to_numbers(values)
        texts = self.texts(name)
        different = texts.unique()
        if set(different) <= {"", *_BOOLEANS}:
            return to_numbers(texts.map(_BOOLEANS))
        plain = {text: self.plain(text) for text in different}
        return to_numbers(texts.map(plain))

    def plain(self, text: str) -> str:
        """Write a number as Python does, or "nan" where a mark of it is out of place.

        A point is, with decimal commas; and what stands between thousands, elsewhere.
        """
        whole, mark, rest = text.partition(self.decimal)
        if self.thousands == self.decimal:  # which nobody named: numbers are whole
            whole, mark, rest = text, "", ""
        if self.thousands and self.thousands in whole:
            if not self._in_thousands.fullmatch(whole):
                return "nan"
            whole = whole.replace(self.thousands, "")
        marks = str.maketrans(f"{self.decimal}.", f".{self.decimal}")
        return (whole + mark + rest).translate(marks)

    @cached_property
    def _in_thousands(self) -> re.Pattern[str]:
        """How a whole number with thousands is written, also in India: 12,34,567."""
        mark = re.escape(self.thousands)
        return re.compile(rf"[+-]?\d{{1,3}}({mark}\d{{2,3}})*{mark}\d{{3}}")

    def refuse(
        self, wrong: "np.ndarray | pd.Series", what: str, name: str | None = None
    ) -> None:
        """Note the first row for which `wrong` (N,) holds, and how many others.

        Args:
            what: the end of the message, in words, on what is wrong.
            name: the column whose cell is shown.
        """
        if not wrong.any():
            return
        first = int(wrong.argmax())
        others = int(wrong.sum()) - 1
        row = self.row.format(self.frame.index[first])
        if others:
            row += f", and {others} more"
        if name is not None:
            found = _said(self.frame[name].iloc[first])
            what = f"column {name!r} is {found}, {what}"
            if found == "empty":
                what += self.if_empty
        self.wrong.append(f"{self.where}: {what} ({row})")

    def refuse_unreadable(self, wrong: np.ndarray, name: str, otherwise: str) -> None:
        """Note where texts are no numbers, one problem for each advice.

        Args:
            wrong: (N,) bool, the rows with a text that is not a number.
            otherwise: the advice on a text that looks like no number (`_READ_AS`).
        """
        if not wrong.any():
            return
        unreadable = self.texts(name).where(wrong, "")
        found = unreadable[wrong].unique()
        advice_of = {text: _advice(text, otherwise) for text in found}
        advised = unreadable.map(advice_of)
        for advice in dict.fromkeys(advice_of.values()):
            what = f"which is not a number: {advice}"
            self.refuse(advised == advice, what, name)


@contextmanager
def noting(wrong: list[str]) -> Iterator[None]:
    """Note a DataError among what is wrong, and go on behind the block."""
    try:
        yield
    except DataError as error:
        wrong.append(str(error))


def told(wrong: Iterable[str]) -> DataError:
    """Make one error of all that is wrong, a line each."""
    lines = list(dict.fromkeys(wrong))
    more = len(lines) - _MOST_TOLD
    if more > 0:
        lines = [*lines[:_MOST_TOLD], f"... and {more} more problems"]
    return DataError("\n".join(lines))


def _said(value: Any) -> str:
    if value is None or value != value or not str(value).strip():
        return "empty"
    return repr(str(value)[:80])


def _advice(text: str, otherwise: str) -> str:
    """Say what makes a number of a text that is none to pandas."""
    for pattern, advice in _READ_AS.items():
        if re.fullmatch(pattern, text, re.ASCII):
            return advice
    return otherwise


def texts(values: "pd.Series") -> "pd.Series":
    """Give each cell's text, as it is compared; "" is an empty or blank one."""
    import pandas as pd

    codes, different = pd.factorize(values.astype(object))
    said = [compared(str(value)) for value in different]
    said.append("")  # an empty cell has code -1
    return pd.Series(np.array(said, dtype=object)[codes], index=values.index)


def mapped(
    values: "pd.Series", of: Mapping[str, Value], otherwise: Value
) -> "pd.Series":
    """Give what each text stands for.

    REST has all texts that are not listed and not a word for a missing value.
    """
    different = values.unique()
    stands_for = {}
    for value, lacking in zip(different, missing(different), strict=True):
        rest = otherwise if lacking else of.get(REST, otherwise)
        stands_for[value] = of.get(value, rest)
    return values.map(stands_for)


def to_numbers(values: "pd.Series") -> np.ndarray:
    """Read cells as numbers, (N,) float64; NaN where one is none, or empty."""
    import pandas as pd

    numbers = pd.to_numeric(values, errors="coerce")
    numbers = numbers.to_numpy(np.float64, copy=True, na_value=np.nan)
    numbers[values.isna().to_numpy()] = np.nan  # a date that is none is a number
    return numbers


def ordered(values: Iterable[str]) -> list[str]:
    """Sort texts: as numbers, where all of them are."""
    try:
        return sorted(sorted(values), key=float)
    except ValueError:
        return sorted(values)


def folded(text: str) -> str:
    """Give texts that differ in case, or in how a number is written, the same form."""
    try:
        return repr(float(text))
    except ValueError:
        return unicodedata.normalize("NFKC", text).strip().casefold()


def empty(values: "pd.Series") -> np.ndarray:
    """Say of each cell, (N,) bool, whether it is empty or blank."""
    lacking = values.isna()
    if values.dtype.kind not in "iufb":
        lacking = texts(values) == ""
    return lacking.to_numpy()


def describe(values: "pd.Series") -> str:
    """Say the range of a column's numbers, or its values, and how many are empty."""
    are_numbers = values.dtype.kind in "iuf"
    said = values if are_numbers else texts(values)
    said = said[said.notna() & (said != "")]
    different = said.unique()

    if are_numbers and len(said):
        shown = f"{said.min():g} to {said.max():g}"
        if len(values) > _SHOWN and len(different) == len(said):
            shown += ", all different"
    elif len(different) > MOST_GROUPS:
        shown = f"{', '.join(different[:_SHOWN])}, ... ({len(different)} values)"
    else:
        shown = ", ".join(ordered(different))
    lacking = len(values) - len(said)
    empty_ones = f"{lacking} empty" if lacking else ""
    return "; ".join(filter(None, [shown, empty_ones]))
