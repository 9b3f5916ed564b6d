"""German, NBA, Income and Credit: public tables of this field, none of which the paper uses.

Each is an entry below: its files, and what `source: tables` would be told of them. docs/data.md has their cards.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fairgat.config import Model
from fairgat.data.delimited import Table
from fairgat.data.graph import Graph
from fairgat.data.similarity import similar_pairs
from fairgat.data.source import File, Scaling, github
from fairgat.data.sources import tables

_NIFTY = ("chirag126/nifty", "6c270c5ec736c5138d455609112cf6dfcc63dcca")
_FAIRGNN = ("EnyanDai/FairGNN", "13cdca7627d7779a2396299cdc8edd3a790db7cc")
_FAIRGT = ("LuoRenqiang/FairGT", "20e6cfc63c22d876c20a5472cab716a26496094a")


@dataclass(frozen=True)
class _Entry:
    repository: tuple[str, str]
    folder: str
    sha256: dict[str, str]
    """By file: the nodes first, then the edges."""
    columns: dict[str, Any]
    """Options of `tables`."""
    similarity: float | None = None
    """Where no edges are published: those of `similar_pairs` at this share, over all columns but the label and the
    excluded ones."""

    def options(self, changed: "Options") -> tables.Options:
        names = [*self.sha256, "edges"]
        own = self.columns | changed.model_dump(exclude_unset=True)
        own["exclude"] = (*self.columns.get("exclude", ()), *changed.exclude)
        return tables.Options(nodes=names[0], edges=names[1], **own)


_ENTRIES = {
    "german": _Entry(
        _NIFTY,
        "dataset/german",
        {
            "german.csv": "49cc549b1ca3f1650e3bdcd8cfce62313c763abfbcbf785d32b07fb76ae078ca",
            "german_edges.txt": "404d107384e05a14ce9befe04a710d7df0a7492095569dc35ffb5d47742ee300",
        },
        {
            "label": "GoodCustomer",
            "positive": [1],
            "sensitive": "Gender",
            "groups": ["Male", "Female"],
            "exclude": ("PurposeOfLoan", "OtherLoansAtStore"),
        },
    ),
    "nba": _Entry(
        _FAIRGNN,
        "dataset/NBA",
        {
            "nba.csv": "fe295195cff01f20b785fe9de1e24062123cb146bdae080ce8b3ea8315d45b80",
            "nba_relationship.txt": "14c73245e5d6b6457cce7504e2bb0ded6b81155e25bf0e7d23793df7c01b4873",
        },
        {"id": "user_id", "label": "SALARY", "unlabelled": [-1], "sensitive": "country"},
    ),
    "income": _Entry(
        _FAIRGT,
        "data/income",
        {
            "income.csv": "eba651aa5919a361985a5971f59acdd95ff022254493a505f8b4fe74008deb82",
            "income_edges.txt": "4922cf9b602a0099a89dca6ad9186f39121d0d09859686900cdfaf1f6c8e1a8a",
        },
        {"label": "income", "sensitive": "race"},
    ),
    "credit": _Entry(
        _NIFTY,
        "dataset/credit",
        {"credit.csv": "5d7a93f25a09dd1648c78b5e0c6a883ca832ee88259d89dfe1062e8c848bfe5d"},
        {"label": "NoDefaultNextMonth", "sensitive": "Age", "exclude": ("Single",)},
        similarity=0.7,
    ),
}
NAMES = tuple(_ENTRIES)


class Options(Model):
    exclude: tuple[str, ...] = ()
    """More columns to leave out of the features."""
    labelled_only: bool = False
    """Leave the unlabelled nodes out of the graph: NBA has some."""
    largest_component: bool = False
    """Keep the largest connected component of what is left."""
    scaling: Scaling = "min_max"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    entry = _ENTRIES[name]
    return [
        File(f"{name}/{file}", urls=(github(*entry.repository, f"{entry.folder}/{file}"),), sha256=checksum)
        for file, checksum in entry.sha256.items()
    ]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    return _make(name, folder, options)[0]


def facts(name: str, folder: Path, options: Options) -> dict[str, Any]:
    """Say how the files were read; see `tables.make`."""
    return _make(name, folder, options)[1]


def _make(name: str, folder: Path, options: Options) -> tuple[Graph, dict[str, Any]]:
    entry = _ENTRIES[name]
    nodes, *edges = (folder / file for file in entry.sha256)
    computed = partial(_similar, entry=entry)
    return tables.make(entry.options(options), nodes, edges[0] if edges else computed)


def _similar(table: Table, entry: _Entry) -> np.ndarray:
    left_out = (entry.columns["label"], *entry.columns["exclude"])
    columns = [table.column(name).astype(np.float64) for name in table.names if name not in left_out]
    return similar_pairs(np.stack(columns, axis=1), entry.similarity)
