"""Measure how far apart the groups of a graph are, before and after debiasing (EDITS's two biases)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import wasserstein_distance

from fairgat.data.graph import Graph
from fairgat.errors import CellCalledOff
from fairgat.methods.edits.result import Debiased

SELF = 0.5  # share of a node's own features in a hop (alpha in `metrics.py`)
DECAY = 0.9  # weight of each further hop
HOPS = 2


def describe(graph: Graph, debiased: Debiased, cells: Sequence[tuple[float, int]]) -> dict[str, Any]:
    """Report a graph's bias before debiasing, and its bias and changed (undirected) edges in each cell.

    Args:
        cells: threshold and number of dropped features of each. One that is too dense to train on gets a `failure`.
    """
    before = {"edges": len(debiased.weakening)} | _bias(graph)
    after = []
    for threshold, dropped in cells:
        entry: dict[str, Any] = {"threshold": threshold, "kept_features": debiased.kept_features(dropped).tolist()}
        try:
            added, removed = debiased.changes(threshold)
            changed = debiased.apply(graph, threshold, dropped)
            entry |= {"added": int(added.sum()), "removed": int(removed.sum()), "edges": changed.num_edges // 2}
            entry |= _bias(changed)
        except CellCalledOff as error:
            entry["failure"] = str(error)
        after.append(entry)
    return {"feature_scale": debiased.scale.tolist(), "before": before, "after": after}


def _bias(graph: Graph) -> dict[str, float]:
    """Average the Wasserstein-1 distance between the two groups over features of norm 1, before and after propagation.

    That is, of X and of (0.9 P + 0.9² P²) X, where P = (D^-1/2 (A + I) D^-1/2 + I) / 2.
    """
    n, norm = graph.num_nodes, np.linalg.norm(graph.features.astype(np.float64), axis=0)
    adjacency = sparse.csr_array((np.ones(graph.num_edges), graph.edge_index), shape=(n, n)) + sparse.eye_array(n)
    root = sparse.diags_array(1 / np.sqrt(adjacency.sum(axis=1)))
    step = (1 - SELF) * (root @ adjacency @ root) + SELF * sparse.eye_array(n)
    x = reached = graph.features / np.where(norm > 0, norm, 1)
    total = np.zeros_like(x)
    for hop in range(1, HOPS + 1):
        reached = step @ reached
        total += DECAY**hop * reached
    return {
        "attribute_bias": _distance(x, graph.sensitive), "structural_bias": _distance(total, graph.sensitive),
    }  # fmt: skip


def _distance(values: np.ndarray, sensitive: np.ndarray) -> float:
    others = sensitive > 0
    return float(np.mean([wasserstein_distance(column[~others], column[others]) for column in values.T]))
