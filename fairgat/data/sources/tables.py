"""Your own data set, from a table of nodes and a table of edges.

my-network:
  task: node_classification
  source: tables
  options: {nodes: my/nodes.csv, edges: my/edges.csv, id: person, label: employed, sensitive: gender}
"""

import codecs
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, field_validator

from fairgat.config import Model
from fairgat.data import delimited
from fairgat.data.delimited import Table
from fairgat.data.graph import UNLABELLED, Graph
from fairgat.data.source import (
    Drop,
    EdgeList,
    File,
    Scaling,
    edges_from_pairs,
    induced,
    largest_component,
    listing,
    scaled,
)
from fairgat.errors import DataError


def _separator(value: str | None) -> str | None:
    if value is not None and (len(value) != 1 or value in '"\r\n\0'):
        raise ValueError(f"expected one character, such as ',' or ';' (a tab: \"\\t\"), got {value!r}")
    return value


def _values(value: Any) -> Any:
    """One value, or a list of them. YAML reads yes and no as something else."""
    values = value if isinstance(value, list | tuple) else [value]
    if any(isinstance(one, bool) for one in values):
        raise ValueError("put yes, no, true and false between quotation marks, as the file writes them: 'yes'")
    return values


class Written(Model):
    """A file; its form need be given only where it is not found from the content."""

    file: str
    """Its path, relative to where Snakemake runs."""
    separator: str | None = None
    """What separates two cells: one character; a blank stands for any white space."""
    encoding: str | None = None
    """By default UTF-8 or UTF-16, or else Windows-1252."""
    header: bool | None = None
    """Whether the first row names the columns, which are called 0, 1, ... if not. By default the nodes have one, and
    the edges where the first row names no nodes."""

    _one_character = field_validator("separator")(_separator)

    @field_validator("encoding")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        try:
            return value and codecs.lookup(value).name
        except LookupError:
            raise ValueError(
                f"expected an encoding that Python knows, such as utf-8 or cp1252, got {value!r}"
            ) from None


AtPath = Annotated[Written, BeforeValidator(lambda value: {"file": value} if isinstance(value, str) else value)]
Values = Annotated[list[str | int | float], BeforeValidator(_values)]


class Options(Model):
    nodes: AtPath
    """The table of the nodes, one a row: its path, or `{file: PATH, separator: ..., encoding: ..., header: ...}`."""
    edges: AtPath
    """The table of the edges, one a row, undirected: (a, b) and (b, a) are the same edge."""
    sensitive: str
    """Column of the sensitive attribute, which is not a feature."""
    label: str | None = None
    """Column of the label, which is not a feature. Link prediction needs none; without it the groups are the labels."""
    positive: Values = []
    """The values that are label 1; by default 1."""
    negative: Values = []
    """The values that are label 0; by default 0, or with `positive` the one other value."""
    unlabelled: Values = []
    """The values that mean that the label is not known, as an empty cell does. Such nodes stay in the graph; they are
    neither trained nor measured on."""
    id: str | None = None
    """Column by which the edges name nodes; by default the row number from 0."""
    groups: list[str | int | float] | None = None
    """The values of the sensitive attribute in the order of the groups 0, 1, ...; by default all that occur, sorted."""
    features: list[str] | None = None
    """The feature columns; by default every other column. One of texts becomes a column for each text."""
    exclude: tuple[str, ...] = ()
    """Columns that are no features."""
    categories: tuple[str, ...] = ()
    """Columns that hold categories, although they are coded as numbers, or are more than 50."""
    missing: Values = []
    """Values of features that mean that they are not known, as an empty cell does."""
    fill: Literal["zero", "mean"] | None = None
    """What takes the place of an empty cell of numbers; by default it is an error."""
    ends: tuple[str, str] | None = None
    """The two columns of `edges`; by default the first two."""
    separator: str | None = None
    """What separates two cells in both files; by default found in each."""
    drop: tuple[Drop | Literal["unknown_groups"], ...] = ()
    """What to leave out instead of raising an error: self_loops, unknown_ids (edges); unknown_groups (nodes)."""
    labelled_only: bool = False
    """Leave the unlabelled nodes out of the graph."""
    largest_component: bool = False
    """Keep the largest connected component of what is left."""
    scaling: Scaling = "min_max"
    """How features are scaled."""

    _one_character = field_validator("separator")(_separator)


def files(name: str, options: Options) -> list[File]:
    return [
        File(f"{name}/nodes.csv", local=Path(options.nodes.file)),
        File(f"{name}/edges.csv", local=Path(options.edges.file)),
    ]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    return make(options, folder / "nodes.csv", folder / "edges.csv")[0]


def facts(name: str, folder: Path, options: Options) -> dict[str, Any]:
    """Say how the files were read; see `make`."""
    return make(options, folder / "nodes.csv", folder / "edges.csv")[1]


