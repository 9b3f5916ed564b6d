"""The graph that every data set becomes: its arrays, its `.npz` file, and R_chi."""

import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgat import groups
from fairgat.errors import DataError, NotDefined
from fairgat.files import damaged, read_bytes, replacing

if TYPE_CHECKING:
    from fairgat.data.columns import Columns

FORMAT_VERSION = 1
UNLABELLED = -1
"""The label of a node whose label is not known: neither trained nor measured on."""
_ARRAYS = ("features", "labels", "sensitive", "edge_index")


@dataclass(frozen=True)
class Graph:
    """An undirected attributed graph whose nodes are each in one sensitive group.

    Attributes:
        features: (N, F) float32, already scaled as the protocol asks.
        labels: (N,) int64 class of each node (0/1 for node classification), or
            UNLABELLED.
        sensitive: (N,) int64 sensitive group of each node, 0 .. S-1.
        edge_index: (2, E) int64, both directions of every edge, sorted by (row,
            column), no self-loops and no duplicates. Row 0 is the source, row 1 the
            target, as in PyTorch Geometric.
        groups: for each group its value of every sensitive attribute, such as `{"race":
            "1", "sex": "0"}`; empty where that is not known.
        facts: how its files were read and what was left out, for the statistics;
            nothing is computed from it.
        columns: what the features were made of; it has a file of its own.
    """

    features: np.ndarray
    labels: np.ndarray
    sensitive: np.ndarray
    edge_index: np.ndarray
    groups: tuple[Mapping[str, str], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    columns: "Columns | None" = None

    @property
    def num_nodes(self) -> int:
        return self.features.shape[0]

    @property
    def num_features(self) -> int:
        return self.features.shape[1]

    @property
    def num_groups(self) -> int:
        """Sensitive groups: S."""
        return len(np.unique(self.sensitive))

    @property
    def group_names(self) -> list[str]:
        """What each group is called, such as "race=1, sex=0"."""
        if not self.groups:
            return [f"s={group}" for group in range(self.num_groups)]
        names = []
        for group in self.groups:
            values = [f"{attribute}={value}" for attribute, value in group.items()]
            names.append(", ".join(values))
        return names

    @property
    def attributes(self) -> dict[str, tuple[np.ndarray, list[str]]]:
        """Each node's value of each sensitive attribute.

        (N,) numbers from 0, and what the values are called.
        """
        coded = {}
        attributes = self.groups[0] if self.groups else ()
        for attribute in attributes:
            values = [group[attribute] for group in self.groups]
            names = list(dict.fromkeys(values))
            of_groups = np.array([names.index(value) for value in values])
            coded[attribute] = (of_groups[self.sensitive], names)
        return coded

    @property
    def num_edges(self) -> int:
        """Directed edges: every undirected edge counts twice."""
        return self.edge_index.shape[1]

    @property
    def labelled(self) -> np.ndarray:
        """(n,) sorted numbers of the nodes whose label is known."""
        return np.flatnonzero(self.labels != UNLABELLED)

    @property
    def inter_edges(self) -> np.ndarray:
        """(E,) bool: the edge joins two sensitive groups (the paper's E^chi)."""
        source, target = self.sensitive[self.edge_index]
        return source != target

    @property
    def intra_edges(self) -> np.ndarray:
        """(E,) bool: the edge stays within a sensitive group (the paper's E^omega)."""
        return ~self.inter_edges

    def r_chi(self) -> dict[int, float]:
        """Compute R^chi_s per group s, by the function of this name."""
        return r_chi(self.sensitive, self.edge_index)

    def require_two_groups(self, what: str) -> None:
        """Refuse a graph without exactly the groups 0 and 1.

        Args:
            what: what is defined for two groups only, for the message.

        Raises:
            NotDefined: there are more or fewer.
        """
        if self.num_groups != 2:
            names = "; ".join(self.group_names)
            raise NotDefined(
                f"{what} is defined for two sensitive groups; this graph has "
                f"{self.num_groups}: {names}"
            )

    def permute(self, order: np.ndarray) -> "Graph":
        """Renumber node `order[k]` to `k`; `order` is a permutation of 0 .. N-1."""
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return replace(
            self,
            features=self.features[order],
            labels=self.labels[order],
            sensitive=self.sensitive[order],
            edge_index=sort_edges(rank[self.edge_index]),
        )

    def with_edges(self, edge_index: np.ndarray) -> "Graph":
        """Keep the nodes and replace the edges, which are sorted here."""
        return replace(self, edge_index=sort_edges(edge_index))

    def check(self) -> None:
        """Check every promise of this class.

        Raises:
            DataError: the graph breaks one.
        """
        _check_shapes(self)
        if not np.isfinite(self.features).all():
            raise DataError("features must be finite; some are NaN or infinite")
        if self.labels.min(initial=0) < UNLABELLED:
            raise DataError(
                f"labels are numbered from 0, {UNLABELLED} is unlabelled; found "
                f"{self.labels.min()}"
            )
        numbers = np.unique(self.sensitive)
        if (numbers != np.arange(len(numbers))).any():
            raise DataError(
                "sensitive groups are numbered from 0 without a gap; found "
                f"{numbers[:20].tolist()}"
            )
        if self.groups:
            _check_names(self.groups, len(numbers))
        _check_edges(self.edge_index, self.num_nodes)

    def save(self, path: str | Path) -> None:
        """Write the `.npz`; it appears whole or not at all.

        Raises:
            DataError: the graph breaks a promise, or JSON cannot hold its facts.
        """
        self.check()
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        about = {"groups": self.groups, "facts": dict(self.facts)}
        try:
            text = np.array(json.dumps(about, ensure_ascii=False))
        except TypeError as error:
            raise DataError(
                f"facts must be texts, numbers, lists and mappings of Python's: {error}"
            ) from None
        version = np.int64(FORMAT_VERSION)
        save_npz(path, **arrays, about=text, format_version=version)

    @classmethod
    def load(cls, path: str | Path) -> "Graph":
        """Read a graph written by `save`.

        Raises:
            DataError: the file is not such a graph, is damaged, or has another format
                version.
        """
        content = load_npz(path)
        needed = (*_ARRAYS, "about", "format_version")
        missing = [name for name in needed if name not in content]
        if missing:
            raise damaged(path, f"is not a graph file: it lacks {', '.join(missing)}")
        version = int(content["format_version"])
        if version != FORMAT_VERSION:
            what = f"has graph format {version}; this version reads {FORMAT_VERSION}"
            raise damaged(path, what)
        about = json.loads(str(content["about"]))
        graph = cls(
            features=content["features"],
            labels=content["labels"],
            sensitive=content["sensitive"],
            edge_index=content["edge_index"],
            groups=tuple(about["groups"]),
            facts=about["facts"],
        )
        try:
            graph.check()
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        return graph


def _check_shapes(graph: Graph) -> None:
    """Refuse arrays of another shape or type than `Graph` promises."""
    edges = graph.edge_index
    _check_array("features", graph.features, "(N, F)", graph.features.ndim == 2)
    n = graph.num_nodes
    _check_array("labels", graph.labels, f"({n},)", graph.labels.shape == (n,))
    _check_array("sensitive", graph.sensitive, f"({n},)", graph.sensitive.shape == (n,))
    _check_array("edge_index", edges, "(2, E)", edges.ndim == 2 and len(edges) == 2)


def _check_array(name: str, array: np.ndarray, shape: str, fits: bool) -> None:
    if not fits:
        raise DataError(f"{name} must have shape {shape}, got {array.shape}")
    dtype = np.dtype(np.float32 if name == "features" else np.int64)
    if array.dtype != dtype:
        raise DataError(
            f"{name} must be {dtype}, got {array.dtype}; convert them with "
            f".astype(np.{dtype})"
        )


def _check_names(groups: Sequence[Mapping[str, str]], count: int) -> None:
    """Refuse names of another number of groups, or that are no texts."""
    if len(groups) != count:
        raise DataError(
            f"there are {count} sensitive groups, and {len(groups)} of them have names"
        )
    for group in groups:
        are_texts = all(isinstance(value, str) for value in group.values())
        if not are_texts or set(group) != set(groups[0]):
            raise DataError(
                "each of `groups` has a text for every sensitive attribute, as "
                f"{{'race': '1', 'sex': '0'}}; found {dict(group)}"
            )


def _check_edges(edges: np.ndarray, n: int) -> None:
    if edges.size and (edges.min() < 0 or edges.max() >= n):
        raise DataError(f"edge_index names a node outside 0 .. {n - 1}")
    if (edges[0] == edges[1]).any():
        raise DataError(
            "edge_index holds self-loops; they are added by the attention layers, not "
            "stored"
        )
    codes = edges[0] * n + edges[1]
    if (codes[1:] <= codes[:-1]).any():
        raise DataError(
            "edge_index is not sorted by (row, column), or holds duplicates"
        )
    backwards = edges[1] * n + edges[0]
    backwards.sort()
    if not np.array_equal(backwards, codes):
        raise DataError(
            "edge_index is not symmetric: some edge is stored in one direction only"
        )


def r_chi(sensitive: np.ndarray, edge_index: np.ndarray) -> dict[int, float]:
    """Compute R^chi_s = |S^chi_s| / |S_s| per group (Theorem 1).

    It is the share of its nodes with at least one inter-edge. Where edges have a
    direction, those that come in count, as attention does.

    Args:
        sensitive: (N,) group of each node, as `fairgat.groups` takes them.
        edge_index: (2, E), sources above targets.

    Raises:
        ValueError: a shape is wrong, a group is none, or an edge leaves 0 .. N-1.
    """
    sensitive = groups.values(sensitive)
    edge_index = np.asarray(edge_index)
    if sensitive.ndim != 1 or edge_index.ndim != 2 or len(edge_index) != 2:
        shapes = f"{sensitive.shape} and {edge_index.shape}"
        raise ValueError(
            f"sensitive must have shape (N,), and edge_index (2, E), got {shapes}"
        )
    if not edge_index.size:
        edge_index = np.zeros((2, 0), dtype=np.int64)
    elif not 0 <= edge_index.min() <= edge_index.max() < len(sensitive):
        raise ValueError(
            f"edge_index has nodes outside 0 .. {len(sensitive) - 1}, where sensitive "
            "ends"
        )

    source, target = edge_index
    is_inter = sensitive[source] != sensitive[target]
    has_inter = np.zeros(len(sensitive), dtype=bool)
    has_inter[target[is_inter]] = True
    shares = {}
    for group in np.unique(sensitive).tolist():
        shares[group] = float(has_inter[sensitive == group].mean())
    return shares


def cap(r_chi: Mapping[Any, float]) -> float:
    """Give the attention on inter-edges that makes the bias term least (Eq. 9).

    It is 1 / (R_0 + R_1); infinite without inter-edges, where none does.

    Raises:
        NotDefined: there are not exactly two groups, for which the paper derives it.
    """
    if len(r_chi) != 2:
        raise NotDefined(
            "the paper's closed form of alpha_chi is for two sensitive groups; there "
            f"are {len(r_chi)}. Balanced shares (`fairgat.nn.balanced_shares`, in a "
            "configuration `shares: balanced`) are for any number"
        )
    total = sum(r_chi.values())
    return 1 / total if total else math.inf


def alpha_chi(r_chi: Mapping[Any, float], alpha_chi_max: float) -> float:
    """Give the attention on inter-edges: the smaller of `cap` and `alpha_chi_max`.

    Raises:
        NotDefined: there are not exactly two groups.
        ValueError: `alpha_chi_max` is outside [0, 1].
    """
    capped = cap(r_chi)
    if not 0 <= alpha_chi_max <= 1:
        raise ValueError(
            f"alpha_chi_max must be a share of attention in [0, 1], got {alpha_chi_max}"
        )
    return min(alpha_chi_max, capped)


def sort_edges(edge_index: np.ndarray) -> np.ndarray:
    """Sort edges by (row 0, row 1); returns int64."""
    edge_index = np.ascontiguousarray(edge_index, dtype=np.int64)
    return edge_index[:, np.lexsort((edge_index[1], edge_index[0]))]


def symmetrise(edge_index: np.ndarray, num_nodes: int) -> np.ndarray:
    """Give both directions of every edge, (2, E'), sorted.

    Without self-loops and duplicates.

    Raises:
        DataError: an edge names a node outside 0 .. num_nodes - 1.
    """
    edge_index = np.asarray(edge_index, dtype=np.int64)
    source, target = edge_index
    if edge_index.size and (edge_index.min() < 0 or edge_index.max() >= num_nodes):
        raise DataError(f"an edge names a node outside 0 .. {num_nodes - 1}")
    source, target = edge_index[:, source != target]
    forth = source * num_nodes + target
    back = target * num_nodes + source
    codes = distinct(np.concatenate([forth, back]))
    edges = np.empty((2, len(codes)), dtype=np.int64)
    np.divmod(codes, max(num_nodes, 1), out=(edges[0], edges[1]))
    return edges


def distinct(codes: np.ndarray) -> np.ndarray:
    """Sort in place and leave out repetitions.

    np.unique, which hashes whole numbers, takes ten times as long.
    """
    codes.sort()
    is_first = np.ones(len(codes), dtype=bool)
    is_first[1:] = codes[1:] != codes[:-1]
    return codes[is_first]


def save_npz(path: str | Path, **arrays: np.ndarray | np.generic) -> None:
    """Write arrays to a compressed `.npz`, whole or not at all."""
    with replacing(path) as file:
        # mypy takes them for allow_pickle
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def load_npz(path: str | Path) -> dict[str, np.ndarray]:
    """Read every array of an `.npz`, without pickle.

    Raises:
        DataError: the file is missing, damaged, changed or holds pickled objects.
    """
    content = io.BytesIO(read_bytes(path))
    try:
        with np.load(content, allow_pickle=False) as archive:
            return dict(archive.items())
    except Exception as error:  # zipfile, zlib and NumPy each raise their own
        raise damaged(path, f"cannot be read ({error})") from None
