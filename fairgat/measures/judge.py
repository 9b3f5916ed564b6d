"""Judge the predictions of an epoch: the decisions that they are, then every measure.

Nothing else scores.
"""

import math
from collections.abc import Iterable, Mapping

import numpy as np

from fairgat.config import LinkTraining, NodeTraining, Training
from fairgat.data.graph import Graph
from fairgat.data.splits import HELD_OUT, pairs_of
from fairgat.measures.metrics import Decisions
from fairgat.measures.registry import compute

Arrays = Mapping[str, np.ndarray]
Scores = dict[str, dict[str, float]]
"""The value of every measure by part; NaN where it is missing."""


def judge(
    training: Training, graph: Graph, split: Arrays, predictions: Arrays, protocol: str
) -> Scores:
    """Compute every measure on validation and test.

    Args:
        training: of the task; link prediction's has the candidates for the cut-off.
        graph, split: the whole graph, and what was held out of it.
        predictions: of one epoch, in the graph's order: `logits` (N,), or the
            `*_logits` of each part's pairs.
        protocol: of link prediction.

    Raises:
        IndexError, KeyError, ValueError: predictions, graph and split are not of one
            run.
    """
    match training:
        case LinkTraining():
            decided = _of_pairs(training, graph, split, predictions, protocol)
        case NodeTraining():
            decided = _of_nodes(graph, split, predictions["logits"])
    return {
        part: compute(training.task, decisions) for part, decisions in decided.items()
    }


def _of_nodes(graph: Graph, split: Arrays, logits: np.ndarray) -> dict[str, Decisions]:
    """Take nodes with a positive logit for positive."""
    if len(logits) != graph.num_nodes:
        raise ValueError(f"{len(logits)} logits for {graph.num_nodes} nodes")
    decided = {}
    for part in HELD_OUT:
        nodes = split[part]
        attributes = {}
        if len(graph.attributes) > 1:
            for name, (values, _) in graph.attributes.items():
                attributes[name] = values[nodes]
        decided[part] = Decisions(
            scores=logits[nodes],
            cutoff=0.0,
            positive=logits[nodes] > 0,
            labels=graph.labels[nodes] == 1,
            groups=graph.sensitive[nodes],
            num_groups=graph.num_groups,
            attributes=attributes,
        )
    return decided


def _of_pairs(
    training: LinkTraining,
    graph: Graph,
    split: Arrays,
    predictions: Arrays,
    protocol: str,
) -> dict[str, Decisions]:
    """Take pairs for links where the probability reaches a cut-off.

    It is the most accurate on validation. FairDrop's notebook looks for it on the test
    set, and counts a rate over nobody as 0.
    """
    chosen_on, nobody = "validation", math.nan
    if protocol == "fairdrop":
        chosen_on, nobody = "test", 0.0

    logits = {part: predictions[f"{part}_logits"] for part in HELD_OUT}
    probabilities = {part: _sigmoid(values) for part, values in logits.items()}
    _, labels = pairs_of(split, chosen_on)
    cutoff = _most_accurate(training.cutoffs, probabilities[chosen_on], labels)

    decided = {}
    for part in HELD_OUT:
        ends, labels = pairs_of(split, part)
        decided[part] = Decisions(
            # In float32 every probability above a logit of 17 is 1, and would not rank.
            scores=logits[part],
            cutoff=cutoff,
            positive=probabilities[part] >= cutoff,
            labels=labels == 1,
            groups=graph.sensitive[ends],
            num_groups=graph.num_groups,
            nobody=nobody,
        )
    return decided


def _most_accurate(
    cutoffs: Iterable[float], probabilities: np.ndarray, labels: np.ndarray
) -> float:
    """Choose the cut-off with which most are right; the first of equals."""

    def accuracy(cutoff: float) -> float:
        right = (probabilities >= cutoff) == labels
        return right.mean()

    return max(cutoffs, key=accuracy)


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    """Compute the probabilities that training saw, to the last bit.

    NumPy rounds some of them otherwise.
    """
    import torch  # here, as judging nodes does without

    return torch.from_numpy(logits).sigmoid().numpy()
