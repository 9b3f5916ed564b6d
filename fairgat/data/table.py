"""A table of a user's data, its columns as texts or numbers, and the sentence that names a wrong cell."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fairgat.data.roles import MOST_GROUPS, REST
from fairgat.errors import DataError, nearest
from fairgat.groups import missing

if TYPE_CHECKING:  # importing it takes a second, and Snakemake's processes import this
    import pandas as pd

_SHOWN = 5  # values of many that are shown
# As pandas reads them, if no blank stands behind one.
_BOOLEANS = dict.fromkeys(("True", "TRUE", "true"), 1.0)
_BOOLEANS |= dict.fromkeys(("False", "FALSE", "false"), 0.0)
Value = TypeVar("Value")


@dataclass(frozen=True)
class Table:
    """Rows and columns, and how messages name them."""

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
    """The decimal mark of numbers among texts: pandas reads no number of a column that has a text, too."""
    thousands: str = ""
    """What stands between their thousands."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """The option that names a column, for messages."""

    def column(self, name: str) -> "pd.Series":
        if name not in self.frame:
            what = f"{self.where}: there is no column {name!r}"
            if name in self.asked:
                what += f", which the option `{self.asked[name]}` names"
            raise DataError(f"{what}; {nearest(name, self.frame)}{self.if_absent}")
        return self.frame[name]

    def texts(self, name: str) -> "pd.Series":
        """Give each cell's text, whatever pandas took it for; "" is an empty or blank one."""
        return texts(self.column(name))

    def numbers(self, name: str) -> np.ndarray:
        """Give each cell's number, (N,) float64; NaN is what is none.

        In a column of nothing but true and false, these are 1 and 0.
        """
        values = self.column(name)
        if values.dtype.kind in "iufb":
            return to_numbers(values)
        stripped = values.map(lambda cell: cell.strip() if _is_text(cell) else cell)
        if set(stripped.dropna()) <= _BOOLEANS.keys():
            return to_numbers(stripped.map(_BOOLEANS))
        plain = values.map(lambda cell: self.plain(cell) if _is_text(cell) else cell)
        return to_numbers(plain)

    def plain(self, text: str) -> str:
        """Write a number as Python does; where the decimal mark is another, a point makes it none."""
        return text.replace(self.thousands, "").translate(
            str.maketrans(f"{self.decimal}.", f".{self.decimal}")
        )

    def refuse(
        self, wrong: "np.ndarray | pd.Series", what: str, name: str | None = None
    ) -> None:
        """Raise an error about the first row for which `wrong` (N,) holds, with its cell in column `name`."""
        if not wrong.any():
            return
        first, others = int(wrong.argmax()), int(wrong.sum()) - 1
        said = "" if name is None else _said(self.frame[name].iloc[first])
        cell = f"column {name!r} is {said}, " if name is not None else ""
        more = f", and {others} more" if others else ""
        row = self.row.format(self.frame.index[first])
        raise DataError(
            f"{self.where}: {cell}{what}{self.if_empty if said == 'empty' else ''} ({row}{more})"
        )


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str)


def _said(cell: Any) -> str:
    return (
        "empty"
        if cell is None or cell != cell or not str(cell).strip()
        else repr(str(cell)[:80])
    )


def texts(values: "pd.Series") -> "pd.Series":
    """Give each cell's text; "" is an empty or blank one."""
    import pandas as pd

    codes, different = pd.factorize(values.astype(object))
    said = [str(value) if str(value).strip() else "" for value in different]
    return pd.Series(
        np.array([*said, ""], dtype=object)[codes], index=values.index
    )  # an empty cell has code -1


def mapped(
    values: "pd.Series", of: Mapping[str, Value], otherwise: Value
) -> "pd.Series":
    """Give what each text stands for; REST has all texts that are not listed and not a word for a missing value."""
    different = values.unique()
    others = [
        otherwise if lacking else of.get(REST, otherwise)
        for lacking in missing(different)
    ]
    return values.map(
        {
            value: of.get(value, other)
            for value, other in zip(different, others, strict=True)
        }
    )


def to_numbers(values: "pd.Series") -> np.ndarray:
    """Read cells as numbers, (N,) float64; NaN is what is none."""
    import pandas as pd

    return pd.to_numeric(values, errors="coerce").to_numpy(
        np.float64, copy=True, na_value=np.nan
    )


def ordered(values: Iterable[str]) -> list[str]:
    """Sort texts: as numbers, where all of them are."""
    try:
        return sorted(sorted(values), key=float)
    except ValueError:
        return sorted(values)


def folded(text: str) -> str:
    """Give texts that differ in case, blanks around them or the way a number is written the same form."""
    try:
        return repr(float(text))
    except ValueError:
        return unicodedata.normalize("NFKC", text).strip().casefold()


def empty(values: "pd.Series") -> np.ndarray:
    """Say of each cell, (N,) bool, whether it is empty or blank."""
    return (
        values.isna() if values.dtype.kind in "iufb" else texts(values) == ""
    ).to_numpy()


def describe(values: "pd.Series") -> str:
    """Say the range of numbers, or the values, of a column, and how many cells are empty."""
    are_numbers = values.dtype.kind in "iuf"
    said = values if are_numbers else texts(values)
    said = said[said.notna() & (said != "")]
    different = said.unique()
    if are_numbers and len(said):
        all_different = (
            ", all different"
            if len(values) > _SHOWN and len(different) == len(said)
            else ""
        )
        shown = f"{said.min():g} to {said.max():g}{all_different}"
    elif len(different) > MOST_GROUPS:
        shown = f"{', '.join(different[:_SHOWN])}, ... ({len(different)} values)"
    else:
        shown = ", ".join(ordered(different))
    lacking = len(values) - len(said)
    return "; ".join(filter(None, [shown, f"{lacking} empty" if lacking else ""]))
