"""Random splits of nodes and of edges. They depend only on the seed, the data set and the split's number.

A DataError says which graph is too small or too dense, or lacks a group in some part, or which file is no split.
"""

import math
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fairgat.config import TASKS, LinkTraining, NodeTraining, Splits, Task
from fairgat.data.graph import UNLABELLED, Graph, load_npz, save_npz, symmetrise
from fairgat.errors import DataError
from fairgat.files import damaged

NODE_KEYS = ("train", "validation", "test")
HELD_OUT = ("validation", "test")
EDGE_KEYS = (
    "train_edges",
    "validation_edges",
    "validation_non_edges",
    "test_edges",
    "test_non_edges",
)


def node_split(
    num_nodes: int, settings: Splits, seed: int, dataset: str, split: int
) -> dict[str, np.ndarray]:
    """Divide labelled nodes for node classification (paper, Experimental setup: 40/30/30).

    Returns:
        `train`, `validation` and `test`: sorted int64 numbers from 0, disjoint, all together.
    """
    order = _generator(NodeTraining.task, seed, dataset, split).permutation(num_nodes)
    train = math.floor(settings.train * num_nodes)
    validation = math.floor(settings.validation * num_nodes)
    parts = np.split(order, [train, train + validation])
    if not all(map(len, parts)):
        raise DataError(
            f"{dataset}: {num_nodes} nodes are too few to divide into train, validation and test"
        )
    return {
        key: np.sort(part).astype(np.int64)
        for key, part in zip(NODE_KEYS, parts, strict=True)
    }


def edge_split(
    graph: Graph, settings: Splits, seed: int, dataset: str, split: int
) -> dict[str, np.ndarray]:
    """Divide the undirected edges for link prediction, as FairDrop's notebook does it (PyG's train_test_split_edges).

    Sizes are rounded down as there, so that the training graph has as many edges as the paper's.

    Returns:
        `train_edges`: (2, E) both directions, sorted; `validation_edges`, `test_edges`: (2, m) one direction (u < v);
        `validation_non_edges`, `test_non_edges`: (2, m) as many pairs u < v, all different, that
        are not edges of the whole graph.
    """
    rng = _generator(LinkTraining.task, seed, dataset, split)
    edges = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    validation = math.floor(settings.edge_validation * edges.shape[1])
    test = math.floor(settings.edge_test * edges.shape[1])
    if not validation or not test:
        raise DataError(
            f"{dataset}: {edges.shape[1]} edges are too few to hold some out for validation and test"
        )
    edges = edges[:, rng.permutation(edges.shape[1])]
    held_out, train = edges[:, : validation + test], edges[:, validation + test :]
    non_edges = _non_edges(graph, validation + test, rng, dataset)
    return {
        "train_edges": symmetrise(train, graph.num_nodes),
        "validation_edges": held_out[:, :validation],
        "validation_non_edges": non_edges[:, :validation],
        "test_edges": held_out[:, validation:],
        "test_non_edges": non_edges[:, validation:],
    }


def pairs_of(
    split: Mapping[str, np.ndarray], part: str
) -> tuple[np.ndarray, np.ndarray]:
    """Give the pairs (2, m) of a part of an edge split, its edges before its non-edges, and their labels (m,)."""
    edges, non_edges = split[f"{part}_edges"], split[f"{part}_non_edges"]
    labels = np.repeat([1, 0], [edges.shape[1], non_edges.shape[1]])
    return np.concatenate([edges, non_edges], axis=1), labels


def make(
    graph: Graph, task: Task, settings: Splits, seed: int, dataset: str, split: int
) -> dict[str, np.ndarray]:
    """Make the split of a task: `edge_split`, or `node_split` of the labelled nodes."""
    if TASKS[task].divides == "edges":
        return edge_split(graph, settings, seed, dataset, split)
    labelled = graph.labelled
    parts = node_split(len(labelled), settings, seed, dataset, split)
    parts = {key: labelled[places] for key, places in parts.items()}
    groups = np.unique(graph.sensitive)
    lacks = any(
        len(np.unique(graph.sensitive[nodes])) < len(groups) for nodes in parts.values()
    )
    if lacks or len(groups) > 2:  # other splits of two groups stay what they were
        rng = _generator("cells", seed, dataset, split)
        for kinds in (graph.sensitive, cells(graph)):
            _spread(parts, kinds, rng)
    for key, nodes in parts.items():
        for group in np.setdiff1d(groups, graph.sensitive[nodes]):
            raise DataError(
                f"{dataset}: none of the {len(nodes)} {key} nodes of split {split} is in group {group} "
                f"({graph.group_names[group]}); the data set has too few of them for fairness to be learned and "
                "measured. Merge groups with `groups`, leave them out, or draw other splits with another `seed`"
            )
    return parts


