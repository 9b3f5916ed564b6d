"""What a measure is: its names, how it is computed, shown and used."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fairgat.measures.metrics import Decisions

Role = Literal["utility", "chosen", "audited", "shown"]
"""What a measure is used for:

- utility: what fairness is traded against. The first one of a task chooses cells.
- chosen: a gap that the choice of cells keeps small, and that studies compare. Whether
  it is missing must depend on the examples in a part and their labels, not on the
  decisions, so that it is missing for all cells or for none.
- audited: compared with what the paper printed.
- shown: in tables and figures. A measure that is only shown is neither optimised nor
  audited.
"""


@dataclass(frozen=True)
class Unit:
    """How values are shown: multiplied by `factor`, with `decimals`.

    Headings have `sign`, in LaTeX `tex`.
    """

    sign: str
    tex: str
    factor: float
    decimals: int


PERCENT = Unit("%", r"$\%$", 100, 2)  # of a fraction
NUMBER = Unit("", "", 1, 2)
DIVERGENCE = Unit("", "", 1, 3)


@dataclass(frozen=True)
class Measure:
    """One measure.

    Attributes:
        name: in files.
        label, tex: in text and in LaTeX, without the unit. "{which}" stands for the
            group's number or the attribute.
        of: computes it from decisions; NaN where it is missing. With `by`, an array
            with a value for each group, or a mapping with one for each attribute.
        better: the better direction; None where neither is.
        roles: what it is used for.
        by: whether there is one for each group (`{name}_0`, `{name}_1`, ...) or, where
            groups are combinations of attributes, for each attribute (`{name}_race`).
        one_of, which: of the measure of one group or attribute, the name of that of
            all of them, and which it is of.
    """

    name: str
    label: str
    tex: str
    of: Callable[[Decisions], float | np.ndarray | Mapping[str, float]]
    better: Literal["higher", "lower"] | None = None
    roles: tuple[Role, ...] = ()
    unit: Unit = PERCENT
    by: Literal["group", "attribute"] | None = None
    one_of: str = ""
    which: str = ""

    def which_of(self, name: str) -> str:
        """Find the group or the attribute in a name such as `{name}_0`.

        Empty where it is not one of this measure's.
        """
        prefix = f"{self.name}_"
        if not self.by or not name.startswith(prefix):
            return ""
        which = name.removeprefix(prefix)
        if self.by == "group" and not which.isdecimal():
            return ""
        return which

    def of_one(self, which: str) -> "Measure":
        """Give the measure of one group or attribute."""
        name = f"{self.name}_{which}"
        return replace(self, name=name, one_of=self.name, which=which, by=None)
