"""Fractions as the entries of a table, in percent: the one place where scores are multiplied by 100 for a table."""

import math

from fairgat.report.model import DASH, Cell, Math


def score(mean: float | None, std: float | None = None) -> Cell:
    """A mean with its standard deviation; a dash where there is none."""
    if missing(mean):
        return Cell(DASH)
    return Cell(f"{100 * mean:.2f}", std="" if missing(std) else f"{100 * std:.2f}")


def signed(value: float | None, low: float | None = None, high: float | None = None) -> Cell:
    """A difference in percentage points, ± half its interval, bold where that leaves out 0."""
    if missing(value):
        return Cell(DASH)
    shown = f"{round(100 * value, 2) + 0:+.2f}"  # + 0: no -0.00
    if missing(low):
        return Cell(Math(shown, f"${shown}$"))
    return Cell(shown, std=f"{50 * (high - low):.2f}", bold=bool(low > 0 or high < 0))


def brief(value: float) -> str:
    """A difference in percentage points to two digits, however small."""
    return f"{100 * value:.2g}"


def missing(value: float | None) -> bool:
    """Check that there is no number."""
    return value is None or math.isnan(value)
