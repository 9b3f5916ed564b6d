"""Count a graph and compare with the paper's counts (appendix, Additional Statistics on Datasets)."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from fairgat.config import TASKS, Splits, Task
from fairgat.data.graph import UNLABELLED, Graph, alpha_chi
from fairgat.data.splits import edge_split
from fairgat.groups import contraction

TELLING = 0.95
"""The AUC, of a feature or its opposite, from which it almost says which nodes are of a group."""


def counts(graph: Graph, alpha_chi_max: Iterable[float] = ()) -> dict[str, Any]:
    """Count what can be counted in a graph.

    Returns:
        `nodes`, `features`, `groups`; `s0`, `s1`, ...: nodes per sensitive group; `labels`: nodes per class;
        `unlabelled_nodes`; `edges`, `inter_edges`, `intra_edges`: directed, so every undirected edge counts twice;
        `isolated_nodes`; `label_homophily`, `group_homophily`: the share of the edges (between labelled nodes) that
        join equal labels, or groups, None without edges; `without_other_group`: the share of the nodes that have no
        neighbour of another group; `label_gap`: the share of label 1 among a group's labelled nodes, the largest less
        the smallest, None where labels are not 0 and 1; `by_group`: of each group, by its name, `nodes`, `labelled`,
        `label_1` (how many of these have label 1), `r_chi` and `homophily` (the share of its edges that stay in it,
        None without edges); `tau`: of the mean over neighbours and the node itself, see `mixing`; `r_chi`: per group,
        the share of its nodes with an inter-edge; `alpha_chi`: per alpha_chi_max, the paper's closed form, which only
        two groups have: with more groups there are no entries.
    """
    groups, shares, intra = (
        np.bincount(graph.sensitive),
        graph.r_chi(),
        graph.intra_edges,
    )
    sizes = np.bincount(graph.labels[graph.labelled])
    by_group = [
        _group(graph, group, intra, shares[group]) for group in range(len(groups))
    ]
    positive = [
        group["label_1"] / group["labelled"] for group in by_group if group["labelled"]
    ]
    limits = alpha_chi_max if len(groups) == 2 else ()
    return {
        "nodes": graph.num_nodes,
        "features": graph.num_features,
        "groups": len(groups),
        **{f"s{group}": int(size) for group, size in enumerate(groups)},
        "labels": {str(label): int(size) for label, size in enumerate(sizes)},
        "unlabelled_nodes": graph.num_nodes - len(graph.labelled),
        "edges": graph.num_edges,
        "inter_edges": int((~intra).sum()),
        "intra_edges": int(intra.sum()),
        "isolated_nodes": graph.num_nodes - len(np.unique(graph.edge_index[0])),
        "label_homophily": _label_homophily(graph),
        "group_homophily": _mean(intra),
        "without_other_group": 1
        - len(np.unique(graph.edge_index[0, ~intra])) / graph.num_nodes,
        "label_gap": float(np.ptp(positive))
        if len(sizes) == 2 and sizes.all()
        else None,
        "by_group": dict(zip(graph.group_names, by_group, strict=True)),
        "tau": contraction(mixing(graph)),
        "r_chi": {str(group): share for group, share in shares.items()},
        "alpha_chi": {str(limit): alpha_chi(shares, limit) for limit in limits},
    }


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if values.size else None


def _label_homophily(graph: Graph) -> float | None:
    ends = graph.labels[graph.edge_index]
    known = ends[:, (ends != UNLABELLED).all(axis=0)]
    return _mean(known[0] == known[1])


def _group(graph: Graph, group: int, intra: np.ndarray, r_chi: float) -> dict[str, Any]:
    inside = graph.sensitive == group
    labels = graph.labels[inside & (graph.labels != UNLABELLED)]
    return {
        "nodes": int(inside.sum()),
        "labelled": len(labels),
        "label_1": int((labels == 1).sum()),
        "r_chi": r_chi,
        "homophily": _mean(intra[inside[graph.edge_index[0]]]),
    }


def mixing(graph: Graph) -> np.ndarray:
    """Compute (S, S), the mean over a group's nodes of the share of each group among their neighbours and themselves.

    This is the attention that a group's nodes pay to each group where everyone attends to all alike.
    """
    n, s = graph.num_nodes, graph.num_groups
    source, target = graph.edge_index
    seen = (
        np.bincount(source * s + graph.sensitive[target], minlength=n * s)
        .reshape(n, s)
        .astype(np.float64)
    )
    seen[np.arange(n), graph.sensitive] += 1
    seen /= seen.sum(axis=1, keepdims=True)
    return np.stack([seen[graph.sensitive == group].mean(axis=0) for group in range(s)])


def telling(graph: Graph) -> list[tuple[str, str, float]]:
    """Find features that almost say the label or the group: each with what it says, and how well, as an AUC."""
    names = graph.facts.get("feature_names", range(graph.num_features))
    everyone = np.arange(graph.num_nodes)
    targets = {
        f"group {title}": (everyone, graph.sensitive == group)
        for group, title in enumerate(graph.group_names)
    }
    targets["the label"] = (graph.labelled, graph.labels == 1)
    told: dict[str, tuple[str, float]] = {}
    for what, (nodes, inside) in targets.items():
        for name, auc in zip(
            names, _aucs(graph.features[nodes], inside[nodes]), strict=True
        ):
            if auc >= TELLING:
                told.setdefault(str(name), (what, auc))
    return [(name, what, auc) for name, (what, auc) in told.items()]


def _aucs(features: np.ndarray, inside: np.ndarray) -> list[float]:
    """Compute of each feature how often a node inside has the larger of two values, or the smaller; ties count half."""
    from scipy.stats import rankdata

    count = int(inside.sum())
    if not 0 < count < len(inside):
        return [0.5] * features.shape[1]
    ranks = rankdata(features, axis=0)[inside].sum(axis=0)
    aucs = (ranks - count * (count + 1) / 2) / (count * (len(inside) - count))
    return np.maximum(aucs, 1 - aucs).tolist()


def describe(
    graph: Graph,
    dataset: str,
    task: Task,
    published: Mapping[str, int],
    *,
    splits: Splits,
    seed: int,
    alpha_chi_max: Iterable[float] = (),
    stands_for: str | None = None,
    like: str | None = None,
) -> dict[str, Any]:
    """Make the content of {dataset}.stats.json.

    Args:
        published: the paper's counts of this data set; empty if it has none.
        splits: for link prediction, how edges are held out.
        stands_for: the paper's data set that this one is compared with, if it has another name.
        like: the data set whose splits it has, if it is another one.

    Returns:
        `dataset`, `task`, `counts` (for link prediction `inter_edges`, `intra_edges` and `r_chi` are those of
        split 0's training graph, as in the paper; `whole_inter_edges` and `whole_intra_edges` those of the graph),
        `paper`, `checks` (quantity, ours, paper, equal) and `notes`.
    """
    # In link prediction alpha_chi is the grid's value itself (paper, Experiments), whatever R_chi is.
    limits = alpha_chi_max if TASKS[task].divides == "nodes" else ()
    ours = counts(graph, limits) | {
        key: value for key, value in graph.facts.items() if isinstance(value, int)
    }
    if TASKS[task].divides == "edges":
        ours |= _training_graph(graph, splits, seed, like or dataset, ours)
    paper = _comparable(published, ours, task, stands_for)
    checks = [
        {
            "quantity": key,
            "ours": ours.get(key),
            "paper": value,
            "equal": ours.get(key) == value,
        }
        for key, value in paper.items()
    ]
    differ = {str(check["quantity"]) for check in checks if not check["equal"]}
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
) -> dict:
    """Give the paper's counts that ours are compared with; its edges also under further names, where we have these."""
    # Structural features are made as many as the paper's: agreement would mean nothing.
    paper = {
        key: value
        for key, value in published.items()
        if not (stands_for and key == "features")
    }
    if paper and TASKS[task].divides == "edges":
        paper["train_edges"] = paper["inter_edges"] + paper["intra_edges"]
    kinds = ("inter_edges", "intra_edges")
    if (
        paper
        and "listed_inter_edges" in ours
        and any(ours[key] != paper[key] for key in kinds)
    ):
        paper |= {f"listed_{key}": paper[key] for key in kinds}
    return paper


def _training_graph(
    graph: Graph, splits: Splits, seed: int, dataset: str, whole: Mapping[str, Any]
) -> dict[str, Any]:
    training = graph.with_edges(
        edge_split(graph, splits, seed, dataset, 0)["train_edges"]
    )
    return {
        "whole_inter_edges": whole["inter_edges"],
        "whole_intra_edges": whole["intra_edges"],
        "train_edges": training.num_edges,
        "inter_edges": int(training.inter_edges.sum()),
        "intra_edges": int(training.intra_edges.sum()),
        "r_chi": {str(group): share for group, share in training.r_chi().items()},
    }


def _notes(
    task: Task,
    ours: Mapping[str, Any],
    paper: Mapping[str, int],
    differ: set[str],
    stands_for: str | None,
) -> list[str]:
    notes = []
    if stands_for:
        notes.append(
            f"Compared with the paper's {stands_for}: the same nodes and friendships, but other features."
        )
    if differ & {"train_edges", "inter_edges", "intra_edges"}:
        notes.append(
            _whole_note(ours, paper)
            if TASKS[task].divides == "nodes"
            else _training_note(ours, paper)
        )
    if "features" in differ:
        notes.append(
            f"The paper's F = {paper['features']}; these features are {ours['features']}."
        )
    for key, what in (
        (
            "unlabelled_nodes",
            "unlabelled nodes are in the graph, neither trained nor measured on",
        ),
        ("left_out_nodes", "nodes of the file are left out, as the options say"),
        ("repeated_edges", "rows of the list of edges repeat an earlier one"),
    ):
        if ours.get(key):
            notes.append(f"{ours[key]} {what}.")
    return notes


def _training_note(ours: Mapping[str, Any], paper: Mapping[str, int]) -> str:
    if ours["train_edges"] != paper["train_edges"]:
        return f"The training graph has {ours['train_edges']} edges, the paper's {paper['train_edges']}."
    return (
        "Inter- and intra-edges are those of one random training graph (70 % of the edges), ours of split 0; its size, "
        f"{ours['train_edges']} directed edges, is the paper's."
    )


def _whole_note(ours: Mapping[str, Any], paper: Mapping[str, int]) -> str:
    note = (
        f"The symmetrised graph has {ours['edges']} directed edges, the paper counts "
        f"{paper['inter_edges'] + paper['intra_edges']}: most likely friendships before symmetrising"
    )
    if "listed_inter_edges" in ours:
        note += f", of which the file lists {ours['listed_inter_edges'] + ours['listed_intra_edges']}"
    return f"{note}."
