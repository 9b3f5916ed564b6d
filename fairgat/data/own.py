"""Make the graph of a table of nodes and pairs of its rows.

It is made by the roles that the table's columns have (`roles.py`). What is not as it is
declared is a sentence each: the file, the column and its cell, what was expected, the
first row and how many others; all of them are one error.
"""

import difflib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fairgat.data.columns import Columns, Feature, values
from fairgat.data.edges import Edges, largest_component, listing
from fairgat.data.graph import UNLABELLED, Graph, symmetrise
from fairgat.data.roles import MOST_GROUPS, REST, Roles
from fairgat.data.table import (
    NO_NUMBER,
    Table,
    describe,
    empty,
    folded,
    mapped,
    noting,
    ordered,
    told,
)
from fairgat.groups import missing

if TYPE_CHECKING:
    import pandas as pd

_LARGEST = float(np.finfo(np.float32).max)
_FEW = 12  # categories that may have a row each
_NEARLY_ALL = 0.9
LEFT_OUT_NODES = "left_out_nodes"
"""Why an edge is left out, beside what `drop` names: one of its nodes is."""
NO_LABEL = (
    "which is none of `positive`, `negative` and `unlabelled`: list it in one of them, "
    'an empty cell as ""'
)
Key = TypeVar("Key")


