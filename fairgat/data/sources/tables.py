"""Your own data set, from a table of nodes and a table of edges.

my-network:
  task: node_classification
  source: tables
  options: {nodes: my/nodes.csv, edges: my/edges.csv, id: person, label: employed, sensitive: gender}
"""

import codecs
import contextlib
import itertools
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, field_validator

from fairgat.config import Model, PathText
from fairgat.data.edges import EdgeList
from fairgat.data.graph import Graph
from fairgat.data.options import Columns, Text, Texts, paste
from fairgat.data.source import File
from fairgat.errors import DataError

# What the two ends of an edge are often called.
_ENDS = [("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("i", "j"), ("sender", "receiver")]
_ENDS += [(f"{name}1", f"{name}2") for name in ("node", "node_", "id", "id_", "user", "user_", "person", "person_")]
_WHOLE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Form(Model):
    """How a file is written; to be given only where it is not found from the content."""

    separator: str | None = None
    """What separates two cells: one character; a blank stands for any white space."""
    encoding: str | None = None
    """By default UTF-8 or UTF-16, or else Windows-1252."""
    comment: str | None = None
    """What lines of comment begin with; "" if there are none. By default # or %, where the file begins with it."""

    @field_validator("separator")
    @classmethod
    def _one_character(cls, value: str | None) -> str | None:
        if value is not None and (len(value) != 1 or value in '"\r\n\0'):
            raise ValueError(f"expected one character, such as ',' or ';' (a tab: \"\\t\"), got {value!r}")
        return value

    @field_validator("encoding")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        try:
            return value and codecs.lookup(value).name
        except LookupError:
            raise ValueError(
                f"expected an encoding that Python knows, such as utf-8 or cp1252, got {value!r}"
            ) from None


class FileOptions(Form):
    """A file, and its form."""

    file: PathText
    """Its path, relative to where Snakemake runs. It may be packed by gzip, bzip2, xz or zip."""
    header: bool | None = None
    """Whether the first row names the columns, which are called 0, 1, ... if not. By default the nodes have one unless
    the options name columns by number, and the edges where the first row names no nodes."""

    def with_header(self, key: str, header: bool) -> str:
        """The option that says whether there is a header."""
        return paste(key, self.model_dump(exclude_unset=True) | {"header": header})


AtPath = Annotated[FileOptions, BeforeValidator(lambda value: {"file": value} if isinstance(value, str) else value)]


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


def make(options: Options, nodes: Path, edges: Path | Callable[..., np.ndarray]) -> Graph:
    """Make the graph; `fairgat.data.assemble` says what its facts are.

    Args:
        nodes: the file.
        edges: the file, or a function that makes the pairs (m, 2) of row numbers from the table of the nodes.

    Raises:
        DataError: naming the file, the line, and what to write instead.
    """
    from fairgat.data.assemble import assemble  # pandas

    table = read_nodes(nodes, options)
    facts = {"nodes_read_as": f"{table.form}; {len(table)} rows"}
    where = options.edges.file
    if callable(edges):
        pairs, written = edges(table), None
        facts["edges_read_as"] = "computed from the nodes"
    else:
        pairs, written, facts["edges_read_as"] = _pairs(table, edges, options)
        where += ", line 1"
    return assemble(options, table, pairs, where, written, facts=facts)


def _read(path: Path, written: FileOptions, options: Any):
    from fairgat.data import reading

    form = {key: getattr(options if getattr(written, key) is None else written, key) for key in Form.model_fields}
    return reading.read(path, written.file, **form)


def read_nodes(path: Path, options: Any) -> Any:
    """Read the table of the nodes, its header as names where it has one."""
    written, table = options.nodes, _read(path, options.nodes, options)
    header = written.header
    if header is None:
        roles = [options.id, options.label, *options.sensitive, *(options.features or ())]
        named = {name for name in (*roles, *options.exclude, *options.categories) if name is not None}
        numbered, first = named <= set(table.names), named & set(table.row(0))
        if numbered and first == named:
            raise DataError(
                f"{table.place(0)}: is this a header, or the first node? It holds {', '.join(sorted(first))}, which "
                f"are also the numbers of columns without a header. Write {written.with_header('nodes', True)} or "
                f"{written.with_header('nodes', False)}"
            )
        header = not numbered
    table = table.with_header() if header else table
    for name in (*options.sensitive, options.label, options.id):
        if name is not None:
            table.column(name)
    return table


def _pairs(table, path: Path, options: Options) -> tuple[np.ndarray, EdgeList, str]:
    """Read the edges as rows of the nodes' table, -1 for an id that is in none; and say how."""
    edges = _read(path, options.edges, options)
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

    first = " and ".join(map(repr, row(0)))
    form = f"{edges.form}; {len(edges)} rows; ends: columns {edges.names[ends[0]]!r} and {edges.names[ends[1]]!r}"
    unused = ", ".join(repr(name) for number, name in enumerate(edges.names) if number not in ends)
    form += f"; not used: {unused}" if unused else ""
    return pairs, EdgeList(edges.place, row), f"{form}; the first edge joins {first}"


def _has_header(edges, options: Options, find: Callable[[np.ndarray], np.ndarray]) -> bool:
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


def _ends(edges, options: Options, find: Callable[[np.ndarray], np.ndarray]) -> tuple[int, int]:
    """The numbers of the two columns that name an edge's ends."""
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
    ids = [
        number
        for number, column in enumerate(edges.columns)
        if len(column.texts) > 1 and (find(column.texts) >= 0).all()
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


def row_finder(table, name: str | None) -> Callable[[np.ndarray], np.ndarray]:
    """Make a function that finds the rows of K ids, -1 where no row has one. Without a column, ids are row numbers.

    Ids are texts, so that numbers of any length are told apart; where no id is written as an edge has it, 12.0 is 12.

    Raises:
        DataError: an id is empty, or belongs to two rows.
    """
    import pandas as pd

    if name is None:
        if table.index() == 1:
            raise DataError(
                f"{table.where}: the first column has no name and counts the rows from 1, as R does. If edges name "
                f"nodes by it, write {paste('id', table.names[0])}"
            )
        return lambda texts: np.array([_row_number(text, len(table)) for text in texts], dtype=np.int64)
    column = table.column(name)
    if (empty := column.texts[column.codes] == "" if "" in column.texts else np.zeros(0)).any():
        raise table.error(empty, f"the id in column {name!r} is empty")
    if len(column.texts) < len(table):
        again = pd.Series(column.codes).duplicated().to_numpy()
        row = int(np.flatnonzero(again)[0])
        first = int(np.flatnonzero(column.codes == column.codes[row])[0])
        line = table.place(first).rpartition(", ")[2]
        raise table.error(
            again,
            f"the id {column.texts[column.codes[row]]!r} already belongs to {line}. Is `id` another column?",
        )
    row_of = np.empty(len(table) + 1, dtype=np.int64)
    row_of[column.codes], row_of[-1] = np.arange(len(table)), -1
    exact = pd.Index(column.texts, dtype=object)

    def find(texts: np.ndarray) -> np.ndarray:
        found = exact.get_indexer(pd.Index(texts, dtype=object))
        if (unknown := np.flatnonzero(found < 0)).size:
            plain = pd.Series(np.arange(len(exact)), index=[_plain(text) for text in exact])
            plain = plain[~plain.index.duplicated(keep=False)]  # else it is not known which
            asked = [_plain(text) for text in texts[unknown]]
            found[unknown] = plain.reindex(asked, fill_value=-1).to_numpy()
        return row_of[found]

    return find


def _row_number(text: str, count: int) -> int:
    digits = (_plain(text).lstrip("0") or "0") if text else ""
    return int(digits) if digits.isdecimal() and len(digits) < 19 and int(digits) < count else -1


def check_ids(table, texts: np.ndarray, rows: np.ndarray, where: str, options: Any) -> None:
    """Ask, where edges may name nodes by another column than `id`, or may count rows from another number.

    Args:
        texts: (K,) how the edges name nodes.
        rows: (K,) the rows that were found, -1 for none.
    """
    if options.id is not None and (rows >= 0).all():
        return
    asked = set(texts)
    given = "row numbers from 0" if options.id is None else f"the column {options.id!r}"
    taken = {options.label, options.id, *options.sensitive, *options.exclude, *(options.features or ())}
    for number, name in enumerate(table.names):
        column = table.columns[number]
        if name in taken or len(column.texts) < len(table) or table.names.count(name) > 1:
            continue
        if asked <= set(column.texts) and column.rows().tolist() != [str(row) for row in range(len(table))]:
            ways = paste("id", name)
            if options.id is None or "unknown_ids" in options.drop:
                ways += f", or {paste('exclude', [*options.exclude, name])} for {given}"
            raise DataError(f"{where}: do edges name nodes by their column {name!r}, or by {given}? Write {ways}")
    ids, last = {*map(str, range(len(table)))}, str(len(table))
    own = ids if options.id is None else set(table.column(options.id).texts)
    if own == ids and asked - own == {last} and "0" not in asked:
        raise DataError(
            f"{where}: edges name node {last}, but not node 0, and nodes are numbered from 0: do edges count from 1? "
            "Give the nodes a column that does, and name it as `id`"
        )
    if own == ids - {"0"} | {last} and asked - own == {"0"}:
        raise DataError(
            f"{where}: edges name node 0, and {given} counts from 1: do edges count rows from 0? Write `id: null`"
        )


def _plain(text: str) -> str:
    """Write a whole number without fraction and exponent, exactly: 12.0 and 1.2e1 as 12."""
    if _WHOLE.fullmatch(text) and not text.isdigit():
        with contextlib.suppress(ArithmeticError):  # an exponent beyond what it knows
            if abs(number := Decimal(text)) < 10**30 and number == int(number):
                return str(int(number))
    return text


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except ArithmeticError:
        return False
