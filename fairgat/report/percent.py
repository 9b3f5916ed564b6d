"""Values as the entries of a table, in their unit: here fractions become percent."""

import pandas as pd

from fairgat.measures import PERCENT, Unit
from fairgat.report.model import DASH, Cell, Math, Text
from fairgat.scores.paired import FEWEST, leaves_out_0

SPLITS, PEOPLE = "another split of these people", "other people like these"
WITH_INTERVALS = f"With 95 % intervals for {SPLITS}"
OF_SPLITS = f"The interval is for {SPLITS}, by the paired t, and not for {PEOPLE}."
INTERVALS = (
    f"For {SPLITS}, the interval is that of the paired t. For {PEOPLE}, it is Nadeau "
    "and Bengio's, as splits of one data set share its people, those who are tested "
    "and those who are trained on: it is wide, and errs on that side."
)
"""What the intervals of paired differences are about."""
NOT_CORRECTED = (
    "Nothing is corrected for the number of comparisons: where there is no true "
    "difference, one interval in twenty by the paired t leaves out 0."
)


def half_intervals(pairs: pd.Series) -> str:
    """Say what stands after a difference, and which are bold.

    Args:
        pairs: the splits that each difference is over; NaN where there is none.
    """
    said = "± half a 95 % interval"
    few = (pairs < FEWEST).any()
    if pairs.max() >= FEWEST:
        said += "; bold where that leaves out 0"
        return f"{said} over {FEWEST} splits or more" if few else said
    if few:
        return f"{said}; none is bold, as there are fewer than {FEWEST} splits"
    return said


def score(mean: float | None, std: float | None = None, unit: Unit = PERCENT) -> Cell:
    """Write a mean with its standard deviation; a dash where there is none.

    What is rounded to 0 has no sign, here as in `signed`.
    """
    if pd.isna(mean):
        return Cell(DASH)
    shown = f"{unit.factor * mean:z.{unit.decimals}f}"
    if pd.isna(std):
        return Cell(shown)
    return Cell(shown, std=f"{unit.factor * std:.{unit.decimals}f}")


def signed(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    unit: Unit = PERCENT,
    n_splits: float = FEWEST,
) -> Cell:
    """Write a difference ± half its interval; bold where that leaves out 0.

    In percentage points where it is one of fractions. Over few splits (`n_splits`),
    nothing is bold.
    """
    if pd.isna(value):
        return Cell(DASH)
    shown = f"{unit.factor * value:+z.{unit.decimals}f}"
    if pd.isna(low):
        return Cell(Math(shown, f"${shown}$"))
    half = f"{unit.factor * (high - low) / 2:.{unit.decimals}f}"
    return Cell(shown, std=half, bold=leaves_out_0(low, high, n_splits))


def formatted(form: str, *values: float | None) -> Text:
    """Write numbers in a form such as `{:.2f}`; a dash where one is missing."""
    if any(map(pd.isna, values)):
        return DASH
    return form.format(*values)
