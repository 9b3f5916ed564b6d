"""Make the graph of a table of nodes and pairs of its rows.

It is made by the roles that the table's columns have (`roles.py`). What is not as it is
declared is a sentence each: the file, the column and its cell, what was expected, the
first row and how many others; all of them are one error.
"""

from dataclasses import replace

import numpy as np

from fairgat.data.declared import check_count, groups_of, labels_of
from fairgat.data.edges import Edges, largest_component, listing
from fairgat.data.features import check_not_again, feature_columns, features_of
from fairgat.data.graph import UNLABELLED, Graph, symmetrise
from fairgat.data.roles import Roles
from fairgat.data.table import Table, describe, empty, noting, told

LEFT_OUT_NODES = "left_out_nodes"
"""Why an edge is left out, beside what `drop` names: one of its nodes is."""


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

    groups, values_of = groups_of(nodes, roles)
    labels = labels_of(nodes, roles)
    all_edges = symmetrise(edges.pairs.T, len(nodes.frame))
    kept = _kept(roles, groups, labels, all_edges)
    edge_index = between(kept, all_edges)
    facts = {
        "columns": _described(nodes, roles),
        **edges.facts,
        "left_out_nodes": int((~kept).sum()),
        **listing(edges.pairs, np.where(kept, groups, -1), all_edges.shape[1] // 2),
    }
    of_left_out = (all_edges.shape[1] - edge_index.shape[1]) // 2  # in both directions
    if of_left_out:
        left_out_rows = facts.get("left_out_rows", {})
        facts["left_out_rows"] = {**left_out_rows, LEFT_OUT_NODES: of_left_out}

    inside = replace(nodes, frame=nodes.frame[kept])
    numbers, sensitive = np.unique(groups[kept], return_inverse=True)
    labels = sensitive if labels is None else labels[kept]
    left = tuple(values_of[number] for number in numbers)
    check_count(inside, left)
    if edges.empty:
        edges.wrong.append(f"{edges.where}: no row is an edge")
    if not (edge_index.size or nodes.wrong or edges.wrong):
        edges.wrong.append(f"{edges.where}: no edge joins two nodes that are left")
    columns, features = features_of(inside, roles, edge_index)
    check_not_again(inside, roles, columns, features, sensitive, labels)
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


def _described(nodes: Table, roles: Roles) -> dict[str, str]:
    """Say what each column was taken for, with its range or its values."""
    declared = roles.roles()
    role_of = {name: declared.get(name, "not used") for name in nodes.frame}
    role_of |= dict.fromkeys(feature_columns(nodes, roles), "feature")
    role_of |= dict.fromkeys(nodes.there(roles.categories), "categories")
    described = {}
    for name, role in role_of.items():
        described[name] = f"{role}: {describe(nodes.frame[name])}"
        if role == "categories" and empty(nodes.frame[name]).any():
            described[name] += ", which are none of these"
    return described
