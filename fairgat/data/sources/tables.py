"""Your own data set, from a CSV of nodes and a CSV of edges, each with a header.

my-network:
  task: node_classification
  source: tables
  options: {nodes: my/nodes.csv, edges: my/edges.csv, id: person, label: employed, sensitive: gender}
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import field_validator

from fairgat.config import Model
from fairgat.data.graph import Graph
from fairgat.data.source import Drop, File, Scaling, edges_from_pairs, scaled
from fairgat.errors import DataError

if TYPE_CHECKING:
    import pandas


_MISSING = ("na", "n/a", "nan", "none", "null")  # in a column of numbers; elsewhere they are names


class Options(Model):
    """What config.yaml may set."""

    nodes: str
    """CSV of the nodes, one a row; relative to where Snakemake runs."""
    edges: str
    """CSV of the edges, one a row, undirected: (a, b) and (b, a) are the same edge."""
    sensitive: str
    """Column of the sensitive attribute, which is not a feature."""
    label: str | None = None
    """Column of the label, 0 or 1, which is not a feature. Link prediction needs none; without it the groups are the
    labels."""
    id: str | None = None
    """Column by which the edges name nodes; by default the row number from 0."""
    groups: list[str | int] | None = None
    """The values of the sensitive attribute in the order of the groups 0, 1, ...; by default all that occur, sorted."""
    features: list[str] | None = None
    """The feature columns, all numbers; by default every other column."""
    ends: tuple[str, str] | None = None
    """The two columns of `edges`; by default the first two."""
    separator: str = ","
    """What separates two cells, in both files."""
    drop: tuple[Drop, ...] = ()
    """Kinds of bad edges to leave out instead of raising an error: self_loops, duplicates, unknown_ids."""
    scaling: Scaling = "min_max"
    """How features are scaled."""

    @field_validator("separator")
    @classmethod
    def _one_character(cls, value: str) -> str:
        if len(value) != 1 or value in '"\r\n\0':
            raise ValueError(f"expected one character, such as ',' or ';' (a tab: \"\\t\"), got {value!r}")
        return value


def files(name: str, options: Options) -> list[File]:
    return [
        File(f"{name}/nodes.csv", local=Path(options.nodes)),
        File(f"{name}/edges.csv", local=Path(options.edges)),
    ]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph, its nodes in the file's order."""
    from fairgat.data import reading

    where = options.nodes
    names = {options.id, options.sensitive} - {None}
    nodes = reading.table(folder / "nodes.csv", where, options.separator, text=names)
    sensitive = _groups(reading.column(nodes, options.sensitive, where), options, where)
    labels = sensitive.copy()
    if options.label is not None:
        labels = reading.binary(nodes, options.label, where)
    not_features = {options.id, options.label, options.sensitive}
    columns = options.features
    if columns is None:
        columns = [column for column in nodes.columns if column not in not_features]
        if not columns:
            raise DataError(f"{where} has no feature columns besides the id, the label and the sensitive attribute")
    elif not columns:
        raise DataError(f"{where}: `features: []` leaves no feature; name some, or drop the option to take all columns")
    features = scaled(reading.numbers(nodes, columns, where), options.scaling)

    edges = reading.table(folder / "edges.csv", options.edges, options.separator, text=True)
    ends = options.ends or tuple(edges.columns[:2])
    if len(ends) < 2:
        raise DataError(f"{options.edges} needs two columns, one for each end of an edge")
    named = np.stack([reading.column(edges, end, options.edges).str.strip() for end in ends], axis=1)
    if options.id is None:  # row numbers: 07 is 7
        pairs = reading.row_numbers(named)
    else:
        pairs = reading.positions(reading.column(nodes, options.id, where).str.strip(), named, where)
    return Graph(features, labels, sensitive, edges_from_pairs(pairs, len(nodes), options.edges, options.drop))


def _groups(values: "pandas.Series", options: Options, where: str) -> np.ndarray:
    """Give each node its group, (N,). A column of numbers is compared as numbers, so that 1 and 1.0 are one group."""
    import pandas as pd

    texts = values.str.strip()
    numbers = pd.to_numeric(texts, errors="coerce")
    unread = texts[numbers.isna()]
    if 0 < len(unread) < len(texts) and unread.str.lower().isin(_MISSING).all():
        raise DataError(f"{where}, line {unread.index[0] + 2}: column {options.sensitive!r} is empty or NaN")
    is_numeric = unread.empty and numbers.abs().max() < 2**53  # beyond, different numbers may be one float
    value_of = _number if is_numeric else str
    groups = options.groups or sorted(texts.unique(), key=value_of)
    order = {value: place for place, value in enumerate(dict.fromkeys(map(value_of, groups)))}
    found = [order.get(value_of(text), -1) for text in texts]
    if -1 in found:
        row = found.index(-1)
        raise DataError(
            f"{where}, line {row + 2}: {options.sensitive} is {texts.iloc[row]!r}, which is not among the groups "
            f"{', '.join(map(str, groups))}"
        )
    return np.array(found, dtype=np.int64)


def _number(value: str | int) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value
