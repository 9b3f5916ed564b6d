"""Judge the predictions of an epoch: the decisions that they are, then every measure. Nothing else scores."""

import math
from collections.abc import Mapping

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
        predictions: of one epoch, in the graph's order: `logits` (N,), or the `*_logits` of each part's pairs.
        protocol: of link prediction.

    Raises:
        IndexError, KeyError, ValueError: predictions, graph and split are not of one run.
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
    attributes = graph.attributes if len(graph.attributes) > 1 else {}
    return {
        part: Decisions(
            logits[split[part]],
            0.0,
            logits[split[part]] > 0,
            graph.labels[split[part]] == 1,
            graph.sensitive[split[part]],
            graph.num_groups,
            attributes={
                name: values[split[part]] for name, (values, _) in attributes.items()
            },
        )
        for part in HELD_OUT
    }


def _of_pairs(
    training: LinkTraining,
    graph: Graph,
    split: Arrays,
    predictions: Arrays,
    protocol: str,
) -> dict[str, Decisions]:
    """Take pairs for links where the probability reaches the cut-off that is the most accurate on validation.

    FairDrop's notebook looks for it on the test set, and counts a rate over nobody as 0.
    """
    logits = {part: predictions[f"{part}_logits"] for part in HELD_OUT}
    probabilities = {part: _sigmoid(values) for part, values in logits.items()}
    pairs = {part: pairs_of(split, part) for part in HELD_OUT}
    notebook = protocol == "fairdrop"
    chosen_on = "test" if notebook else "validation"
    values, labels = probabilities[chosen_on], pairs[chosen_on][1]
    # max() keeps the first of equals, as the notebook does
    cutoff = max(
        training.cutoffs, key=lambda candidate: ((values >= candidate) == labels).mean()
    )
    return {
        part: Decisions(
            logits[
                part
            ],  # in float32 every probability above a logit of 17 is 1, and would not rank the pairs
            cutoff,
            probabilities[part] >= cutoff,
            labels == 1,
            graph.sensitive[ends],
            graph.num_groups,
            0.0 if notebook else math.nan,
        )
        for part, (ends, labels) in pairs.items()
    }


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    """Compute the probabilities that training saw, to the last bit: NumPy rounds some of them otherwise."""
    import torch  # here, as judging nodes does without

    return torch.from_numpy(logits).sigmoid().numpy()
