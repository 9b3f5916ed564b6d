"""Random splits of nodes and of edges.

They depend only on the seed, the data set and the split's number. A DataError says
which graph is too small or too dense, or lacks a group in some part, or which file is
no split.
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
    """Divide labelled nodes for node classification.

    40/30/30 in the paper (Experimental setup).

    Returns:
        `train`, `validation` and `test`: sorted int64 numbers from 0, disjoint, all
        together.
    """
    order = _generator(NodeTraining.task, seed, dataset, split).permutation(num_nodes)
    train = math.floor(settings.train * num_nodes)
    validation = math.floor(settings.validation * num_nodes)
    parts = np.split(order, [train, train + validation])
    if not all(map(len, parts)):
        raise DataError(
            f"{dataset}: {num_nodes} nodes are too few to divide into train, "
            "validation and test"
        )
    parts = [np.sort(part).astype(np.int64) for part in parts]
    return dict(zip(NODE_KEYS, parts, strict=True))


def edge_split(
    graph: Graph, settings: Splits, seed: int, dataset: str, split: int
) -> dict[str, np.ndarray]:
    """Divide the undirected edges for link prediction, as FairDrop's notebook does.

    That is by PyG's train_test_split_edges. Sizes are rounded down as there, so that
    the training graph has as many edges as the paper's.

    Returns:
        `train_edges`: (2, E) both directions, sorted.
        `validation_edges`, `test_edges`: (2, m) one direction (u < v).
        `validation_non_edges`, `test_non_edges`: (2, m) as many pairs u < v, all
        different, that are not edges of the whole graph.
    """
    rng = _generator(LinkTraining.task, seed, dataset, split)
    source, target = graph.edge_index
    edges = graph.edge_index[:, source < target]
    count = edges.shape[1]
    validation = math.floor(settings.edge_validation * count)
    test = math.floor(settings.edge_test * count)
    if not validation or not test:
        raise DataError(
            f"{dataset}: {count} edges are too few to hold some out for validation and "
            "test"
        )
    edges = edges[:, rng.permutation(count)]
    held_out, train = np.split(edges, [validation + test], axis=1)
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
    """Give the pairs of a part of an edge split, edges first, and their labels.

    Returns:
        (2, m) nodes, and (m,) 1 or 0.
    """
    edges = split[f"{part}_edges"]
    non_edges = split[f"{part}_non_edges"]
    labels = np.repeat([1, 0], [edges.shape[1], non_edges.shape[1]])
    return np.concatenate([edges, non_edges], axis=1), labels


def make(
    graph: Graph, task: Task, settings: Splits, seed: int, dataset: str, split: int
) -> dict[str, np.ndarray]:
    """Make the split of a task: `edge_split`, or `node_split` of the labelled nodes.

    Parts of a node split exchange nodes until each has every group and, with more than
    two groups, every group and label of which there are enough.
    """
    if TASKS[task].divides == "edges":
        return edge_split(graph, settings, seed, dataset, split)
    labelled = graph.labelled
    parts = node_split(len(labelled), settings, seed, dataset, split)
    parts = {key: labelled[places] for key, places in parts.items()}
    of_parts = [np.unique(graph.sensitive[nodes]) for nodes in parts.values()]
    lacks_a_group = any(len(groups) < graph.num_groups for groups in of_parts)
    # A split of two groups that lacks none stays as it was drawn.
    if lacks_a_group or graph.num_groups > 2:
        rng = _generator("cells", seed, dataset, split)
        _give_every_part_each(parts, graph.sensitive, rng)
        _give_every_part_each(parts, groups_and_labels(graph), rng)
    _check_groups(parts, graph, dataset, split)
    return parts


def _check_groups(
    parts: Mapping[str, np.ndarray], graph: Graph, dataset: str, split: int
) -> None:
    """Refuse a split with a part that lacks a group."""
    groups = np.unique(graph.sensitive)
    for key, nodes in parts.items():
        for group in np.setdiff1d(groups, graph.sensitive[nodes]):
            raise DataError(
                f"{dataset}: none of the {len(nodes)} {key} nodes of split {split} is "
                f"in group {group} ({graph.group_names[group]}); the data set has too "
                "few of them for fairness to be learned and measured. Merge groups "
                "with `groups`, leave them out, or draw other splits with another "
                "`seed`"
            )


def groups_and_labels(graph: Graph) -> np.ndarray:
    """Number each node's group and label, (N,), -1 where the label is not known.

    The number is group x number of labels + label.
    """
    width = max(int(graph.labels.max(initial=0)) + 1, 2)
    numbers = graph.sensitive * width + graph.labels
    return np.where(graph.labels == UNLABELLED, -1, numbers)


def _give_every_part_each(
    parts: dict[str, np.ndarray], kinds: np.ndarray, rng: np.random.Generator
) -> None:
    """Exchange nodes until every part has every kind, where there are enough of it.

    A node that is moved comes from the part that has the most of its kind; it changes
    places with one whose kind stays in both.
    """
    for kind in np.unique(kinds[kinds >= 0]):
        counts = {}
        for key, nodes in parts.items():
            counts[key] = int((kinds[nodes] == kind).sum())
        if sum(counts.values()) < len(parts):
            continue
        lacking = [key for key, count in counts.items() if not count]
        for key in lacking:
            giver = max(counts, key=lambda each: counts[each])
            if _exchange(parts[giver], parts[key], kind, kinds, rng):
                counts[giver] -= 1
                counts[key] = 1
    for nodes in parts.values():
        nodes.sort()


def _exchange(
    giver: np.ndarray,
    taker: np.ndarray,
    kind: int,
    kinds: np.ndarray,
    rng: np.random.Generator,
) -> bool:
    """Move a node of a kind to a part, in place of one whose kind stays there.

    Returns:
        Whether there is such a one.
    """
    own = kinds[taker]
    spare = np.flatnonzero(np.bincount(own)[own] > 1)
    if not len(spare):
        return False
    given = rng.choice(np.flatnonzero(kinds[giver] == kind))
    taken = rng.choice(spare)
    giver[given], taker[taken] = taker[taken], giver[given]
    return True


def save(path: str | Path, parts: dict[str, np.ndarray]) -> None:
    save_npz(path, **parts)


def load(path: str | Path) -> dict[str, np.ndarray]:
    """Read a split written by `save`."""
    parts = load_npz(path)
    if set(parts) not in (set(NODE_KEYS), set(EDGE_KEYS)):
        held = ", ".join(sorted(parts)) or "nothing"
        raise damaged(path, f"is not a split: it holds {held}")
    return parts


def seed_of(seed: int, dataset: str, split: int) -> int:
    """Derive the seed of what is trained on a split.

    The same for all methods and cells, so that they start alike.
    """
    sequence = _sequence("training", seed, dataset, split)
    return int(sequence.generate_state(1)[0])


def _generator(task: str, seed: int, dataset: str, split: int) -> np.random.Generator:
    return np.random.default_rng(_sequence(task, seed, dataset, split))


def _sequence(what: str, seed: int, dataset: str, split: int) -> np.random.SeedSequence:
    # Unlike hash(), the same in every process.
    name = zlib.crc32(f"{what}/{dataset}".encode())
    return np.random.SeedSequence([seed, name, split])


def _non_edges(
    graph: Graph, count: int, rng: np.random.Generator, dataset: str
) -> np.ndarray:
    """Draw (2, count) different pairs u < v without an edge, by rejection.

    PyG's N x N mask takes gigabytes.
    """
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
        free = codes[~np.isin(codes, taken)]
        codes = np.concatenate([chosen, free])
        _, first = np.unique(codes, return_index=True)
        # In the order in which they were drawn: every prefix is uniform.
        chosen = codes[np.sort(first)][:count]
    return np.stack([chosen // n, chosen % n])
