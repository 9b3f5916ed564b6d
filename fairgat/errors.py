"""Errors that are messages for people, printed without a traceback."""

import difflib
from collections.abc import Iterable


class FairGATError(Exception):
    """What the user can put right; it says what is wrong, where, and what to do."""


class ConfigError(FairGATError):
    """The configuration is not valid."""


class DataError(FairGATError):
    """A data file is missing, altered or malformed."""


class NotDefined(DataError):
    """A method or a measure that is not defined for this data; its text says why."""


class CellCalledOff(FairGATError):
    """A cell that is not worth training; the selection goes on with the others."""


NOTHING_ALLOWED = "nothing is allowed here"


def nearest(
    name: str,
    known: Iterable[str],
    they_are: str = "expected one of:",
    none_known: str = NOTHING_ALLOWED,
) -> str:
    """Suggest the known name closest to `name`, or list all if none is close.

    Args:
        they_are: what introduces the list.
        none_known: what is said where nothing is known.
    """
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]!r}?"
    if not known:
        return none_known
    return f"{they_are} {', '.join(known)}"