def make(options: Options, nodes: Path, edges: Path | Callable[[Table], np.ndarray]) -> tuple[Graph, dict[str, Any]]:
    """Make the graph, and the facts that it no longer shows.

    Args:
        nodes: the file.
        edges: the file, or a function that makes the pairs (m, 2) of row numbers from the table of the nodes.

    Returns:
        The graph, and `one_hot` (columns that each column of categories became), `nodes_read_as`, `edges_read_as`
        (encoding and separator), `left_out_nodes`, and what `listing` counts.

    Raises:
        DataError: naming the file, the line, and what to write instead.
    """
    from fairgat.data import columns  # pandas

    written, where = options.nodes, options.nodes.file
    table = delimited.read(nodes, where, written.separator or options.separator, written.encoding)
    if written.header is not False:
        table = table.with_header()
    groups = columns.groups(table, options.sensitive, options.groups, "unknown_groups" in options.drop)
    labels = None
    if options.label is not None:
        labels = columns.labels(table, options.label, options.positive, options.negative, options.unlabelled)
    if callable(edges):
        pairs, stand, form = edges(table), None, "computed from the nodes"
    else:
        pairs, stand, form = _pairs(table, edges, options)
    edge_index = edges_from_pairs(pairs, len(groups), options.edges.file, options.drop, stand)

    kept = groups >= 0
    if options.labelled_only and labels is not None:
        kept &= labels != UNLABELLED
    if options.largest_component and kept.any():
        kept = largest_component(edge_index, kept)
    for what, values in (("sensitive attribute", groups), ("label", labels)):
        if values is not None and len(set(values[kept].tolist()) - {UNLABELLED}) < 2:
            raise table.error(
                np.ones(len(kept), dtype=bool), f"of the nodes that are left, all have one {what}, or none"
            )
    sensitive = np.unique(groups[kept], return_inverse=True)[1].astype(np.int64)
    values, encoded = columns.features(
        table, _feature_names(table, options), options.categories, options.missing, options.fill
    )
    graph = Graph(
        features=scaled(values[kept], options.scaling),
        labels=sensitive.copy() if labels is None else labels[kept],
        sensitive=sensitive,
        edge_index=induced(edge_index, kept),
    )
    return graph, {
        "one_hot": encoded,
        "nodes_read_as": table.form,
        "edges_read_as": form,
        "left_out_nodes": int((~kept).sum()),
        **listing(pairs),
    }


def _feature_names(table: Table, options: Options) -> list[str]:
    for option in ("exclude", "categories"):
        for name in getattr(options, option):
            table.column(name)
    not_features = {options.id, options.label, options.sensitive, *options.exclude}
    names = [name for name in table.names if name not in not_features] if options.features is None else options.features
    if "" in names:
        number = table.names.index("") + 1
        raise DataError(f"{table.where}, line 1: column {number} has no name; name it, or write `exclude: ['']`")
    if not names:
        raise DataError(f"{table.where}, line 1: no column is left as a feature, and methods need one; see `features`")
    return names


def _pairs(table: Table, path: Path, options: Options) -> tuple[np.ndarray, EdgeList, str]:
    """Read the edges as rows of the nodes' table, -1 for an id that is in none."""
    written = options.edges
    edges = delimited.read(path, written.file, written.separator or options.separator, written.encoding)
    if edges.cells.shape[1] < 2:
        raise DataError(
            f"{written.file}, line {edges.lines[0]}: an edge needs two cells, one for each end; there is one"
        )
    row_of = _row_finder(table, options.id)
    first = edges.cells[0].tolist()
    if written.header is not None:
        has_header = written.header
    elif options.ends:
        has_header = set(options.ends) <= set(first)
    else:
        has_header = max(map(row_of, first[:2])) < 0 and not all(map(_is_number, first[:2]))
    if has_header:
        edges = edges.with_header()
    ends = options.ends or (edges.names[0], edges.names[1])
    texts = edges.cells[:, :2] if not options.ends else np.stack([edges.column(end) for end in ends], axis=1)
    pairs = np.array([[row_of(text) for text in row] for row in texts], dtype=np.int64)
    return pairs.reshape(-1, 2), EdgeList(edges.lines, texts), edges.form


def _row_finder(table: Table, name: str | None) -> Callable[[str], int]:
    """A function that finds the row of an id, -1 where there is none; without a column of ids, of a row number.

    Ids are texts, so that numbers of any length are told apart; where no id is written as an edge has it, 12.0 is 12.

    Raises:
        DataError: an id is empty, or belongs to two rows.
    """
    ids = map(str, range(len(table.cells))) if name is None else table.column(name)
    exact: dict[str, int] = {}
    for row, text in enumerate(ids):
        if text == "":
            raise DataError(f"{table.where}, line {table.lines[row]}: the id in column {name!r} is empty")
        if text in exact:
            raise DataError(
                f"{table.where}, line {table.lines[row]}: the id {text!r} already belongs to line "
                f"{table.lines[exact[text]]}. Is `id` another column?"
            )
        exact[text] = row
    plain: dict[str, int] = {}
    for text, row in exact.items():
        plain[_plain(text)] = -1 if _plain(text) in plain else row  # not known which

    def find(text: str) -> int:
        if name is None:
            return exact.get(_plain(text).lstrip("0") or "0", -1)
        return exact.get(text, plain.get(_plain(text), -1))

    return find


def _plain(text: str) -> str:
    """Write a whole number without fraction and exponent, exactly: 12.0 and 1.2e1 as 12."""
    if not text.isdigit():
        try:
            number = Decimal(text)
        except ArithmeticError:
            return text
        if number.is_finite() and abs(number) < 10**30 and number == int(number):
            return str(int(number))
    return text


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except ArithmeticError:
        return False
