"""Make the graph of a table of nodes and pairs of its rows, by the roles that its columns have (`roles.py`).

Each check is one sentence: the file, the column and its cell, what was expected, the first row and how many others.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairgat.data.edges import Edges, largest_component, listing
from fairgat.data.graph import UNLABELLED, Graph, symmetrise
from fairgat.data.roles import MOST_GROUPS, REST, Roles
from fairgat.data.source import scaled
from fairgat.data.table import Table, describe, empty, folded, mapped, ordered
from fairgat.errors import DataError
from fairgat.groups import missing

if TYPE_CHECKING:
    import pandas as pd

_NO_LABEL = 'which is none of `positive`, `negative` and `unlabelled`: list it in one of them, an empty cell as ""'
_LARGEST = float(np.finfo(np.float32).max)


def assemble(
    roles: Roles, nodes: Table, edges: Edges, x: np.ndarray | None = None
) -> Graph:
    """Make the graph.

    Args:
        roles: what the columns of the nodes are.
        nodes: a row for each node.
        edges: between these rows.
        x: (N, F) features that are no columns; then only columns that `roles.features` names are features beside them.

    Raises:
        DataError: a column, a cell or an edge is not what `roles` says; it names the file and the row.
    """
    nodes = replace(nodes, asked=options_of(roles))
    groups, named = _groups(nodes, roles)
    labels = _labels(nodes, roles)
    edge_index = symmetrise(edges.pairs.T, len(nodes.frame))
    kept = _kept(roles, groups, labels, edge_index)
    numbers, sensitive = np.unique(groups[kept], return_inverse=True)
    left = tuple(named[number] for number in numbers)
    _check_count(nodes, left)
    facts = {
        "columns": _described(nodes, roles, x is not None),
        **edges.facts,
        "left_out_nodes": int((~kept).sum()),
        **listing(edges.pairs, np.where(kept, groups, -1), edge_index.shape[1] // 2),
    }
    if not kept.all():
        nodes = replace(nodes, frame=nodes.frame[kept])
        edge_index = (np.cumsum(kept) - 1)[edge_index[:, kept[edge_index].all(axis=0)]]
        x = None if x is None else x[kept]
    if not edge_index.size:
        raise DataError(f"{edges.where}: no edge joins two nodes that are left")
    names, made = _features(nodes, roles, x, edge_index)
    labels = sensitive if labels is None else labels[kept]
    _check_not_again(nodes, roles, names, made, sensitive, labels)
    made = scaled(made, roles.scaling)
    if "constant" in roles.graph_features:  # which scaling would make 0
        made[:, roles.graph_features.index("constant") - len(roles.graph_features)] = 1
    return Graph(
        made, labels, sensitive, edge_index, left, facts | {"feature_names": names}
    )


def options_of(roles: Roles) -> dict[str, str]:
    """Give the option that names each column, for messages."""
    return roles.roles() | dict.fromkeys(roles.categories, "categories")


# ------------------------------------------------------------------------------------------- groups and labels


def _groups(nodes: Table, roles: Roles) -> tuple[np.ndarray, list[dict[str, str]]]:
    """Number each node's group, (N,), -1 for one that may be left out; and give each group's values by attribute."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            name: _cut(nodes, name, roles.bins)
            if roles.bins
            else _values(nodes, name, roles)
            for name in roles.sensitive
        }
    )
    if "unknown_groups" not in roles.drop:
        expected = (
            "which is none of `groups`" if roles.groups else "and should name a group"
        )
        listed = (
            "" if roles.bins or len(roles.sensitive) > 1 else ", list it in `groups`"
        )
        what = f"{expected}: correct it{listed}"
        for name in roles.sensitive:
            nodes.refuse(
                frame[name].isna(),
                f"{what}, or leave such nodes out by `drop: [unknown_groups]`",
                name,
            )
    grouped = frame.groupby(list(roles.sensitive), observed=True)
    named = (
        grouped.size()
        .reset_index()[list(roles.sensitive)]
        .astype(str)
        .to_dict("records")
    )
    return grouped.ngroup().fillna(-1).to_numpy(np.int64), named


