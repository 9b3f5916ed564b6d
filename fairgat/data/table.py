"""A table of a user's data, its columns as texts or numbers, and the sentence that names a wrong cell."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgat.data.roles import MOST_GROUPS, REST
from fairgat.errors import DataError, nearest
from fairgat.groups import missing

if TYPE_CHECKING:  # importing it takes a second, and Snakemake's processes import this
    import pandas as pd

_SHOWN = 5  # values of many that are shown


@dataclass(frozen=True)
class Table:
    """Rows and columns, and how messages name them."""

    frame: "pd.DataFrame"
    """Texts, numbers or bool. The index names the rows."""
    where: str
    """The file."""
    row: str = "row {} of the data"
    lacking: str = ""
    """What a message about a missing cell adds."""

    def column(self, name: str) -> "pd.Series":
        if name not in self.frame:
            raise DataError(f"{self.where}: there is no column {name!r}; {nearest(name, self.frame)}")
        return self.frame[name]

    def refuse(self, wrong: np.ndarray, what: str, name: str | None = None) -> None:
        """Raise an error about the first row for which `wrong` (N,) holds, with its cell in column `name`."""
        if not wrong.any():
            return
        first, others = int(wrong.argmax()), int(wrong.sum()) - 1
        said = "" if name is None else _said(self.frame[name].iloc[first])
        cell = f"column {name!r} is {said}, " if name is not None else ""
        more = f", and {others} more" if others else ""
        lacking = self.lacking if said == "empty" else ""
        raise DataError(f"{self.where}: {cell}{what}{lacking} ({self.row.format(self.frame.index[first])}{more})")


@dataclass(frozen=True)
class Coded:
    """A column of texts as numbers (N,) of its different values; "" is an empty cell."""

    codes: np.ndarray
    values: list[str]

    @property
    def said(self) -> list[str]:
        """The values that do not stand for a missing one."""
        return [value for value, lacking in zip(self.values, missing(self.values), strict=True) if not lacking]

    def map(self, numbers: Mapping[str, int], otherwise: int) -> np.ndarray:
        """Give each row the number of its value; REST has all values that are not listed and stand for something."""
        others = np.where(missing(self.values), otherwise, numbers.get(REST, otherwise))
        of_values = [numbers.get(value, other) for value, other in zip(self.values, others.tolist(), strict=True)]
        return np.array(of_values, dtype=np.int64)[self.codes]


def coded(values: "pd.Series") -> Coded:
    """Read a column as texts, whatever pandas took it for."""
    import pandas as pd

    codes, different = pd.factorize(values.astype(object))
    if (codes < 0).any():
        codes, different = np.where(codes < 0, len(different), codes), [*different, ""]
    names: dict[str, int] = {}
    of = [names.setdefault(str(value) if str(value).strip() else "", len(names)) for value in different]
    return Coded(np.array(of, dtype=np.int64)[codes], list(names))


def to_numbers(values: "pd.Series") -> np.ndarray:
    """Read a column as numbers, (N,) float64; NaN is what is none."""
    import pandas as pd

    return pd.to_numeric(values, errors="coerce").to_numpy(np.float64, copy=True, na_value=np.nan)


def ordered(values: Iterable[str]) -> list[str]:
    """Sort texts: as numbers, where all of them are."""
    texts = sorted(values)
    try:
        return sorted(texts, key=float)
    except ValueError:
        return texts


def folded(text: str) -> str:
    """Give texts that differ in case, blanks around them or the way a number is written the same form."""
    try:
        return repr(float(text))
    except ValueError:
        return unicodedata.normalize("NFKC", text).strip().casefold()


def describe(values: "pd.Series") -> str:
    """Say the range of numbers, or the values, of a column."""
    missing = empty(values)
    also = f"; {count} empty" if (count := int(missing.sum())) else ""
    if values.dtype.kind in "iuf" and not missing.all():
        different = ", all different" if len(values) > _SHOWN and values.is_unique else ""
        return f"{values.min():g} to {values.max():g}{different}{also}"
    texts = [value for value in coded(values).values if value]
    if len(texts) > MOST_GROUPS:
        return f"{', '.join(texts[:_SHOWN])}, ... ({len(texts)} values){also}"
    return (", ".join(ordered(texts)) + also).removeprefix("; ")


def empty(values: "pd.Series") -> np.ndarray:
    """Say of each cell, (N,) bool, whether it is empty or blank."""
    if values.dtype.kind in "iufb":
        return values.isna().to_numpy(bool)
    column = coded(values)
    return column.codes == (column.values.index("") if "" in column.values else -1)


def _said(cell: Any) -> str:
    return "empty" if cell is None or cell != cell or not str(cell).strip() else repr(str(cell)[:80])
