"""A data set of your own: a CSV of nodes and a CSV of edges, each with a header.

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
from fairgat.data.sources._source import Drop, File, Scaling, edges_from_pairs, scaled
from fairgat.errors import DataError

if TYPE_CHECKING:
    import pandas


_MISSING = ("na", "n/a", "nan", "none", "null")  # among numbers; among names they are names


class Options(Model):
    """What may be set for it."""

    nodes: str
    """CSV of the nodes, one a row; relative to where Snakemake runs."""
    edges: str
    """CSV of the edges, one a row, undirected: (a, b) and (b, a) are the same edge."""
    sensitive: str
    """Column of the sensitive attribute, which is no feature."""
    label: str | None = None
    """Column of the label, 0 or 1 for node classification, which is no feature. For link prediction the sensitive
    attribute where absent."""
    id: str | None = None
    """Column that the edges name nodes by; the row number from 0 where absent."""
    groups: list[str | int] | None = None
    """The values of the sensitive attribute in the order of the groups 0, 1, ...; all that occur, sorted, where
    absent."""
    features: list[str] | None = None
    """The feature columns, all numbers; every other column where absent."""
    ends: tuple[str, str] | None = None
    """The two columns of `edges`; the first two where absent."""
    separator: str = ","
    """What stands between two cells, in both files."""
    drop: tuple[Drop, ...] = ()
    """Edges that are left out in place of an error: self_loops, duplicates, unknown_ids."""
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
    """The nodes in the file's order."""
    from fairgat.data.sources import _read

    where = options.nodes
    names = {options.id, options.sensitive} - {None}
    nodes = _read.table(folder / "nodes.csv", where, options.separator, text=names)
    sensitive = _groups(_read.column(nodes, options.sensitive, where), options, where)
    labels = sensitive.copy()
    if options.label is not None:
        labels = _read.binary(nodes, options.label, where)
    not_features = {options.id, options.label, options.sensitive}
    columns = options.features
    if columns is None:
        columns = [column for column in nodes.columns if column not in not_features]
        if not columns:
            raise DataError(f"{where} has no feature columns beside the id, the label and the sensitive attribute")
    elif not columns:
        raise DataError(f"{where}: `features: []` leaves no feature; name some, or drop the option to take all columns")
    features = scaled(_read.numbers(nodes, columns, where), options.scaling)

    edges = _read.table(folder / "edges.csv", options.edges, options.separator, text=True)
    ends = options.ends or tuple(edges.columns[:2])
    if len(ends) < 2:
        raise DataError(f"{options.edges} needs two columns, one for each end of an edge")
    named = np.stack([_read.column(edges, end, options.edges).str.strip() for end in ends], axis=1)
    if options.id is None:  # row numbers: 07 is 7
        pairs = _read.row_numbers(named)
    else:
        pairs = _read.positions(_read.column(nodes, options.id, where).str.strip(), named, where)
    return Graph(features, labels, sensitive, edges_from_pairs(pairs, len(nodes), options.edges, options.drop))


def _groups(values: "pandas.Series", options: Options, where: str) -> np.ndarray:
    """(N,) the group of each node. A column of numbers is compared as numbers, so that 1 and 1.0 are one group."""
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