def _values(nodes: Table, name: str, roles: Roles) -> "pd.Categorical":
    """Give each node's value of an attribute, as it is or merged; empty where it is none of the groups."""
    import pandas as pd

    texts = nodes.texts(name)
    different = texts.unique()
    groups = roles.groups or {
        value: (value,) for value in ordered(different[~missing(different)])
    }
    names = {value: group for group, values in groups.items() for value in values}
    _check_spelling(nodes, name, names if roles.groups else {}, "groups")
    return pd.Categorical(mapped(texts, names, None), categories=list(groups))


def _cut(nodes: Table, name: str, bins: tuple[float, ...]) -> "pd.Categorical":
    """Give the interval of each node's number; missing where the cell is not a number."""
    import pandas as pd

    numbers = nodes.numbers(name)
    nodes.refuse(
        np.isnan(numbers) & ~empty(nodes.column(name)),
        "which is not a number, and has `bins`",
        name,
    )
    ends = [f"{end:.15g}" for end in bins]
    middle = [f"{low} to below {high}" for low, high in itertools.pairwise(ends)]
    names = [f"below {ends[0]}", *middle, f"{ends[-1]} and above"]
    return pd.Categorical.from_codes(
        np.where(np.isnan(numbers), -1, np.digitize(numbers, bins)), names
    )


def _labels(nodes: Table, roles: Roles) -> np.ndarray | None:
    """Give each node's label, (N,), 0, 1 or UNLABELLED; None where there is no column of them."""
    if roles.label is None:
        return None
    numbers = {
        value: label
        for label, values in roles.label_values().items()
        for value in values
    }
    if REST in numbers:
        _check_spelling(nodes, roles.label, numbers, "positive` and `negative")
    unknown = -2
    labels = mapped(nodes.texts(roles.label), numbers, unknown).to_numpy(np.int64)
    nodes.refuse(labels == unknown, _NO_LABEL, roles.label)
    return labels


def _check_spelling(
    nodes: Table, name: str, declared: Mapping[str, object], key: str
) -> None:
    """Refuse a text that is a declared one, or another where none is, but for case, blanks or the form of a number."""
    texts = nodes.texts(name)
    values = set(texts.unique()) - {""}
    spellings = {
        folded(value): value for value in sorted(declared or values, reverse=True)
    }
    for value in sorted(values - declared.keys()):
        other = spellings.get(folded(value), value)
        if other != value:
            what = f"which is {other!r} elsewhere: write one of them, or list both in `{key}`"
            nodes.refuse(texts == value, what, name)


def _kept(
    roles: Roles, groups: np.ndarray, labels: np.ndarray | None, edge_index: np.ndarray
) -> np.ndarray:
    """Say of each node, (N,) bool, whether it is in the graph."""
    kept = groups >= 0
    if roles.labelled_only and labels is not None:
        kept &= labels != UNLABELLED
    return (
        largest_component(edge_index, kept)
        if roles.largest_component and kept.any()
        else kept
    )


def _check_count(nodes: Table, groups: tuple[Mapping[str, str], ...]) -> None:
    if not 2 <= len(groups) <= MOST_GROUPS:
        values = [
            ", ".join(f"{attribute}={value}" for attribute, value in group.items())
            for group in groups
        ]
        raise DataError(
            f"{nodes.where}: {len(groups)} groups are left ({'; '.join(values[:MOST_GROUPS])}), and there should be 2 "
            f"to {MOST_GROUPS}: merge values by `groups`, or cut numbers by `bins`"
        )


# ---------------------------------------------------------------------------------------------------- features


def _features(
    nodes: Table, roles: Roles, x: np.ndarray | None, edge_index: np.ndarray
) -> tuple[list[str], np.ndarray]:
    """Name the features, and give them as (N, F) float64."""
    named = [*_columns(nodes, roles, x, edge_index)]
    if not named:
        raise DataError(
            f"{nodes.where}: no column is left as a feature; `graph_features: [degree]` makes one"
        )
    for name, column in named:
        nodes.refuse(
            ~(np.abs(column) <= _LARGEST),
            f"feature {name!r} should be a number below 1e38",
        )
    return [name for name, _ in named], np.stack(
        [column for _, column in named], axis=1, dtype=np.float64
    )


