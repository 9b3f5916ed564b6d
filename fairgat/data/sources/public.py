"""Recidivism, Pokec-z, Pokec-n, German, NBA, Income and Credit: tables of this field.

public.yaml has the options of each, as of `source: tables`; docs/data.md has their
cards. Where we never had the whole files, as of Pokec, they are known by git's ids of
their contents, which the tree of the repository lists.
"""

from pathlib import Path
from typing import Any

import numpy as np
import yaml
from pydantic import Field, ValidationInfo, model_validator

from fairgat.data import own
from fairgat.data.edges import Edges
from fairgat.data.graph import Graph
from fairgat.data.roles import EdgesAtPath
from fairgat.data.source import File
from fairgat.data.sources import tables
from fairgat.data.table import Table

_FILE = Path(__file__).parent / "public.yaml"
ENTRIES: dict[str, dict[str, Any]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
NAMES = tuple(ENTRIES)


class Options(tables.Options):
    """Those of `source: tables`; where absent, with public.yaml's values."""

    table: str | None = None
    """Which table in public.yaml it is; that of the data set's name where absent."""
    # None where no edges are published.
    edges: EdgesAtPath | None = None  # type: ignore[assignment]
    """As `nodes`."""
    similarity: float | None = Field(default=None, gt=0, lt=1)
    """Where no edges are published, the share of `similar_pairs`, over all columns but
    the label and those that public.yaml excludes."""

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        table = given.get("table") or (info.context or {}).get("name")
        if table not in ENTRIES:
            raise ValueError(
                f"say which table it is: `table` is one of {', '.join(ENTRIES)}"
            )
        entry = dict(ENTRIES[table])
        if "sensitive" in given:
            entry.pop("groups", None)  # of another attribute
        left_out = [*entry.get("exclude", ()), *_listed(given.get("exclude", ()))]
        sensitive = _listed(given.get("sensitive", ()))
        kept = [name for name in dict.fromkeys(left_out) if name not in sensitive]
        return {
            "drop": ["self_loops"],
            **entry,
            **given,
            "exclude": kept,
            "table": table,
        }


def _listed(names: Any) -> list[Any]:
    if names is None:
        return []
    return list(names) if isinstance(names, list | tuple) else [names]


def files(name: str, options: Options) -> list[File]:
    return tables.files(str(options.table), options)


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    if options.edges:
        return tables.load(str(options.table), folder, options, seed)
    (file,) = files(name, options)
    nodes = tables.read_nodes(folder / file.basename, options)
    return own.assemble(options, nodes, _similar(nodes, options))


def _similar(nodes: Table, options: Options) -> Edges:
    left_out = (options.label, *ENTRIES[str(options.table)].get("exclude", ()))
    columns = [nodes.numbers(name) for name in nodes.frame if name not in left_out]
    pairs = similar_pairs(np.stack(columns, axis=1), options.similarity or 1)
    return Edges(pairs, nodes.where, {"edge_columns": "computed from the nodes"})


def similar_pairs(records: np.ndarray, share: float) -> np.ndarray:
    """Join each row to every other that is more similar than a share of its best.

    Similarity is 1 / (1 + Euclidean distance). So NIFTY's code makes the edges of
    Recidivism, German and Credit.

    Args:
        records: (N, F) float64, N > 1.
        share: of the row's largest similarity with another row.

    Returns:
        (m, 2) pairs of rows, in both directions where both find each other.
    """
    from scipy.spatial import KDTree
    from scipy.spatial.distance import cdist

    tree = KDTree(records)
    distances, _ = tree.query(records, k=2)
    nearest = distances[:, 1]  # the first is the row itself, or one like it
    reach = (1 + nearest) / share - 1
    reach = reach * (1 + 1e-9) + 1e-9  # rather too many: similarities decide
    near = tree.query_ball_point(records, reach)
    pairs = []
    for row, others in enumerate(near):
        others = np.setdiff1d(others, row)
        similarity = 1 / (1 + cdist(records[row : row + 1], records[others])[0])
        chosen = others[similarity > share * similarity.max()]
        pairs.append(np.stack([np.full_like(chosen, row), chosen], axis=1))
    return np.concatenate(pairs)
