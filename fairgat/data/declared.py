"""The groups and labels of a table's rows, by what the roles declare.

A value that is none of those declared, is spelt otherwise, or occurs nowhere is noted.
"""

import difflib
import itertools
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fairgat.data.roles import MOST_GROUPS, REST, Roles
from fairgat.data.table import Table, describe, empty, folded, mapped, ordered
from fairgat.groups import missing

if TYPE_CHECKING:
    import pandas as pd

NO_LABEL = (
    "which is none of `positive`, `negative` and `unlabelled`: list it in one of them, "
    'an empty cell as ""'
)
Key = TypeVar("Key")


def groups_of(nodes: Table, roles: Roles) -> tuple[np.ndarray, list[dict[str, str]]]:
    """Number the groups.

    Returns:
        Each node's group, (N,), -1 for one that may be left out; and each group's
        values by attribute. Where an attribute is not there, all are one group.
    """
    import pandas as pd

    attributes = {}
    for name in nodes.there(roles.sensitive):
        if roles.bins:
            attributes[name] = cut(nodes, name, roles)
        else:
            attributes[name] = _values(nodes, name, roles)
    if not attributes:
        return np.zeros(len(nodes.frame), dtype=np.int64), [{}]

    grouped = pd.DataFrame(attributes).groupby([*attributes], observed=True)
    numbers = grouped.ngroup().fillna(-1).to_numpy(np.int64)
    combinations = grouped.size().reset_index()[[*attributes]]
    return numbers, combinations.astype(str).to_dict("records")


def _values(nodes: Table, name: str, roles: Roles) -> "pd.Categorical":
    """Give each node's value of an attribute, as it is or merged.

    It is empty where it is none of the groups.
    """
    import pandas as pd

    texts = nodes.texts(name)
    group_of = inverted(roles.groups or {})
    groups = list(roles.groups or ())
    misspelt = _check_declared_spelling(nodes, name, group_of, "groups")
    _check_occur(nodes, name, roles, {"groups": group_of})
    if not groups:
        different = texts.unique()
        groups = ordered(different[~missing(different)])
        group_of = {value: value for value in groups}

    grouped = mapped(texts, group_of, None)
    unknown = grouped.isna() & ~texts.isin(misspelt)
    _check_unknown(nodes, name, roles, unknown)
    return pd.Categorical(grouped, categories=groups)


def _check_unknown(
    nodes: Table, name: str, roles: Roles, unknown: "np.ndarray | pd.Series"
) -> None:
    """Refuse nodes, (N,) bool, that are in none of the groups."""
    if "unknown_groups" in roles.drop:
        return
    what = "which is none of `groups`" if roles.groups else "and should name a group"
    what += ": correct it"
    if not roles.bins and len(roles.sensitive) == 1:
        what += ", list it in `groups`"
    what += ", or leave such nodes out by `drop: [unknown_groups]`"
    nodes.refuse(unknown, what, name)


def cut(nodes: Table, name: str, roles: Roles) -> "pd.Categorical":
    """Give the interval of each node's number; missing where the cell is none."""
    import pandas as pd

    bins = roles.bins or ()
    numbers = nodes.numbers(name)
    unknown = np.isnan(numbers)
    nothing = empty(nodes.column(name))
    nodes.refuse_unreadable(unknown & ~nothing, name, "correct it, as it has `bins`")
    _check_unknown(nodes, name, roles, unknown & nothing)

    ends = [f"{end:.15g}" for end in bins]
    middle = [f"{low} to below {high}" for low, high in itertools.pairwise(ends)]
    names = [f"below {ends[0]}", *middle, f"{ends[-1]} and above"]
    places = np.digitize(numbers, bins)
    return pd.Categorical.from_codes(np.where(unknown, -1, places), names)


def labels_of(nodes: Table, roles: Roles) -> np.ndarray | None:
    """Give each node's label, (N,), 0, 1 or UNLABELLED; None without a column."""
    if roles.label is None or roles.label not in nodes.frame:
        return None
    key = "positive` and `negative"
    label_of = inverted(roles.label_values())
    declared = {
        "positive": roles.positive,
        "negative": roles.negative,
        "unlabelled": roles.unlabelled,
    }
    misspelt = _check_declared_spelling(nodes, roles.label, label_of, key)
    _check_occur(nodes, roles.label, roles, declared)

    unknown = -2
    texts = nodes.texts(roles.label)
    labels = mapped(texts, label_of, unknown).to_numpy(np.int64)
    nodes.refuse((labels == unknown) & ~texts.isin(misspelt), NO_LABEL, roles.label)
    return labels


def inverted(values_of: Mapping[Key, Iterable[str]]) -> dict[str, Key]:
    """Give for each value the key that it is listed under."""
    inverted: dict[str, Key] = {}
    for key, values_of_key in values_of.items():
        for value in values_of_key:
            inverted[value] = key
    return inverted


def _check_occur(
    nodes: Table, name: str, roles: Roles, declared: Mapping[str, Iterable[str]]
) -> None:
    """Refuse a value that is declared and that no cell of its column has.

    Defaults are not declared, and an empty cell may be, whether there is one or not.
    """
    occurring = set(nodes.texts(name).unique())
    for option, expected in declared.items():
        if option not in roles.model_fields_set:
            continue
        for value in expected:
            if value in occurring or value in (REST, ""):
                continue
            hint = f"it has {describe(nodes.frame[name])}"
            close = difflib.get_close_matches(value, occurring, n=1, cutoff=0.5)
            if close:
                hint = f"did you mean {close[0]!r}?"
            nodes.wrong.append(
                f"{nodes.where}: column {name!r} is nowhere {value!r}, which "
                f"`{option}` lists; {hint}"
            )


def _check_declared_spelling(
    nodes: Table, name: str, declared: Mapping[str, object], key: str
) -> list[str]:
    """Refuse texts that differ in spelling only from a declared one that occurs.

    Where none is declared, from any. They are listed.
    """
    known = set(nodes.texts(name).unique())
    if declared:
        known &= declared.keys()
    advice = f"write one of them, or list both in `{key}`"
    return check_spelling(nodes, name, known, declared, advice)


def check_spelling(
    nodes: Table, name: str, known: Iterable[str], good: Container[str], advice: str
) -> list[str]:
    """Refuse texts that differ from a known one in spelling only, and list them.

    That is case or the form of a number.

    Args:
        known: texts; of those that differ in spelling only, the first in order counts.
        good: texts that are right as they are.
        advice: what is to be done.
    """
    texts = nodes.texts(name)
    spellings = {folded(value): value for value in sorted(known, reverse=True)}

    misspelt = []
    for value in sorted(set(texts.unique()) - {""}):
        other = spellings.get(folded(value), value)
        if other == value or value in good:
            continue
        misspelt.append(value)
        what = f"which is {other!r} elsewhere: {advice}"
        nodes.refuse(texts == value, what, name)
    return misspelt


def check_count(nodes: Table, groups: tuple[Mapping[str, str], ...]) -> None:
    """Refuse a single group, and too many."""
    if 2 <= len(groups) <= MOST_GROUPS:
        return
    if nodes.wrong and not any(groups):
        return  # they are none because of what is wrong
    shown = []
    for group in groups[:MOST_GROUPS]:
        parts = [f"{attribute}={value}" for attribute, value in group.items()]
        shown.append(", ".join(parts))
    nodes.wrong.append(
        f"{nodes.where}: {len(groups)} groups are left ({'; '.join(shown)}), and there "
        f"should be 2 to {MOST_GROUPS}: merge values by `groups`, or cut numbers by "
        "`bins`"
    )
