"""Pokec-z and Pokec-n: users of a Slovak social network in two major regions each, joined by friendship.

Files: FairGNN (Dai and Wang, 2021), `dataset/pokec/`, sampled from Takac and Zabovsky's Pokec of 2012. Sensitive:
region. Label: whether I_am_working_in_field is above 0; -1 is unlabelled. We never had the whole files: they are known
by git's ids of their contents, which the tree of the repository lists.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgat.config import Model
from fairgat.data.graph import Graph
from fairgat.data.source import Drop, File, Scaling, edges_from_pairs, github, induced, largest_component, scaled
from fairgat.errors import DataError

if TYPE_CHECKING:
    import pandas

NAMES = ("pokec-z", "pokec-n")
_REPOSITORY = ("EnyanDai/FairGNN", "13cdca7627d7779a2396299cdc8edd3a790db7cc")
_BLOBS = {
    "region_job.csv": "c50552a998e224f9ee214fff80c249fb5cf40bf9",
    "region_job_relationship.txt": "0b346e3a3d8f42b4eb489984cbc178f3988b0eeb",
    "region_job_2.csv": "7f836f487358af4f0cbbb2b1204e41810a45cc74",
    "region_job_2_relationship.txt": "d0a0833805331cffb09a03820e70066990f15c10",
}
_STEM = {"pokec-z": "region_job", "pokec-n": "region_job_2"}
_GROUPS = {"pokec-z": [4851, 2808], "pokec-n": [4040, 2145]}  # users per region (paper, appendix)
_ID, _REGION, _LABEL = "user_id", "region", "I_am_working_in_field"


class Options(Model):
    scaling: Scaling = "min_max"
    """How features are scaled."""
    drop: tuple[Drop, ...] = ("self_loops", "duplicates")
    """Kinds of bad friendships to leave out instead of raising an error; the complete files name no unknown users."""
    any_counts: bool = False
    """Accept other numbers of users per region than the paper's, for an excerpt of the files."""


def files(name: str, options: Options) -> list[File]:
    stem = _STEM[name]
    return [
        File(f"pokec/{file}", urls=(github(*_REPOSITORY, f"dataset/pokec/{file}"),), blob=_BLOBS[file])
        for file in (f"{stem}.csv", f"{stem}_relationship.txt")
    ]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Take the largest connected component of the subgraph that the labelled users induce, in the file's order.

    Features: every column but user_id, region and label. An empty cell counts as 0, which is how the files write an
    unknown age.

    Raises:
        DataError: the files are malformed, or give other numbers of users per region than the paper's.
    """
    users = _users(name, folder)
    kept, edges = _component(users, folder, options)
    groups = np.bincount(users.regions[kept], minlength=2).tolist()
    if groups != _GROUPS[name] and not options.any_counts:
        raise DataError(
            f"the files give {groups[0]} and {groups[1]} users in the two regions, the paper has {_GROUPS[name][0]} "
            f"and {_GROUPS[name][1]}: they are other files, or cut off. Delete {folder} and run again, or accept them "
            "with `options: {any_counts: true}`."
        )
    columns = [column for column in users.frame.columns if column not in (_ID, _REGION, _LABEL)]
    from fairgat.data import reading

    features = reading.numbers(users.frame.iloc[kept][columns].fillna(0), columns, users.where)
    return Graph(scaled(features, options.scaling), users.labels[kept], users.regions[kept], edges)


def facts(name: str, folder: Path, options: Options) -> dict[str, int]:
    """Count what the graph no longer shows: all users, and the friendships inside the graph as the file lists them.

    Returns:
        `users`, `labelled_users`, `empty_cells`; `listed_inter_edges`, `listed_intra_edges`: friendships in the
        file, counted once where only one user declared them and twice where both did; `one_way_friendships`.
    """
    users = _users(name, folder)
    kept, _ = _component(users, folder, options)
    position = np.full(len(users.frame) + 1, -1)  # the last entry is where an unknown user's -1 points
    position[kept] = np.arange(len(kept))
    listed = np.unique(position[users.pairs], axis=0)
    listed = listed[(listed >= 0).all(axis=1) & (listed[:, 0] != listed[:, 1])]
    regions = users.regions[kept]
    inter = int((regions[listed[:, 0]] != regions[listed[:, 1]]).sum())
    codes, reverse = listed @ [len(kept), 1], listed @ [1, len(kept)]
    return {
        "users": len(users.frame),
        "labelled_users": int((users.labels >= 0).sum()),
        "empty_cells": int(users.frame.isna().to_numpy().sum()),
        "listed_inter_edges": inter,
        "listed_intra_edges": len(listed) - inter,
        "one_way_friendships": int((~np.isin(codes, reverse)).sum()),
    }


class _Users(NamedTuple):
    frame: "pandas.DataFrame"
    where: str
    labels: np.ndarray  # (U,) 0, 1, or -1 for unlabelled
    regions: np.ndarray  # (U,) 0 or 1
    pairs: np.ndarray  # (m, 2) rows of `frame`, -1 for users it does not have


def _users(name: str, folder: Path) -> _Users:
    from fairgat.data import reading

    where, ties = f"{_STEM[name]}.csv", f"{_STEM[name]}_relationship.txt"
    frame = reading.table(folder / where, where)
    field = reading.numbers(frame, [_LABEL], where)[:, 0]
    if (field < -1).any() or (field != np.floor(field)).any():
        raise DataError(f"{where}: column {_LABEL!r} must hold whole numbers from -1")
    return _Users(
        frame=frame,
        where=where,
        labels=np.where(field < 0, -1, field > 0).astype(np.int64),
        regions=reading.binary(frame, _REGION, where),
        pairs=reading.positions(reading.column(frame, _ID, where), reading.pairs(folder / ties), where),
    )


def _component(users: _Users, folder: Path, options: Options) -> tuple[np.ndarray, np.ndarray]:
    """Find the rows of the graph's users, and the (2, E) edge index among them."""
    ties = f"{users.where.removesuffix('.csv')}_relationship.txt"
    edges = edges_from_pairs(users.pairs, len(users.frame), ties, options.drop)
    labelled = users.labels >= 0
    if not labelled.any():
        raise DataError(f"{users.where}: no user is labelled")
    kept = largest_component(edges, labelled)
    return np.flatnonzero(kept), induced(edges, kept)
