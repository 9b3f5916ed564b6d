"""Accuracy and group fairness, as fractions.

A difference between more than two groups is the largest rate minus the smallest, as in fairlearn. The rate of a
group without rows to count is 0, as there. The tests compare with fairlearn and scikit-learn. Here it is plain NumPy:
scored every epoch, scikit-learn's area under the ROC curve takes twenty times as long, and importing it 1.7 s a run.
"""

import numpy as np


def node_metrics(predicted: np.ndarray, labels: np.ndarray, sensitive: np.ndarray) -> dict[str, float]:
    """Compute accuracy, the F1 score of class 1, and the differences of statistical parity and equal opportunity.

    The latter are those of the paper's section Evaluation Metrics.

    Args:
        predicted: (n,) 0/1 predictions.
        labels: (n,) 0/1 labels.
        sensitive: (n,) sensitive groups.
    """
    predicted, labels = predicted.astype(bool), labels.astype(bool)
    return {
        "accuracy": float((predicted == labels).mean()),
        "statistical_parity": _range(_rates(predicted, sensitive)),
        "equal_opportunity": _range(_rates(predicted, sensitive, labels)),
        "f1": float(2 * (predicted & labels).sum() / max(predicted.sum() + labels.sum(), 1)),
    }


def group_rates(predicted: np.ndarray, labels: np.ndarray, sensitive: np.ndarray) -> dict[str, float]:
    """Compute each group's accuracy and its shares of positive predictions, of all nodes and of those with label 1.

    The arguments are those of `node_metrics`. ΔSP and ΔEO are the largest differences of these shares.
    """
    predicted, labels = predicted.astype(bool), labels.astype(bool)
    found = {
        "accuracy": _rates(predicted == labels, sensitive),
        "positive_rate": _rates(predicted, sensitive),
        "true_positive_rate": _rates(predicted, sensitive, labels),
    }
    groups = np.unique(sensitive)
    return {
        f"{name}_{group}": float(rate)
        for name, rates in found.items()
        for group, rate in zip(groups, rates, strict=True)
    }


def link_metrics(
    predicted: np.ndarray, labels: np.ndarray, edges: np.ndarray, sensitive: np.ndarray
) -> dict[str, float]:
    """Compute accuracy, and FairDrop's six differences of demographic parity (dp) and equalised odds (eo).

    Groups of an edge (u, v): mixed, whether its ends agree; group, each end's value (the edge counts once per end);
    subgroup, the unordered pair of values.

    Args:
        predicted: (m,) 0/1 predictions.
        labels: (m,) 1 where the edge exists.
        edges: (2, m) its ends.
        sensitive: (N,) groups of the nodes.
    """
    predicted, labels = predicted.astype(bool), labels.astype(bool)
    u, v = sensitive[edges[0]], sensitive[edges[1]]
    dyads = {
        "mixed": (predicted, labels, u != v),
        "group": (np.tile(predicted, 2), np.tile(labels, 2), np.concatenate([u, v])),
        "subgroup": (predicted, labels, np.minimum(u, v) * (sensitive.max() + 1) + np.maximum(u, v)),
    }
    metrics = {"accuracy": float((predicted == labels).mean())}
    for name, (decision, truth, groups) in dyads.items():
        metrics[f"dp_{name}"] = _range(_rates(decision, groups))
        metrics[f"eo_{name}"] = max(_range(_rates(decision, groups, truth)), _range(_rates(decision, groups, ~truth)))
    return metrics


def area_under_roc(scores: np.ndarray, labels: np.ndarray) -> float:
    """Estimate the probability that a positive outranks a negative, ties counting half.

    NaN where a score is NaN, and 0.5 where there is one class only.

    Args:
        scores: (m,) higher means more likely positive.
        labels: (m,) 0/1 labels.
    """
    labels = labels.astype(bool)
    values, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    if np.isnan(values[-1]):  # sorted last, NaN would count as the highest
        return float("nan")
    positives = int(labels.sum())
    negatives = len(labels) - positives
    if not positives or not negatives:
        return 0.5
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[labels].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def _rates(decision: np.ndarray, groups: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
    """Share of positive decisions in each group, among the rows where `among` holds; 0 if there are none."""
    _, index = np.unique(groups, return_inverse=True)
    size = index.max() + 1 if len(index) else 0
    weights = np.ones(len(index)) if among is None else among.astype(float)
    total = np.bincount(index, weights, size)
    return np.divide(np.bincount(index, weights * decision, size), total, out=np.zeros(size), where=total > 0)


def _range(rates: np.ndarray) -> float:
    return float(rates.max() - rates.min()) if len(rates) else 0.0
