"""Your own data set, from a table of nodes and a table of edges.

Every column has a role:

my-network:
  task: node_classification
  source: tables
  options:
    nodes: my/nodes.csv
    edges: my/edges.csv
    id: person
    label: employed
    sensitive: gender
"""

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
from pydantic import model_validator

from fairgat.data import own, roles
from fairgat.data.delimited import read
from fairgat.data.edges import Edges, Find, joined, none_of
from fairgat.data.graph import Graph
from fairgat.data.roles import EdgesAtPath, NodesAtPath, OwnFile, Roles, Text
from fairgat.data.source import File
from fairgat.data.table import Table, noting, texts, to_numbers, told
from fairgat.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


class Options(Roles):
    """The nodes' columns are options; those of the edges stand with their file."""

    nodes: NodesAtPath
    """The table of the nodes, one a row: its path, or {file: PATH, read: {...}}."""
    edges: EdgesAtPath
    """The table of the edges, one a row: its path, or {file: PATH, ends: [...]}."""
    id: Text | None
    """Column by which edges name nodes; null: edges give row numbers, from 0."""

    @model_validator(mode="after")
    def _two_names(self) -> "Options":
        """Refuse two files of one name, as they come to lie in one folder."""
        names = [file.basename for file in files("own", self)]
        if len(set(names)) < len(names):
            raise ValueError(
                f"both files are called {names[0]}: give one of them another `file`"
            )
        return self


def files(name: str, options: Options) -> list[File]:
    given = {"nodes": options.nodes, "edges": options.edges}
    return [asked(name, kind, file) for kind, file in given.items() if file]


def asked(name: str, kind: str, given: OwnFile) -> File:
    """Say which file to fetch: the user's own, or a published one."""
    suffix = PurePosixPath(given.where).suffix
    if given.url:
        suffix = PurePosixPath(given.where.partition("?")[0]).suffix or suffix
    ours = f"{name}/{kind}{suffix}"
    if given.url is None:
        return File(ours, local=Path(given.where))
    return File(
        given.file or ours, url=given.url, sha256=given.sha256, blob=given.git_blob
    )


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    nodes, edges = (folder / file.basename for file in files(name, options))
    try:
        table = read_nodes(nodes, options)
    except DataError as error:
        found = read_edges(edges, options, None)
        raise told([str(error), *found.wrong]) from None
    return own.assemble(options, table, read_edges(edges, options, table))


def read_nodes(path: Path, options: Options) -> Table:
    """Read the nodes' table; columns of ids, labels and other values as texts."""
    columns = [options.id, options.label, *options.categories]
    if not options.bins:
        columns += options.sensitive
    table = read(path, options.nodes, filter(None, columns))
    return replace(table, asked=own.options_of(options))


def read_edges(path: Path, options: Options, nodes: Table | None) -> Edges:
    """Read the edges as pairs of rows of the nodes' table; note what is wrong."""
    written = options.edges
    wrong: list[str] = []
    find = None
    with noting(wrong):
        table = read(path, written, may_be_empty=True)
        ends = _ends(table, written)
        if nodes is not None:
            find = row_finder(nodes, options.id)
            _check_header(table, ends, written, find)
        if options.id is not None:
            return joined(options, table, ends, written, find)
        unknown = "which is no row of the nodes: rows are counted from 0"
        edges = joined(options, table, ends, written, find, unknown)
        return _told_of_row_0(edges)
    return none_of(written.where, wrong)


def _check_header(
    table: Table, ends: list[str], written: roles.Edges, find: Find | None
) -> None:
    """Refuse a first line that names two nodes: it is a row, not a header."""
    import pandas as pd

    if find is None or written.read.get("header", 0) is None:
        return
    rows = find(pd.Series(ends, dtype=object))
    if (rows >= 0).all():
        raise DataError(
            f"{table.where}: its first line names two nodes: a file without a header "
            "has `read: {header: null}`"
        )


def _told_of_row_0(edges: Edges) -> Edges:
    """Say where rows seem to be counted from 1."""
    if not edges.pairs.all() or "first_edge" not in edges.facts:
        return edges
    said = f"{edges.facts['first_edge']}; no edge names row 0: rows are counted from 0"
    return replace(edges, facts={**edges.facts, "first_edge": said})


def _ends(table: Table, written: roles.Edges) -> list[str]:
    """Name the two columns that edges join; refuse a table that leaves them open."""
    ends = list(written.ends or table.frame)
    if len(ends) != 2:
        raise DataError(
            f"{table.where}: which two of its {len(ends)} columns are the ends of an "
            "edge? Each has a role, as in `edges: {file: PATH, ends: [from, to], "
            f"link_if: w, exclude: [since]}}`{table.if_absent}"
        )
    return ends


def row_finder(nodes: Table, name: str | None) -> Find | None:
    """Give the function that finds the rows of the nodes that edges name.

    It takes (m,) ends of edges and gives (m,) rows, -1 for an end that is no node. An
    id that is empty, or that two nodes have, is noted.

    Args:
        name: the column of ids; None where edges name nodes by row number.

    Returns:
        None if the table has no such column.
    """
    import pandas as pd

    if name is None:
        return lambda ends: _row_numbers(ends, len(nodes.frame))
    if name not in nodes.frame:
        return None
    ids = nodes.texts(name)
    # The message begins with "column 'id' is empty, ".
    nodes.refuse(ids == "", "and is the id", name)
    again = ids.duplicated() & (ids != "")
    nodes.refuse(again, "which is the id of a node above", name)

    rows = pd.Series(np.arange(len(ids)), index=pd.Index(ids))
    rows = rows[~rows.index.duplicated()].drop("", errors="ignore")
    return lambda ends: rows.reindex(texts(ends), fill_value=-1).to_numpy()


def _row_numbers(ends: "pd.Series", count: int) -> np.ndarray:
    numbers = to_numbers(ends)
    valid = (numbers >= 0) & (numbers < count) & (numbers == np.floor(numbers))
    return np.where(valid, numbers, -1).astype(np.int64)
