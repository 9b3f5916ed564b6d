"""Pokec-z, Pokec-n, German, NBA, Income and Credit: public tables of this field; and what they share with Recidivism.

public.yaml has an entry for each; docs/data.md has their cards. Where we never had the whole files, as of Pokec, they
are known by git's ids of their contents, which the tree of the repository lists.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml
from pydantic import ValidationInfo, model_validator

from fairgat.config import Model
from fairgat.data.graph import Graph
from fairgat.data.options import Texts
from fairgat.data.source import File, Scaling, github
from fairgat.data.sources import tables


@dataclass(frozen=True)
class _Entry:
    repository: tuple[str, str]
    folder: str
    files: dict[str, str]
    columns: dict[str, Any]
    similarity: float | None = None
    mirror: str | None = None

    def options(self, changed: "Options") -> tables.Options:
        own = dict(self.columns)
        if changed.sensitive not in (None, (), (own["sensitive"],)):
            own |= {"sensitive": changed.sensitive, "groups": None}
        own |= changed.model_dump(exclude_none=True, exclude_unset=True, exclude={"sensitive", "table"})
        own["exclude"] = (*self.columns.get("exclude", ()), *changed.exclude)
        own["exclude"] = [name for name in dict.fromkeys(own["exclude"]) if name not in (changed.sensitive or ())]
        nodes, edges = [*self.files, "edges"][:2]
        return tables.Options(nodes=nodes, edges={"file": edges, "header": False}, drop=["self_loops"], **own)


_FILE = Path(__file__).parent / "public.yaml"
_ENTRIES = {name: _Entry(**entry) for name, entry in yaml.safe_load(_FILE.read_text(encoding="utf-8")).items()}
NAMES = tuple(name for name in _ENTRIES if name != "recidivism")
_BLOCK = 250  # rows of the distance matrix at a time


class Options(Model):
    table: Literal[tuple(_ENTRIES)] | None = None  # type: ignore[valid-type]
    """Which of these tables it is; the one of the data set's name where absent."""
    sensitive: Texts | None = None
    """Another column than the usual one is the sensitive attribute, or several are: the combinations that occur are
    the groups."""
    exclude: Texts = ()
    """More columns to leave out of the features."""
    labelled_only: bool | None = None
    """Leave the unlabelled nodes out of the graph; by default Pokec's are left out, and NBA's stay."""
    largest_component: bool | None = None
    """Keep the largest connected component of what is left; by default Pokec's."""
    scaling: Scaling = "min_max"
    """How features are scaled."""

    @model_validator(mode="after")
    def _known(self, info: ValidationInfo) -> "Options":
        name = (info.context or {}).get("name")
        if name is not None and self.table is None and name not in _ENTRIES:
            raise ValueError(f"say which table it is: `table` is one of {', '.join(_ENTRIES)}")
        return self


def files(name: str, options: Options) -> list[File]:
    name = options.table or name
    entry = _ENTRIES[name]
    return [
        File(
            f"{entry.mirror or name}/{file}",
            urls=(github(*entry.repository, f"{entry.folder}/{file}"),),
            sha256=checksum if len(checksum) == 64 else None,
            blob=checksum if len(checksum) == 40 else None,
        )
        for file, checksum in entry.files.items()
    ]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    entry = _ENTRIES[options.table or name]
    nodes, *edges = (folder / file for file in entry.files)
    computed = partial(_similar, entry=entry)
    return tables.make(entry.options(options), nodes, edges[0] if edges else computed)


def _similar(table, entry: _Entry) -> np.ndarray:
    left_out = (entry.columns["label"], *entry.columns["exclude"])
    columns = [table.column(name).rows().astype(np.float64) for name in table.names if name not in left_out]
    assert entry.similarity is not None  # as there is no file of edges
    return similar_pairs(np.stack(columns, axis=1), entry.similarity)


def similar_pairs(records: np.ndarray, share: float) -> np.ndarray:
    """Join each row to every other one whose similarity, 1 / (1 + Euclidean distance), exceeds `share` of its best.

    So NIFTY's code makes the edges of Recidivism, German and Credit.

    Args:
        records: (N, F) float64, N > 1.
        share: of the row's largest similarity with another row.

    Returns:
        (m, 2) pairs of rows, in both directions where both find each other.
    """
    from scipy.spatial.distance import cdist

    found = []
    for start in range(0, len(records), _BLOCK):
        distance = cdist(records[start : start + _BLOCK], records)
        rows = np.arange(len(distance))
        distance[rows, start + rows] = np.inf
        similarity = 1 / (1 + distance)
        row, other = np.nonzero(similarity > share * similarity.max(axis=1, keepdims=True))
        found.append(np.stack([start + row, other], axis=1))
    return np.concatenate(found)
