"""Your own data set, from a table of nodes and a table of edges, every column of which has a role.

my-network:
  task: node_classification
  source: tables
  options: {nodes: my/nodes.csv, edges: my/edges.csv, id: person, label: employed, sensitive: gender}
"""

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
from pydantic import model_validator

from fairgat.data import own, roles
from fairgat.data.delimited import read
from fairgat.data.edges import Edges, Find, joined
from fairgat.data.graph import Graph
from fairgat.data.roles import EdgesAtPath, NodesAtPath, OwnFile, Roles, Text
from fairgat.data.source import File
from fairgat.data.table import Table, empty, to_numbers
from fairgat.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


class Options(Roles):
    """The columns of the nodes are options; those of the edges stand with their file."""

    nodes: NodesAtPath
    """The table of the nodes, one a row: its path, or {file: PATH, read: {...}}."""
    edges: EdgesAtPath
    """The table of the edges, one a row: its path, or {file: PATH, read: {...}, ends: [...]}."""
    id: Text | None
    """Column by which edges name nodes; null: edges give row numbers, from 0."""

    @model_validator(mode="after")
    def _two_names(self) -> "Options":
        names = [file.basename for file in files("", self)]
        if len(set(names)) < len(names):  # they come to lie in one folder
            raise ValueError(f"both files are called {names[0]}: give one of them another `file`")
        return self


def files(name: str, options: Options) -> list[File]:
    given = {"nodes": options.nodes, "edges": options.edges}
    return [asked(name, kind, file) for kind, file in given.items() if file]


def asked(name: str, kind: str, given: OwnFile) -> File:
    """Say which file to fetch: the user's own, or a published one."""
    ours = f"{name}/{kind}{PurePosixPath(given.where).suffix}"
    if given.url is None:
        return File(ours, local=Path(given.where))
    return File(given.file or ours, urls=(given.url,), sha256=given.sha256, blob=given.git_blob)


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    nodes, edges = (folder / file.basename for file in files(name, options))
    table = read_nodes(nodes, options)
    return own.assemble(options, table, read_edges(edges, options, table))


def read_nodes(path: Path, options: Options) -> Table:
    """Read the nodes' table, ids, label, categories and (without `bins`) sensitive attributes as texts."""
    texts = {options.id, options.label, *options.categories, *(() if options.bins else options.sensitive)}
    return read(path, options.nodes, filter(None, texts))


def read_edges(path: Path, options: Options, nodes: Table) -> Edges:
    """Read the edges as pairs of rows of the nodes' table."""
    written = options.edges
    table = read(path, written)
    ends = _ends(table, written)
    find = row_finder(nodes, options.id)
    if written.read.get("header", 0) is not None and _is_edge(ends, find):
        raise DataError(
            f"{table.where}: its first line names two nodes: a file without a header has `read: {{header: null}}`"
        )
    edges = joined(options, table, ends, written.weight, find)
    if options.id is None and edges.pairs.min(initial=1) > 0:
        said = f"{edges.facts['first_edge']}; no edge names row 0: rows are counted from 0"
        return replace(edges, facts={**edges.facts, "first_edge": said})
    return edges


def _is_edge(names: list[str], find: Find) -> bool:
    """Say whether the names of two columns are those of nodes, as where the file has no header."""
    import pandas as pd

    return bool((find(pd.Series(names, dtype=object)) >= 0).all())


def _ends(table: Table, written: roles.Edges) -> list[str]:
    names = list(table.frame)
    if len(names) == 1:
        raise DataError(
            f"{table.where}: there is no second column beside {names[0]!r}: say what separates two, as in "
            "`edges: {file: PATH, read: {sep: ' '}}`; `comment` or `skiprows` passes over lines above the header"
        )
    if written.ends is None:
        if len(names) != 2:
            raise DataError(
                f"{table.where}: which two of its {len(names)} columns are the ends of an edge? Each has a role, as in "
                "`edges: {file: PATH, ends: [from, to], weight: w, exclude: [since]}`"
            )
        return names
    for name in (*written.ends, *filter(None, [written.weight]), *written.exclude):
        table.column(name)
    taken = {*written.ends, written.weight, *written.exclude}
    if without := [name for name in names if name not in taken]:
        raise DataError(
            f"{table.where}: column {without[0]!r} has no role: it is the `weight` of the edges, or in their `exclude`"
        )
    return list(written.ends)


def row_finder(nodes: Table, name: str | None) -> Find:
    """Give the function that finds the row numbers (m,) of nodes by their ids, -1 where there is none.

    Raises:
        DataError: an id is empty, or two nodes have it.
    """
    if name is None:
        return lambda ends: _row_numbers(ends, len(nodes.frame))
    ids = nodes.column(name)
    nodes.refuse(empty(ids), "and is the id", name)
    nodes.refuse(ids.duplicated().to_numpy(), "which is the id of a node above", name)
    import pandas as pd

    return pd.Index(ids).get_indexer


def _row_numbers(ends: "pd.Series", count: int) -> np.ndarray:
    import pandas as pd

    codes, values = pd.factorize(ends)
    numbers = to_numbers(pd.Series(values, dtype=object))
    valid = (numbers >= 0) & (numbers < count) & (numbers == np.floor(numbers))
    rows = np.append(np.where(valid, numbers, -1), -1).astype(np.int64)  # the last is that of an empty cell
    return rows[codes]