def _columns(
    nodes: Table, roles: Roles, x: np.ndarray | None, edge_index: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Give each feature's name and values, (N,)."""
    if x is not None:
        yield from ((f"x[{place}]", column) for place, column in enumerate(x.T))
    for name in feature_columns(nodes, roles, x is not None):
        if name in roles.categories:
            yield from _flags(nodes, name, roles)
        else:
            yield name, _number(nodes, name, roles)
    degree = np.bincount(edge_index[0], minlength=len(nodes.frame))
    for name in roles.graph_features:
        yield name, degree if name == "degree" else np.ones_like(degree)


def feature_columns(nodes: Table, roles: Roles, beside_x: bool) -> list[str]:
    """List the columns that are features."""
    for name in (*roles.exclude, *(roles.features or ()), *roles.categories):
        nodes.column(name)
    if roles.features is not None or beside_x:
        names = list(roles.features or ())
    else:
        others = {role for role, kind in roles.roles().items() if kind != "features"}
        names = [name for name in nodes.frame if name not in others]
    return list(dict.fromkeys([*names, *roles.categories]))


def _number(nodes: Table, name: str, roles: Roles) -> np.ndarray:
    """Give each node's number, (N,) float64."""
    numbers = nodes.numbers(name)
    if not (lacking := np.isnan(numbers)).any():
        return numbers
    none = lacking & ~empty(nodes.column(name))
    nodes.refuse(
        none,
        "which is not a number: list the column in `categories`, or in `exclude`",
        name,
    )
    if not roles.fill:
        nodes.refuse(
            lacking,
            "and is a feature: `fill: mean` or `fill: zero` says what takes its place",
            name,
        )
    numbers[lacking] = (
        0.0 if roles.fill == "zero" or lacking.all() else numbers[~lacking].mean()
    )
    return numbers


def _flags(nodes: Table, name: str, roles: Roles) -> Iterator[tuple[str, np.ndarray]]:
    """Give for each value that occurs which nodes have it."""
    texts = nodes.texts(name)
    if not roles.fill:
        nodes.refuse(
            texts == "",
            "and is a feature: with `fill: zero` it is none of the categories",
            name,
        )
    values = ordered(set(texts.unique()) - {""})
    places = mapped(
        texts, {value: place for place, value in enumerate(values)}, -1
    ).to_numpy()
    yield from (
        (f"{name}={value}", places == place) for place, value in enumerate(values)
    )


def _check_not_again(
    nodes: Table,
    roles: Roles,
    names: list[str],
    made: np.ndarray,
    sensitive: np.ndarray,
    labels: np.ndarray,
) -> None:
    """Refuse a feature that is the label or a group again, or a flag of one: it is the same for all of each value."""
    import pandas as pd

    targets = {"the groups": sensitive, repr(roles.label): labels}
    targets |= {
        repr(name): pd.factorize(nodes.texts(name))[0] for name in roles.sensitive
    }
    features = pd.DataFrame(made)
    for what, values in targets.items():
        known = values != UNLABELLED
        by_value = features[known].groupby(values[known])
        low, high = by_value.min(), by_value.max()
        again = ((low == high).all() & (low.min() < high.max())).to_numpy()
        if 2 <= len(low) <= known.sum() / 2 and again.any():
            raise DataError(
                f"{nodes.where}: feature {names[again.argmax()]!r} is {what} in other words: list its column in "
                "`exclude`, or all features in `features`"
            )


# ---------------------------------------------------------------------------------------------- what is shown


def _described(nodes: Table, roles: Roles, beside_x: bool) -> dict[str, str]:
    """Say what each column was taken for, with its range or its values."""
    taken = {name: roles.roles().get(name, "not used") for name in nodes.frame}
    taken |= dict.fromkeys(feature_columns(nodes, roles, beside_x), "feature")
    taken |= dict.fromkeys(roles.categories, "categories")
    described = {
        name: f"{role}: {describe(nodes.frame[name])}" for name, role in taken.items()
    }
    return {"x": "features"} | described if beside_x else described
