"""People's scores, labels and groups in a CSV file, to be judged without a workflow."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fairgat.data import delimited
from fairgat.data.declared import check_spelling
from fairgat.data.roles import MOST_GROUPS, Delimited
from fairgat.data.table import Table, empty, ordered, told
from fairgat.errors import DataError
from fairgat.groups import missing

COLUMNS = ("id", "score", "label", "group")
DECISION = "decision"


@dataclass(frozen=True)
class People:
    """The people of a file whose score and label are known."""

    scores: np.ndarray
    """(n,) float64."""
    labels: np.ndarray
    """(n,) 0 or 1."""
    groups: np.ndarray
    """(n,) numbers of `names`."""
    names: list[str]
    """What the groups are called."""
    decisions: np.ndarray | None
    """(n,) bool, where the file has them."""
    unlabelled: int
    """How many people have a score and no label."""
    unscored: int
    """How many people have no score."""


def read_people(path: Path) -> People:
    """Read a CSV file with the columns `COLUMNS` and, if there is one, `decision`.

    A label is 1, 0 or empty, a decision 1 or 0; other columns are passed over. Who has
    no score needs neither a decision nor a group, as in a file of `fairgat predict`.

    Raises:
        DataError: naming the columns and the rows that are wrong.
    """
    table = _read(path)
    for name in COLUMNS:
        table.column(name)

    ids = table.texts("id")
    table.refuse(ids == "", "and is the id", "id")
    table.refuse(ids.duplicated(), "which is the id of a row above", "id")
    labels = _binary(table, "label")
    has_score = ~empty(table.column("score"))
    if not has_score.any():
        raise told([*table.wrong, f"{path}: no row has a score"])

    table = replace(table, frame=table.frame[has_score])
    labels = labels[has_score]
    scores = table.numbers("score")
    table.refuse(~np.isfinite(scores), "which is not a finite number", "score")
    numbers, names = _groups(table)
    decisions = _decisions(table)
    if table.wrong:
        raise told(table.wrong)

    has_label = ~np.isnan(labels)
    if not has_label.any():
        scored = " with a score" if not has_score.all() else ""
        raise DataError(f"{path}: no row{scored} has a label")
    if decisions is not None:
        decisions = decisions[has_label]
    return People(
        scores=scores[has_label],
        labels=labels[has_label].astype(np.int64),
        groups=numbers[has_label],
        names=names,
        decisions=decisions,
        unlabelled=int((~has_label).sum()),
        unscored=int((~has_score).sum()),
    )


def _read(path: Path) -> Table:
    """Read the file, without advice on options of a configuration.

    All as texts, as pandas reads numbers in them to the last digit.
    """
    try:
        table = delimited.read(path, Delimited(file=str(path)))
    except delimited.Unreadable as error:
        raise DataError(
            f"{error.fault}. It should be a CSV file in UTF-8: a header, columns that "
            "are separated by commas, and a row for each person"
        ) from None
    advice = "; columns are separated by commas" if table.if_absent else ""
    return replace(table, if_empty="", if_absent=advice)


def _groups(table: Table) -> tuple[np.ndarray, list[str]]:
    """Give each row's group, (n,) numbers from 0, and what they are called."""
    texts = table.texts("group")
    table.refuse(missing(texts), "and should name a group", "group")
    check_spelling(table, "group", texts.unique(), (), "write one of them")
    names = ordered(texts.unique())
    if not 2 <= len(names) <= MOST_GROUPS:
        raise DataError(
            f"{table.where}: the column 'group' has {len(names)} values, and there "
            f"should be 2 to {MOST_GROUPS}"
        )
    numbers = texts.map(names.index)
    return numbers.to_numpy(np.int64), names


def _decisions(table: Table) -> np.ndarray | None:
    """Give each row's decision, (n,) bool; None where the file has none."""
    if DECISION not in table.frame:
        return None
    decided = _binary(table, DECISION)
    table.refuse(np.isnan(decided), "and should be 1 or 0", DECISION)
    return decided == 1


def _binary(table: Table, name: str) -> np.ndarray:
    """Give each row's 1 or 0, (n,) float64; NaN where the cell is empty."""
    values = table.numbers(name)
    wrong = ~empty(table.column(name)) & ~np.isin(values, (0, 1))
    table.refuse(wrong, "which is neither 1 nor 0", name)
    return values
