"""Make the graph of a table of nodes and pairs of its rows, by the roles that its columns have (`roles.py`).

Each check is one sentence: the file, the column and its cell, what was expected, the first row and how many others.
"""

import itertools
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fairgat.data.edges import Edges, largest_component, listing
from fairgat.data.graph import UNLABELLED, Graph, distinct, symmetrise
from fairgat.data.roles import MOST_GROUPS, REST, Roles
from fairgat.data.source import scaled
from fairgat.data.table import Coded, Table, coded, describe, empty, folded, ordered, to_numbers
from fairgat.errors import DataError

_LARGEST = float(np.finfo(np.float32).max)


def assemble(roles: Roles, nodes: Table, edges: Edges, x: np.ndarray | None = None) -> Graph:
    """Make the graph.

    Args:
        roles: what the columns of the nodes are.
        nodes: a row for each node.
        edges: between these rows.
        x: (N, F) features that are no columns; then only columns that `roles.features` names are features beside them.

    Raises:
        DataError: a column, a cell or an edge is not what `roles` says; it names the file and the row.
    """
    groups, named = _groups(nodes, roles)
    labels = _labels(nodes, roles)
    edge_index = symmetrise(edges.pairs.T, len(nodes.frame))
    kept = _kept(roles, groups, labels, edge_index)
    numbers, sensitive = np.unique(groups[kept], return_inverse=True)
    if not 2 <= len(numbers) <= MOST_GROUPS:
        titles = "; ".join(_title(named[number]) for number in numbers[:MOST_GROUPS])
        raise DataError(
            f"{nodes.where}: {len(numbers)} groups are left ({titles}), and there should be 2 to {MOST_GROUPS}: merge "
            "values by `groups`, or cut numbers by `bins`"
        )
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
        made[:, names.index("constant")] = 1
    arrays = (labels.astype(np.int64), sensitive.astype(np.int64), edge_index)
    return Graph(made, *arrays, tuple(named[number] for number in numbers), facts | {"feature_names": names})


# ------------------------------------------------------------------------------------------- groups and labels


def _groups(nodes: Table, roles: Roles) -> tuple[np.ndarray, dict[int, dict[str, str]]]:
    """Number each node's group, (N,), -1 for one that may be left out; and give each group's values by attribute."""
    number, known = np.zeros(len(nodes.frame), dtype=np.int64), np.ones(len(nodes.frame), dtype=bool)
    titles: list[list[str]] = []
    for name in roles.sensitive:
        values, names = _cut(nodes, name, roles.bins) if roles.bins else _values(nodes, name, roles)
        if "unknown_groups" not in roles.drop:
            what = "which is none of `groups`" if roles.groups else "and should name a group"
            listed = "" if roles.bins else "list it in `groups`, "
            nodes.refuse(
                values < 0, f"{what}: correct it, {listed}or leave such nodes out by `drop: [unknown_groups]`", name
            )
        number, known = number * len(names) + values, known & (values >= 0)
        titles.append(names)
    occurring = distinct(number[known].copy())
    places = zip(*np.unravel_index(occurring, [len(names) for names in titles]), strict=True) if len(occurring) else ()
    named = {
        int(group): {name: titles[k][place[k]] for k, name in enumerate(roles.sensitive)}
        for group, place in zip(occurring, places, strict=True)
    }
    return np.where(known, number, -1), named


def _values(nodes: Table, name: str, roles: Roles) -> tuple[np.ndarray, list[str]]:
    """Number each node's value of an attribute, and name the values."""
    column = coded(nodes.column(name))
    groups = roles.groups or {value: (value,) for value in ordered(column.said)}
    numbers = {value: number for number, values in enumerate(groups.values()) for value in values}
    others_are_left_out = roles.groups and REST not in numbers and "unknown_groups" in roles.drop
    if not others_are_left_out:
        _check_spelling(nodes, name, column, numbers if roles.groups else {}, "groups")
    return column.map(numbers, -1), list(groups)


def _cut(nodes: Table, name: str, bins: tuple[float, ...]) -> tuple[np.ndarray, list[str]]:
    """Number the interval of each node's number, and name the intervals."""
    column = nodes.column(name)
    numbers = to_numbers(column)
    nodes.refuse(np.isnan(numbers) & ~empty(column), "which is no number, and has `bins`", name)
    ends = [f"{end:g}" for end in bins]
    middle = [f"{low} to below {high}" for low, high in itertools.pairwise(ends)]
    names = [f"below {ends[0]}", *middle, f"{ends[-1]} and above"]
    return np.where(np.isnan(numbers), -1, np.digitize(numbers, bins)), names


def _labels(nodes: Table, roles: Roles) -> np.ndarray | None:
    """Give each node's label, (N,), 0, 1 or UNLABELLED; None where there is no column of them."""
    if roles.label is None:
        return None
    column, unknown = coded(nodes.column(roles.label)), -2
    numbers = {value: label for label, values in roles.label_values().items() for value in values}
    if REST in numbers:
        _check_spelling(nodes, roles.label, column, numbers, "positive` and `negative")
    labels = column.map(numbers, unknown)
    nodes.refuse(labels == unknown, "which is none of `positive`, `negative` and `unlabelled`", roles.label)
    return labels


