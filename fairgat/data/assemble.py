"""Make a graph of a table of nodes and a list of edges, whatever files they come from."""

import re
from typing import Any

import numpy as np

from fairgat.data import columns
from fairgat.data.edges import EdgeList, induced, largest_component, listing, symmetric
from fairgat.data.graph import UNLABELLED, Graph
from fairgat.data.groups import groups as groups_of
from fairgat.data.options import Columns, paste
from fairgat.data.reading import Table
from fairgat.data.source import scaled
from fairgat.errors import DataError

_ID = re.compile(r"(^|[\W_])[iI][dD]$|[a-z]I[dD]$")  # id, user_id, userId; not paid


def assemble(
    options: Columns,
    table: Table,
    listed: EdgeList,
    features: np.ndarray | None = None,
    labels: np.ndarray | None = None,
) -> Graph:
    """Make the graph of a table of nodes and a list of edges.

    Args:
        options: what the columns are.
        table: of the nodes, a row for each.
        listed: the edges.
        features: (R, F) that are not columns of the table: beside them only columns that the options name are features.
        labels: (R,) where the source made them; else those of the options' column.

    Returns:
        The graph. Its `facts` have how the files were read, and what was left out: `one_hot`, `units` and `filled`
        (see `columns.features`), `left_out_nodes`, `left_out` (how many of each kind), `feature_columns`,
        `constant_features`, and what `listing` counts.

    Raises:
        DataError: naming the file, the line, and what to write instead.
    """
    groups, named = groups_of(table, options)
    if labels is None and options.label is not None:
        labels = columns.labels(table, options)
    edge_index = symmetric(listed, len(groups), options.drop)
    if not edge_index.size:
        raise DataError(
            f"{listed.where}: no edge is left that joins two known nodes. Is `id` another column, or the `separator` "
            "another?"
        )
    kept, left_out = _kept(options, table, groups, labels, edge_index)
    occurring, sensitive = np.unique(groups[kept], return_inverse=True)
    edges = edge_index if kept.all() else induced(edge_index, kept)  # else a copy, for nothing
    known = None if labels is None else labels[kept]
    made, read = _features(options, table, features, kept, edges, (sensitive, known))
    unknown, loops = (int(rows.sum()) for rows in listed.bad.values())
    left_out |= {"edges that name an unknown node": unknown, "edges that join a node to itself": loops}
    return Graph(
        features=made,
        labels=sensitive.astype(np.int64) if known is None else known,
        sensitive=sensitive.astype(np.int64),
        edge_index=edges,
        groups=tuple(named[group] for group in occurring),
        facts={"nodes_read_as": table.form, "edges_read_as": listed.form}
        | {key: value for key, value in read.items() if value or key == "one_hot"}
        | {"left_out_nodes": int((~kept).sum()), "left_out": {key: count for key, count in left_out.items() if count}}
        | listing(listed, np.where(kept, groups, -1), edge_index.shape[1] // 2),
    )


def _kept(
    options: Columns, table: Table, groups: np.ndarray, labels: np.ndarray | None, edge_index: np.ndarray
) -> tuple[np.ndarray, dict[str, int]]:
    """Find the nodes that stay in the graph, (R,) bool, and count the others by the reason."""
    kept = groups >= 0
    left_out = {"nodes of none of the groups": int((~kept).sum())}
    if options.labelled_only and labels is not None:
        left_out["unlabelled nodes"] = int((kept & (labels == UNLABELLED)).sum())
        kept &= labels != UNLABELLED
    if options.largest_component and kept.any():
        component = largest_component(edge_index, kept)
        left_out["nodes outside the largest component"] = int(kept.sum() - component.sum())
        kept = component
    for what, values in (("sensitive attribute", groups), ("label", labels)):
        if values is not None and len(set(np.unique(values[kept]).tolist()) - {UNLABELLED}) < 2:
            raise table.error(f"of the nodes that are left, all have one {what}, or none")
    return kept, left_out


def _features(
    options: Columns,
    table: Table,
    given: np.ndarray | None,
    kept: np.ndarray,
    edges: np.ndarray,
    told: tuple[np.ndarray, np.ndarray | None],
) -> tuple[np.ndarray, dict[str, Any]]:
    """Make the (N, F) float32 features of the nodes that are kept, and say how columns were read.

    `told` are the groups and the labels of these nodes, which no feature should tell.
    """
    names = feature_names(table, options, given is None)
    if not kept.all():  # what is left out must not count in a mean, nor leave a category
        table, given = table.only(kept), given if given is None else given[kept]
    if options.features is None:
        _check_telling(table, names, options, *told)
    made, read = columns.features(table, names, options)
    if given is not None:
        made = np.concatenate([given, made], axis=1)
    if "degree" in options.graph_features:
        made = np.column_stack([made, np.bincount(edges[0], minlength=len(made))])
    made = scaled(made, options.scaling)
    if "constant" in options.graph_features:
        made = np.column_stack([made, np.ones(len(made), np.float32)])
    if not made.shape[1]:
        raise DataError(
            f"{table.where}: no column is left as a feature, and methods need one; see `features`, or make some of the "
            f"graph: {paste('graph_features', ['degree'])}"
        )
    computed = [name for name in ("degree", "constant") if name in options.graph_features]
    every = [None] * (0 if given is None else given.shape[1]) + read.pop("names") + computed
    constant = [every[place] for place in np.flatnonzero(np.ptp(made, axis=0) == 0) if every[place] is not None]
    others = [] if given is None else [f"x ({given.shape[1]} columns)"]
    return made, read | {"feature_columns": [*others, *names, *computed], "constant_features": constant}


def feature_names(table: Table, options: Columns, all_columns: bool = True) -> list[str]:
    """List the columns that are features: those that the options name, or else every other column.

    Args:
        all_columns: whether columns are features where the options name none.
    """
    for name in (*options.exclude, *options.categories):
        table.column(name)
    if options.features is not None:
        return list(options.features)
    if not all_columns:
        return []
    others = {getattr(options, "id", None), options.label, *options.sensitive, *options.exclude}
    skipped = {0} if table.index() is not None else set()  # an index that pandas wrote
    names = [name for number, name in enumerate(table.names) if name not in others and number not in skipped]
    if "" in names:
        number = table.names.index("") + 1
        raise DataError(
            f"{table.where}: column {number} has no name; name it, or write {paste('exclude', [*options.exclude, ''])}"
        )
    return names


def _check_telling(
    table: Table, names: list[str], options: Columns, groups: np.ndarray, labels: np.ndarray | None
) -> None:
    """Ask for columns that hardly are features: ids, and the label or a sensitive attribute in other words."""
    told: list[tuple[str, np.ndarray, Any]]  # who is told, what of each node, of which nodes
    told = [(repr(name), table.column(name).codes, slice(None)) for name in options.sensitive]
    told.append((repr(options.sensitive[0]) if len(options.sensitive) == 1 else "the groups", groups, slice(None)))
    if labels is not None and options.label is not None:
        known = labels != UNLABELLED
        told += [(repr(options.label), values, known) for values in (table.column(options.label).codes, labels)]
    sized = [(role, values[of], of, int(values.max()) + 1) for role, values, of in told]
    roles = [each for each in sized if each[-1] < columns.MOST_CATEGORIES]
    for name in names:
        column, what = table.column(name), None
        if len(column.texts) == len(table) and all(map(str.isdigit, column.texts)):
            in_rows = column.texts[column.codes].tolist()
            if _ID.search(name) or any(in_rows == [*map(str, range(k, k + len(table)))] for k in (0, 1)):
                what = "seems to hold ids"
        for role, values, of, size in roles if len(column.texts) < columns.MOST_CATEGORIES else ():
            if tells(column.codes[of], values, size):
                what = f"says of each node what {role} says, or a part of it"
        if what:
            raise DataError(
                f"{table.where}: column {name!r} {what}, and would be a feature. Leave it out with "
                f"{paste('exclude', [*options.exclude, name])}, or list it in {paste('features', names)}"
            )


def tells(codes: np.ndarray, values: np.ndarray, size: int) -> bool:
    """Say whether a column, by its codes (N,), tells values (N,) below `size`: a copy, a flag of one, or finer."""
    pairs = np.flatnonzero(np.bincount(codes * size + values))
    of_column, of_values = (len(np.unique(side)) for side in np.divmod(pairs, size))
    return of_column > 1 and len(pairs) in (of_column, of_values) and len(pairs) < len(values) / 2
