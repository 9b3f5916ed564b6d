"""Judge predictions: the decisions that they are, then every measure.

Nothing else scores. `judge` has those of a training's epoch, `judge_people` those of
people in a table.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

import numpy as np

from fairgat.config import LinkTraining, NodeTraining, Training
from fairgat.data.graph import Graph
from fairgat.data.splits import HELD_OUT, pairs_of
from fairgat.measures.metrics import Decisions
from fairgat.measures.registry import compute

Arrays = Mapping[str, np.ndarray]
Kind = Literal["logits", "probabilities"]
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
            `*_logits` of each part's pairs, and their `*_probabilities` where these
            are known.
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

    probabilities = {part: _probabilities(predictions, part) for part in HELD_OUT}
    _, labels = pairs_of(split, chosen_on)
    cutoff = _most_accurate(training.cutoffs, probabilities[chosen_on], labels)

    decided = {}
    for part in HELD_OUT:
        ends, labels = pairs_of(split, part)
        decided[part] = Decisions(
            # In float32 every probability above a logit of 17 is 1, and would not rank.
            scores=predictions[f"{part}_logits"],
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


def judge_people(
    logits: np.ndarray,
    labels: np.ndarray,
    sensitive: np.ndarray,
    decisions: np.ndarray | None = None,
) -> dict[str, float]:
    """Compute every measure of node classification on people.

    Args:
        logits: (n,) of label 1.
        labels: (n,) 0 or 1.
        sensitive: (n,) groups, numbered from 0.
        decisions: (n,) bool; where the logit is positive if absent.
    """
    positive = logits > 0 if decisions is None else decisions
    count = int(sensitive.max()) + 1
    decided = Decisions(logits, 0.0, positive, labels == 1, sensitive, count)
    return compute(NodeTraining.task, decided)


def as_logits(
    scores: Sequence[np.ndarray], kind: Kind | None, option: str = "kind"
) -> list[np.ndarray]:
    """Give logits of scores that are logits or probabilities; those stay as they are.

    Args:
        scores: arrays of one kind, such as those of each part.
        kind: what they are. Absent, they are logits, and refused where they may be
            probabilities, too.
        option: what `kind` is called where people give it.

    Raises:
        ValueError: nothing says what they are, or they are no probabilities.
    """
    if kind not in (None, *get_args(Kind)):
        raise ValueError(f"kind is 'logits' or 'probabilities', got {kind!r}")
    values = np.concatenate([*scores])
    within = bool(((values >= 0) & (values <= 1)).all())
    if kind is None and within:
        raise ValueError(
            "all scores lie in [0, 1]: say whether they are probabilities or logits, "
            f"as `{option}`"
        )
    if kind == "probabilities" and not within:
        raise ValueError("probabilities lie in [0, 1]; some scores do not")
    if kind == "probabilities":
        return [_logits_of(each) for each in scores]
    return [*scores]


def _logits_of(probabilities: np.ndarray) -> np.ndarray:
    """Compute the logits of probabilities, float64; those of 0 and 1 are infinite."""
    values = probabilities.astype(np.float64)
    with np.errstate(divide="ignore"):
        return np.log(values) - np.log1p(-values)


def _probabilities(predictions: Arrays, part: str) -> np.ndarray:
    """Take the probabilities of a part's pairs, or compute them of the logits."""
    given = predictions.get(f"{part}_probabilities")
    if given is not None:
        return given
    return _sigmoid(predictions[f"{part}_logits"])


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    """Compute the probabilities that training saw, to the last bit.

    NumPy rounds some of them otherwise.
    """
    import torch  # here, as judging nodes does without

    return torch.from_numpy(logits).sigmoid().numpy()