def _check_spelling(nodes: Table, name: str, column: Coded, declared: Mapping[str, int], key: str) -> None:
    """Refuse a text that is another one but for case, blanks around it, or the way a number is written."""
    spellings = {folded(value): value for value in declared}
    for value in sorted(set(column.values) - {""} - declared.keys()):
        other = spellings.setdefault(folded(value), value)
        if other != value:
            what = f"which is {other!r} elsewhere: write one of them, or list both in `{key}`"
            nodes.refuse(column.codes == column.values.index(value), what, name)


def _kept(roles: Roles, groups: np.ndarray, labels: np.ndarray | None, edge_index: np.ndarray) -> np.ndarray:
    """Say of each node, (N,) bool, whether it is in the graph."""
    kept = groups >= 0
    if roles.labelled_only and labels is not None:
        kept &= labels != UNLABELLED
    return largest_component(edge_index, kept) if roles.largest_component and kept.any() else kept


# ---------------------------------------------------------------------------------------------------- features


def _features(nodes: Table, roles: Roles, x: np.ndarray | None, edge_index: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Name the features, and give them as (N, F) float64."""
    names = [] if x is None else [f"x[{place}]" for place in range(x.shape[1])]
    parts: list[np.ndarray] = [] if x is None else [x]
    for name in feature_columns(nodes, roles, x is not None):
        if name in roles.categories:
            values, flags = _category(nodes, name, roles)
            names += [f"{name}={value}" for value in values]
            parts.append(flags)
        else:
            names.append(name)
            parts.append(_number(nodes, name, roles)[:, None])
    names += roles.graph_features
    parts += _of_graph(roles, edge_index, len(nodes.frame))
    if not names:
        raise DataError(f"{nodes.where}: no column is left as a feature; `graph_features: [degree]` makes one")
    made = np.concatenate(parts, axis=1, dtype=np.float64)
    for name, column in zip(names, made.T, strict=True):
        nodes.refuse(~(np.abs(column) <= _LARGEST), f"feature {name!r} should be a number below 1e38")
        if roles.scaling == "row":
            nodes.refuse(column < 0, f"feature {name!r} is negative, and `scaling: row` divides by a row's sum")
    return names, made


def _of_graph(roles: Roles, edge_index: np.ndarray, num_nodes: int) -> list[np.ndarray]:
    """Give the features made of the graph, (N, 1) each."""
    degree = np.bincount(edge_index[0], minlength=num_nodes)
    made = {"degree": degree, "constant": np.ones_like(degree)}
    return [made[kind][:, None] for kind in roles.graph_features]


def feature_columns(nodes: Table, roles: Roles, beside_x: bool = False) -> list[str]:
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
    column = nodes.column(name)
    numbers, missing = to_numbers(column), empty(column)
    nodes.refuse(
        np.isnan(numbers) & ~missing, "which is no number: list the column in `categories`, or in `exclude`", name
    )
    if not roles.fill:
        nodes.refuse(missing, "and is a feature: `fill: mean` or `fill: zero` says what takes its place", name)
    if missing.any():
        numbers[missing] = 0.0 if roles.fill == "zero" or missing.all() else numbers[~missing].mean()
    return numbers


def _category(nodes: Table, name: str, roles: Roles) -> tuple[list[str], np.ndarray]:
    """Give the values that occur, and (N, K) bool, which of them each node has."""
    column = coded(nodes.column(name))
    values = ordered(filter(None, column.values))
    places = column.map({value: place for place, value in enumerate(values)}, -1)
    if not roles.fill:
        nodes.refuse(places < 0, "and is a feature: with `fill: zero` it is none of the categories", name)
    return values, places[:, None] == np.arange(len(values))


def _check_not_again(
    nodes: Table, roles: Roles, names: list[str], made: np.ndarray, sensitive: np.ndarray, labels: np.ndarray
) -> None:
    """Refuse a feature that is the label or a group again, or a flag of one: it is the same for all of each value."""
    targets = {"the groups": sensitive, f"{roles.label!r}": labels if roles.label else sensitive}
    targets |= {repr(name): coded(nodes.column(name)).codes for name in roles.sensitive}
    for what, values in targets.items():
        known = np.flatnonzero(values != UNLABELLED) if what == repr(roles.label) else np.arange(len(values))
        order = known[np.argsort(values[known], kind="stable")]
        starts = np.flatnonzero(np.diff(values[order], prepend=-2))
        if len(starts) < 2 or len(starts) > len(order) / 2:
            continue
        for place, name in enumerate(names):
            column = made[order, place]
            low, high = np.minimum.reduceat(column, starts), np.maximum.reduceat(column, starts)
            if (low == high).all() and low.min() < high.max():
                raise DataError(
                    f"{nodes.where}: feature {name!r} is {what} in other words: list its column in `exclude`, or all "
                    "features in `features`"
                )


# ---------------------------------------------------------------------------------------------- what is shown


def _described(nodes: Table, roles: Roles, beside_x: bool) -> dict[str, str]:
    """Say what each column was taken for, with its range or its values."""
    named, features = roles.roles(), feature_columns(nodes, roles, beside_x)
    taken = {name: named.get(name, "not used") for name in nodes.frame}
    taken |= dict.fromkeys(features, "feature") | dict.fromkeys(roles.categories, "categories")
    described = {name: f"{role}: {describe(nodes.frame[name])}" for name, role in taken.items()}
    return {"x": "features"} | described if beside_x else described


def _title(values: Mapping[str, str]) -> str:
    return ", ".join(f"{attribute}={value}" for attribute, value in values.items())