def cells(graph: Graph) -> np.ndarray:
    """Number each node's group and label, (N,): group x number of labels + label; -1 where the label is not known."""
    width = max(int(graph.labels.max(initial=0)) + 1, 2)
    return np.where(
        graph.labels == UNLABELLED, -1, graph.sensitive * width + graph.labels
    )


def _spread(
    parts: dict[str, np.ndarray], kinds: np.ndarray, rng: np.random.Generator
) -> None:
    """Exchange nodes until every kind that has as many nodes as there are parts is in each part.

    A node that is moved comes from the part that has the most of its kind; it changes places with one whose kind stays
    in both.
    """
    for kind in np.unique(kinds[kinds >= 0]):
        counts = {
            key: int((kinds[nodes] == kind).sum()) for key, nodes in parts.items()
        }
        if sum(counts.values()) < len(parts):
            continue
        for key in [key for key, count in counts.items() if not count]:
            giver = max(counts, key=lambda each: counts[each])
            own = kinds[parts[key]]
            spare = np.flatnonzero(np.bincount(own)[own] > 1)
            if not len(spare):
                continue
            place, other = (
                rng.choice(np.flatnonzero(kinds[parts[giver]] == kind)),
                rng.choice(spare),
            )
            parts[giver][place], parts[key][other] = (
                parts[key][other],
                parts[giver][place],
            )
            counts[giver], counts[key] = counts[giver] - 1, 1
    for nodes in parts.values():
        nodes.sort()


def save(path: str | Path, parts: dict[str, np.ndarray]) -> None:
    save_npz(path, **parts)


def load(path: str | Path) -> dict[str, np.ndarray]:
    """Read a split written by `save`."""
    parts = load_npz(path)
    if set(parts) not in (set(NODE_KEYS), set(EDGE_KEYS)):
        raise damaged(
            path, f"is not a split: it holds {', '.join(sorted(parts)) or 'nothing'}"
        )
    return parts


def seed_of(seed: int, dataset: str, split: int) -> int:
    """Derive the seed of what is trained on a split: the same for all methods and cells, so that they start alike."""
    name = zlib.crc32(f"training/{dataset}".encode())
    return int(np.random.SeedSequence([seed, name, split]).generate_state(1)[0])


def _generator(task: str, seed: int, dataset: str, split: int) -> np.random.Generator:
    name = zlib.crc32(
        f"{task}/{dataset}".encode()
    )  # unlike hash(), the same in every process
    return np.random.default_rng(np.random.SeedSequence([seed, name, split]))


def _non_edges(
    graph: Graph, count: int, rng: np.random.Generator, dataset: str
) -> np.ndarray:
    """Draw (2, count) different pairs u < v without an edge, by rejection: PyG's N x N mask takes gigabytes."""
    n = graph.num_nodes
    source, target = graph.edge_index
    upper = source < target
    taken = source[upper] * n + target[upper]  # sorted, as the edges are
    if n * (n - 1) // 2 - len(taken) < count:
        raise DataError(
            f"{dataset}: the graph is too dense to sample {count} pairs without an edge"
        )
    chosen = np.zeros(0, dtype=np.int64)
    while len(chosen) < count:
        ends = rng.integers(n, size=(2, 2 * count))
        ends = ends[:, ends[0] != ends[1]]
        codes = ends.min(axis=0) * n + ends.max(axis=0)
        codes = np.concatenate([chosen, codes[~np.isin(codes, taken)]])
        _, first = np.unique(codes, return_index=True)
        chosen = codes[np.sort(first)][
            :count
        ]  # the order in which they were drawn: every prefix is uniform
    return np.stack([chosen // n, chosen % n])