def assemble(roles: Roles, nodes: Table, edges: Edges) -> Graph:
    """Make the graph of a table of nodes and of edges between its rows.

    Args:
        roles: what the columns of the nodes are.
        nodes: a row for each node.
        edges: between these rows.

    Raises:
        DataError: all columns, cells and edges that are not what `roles` says.
    """
    nodes = replace(nodes, asked=options_of(roles))
    for name in nodes.asked:
        with noting(nodes.wrong):
            nodes.column(name)

    groups, values_of = _groups(nodes, roles)
    labels = _labels(nodes, roles)
    edge_index = symmetrise(edges.pairs.T, len(nodes.frame))
    kept = _kept(roles, groups, labels, edge_index)
    numbers, sensitive = np.unique(groups[kept], return_inverse=True)
    left = tuple(values_of[number] for number in numbers)
    facts = {
        "columns": _described(nodes, roles),
        **edges.facts,
        "left_out_nodes": int((~kept).sum()),
        **listing(edges.pairs, np.where(kept, groups, -1), edge_index.shape[1] // 2),
    }
    whole = edge_index
    edge_index = between(kept, whole)
    of_left_out = (whole.shape[1] - edge_index.shape[1]) // 2  # in both directions
    if of_left_out:
        left_out_rows = facts.get("left_out_rows", {})
        facts["left_out_rows"] = {**left_out_rows, LEFT_OUT_NODES: of_left_out}

    inside = replace(nodes, frame=nodes.frame[kept])
    labels = sensitive if labels is None else labels[kept]
    _check_count(inside, left)
    if not (edge_index.size or nodes.wrong or edges.wrong):
        edges.wrong.append(f"{edges.where}: no edge joins two nodes that are left")
    columns, features = _features(inside, roles, edge_index)
    _check_not_again(inside, roles, columns, features, sensitive, labels)
    if nodes.wrong or edges.wrong:
        raise told([*nodes.wrong, *edges.wrong])

    left_out = np.flatnonzero(~kept).tolist()
    columns = columns.model_copy(update={"groups": left, "left_out": tuple(left_out)})
    facts["feature_names"] = [feature.name for feature in columns.features]
    return Graph(
        columns.scaled(features), labels, sensitive, edge_index, left, facts, columns
    )


def options_of(roles: Roles) -> dict[str, str]:
    """Give the option that names each column, for messages."""
    return roles.roles() | dict.fromkeys(roles.categories, "categories")


def _kept(
    roles: Roles,
    groups: np.ndarray,
    labels: np.ndarray | None,
    edge_index: np.ndarray,
) -> np.ndarray:
    """Say of each node, (N,) bool, whether it is in the graph."""
    kept = groups >= 0
    if roles.labelled_only and labels is not None:
        kept &= labels != UNLABELLED
    if roles.largest_component and kept.any():
        kept = largest_component(edge_index, kept)
    return kept


def between(kept: np.ndarray, edge_index: np.ndarray) -> np.ndarray:
    """Give the edges between nodes that are kept, by the nodes' new numbers."""
    if kept.all():
        return edge_index
    both_kept = kept[edge_index].all(axis=0)
    new_number = np.cumsum(kept) - 1
    return new_number[edge_index[:, both_kept]]


# ------------------------------------------------------------------ groups and labels


def _groups(nodes: Table, roles: Roles) -> tuple[np.ndarray, list[dict[str, str]]]:
    """Number the groups.

    Returns:
        Each node's group, (N,), -1 for one that may be left out; and each group's
        values by attribute. Where an attribute is not there, all are one group.
    """
    import pandas as pd

    attributes = {}
    for name in _there(nodes, roles.sensitive):
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
    misspelt = _check_spelling(nodes, name, group_of, "groups")
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


def _labels(nodes: Table, roles: Roles) -> np.ndarray | None:
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
    misspelt = _check_spelling(nodes, roles.label, label_of, key)
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


def _check_spelling(
    nodes: Table, name: str, declared: Mapping[str, object], key: str
) -> list[str]:
    """Refuse texts that differ from another one in spelling only, and list them.

    That is case or the form of a number. The other one is declared, or any where none
    is, and occurs.
    """
    texts = nodes.texts(name)
    occurring = set(texts.unique()) - {""}
    known = occurring
    if declared:
        known = occurring & declared.keys()
    spellings = {folded(value): value for value in sorted(known, reverse=True)}

    misspelt = []
    for value in sorted(occurring - declared.keys()):
        other = spellings.get(folded(value), value)
        if other == value:
            continue
        misspelt.append(value)
        what = (
            f"which is {other!r} elsewhere: write one of them, or list both in `{key}`"
        )
        nodes.refuse(texts == value, what, name)
    return misspelt


def _check_count(nodes: Table, groups: tuple[Mapping[str, str], ...]) -> None:
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


# --------------------------------------------------------------------------- features


def _features(
    nodes: Table, roles: Roles, edge_index: np.ndarray
) -> tuple[Columns, np.ndarray]:
    """Decide on the features, and give them as (N, F) float64, not yet scaled."""
    features: list[Feature] = []
    for name in feature_columns(nodes, roles):
        if name in roles.categories:
            features += _categories(nodes, name, roles)
        else:
            features.append(number(nodes, name, roles))
    features += [Feature(name=name, kind=name) for name in roles.graph_features]
    if not features:
        nodes.wrong.append(
            f"{nodes.where}: no column is left as a feature; "
            "`graph_features: [degree]` makes one"
        )

    degree = np.bincount(edge_index[0], minlength=len(nodes.frame))
    made = values(features, nodes, degree)
    for feature, column in zip(features, made.T, strict=True):
        too_large = np.abs(column) > _LARGEST
        what = f"feature {feature.name!r} should be a number below 1e38"
        nodes.refuse(too_large, what)
    return _with_extremes(features, made, roles), made


def _with_extremes(features: list[Feature], made: np.ndarray, roles: Roles) -> Columns:
    """Note the extremes by which features are scaled."""
    known = []
    for feature, column in zip(features, made.T, strict=True):
        extremes: dict[str, Any] = {}
        if np.isfinite(column).all() and len(column):
            extremes = {"low": float(column.min()), "high": float(column.max())}
        known.append(feature.model_copy(update=extremes))
    return Columns(scaling=roles.scaling, features=tuple(known))


def feature_columns(nodes: Table, roles: Roles) -> list[str]:
    """List the columns that are features."""
    features = list(roles.features or ())
    if roles.features is None:
        taken = {name for name, role in roles.roles().items() if role != "features"}
        features = [name for name in nodes.frame if name not in taken]
    return _there(nodes, dict.fromkeys([*features, *roles.categories]))


def _there(nodes: Table, names: Iterable[str]) -> list[str]:
    """Leave out columns that the table lacks, which is noted."""
    return [name for name in names if name in nodes.frame]


def number(nodes: Table, name: str, roles: Roles) -> Feature:
    """Make a feature of a column of numbers."""
    numbers = nodes.numbers(name)
    lacking = np.isnan(numbers)
    nothing = lacking & empty(nodes.column(name))
    nodes.refuse_unreadable(lacking & ~nothing, name, NO_NUMBER)
    if not roles.fill:
        what = (
            "and is a feature: `fill: mean` or `fill: zero` says what takes its place"
        )
        nodes.refuse(nothing, what, name)

    filling = None
    if roles.fill:
        filling = 0.0
    if roles.fill == "mean" and not lacking.all():
        filling = float(numbers[~lacking].mean())
    return Feature(name=name, kind="number", column=name, filling=filling)


def _categories(nodes: Table, name: str, roles: Roles) -> Iterator[Feature]:
    """Make a feature of each value that occurs."""
    check_filled(nodes, name, roles)
    texts = nodes.texts(name)
    different = ordered(set(texts.unique()) - {""})
    rows = int((texts != "").sum())
    if _hardly_any_alike(different, rows):
        nodes.wrong.append(
            f"{nodes.where}: column {name!r} has {len(different)} categories in "
            f"{rows} rows, as {', '.join(different[:3])}: if these are numbers as "
            "23,900, take it out of `categories`, and `read: {thousands: ','}` reads "
            "them; if not, list it in `exclude`"
        )
        return
    for value in different:
        yield Feature(name=f"{name}={value}", kind="category", column=name, value=value)


def check_filled(nodes: Table, name: str, roles: Roles) -> None:
    """Refuse an empty cell of categories, unless one stands for none of them."""
    if not roles.fill:
        what = (
            "and is a feature: with `fill: zero` or `fill: mean` it is none of the "
            "categories"
        )
        nodes.refuse(nodes.texts(name) == "", what, name)


def _hardly_any_alike(categories: list[str], rows: int) -> bool:
    """Say whether nearly every row has its own category, or all are amounts."""
    if len(categories) <= _FEW:
        return False
    amounts = [each for each in categories if re.fullmatch(r"[\d.,]+", each)]
    with_marks = any("," in each for each in amounts)
    if len(amounts) == len(categories) and with_marks:
        return True
    return len(categories) > _NEARLY_ALL * rows


def _check_not_again(
    nodes: Table,
    roles: Roles,
    columns: Columns,
    features: np.ndarray,
    sensitive: np.ndarray,
    labels: np.ndarray,
) -> None:
    """Refuse a column whose feature repeats the label or a group, or flags one.

    It is the same for all nodes of each value.
    """
    import pandas as pd

    targets = {"the groups": sensitive, repr(roles.label): labels}
    for name in _there(nodes, roles.sensitive):
        codes, _ = pd.factorize(nodes.texts(name))
        targets[repr(name)] = codes

    frame = pd.DataFrame(features)
    found: dict[str | None, str] = {}
    for target, codes in targets.items():
        known = codes != UNLABELLED
        by_value = frame[known].groupby(codes[known])
        low = by_value.min()
        high = by_value.max()
        if not 2 <= len(low) <= known.sum() / 2:
            continue
        one_for_each = (low == high).all()
        differs = low.min() < high.max()
        for place in np.flatnonzero(one_for_each & differs):
            feature = columns.features[place]
            what = f"feature {feature.name!r} is {target} in other words"
            found.setdefault(feature.column, what)
    for what in found.values():
        nodes.wrong.append(
            f"{nodes.where}: {what}: list its column in `exclude`, or all features in "
            "`features`"
        )


# ---------------------------------------------------------------------- what is shown


def _described(nodes: Table, roles: Roles) -> dict[str, str]:
    """Say what each column was taken for, with its range or its values."""
    declared = roles.roles()
    role_of = {name: declared.get(name, "not used") for name in nodes.frame}
    role_of |= dict.fromkeys(feature_columns(nodes, roles), "feature")
    role_of |= dict.fromkeys(_there(nodes, roles.categories), "categories")
    described = {}
    for name, role in role_of.items():
        described[name] = f"{role}: {describe(nodes.frame[name])}"
        if role == "categories" and empty(nodes.frame[name]).any():
            described[name] += ", which are none of these"
    return described
