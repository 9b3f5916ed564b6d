"""Count a graph, and compare with the paper's counts (its appendix)."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fairgat.config import TASKS, Splits, Task
from fairgat.data.graph import UNLABELLED, Graph, cap
from fairgat.data.splits import edge_split
from fairgat.groups import contraction

TELLING = 0.95
"""The AUC, of a feature or its opposite, from which it almost says the group."""
_KINDS = ("inter_edges", "intra_edges")
_NOTED = {
    "unlabelled_nodes": (
        "unlabelled nodes are in the graph, neither trained nor measured on"
    ),
    "left_out_nodes": "nodes of the file are left out, as the options say",
    "repeated_edges": (
        "rows of the list of edges repeat an earlier one, in the same direction"
    ),
}


def counts(graph: Graph) -> dict[str, Any]:
    """Count what can be counted in a graph.

    Returns:
        `nodes`, `features`, `groups`.
        `s0`, `s1`, ...: nodes per sensitive group.
        `labels`: nodes per class.
        `unlabelled_nodes`, `isolated_nodes`.
        `edges`, `inter_edges`, `intra_edges`: directed, so every undirected edge counts
        twice.
        `label_homophily`, `group_homophily`: the share of the edges (between labelled
        nodes) that join equal labels, or groups, None without edges.
        `without_other_group`: the share of the nodes that have no neighbour of another
        group.
        `label_gap`: the share of label 1 among a group's labelled nodes, the largest
        less the smallest, None where labels are not 0 and 1.
        `by_group`: of each group, by its name, `nodes`, `labelled`, `label_1` (how many
        of these have label 1), `r_chi` and `homophily` (the share of its edges that
        stay in it, None without edges).
        `tau`: of the mean over neighbours and the node itself, see `mixing`.
        `r_chi`: per group, the share of its nodes with an inter-edge.
        `cap`: the attention on inter-edges that follows from these, None where the
        paper has none: with more than two groups, or without inter-edges.
    """
    sizes = np.bincount(graph.sensitive)
    label_sizes = np.bincount(graph.labels[graph.labelled])
    shares = graph.r_chi()
    intra = graph.intra_edges
    groups = [_group(graph, group, intra, share) for group, share in shares.items()]
    with_neighbours = np.unique(graph.edge_index[0])
    with_other_group = np.unique(graph.edge_index[0, ~intra])
    is_binary = len(label_sizes) == 2 and label_sizes.all()
    return {
        "nodes": graph.num_nodes,
        "features": graph.num_features,
        "groups": len(sizes),
        **{f"s{group}": int(size) for group, size in enumerate(sizes)},
        "labels": {str(label): int(size) for label, size in enumerate(label_sizes)},
        "unlabelled_nodes": graph.num_nodes - len(graph.labelled),
        "edges": graph.num_edges,
        "inter_edges": int((~intra).sum()),
        "intra_edges": int(intra.sum()),
        "isolated_nodes": graph.num_nodes - len(with_neighbours),
        "label_homophily": _label_homophily(graph),
        "group_homophily": _mean(intra),
        "without_other_group": 1 - len(with_other_group) / graph.num_nodes,
        "label_gap": _label_gap(groups) if is_binary else None,
        "by_group": dict(zip(graph.group_names, groups, strict=True)),
        "tau": contraction(mixing(graph)),
        "r_chi": {str(group): share for group, share in shares.items()},
        "cap": _cap(shares),
    }


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if values.size else None


def _cap(shares: Mapping[int, float]) -> float | None:
    if len(shares) != 2:
        return None
    value = cap(shares)
    return value if math.isfinite(value) else None


def _label_homophily(graph: Graph) -> float | None:
    ends = graph.labels[graph.edge_index]
    both_known = (ends != UNLABELLED).all(axis=0)
    source, target = ends[:, both_known]
    return _mean(source == target)


def _label_gap(groups: list[dict[str, Any]]) -> float:
    labelled = [group for group in groups if group["labelled"]]
    shares = [group["label_1"] / group["labelled"] for group in labelled]
    return float(np.ptp(shares))


def _group(graph: Graph, group: int, intra: np.ndarray, r_chi: float) -> dict[str, Any]:
    """Count the nodes and labels of a group, and its edges within it."""
    inside = graph.sensitive == group
    labels = graph.labels[inside & (graph.labels != UNLABELLED)]
    edges_from_it = inside[graph.edge_index[0]]
    return {
        "nodes": int(inside.sum()),
        "labelled": len(labels),
        "label_1": int((labels == 1).sum()),
        "r_chi": r_chi,
        "homophily": _mean(intra[edges_from_it]),
    }


def mixing(graph: Graph) -> np.ndarray:
    """Compute the share of each group among a group's neighbours, (S, S).

    A node counts itself; means over a group's nodes. This is the attention that a
    group's nodes pay to each group where everyone attends to all alike.
    """
    n = graph.num_nodes
    n_groups = graph.num_groups
    source, target = graph.edge_index
    pairs = source * n_groups + graph.sensitive[target]
    listed = np.bincount(pairs, minlength=n * n_groups)
    seen = listed.reshape(n, n_groups).astype(np.float64)
    seen[np.arange(n), graph.sensitive] += 1
    seen /= seen.sum(axis=1, keepdims=True)
    of_groups = [seen[graph.sensitive == group] for group in range(n_groups)]
    return np.stack([shares.mean(axis=0) for shares in of_groups])


def telling(graph: Graph) -> list[tuple[str, str, float]]:
    """Find features that almost say the label or the group.

    Each with what it says, and how well, as an AUC.
    """
    names = graph.facts.get("feature_names", range(graph.num_features))
    everyone = np.arange(graph.num_nodes)
    targets = {}
    for group, title in enumerate(graph.group_names):
        targets[f"group {title}"] = (everyone, graph.sensitive == group)
    targets["the label"] = (graph.labelled, graph.labels == 1)

    told: dict[str, tuple[str, float]] = {}
    for what, (nodes, inside) in targets.items():
        aucs = _aucs(graph.features[nodes], inside[nodes])
        for name, auc in zip(names, aucs, strict=True):
            if auc >= TELLING:
                told.setdefault(str(name), (what, auc))
    return [(name, what, auc) for name, (what, auc) in told.items()]


def _aucs(features: np.ndarray, inside: np.ndarray) -> list[float]:
    """Compute the AUC of each feature, or of its opposite; ties count half."""
    from scipy.stats import rankdata

    count = int(inside.sum())
    if not 0 < count < len(inside):
        return [0.5] * features.shape[1]
    ranks = rankdata(features, axis=0)[inside].sum(axis=0)
    pairs = count * (len(inside) - count)
    aucs = (ranks - count * (count + 1) / 2) / pairs
    return np.maximum(aucs, 1 - aucs).tolist()


def describe(
    graph: Graph,
    dataset: str,
    task: Task,
    published: Mapping[str, int],
    *,
    splits: Splits,
    seed: int,
    stands_for: str | None = None,
    like: str | None = None,
) -> dict[str, Any]:
    """Make the content of {dataset}.stats.json.

    Args:
        published: the paper's counts of this data set; empty if it has none.
        splits: for link prediction, how edges are held out.
        stands_for: the paper's data set that this one is compared with, if it has
            another name.
        like: the data set whose splits it has, if it is another one.

    Returns:
        `dataset`, `task`, `counts`, `paper`, `checks` (quantity, ours, paper, equal)
        and `notes`. For link prediction `inter_edges`, `intra_edges` and `r_chi` are
        those of split 0's training graph, as in the paper, and `whole_inter_edges` and
        `whole_intra_edges` those of the graph.
    """
    facts = graph.facts
    ours = counts(graph)
    ours |= {key: facts[key] for key in facts if isinstance(facts[key], int)}
    if TASKS[task].divides == "edges":
        split = edge_split(graph, splits, seed, like or dataset, 0)
        ours |= _of_training(graph.with_edges(split["train_edges"]), ours)
    paper = _comparable(published, ours, task, stands_for)

    checks = []
    differ = set()
    for key, value in paper.items():
        equal = ours.get(key) == value
        check = {"quantity": key, "ours": ours.get(key), "paper": value, "equal": equal}
        checks.append(check)
        if not equal:
            differ.add(key)
    return {
        "dataset": dataset,
        "task": task,
        "counts": ours,
        "paper": paper or None,
        "checks": checks,
        "notes": _notes(task, ours, paper, differ, stands_for),
    }


def _comparable(
    published: Mapping[str, int],
    ours: Mapping[str, Any],
    task: Task,
    stands_for: str | None,
) -> dict[str, int]:
    """Give the paper's counts that ours are compared with.

    Its edges also under further names, where we have these.
    """
    paper = dict(published)
    if stands_for:
        # Its features are made as many as the paper's: agreement would mean nothing.
        paper.pop("features", None)
    if not paper:
        return {}
    if TASKS[task].divides == "edges":
        paper["train_edges"] = paper["inter_edges"] + paper["intra_edges"]
    if "listed_inter_edges" in ours:
        differ = any(ours[key] != paper[key] for key in _KINDS)
        if differ:
            paper |= {f"listed_{key}": paper[key] for key in _KINDS}
    return paper


def _of_training(training: Graph, whole: Mapping[str, Any]) -> dict[str, Any]:
    """Count the training graph of link prediction."""
    return {
        "whole_inter_edges": whole["inter_edges"],
        "whole_intra_edges": whole["intra_edges"],
        "train_edges": training.num_edges,
        "inter_edges": int(training.inter_edges.sum()),
        "intra_edges": int(training.intra_edges.sum()),
        "r_chi": {str(group): share for group, share in training.r_chi().items()},
        "cap": None,  # there R_chi caps no attention (paper, Experiments)
    }


def _notes(
    task: Task,
    ours: Mapping[str, Any],
    paper: Mapping[str, int],
    differ: set[str],
    stands_for: str | None,
) -> list[str]:
    """Say in sentences why counts differ from the paper's, and what was left out."""
    notes = []
    if stands_for:
        notes.append(
            f"Compared with the paper's {stands_for}: the same nodes and friendships, "
            "but other features."
        )
    if not differ.isdisjoint(("train_edges", *_KINDS)):
        is_whole = TASKS[task].divides == "nodes"
        note = _whole_note if is_whole else _training_note
        notes.append(note(ours, paper))
    if "features" in differ:
        notes.append(
            f"The paper's F = {paper['features']}; these features are "
            f"{ours['features']}."
        )
    for key, what in _NOTED.items():
        if ours.get(key):
            notes.append(f"{ours[key]} {what}.")
    return notes


def _training_note(ours: Mapping[str, Any], paper: Mapping[str, int]) -> str:
    """Say how the training graph's edges differ from the paper's."""
    edges = ours["train_edges"]
    if edges != paper["train_edges"]:
        return (
            f"The training graph has {edges} edges, the paper's {paper['train_edges']}."
        )
    return (
        "Inter- and intra-edges are those of one random training graph (70 % of the "
        f"edges), ours of split 0; its size, {edges} directed edges, is the paper's."
    )


def _whole_note(ours: Mapping[str, Any], paper: Mapping[str, int]) -> str:
    """Say how the whole graph's edges differ from the paper's."""
    papers = paper["inter_edges"] + paper["intra_edges"]
    note = (
        f"The symmetrised graph has {ours['edges']} directed edges, the paper counts "
        f"{papers}: most likely friendships before symmetrising"
    )
    if "listed_inter_edges" in ours:
        listed = ours["listed_inter_edges"] + ours["listed_intra_edges"]
        note += f", of which the file lists {listed}"
    return f"{note}."
