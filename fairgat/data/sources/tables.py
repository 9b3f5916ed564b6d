"""Your own data set, from a table of nodes and a table of edges.

my-network:
  task: node_classification
  source: tables
  options: {nodes: my/nodes.csv, edges: my/edges.csv, id: person, label: employed, sensitive: gender}
"""

import itertools
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
from pydantic import field_validator

from fairgat.data.assemble import assemble
from fairgat.data.edges import EdgeList, numbering_hint
from fairgat.data.graph import Graph
from fairgat.data.ids import check_ids, row_finder
from fairgat.data.options import AtPath, Columns, Form, Text, Texts, paste
from fairgat.data.reading import Table, read, read_nodes
from fairgat.data.source import File
from fairgat.errors import DataError

# What the two ends of an edge are often called.
_ENDS = [("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("i", "j"), ("sender", "receiver")]
_ENDS += [(f"{name}1", f"{name}2") for name in ("node", "node_", "id", "id_", "user", "user_", "person", "person_")]


class Options(Columns, Form):
    """`separator`, `encoding` and `comment` are for both files, unless a file gives others."""

    nodes: AtPath
    """The table of the nodes, one a row: its path, or `{file: PATH, separator: ..., header: ...}`."""
    edges: AtPath
    """The table of the edges, one a row, undirected: (a, b) and (b, a) are the same edge."""
    id: Text | None = None
    """Column by which the edges name nodes; by default the row number from 0."""
    ends: Texts | None = None
    """The two columns of `edges`; by default the first two, after an index that pandas or R wrote."""

    @field_validator("ends")
    @classmethod
    def _two(cls, ends: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if ends is not None and len(set(ends)) != 2:
            raise ValueError(f"expected two columns, the ends of an edge, got {ends!r}")
        return ends


def files(name: str, options: Options) -> list[File]:
    return [
        File(f"{name}/nodes.csv", local=Path(options.nodes.file)),
        File(f"{name}/edges.csv", local=Path(options.edges.file)),
    ]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    return make(options, folder / "nodes.csv", folder / "edges.csv")


def make(options: Options, nodes: Path, edges: Path | Callable[[Table], np.ndarray]) -> Graph:
    """Make the graph; `fairgat.data.assemble` says what its facts are.

    Args:
        nodes: the file.
        edges: the file, or a function that makes the pairs (m, 2) of row numbers from the table of the nodes.

    Raises:
        DataError: naming the file, the line, and what to write instead.
    """
    table = read_nodes(nodes, options)
    if callable(edges):
        return assemble(options, table, EdgeList(options.edges.file, edges(table), "computed from the nodes"))
    return assemble(options, table, _edges(table, edges, options))


def _edges(table: Table, path: Path, options: Options) -> EdgeList:
    """Read the edges as rows of the nodes' table."""
    edges = read(path, options.edges, options)
    if len(edges.names) < 2:
        raise DataError(f"{edges.place(0)}: an edge needs two cells, one for each end; there is one")
    find = row_finder(table, options.id)
    if _has_header(edges, options, find):
        edges = edges.with_header()
    ends = _ends(edges, options, find)
    columns = [edges.columns[end] for end in ends]
    rows = [find(column.texts) for column in columns]
    check_ids(table, np.concatenate([column.texts for column in columns]), np.concatenate(rows), edges.where, options)
    pairs = np.stack([each[column.codes] for each, column in zip(rows, columns, strict=True)], axis=1)

    def row(number: int) -> tuple[str, str]:
        return tuple(column.texts[column.codes[number]] for column in columns)

    hint = numbering_hint(pairs) if options.id is None else ""
    first = " and ".join(map(repr, row(0)))
    form = f"{edges.form}; {len(edges)} rows; ends: columns {edges.names[ends[0]]!r} and {edges.names[ends[1]]!r}"
    unused = ", ".join(repr(name) for number, name in enumerate(edges.names) if number not in ends)
    form += f"; not used: {unused}" if unused else ""
    form += f"; the first edge joins {first}{hint}"
    return EdgeList(f"{options.edges.file}, line 1", pairs, form, edges.place, row)


def _has_header(edges: Table, options: Options, find: Callable[[np.ndarray], np.ndarray]) -> bool:
    if options.edges.header is not None:
        return options.edges.header
    first, ends = edges.row(0), options.ends
    if ends and not set(ends) <= set(edges.names):
        return True
    if ends and not set(ends) <= set(first):
        return False
    cells = [first[int(end)] for end in ends] if ends else first[:2]
    names_nodes = (find(np.array(cells, dtype=object)) >= 0).any()
    return not names_nodes and (bool(ends) or not all(map(_is_number, cells)))


def _ends(edges: Table, options: Options, find: Callable[[np.ndarray], np.ndarray]) -> tuple[int, int]:
    """Find the numbers of the two columns that name an edge's ends."""
    if options.ends:
        for end in options.ends:
            edges.column(end)
        first, second = map(edges.names.index, options.ends)
        return first, second
    if len(edges.names) == 2:
        return 0, 1
    if edges.index() is not None:
        return 1, 2
    names = [name.casefold() for name in edges.names]
    usual = [pair for pair in _ENDS if set(pair) <= set(names)]
    if tuple(names[:2]) in usual:
        return 0, 1
    known = [find(column.texts) >= 0 for column in edges.columns]
    ids = [  # of ids some may be unknown; numbers of rows may be weights
        number
        for number, found in enumerate(known)
        if len(found) > 1 and (found.all() or (options.id is not None and found.mean() > 0.5))
    ]
    choices = [edges.names[:2], edges.names[1:3]]
    if max(ids, default=0) > 1:
        choices = [[edges.names[first], edges.names[second]] for first, second in itertools.pairwise(ids)]
    if usual:
        choices = [[edges.names[names.index(end)] for end in pair] for pair in usual]
    if len(names) > 8 and abs(len(names) - len(edges)) <= 1:
        raise DataError(
            f"{edges.where}: {len(edges)} rows of {len(names)} cells seem to be an adjacency matrix. Write its edges "
            "as a list, one a row, or name two columns as `ends`"
        )
    if usual or edges.names[0] == "" or edges.count_from() is not None or max(ids, default=0) > 1:
        ways = [paste("ends", choice) for choice in choices if "" not in choice]
        some = " or ".join(ways[:3])
        raise DataError(f"{edges.where}: which two of the {len(names)} columns are the ends of an edge? Write {some}")
    return 0, 1


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except ArithmeticError:
        return False
