"""The result of debiasing: the feature scale, and every edge that may come or go.

The graph at any threshold follows from it.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from fairgat.data.graph import Graph, load_npz, save_npz, symmetrise
from fairgat.errors import CellCalledOff, DataError


@dataclass(frozen=True)
class Debiased:
    """Debiased features and edges of a graph with E undirected edges.

    These are u < v, in the order of the graph's edge_index.

    Attributes:
        scale: (F,) learned factor of each feature, in [0, 1].
        weakening: (E,) change of each edge's weight, at most 0.
        pairs: (2, M) int32 non-edges u < v that gained weight: those with the largest
            gains, or all.
        gain: (M,) weight gained by each pair.
        highest, lowest: largest and smallest change of any weight; thresholds are
            shares of these.
        floor: gains below this are not listed, because the graph would exceed `limit`;
            0 if all are listed.
        limit: undirected edges that the graph may have.
    """

    scale: np.ndarray
    weakening: np.ndarray
    pairs: np.ndarray
    gain: np.ndarray
    highest: np.ndarray
    lowest: np.ndarray
    floor: np.ndarray
    limit: np.ndarray

    def save(self, path: str | Path) -> None:
        save_npz(path, **asdict(self))

    @classmethod
    def load(cls, path: str | Path) -> "Debiased":
        """Read what `save` wrote.

        Raises:
            DataError: the file is missing, damaged or something else.
        """
        arrays = load_npz(path)
        if set(arrays) != set(cls.__dataclass_fields__):
            held = ", ".join(sorted(arrays)) or "nothing"
            raise DataError(f"{path} is not a debiased graph: it holds {held}")
        return cls(**arrays)

    def changes(self, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Decide which pairs are added (M,), and which edges removed (E,).

        As `binarize` in the authors' `train.py` does.

        Raises:
            CellCalledOff: the graph would have more than `limit` edges.
        """
        removed = self.weakening < threshold * self.lowest
        added = self.gain > threshold * self.highest
        num_edges = len(removed) - removed.sum() + added.sum()
        adds_unlisted = threshold * self.highest < self.floor
        if adds_unlisted or num_edges > self.limit:
            # One short clause: tables join it with the cells that it stops.
            raise CellCalledOff(
                "debiased graph denser than max_density_factor allows: more than "
                f"{self.limit} edges"
            )
        return added, removed

    def apply(self, graph: Graph, threshold: float, dropped_features: int) -> Graph:
        """Make the graph at a threshold, without the features whose scale is smallest.

        Raises:
            CellCalledOff: see `changes`.
            DataError: `graph` is not the one that was debiased.
        """
        source, target = graph.edge_index
        edges = graph.edge_index[:, source < target]  # each once
        sizes_debiased = len(self.weakening), len(self.scale)
        if (edges.shape[1], graph.num_features) != sizes_debiased:
            raise DataError(
                "the debiased edges belong to another graph; delete "
                "results/data/debiased and run again"
            )
        added, removed = self.changes(threshold)
        edges = np.concatenate([edges[:, ~removed], self.pairs[:, added]], axis=1)
        edges = symmetrise(edges, graph.num_nodes)
        features = graph.features[:, self.kept_features(dropped_features)]
        return replace(graph, features=np.ascontiguousarray(features), edge_index=edges)

    def kept_features(self, dropped: int) -> np.ndarray:
        """Find the features that are left, at least one: their numbers, sorted."""
        order = np.argsort(self.scale, kind="stable")
        first = min(dropped, len(order) - 1)
        return np.sort(order[first:])
