"""Make labels, groups and features of the columns of a table that somebody wrote.

What is wrong with one is a DataError that names the line, and says what to write in the file or in config.yaml.
"""

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from fairgat.data.delimited import MISSING, Table
from fairgat.data.graph import UNLABELLED
from fairgat.errors import DataError

Value = str | int | float
MOST_CATEGORIES = 50  # a column of more different texts is hardly one of categories


def value_of(value: Value) -> Value:
    """What a cell is compared by: its number where it is one, so that 1 and 1.0 are one value, or else its text.

    Beyond 2^53 different numbers may be one float: such ones are texts.
    """
    try:
        number = float(value)
    except ValueError:
        return value
    return number if abs(number) < 2**53 else str(value)


def labels(
    table: Table, name: str, positive: Sequence[Value], negative: Sequence[Value], unlabelled: Sequence[Value]
) -> np.ndarray:
    """Give each node its label, (R,): 1, 0, or UNLABELLED where the cell is empty or declared so.

    Args:
        positive: the values that are label 1; 1 where empty.
        negative: the values that are label 0; 0 where empty, or, if there are positive ones, the one other value.
    """
    texts = table.column(name)
    values = [value_of(text) for text in texts]
    ones, zeros = ({value_of(value) for value in some} for some in (positive, negative))
    none = {value_of(value) for value in unlabelled}
    empty = [
        value in none or (text.lower() in MISSING and value not in ones | zeros)
        for text, value in zip(texts, values, strict=True)
    ]
    if positive and not negative:
        others = {value: text for value, text, no in zip(values, texts, empty, strict=True) if not no}
        others = {value: text for value, text in others.items() if value not in ones}
        if len(others) > 1:
            wrong = np.array([value in list(others)[1:] for value in values])
            first, second = list(others.values())[:2]
            raise table.error(
                wrong,
                f"besides the positive values {_listed(positive)}, column {name!r} holds {first!r} and {second!r}. "
                f"Which are negative, and which mean that the label is not known? Write `negative: [{first}]` and "
                f"`unlabelled: [{second}]`, say",
            )
        zeros = set(others)
    ones, zeros = ones or {1.0}, zeros or {0.0}
    found = np.array(
        [UNLABELLED if no else 1 if v in ones else 0 if v in zeros else -2 for v, no in zip(values, empty, strict=True)]
    )
    if (found == -2).any():
        text = texts[found == -2][0]
        declared = f"is neither among the positive values {_listed(positive)} nor the negative {_listed(negative)}"
        raise table.error(
            found == -2,
            f"column {name!r} is {text!r}, which {declared if positive or negative else 'is neither 0 nor 1'}. "
            f"Declare it with `positive: [{text}]` or `negative: [{text}]`, or, where it means that the label is not "
            f"known, with `unlabelled: [{text}]`",
        )
    labelled = found[found != UNLABELLED]
    if len(set(labelled.tolist())) < 2:
        which = f"every label is {labelled[0]}" if len(labelled) else "nobody has a label"
        raise table.error(np.ones(len(found), dtype=bool), f"in column {name!r} {which}. Is `label` another column?")
    return found.astype(np.int64)


def groups(table: Table, name: str, order: Sequence[Value] | None, allow_unknown: bool) -> np.ndarray:
    """Give each node its sensitive group, (R,); -1 where it has none of them and that is allowed.

    Args:
        order: the values of the groups 0, 1, ...; all that occur, sorted, where None. A column of numbers is compared
            as numbers.
        allow_unknown: whether nodes without a group are left out, instead of an error.
    """
    texts = table.column(name)
    is_missing = np.array([text.lower() in MISSING for text in texts])
    is_empty, numbers = texts == "", [value_of(text) for text in texts]
    numeric = [isinstance(number, float) for number, gap in zip(numbers, is_missing, strict=True) if not gap]
    if numeric and all(numeric):
        key, empty = value_of, is_missing
    else:  # NA may be a name: of a continent, say
        key, empty = str, is_empty
    if empty.any() and not allow_unknown:
        raise table.error(
            empty, f"column {name!r} is empty or NaN. Leave such nodes out with `drop: [unknown_groups]`, or correct it"
        )
    known = order or sorted(set(texts[~empty]), key=key)
    place = {value: number for number, value in enumerate(dict.fromkeys(map(key, known)))}
    found = np.array([-1 if no else place.get(key(text), -1) for text, no in zip(texts, empty, strict=True)])
    unknown = (found < 0) & ~empty
    if unknown.any() and not allow_unknown:
        raise table.error(
            unknown,
            f"{name} is {texts[unknown][0]!r}, which is not among the groups {_listed(known)}. Add it to `groups`, or "
            "leave such nodes out with `drop: [unknown_groups]`",
        )
    if len(set(found[found >= 0].tolist())) < 2:
        raise table.error(
            np.ones(len(found), dtype=bool),
            f"in column {name!r} all nodes are in one group, or in none; fairness needs two. Is `sensitive` another?",
        )
    return found.astype(np.int64)


def features(
    table: Table,
    names: Sequence[str],
    categories: Collection[str],
    missing: Sequence[Value],
    fill: Literal["zero", "mean"] | None,
) -> tuple[np.ndarray, dict[str, int]]:
    """Make the (R, F) float64 features, and count the columns that each column of categories became.

    A column without any number, or one among `categories`, becomes a column of zeros and ones for each of its texts
    (pandas' `get_dummies`); an empty cell is none of them.

    Args:
        missing: more ways in which an empty cell is written.
        fill: what an empty cell becomes; None refuses it.
    """
    parts, encoded, gaps = [], {}, {value_of(value) for value in missing}
    for name in names:
        texts = table.column(name)
        empty = texts == ""
        if gaps:
            empty |= np.array([value_of(text) in gaps for text in texts])
        values = pd.to_numeric(pd.Series(np.where(empty, "", texts)), errors="coerce").to_numpy(np.float64, copy=True)
        unread = np.isnan(values) & ~empty
        na = np.zeros(len(texts), dtype=bool)
        na[unread] = [text.lower() in MISSING for text in texts[unread]]
        is_category = name in categories
        if not is_category and unread.sum() == (~empty).sum() > na.sum():
            _check_categories(table, name, texts, empty)
            is_category = True
        if not is_category:  # elsewhere NA may be a name
            empty |= na
        if empty.any() and not fill:
            raise table.error(
                empty,
                f"column {name!r} is empty or NaN. Fill such cells with `fill: mean` or `fill: zero`, or leave the "
                f"column out with `exclude: [{name}]`",
            )
        if is_category:
            dummies = pd.get_dummies(pd.Series(np.where(empty, None, texts), dtype=object))
            parts.append(dummies.to_numpy(dtype=np.float64))
            encoded[name] = dummies.shape[1]
            continue
        if not (np.isfinite(values) | empty).all() or (np.abs(values[~empty]) > np.finfo(np.float32).max).any():
            raise _not_a_number(table, name, texts, values, empty)
        kept = values[~empty]
        values[empty] = kept.mean() if fill == "mean" and len(kept) else 0.0
        parts.append(values[:, None])
    return np.concatenate(parts, axis=1), encoded


def _check_categories(table: Table, name: str, texts: np.ndarray, empty: np.ndarray) -> None:
    """Refuse to take any column of texts for categories: it may hold names, or numbers written with a comma."""
    some = sorted(set(texts[~empty]))
    if all(text.replace(",", "", 1).lstrip("+-").isdigit() for text in some):
        raise table.error(~empty, f"column {name!r} holds {some[0]!r}; write numbers with a point, as 1.5")
    if len(some) > MOST_CATEGORIES:
        raise table.error(
            ~empty,
            f"column {name!r} holds {len(some)} different texts, such as {some[0]!r}. Leave it out with "
            f"`exclude: [{name}]`, or, if these are categories, write `categories: [{name}]`",
        )


def _not_a_number(table: Table, name: str, texts: np.ndarray, values: np.ndarray, empty: np.ndarray) -> DataError:
    unread = np.isnan(values) & ~empty
    if unread.any():
        return table.error(
            unread,
            f"column {name!r} holds {texts[unread][0]!r}, which is not a number. Correct it, declare what means an "
            f"empty cell with `missing: [{texts[unread][0]}]`, or write `categories: [{name}]`",
        )
    with np.errstate(invalid="ignore"):
        wrong = (np.abs(values) > np.finfo(np.float32).max) & ~empty
    return table.error(
        wrong,
        f"column {name!r} is {texts[wrong][0]}, which is infinite or too large. `exclude: [{name}]` leaves it out",
    )


def _listed(values: Sequence[Value]) -> str:
    return ", ".join(map(str, values)) or "(none declared)"
