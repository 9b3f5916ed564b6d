"""Rules that choose the epoch of a run, from its validation scores.

In node classification ours is the best accuracy (the protocol ""); the others, RULES,
are those of released code. All choose from the same training, which goes to its last
epoch. A measure that is missing on the validation nodes is so in every epoch (whom it
counts doesn't depend on the decisions), and rules leave it out.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

Scores = Sequence[Mapping[str, float]]
"""The validation scores of each epoch."""
EpochRule = Callable[[Scores], int]
"""Chooses the epoch to report: its position among them."""
GAPS = ("statistical_parity", "equal_opportunity")


def most_accurate(scores: Scores) -> int:
    """Choose the best accuracy; of equals the least sum of gaps, then the earliest."""
    accuracy = _column(scores, "accuracy")
    order = np.lexsort((_gaps(scores), -accuracy))  # the last key decides first
    return int(order[0])


def largest_area(scores: Scores) -> int:
    """Choose the largest area under the ROC curve, the earliest of equals."""
    return int(_column(scores, "auc").argmax())


def last(scores: Scores) -> int:
    """Choose the last epoch."""
    return len(scores) - 1


def least_loss(scores: Scores) -> int:
    """Choose the least cross-entropy.

    NIFTY's and EDITS's scripts do so for their plain baseline.
    """
    return int(_column(scores, "loss").argmin())


def accuracy_less_gaps(scores: Scores) -> int:
    """Choose the largest accuracy - (SP + EO).

    It is the kind of rule that most released fair methods have.
    """
    worth = _column(scores, "accuracy") - _gaps(scores)
    return int(worth.argmax())


def qian(scores: Scores) -> int:
    """Choose the least SP + EO among epochs that are useful enough.

    Their accuracy, AUC and F1 all reach a share r of the run's largest. r is 0.95, or
    where no epoch qualifies 0.94 and so on down to 0.90; below that it is the last
    epoch. After `report.py` of XweiQ/Benchmark-GraphFairness.
    """
    utilities = [_column(scores, name) for name in ("accuracy", "auc", "f1")]
    utilities = [values for values in utilities if not np.isnan(values).any()]
    gaps = _gaps(scores)
    for percent in range(95, 89, -1):
        reached = [values >= percent / 100 * values.max() for values in utilities]
        is_useful = np.all(reached, axis=0)
        if is_useful.any():
            gaps_of_useful = np.where(is_useful, gaps, np.inf)
            return int(gaps_of_useful.argmin())
    return last(scores)


RULES: dict[str, EpochRule] = {
    rule.__name__: rule for rule in (least_loss, accuracy_less_gaps, qian, last)
}


def _gaps(scores: Scores) -> np.ndarray:
    """Add up the gaps of each epoch that are not missing."""
    return np.nansum([_column(scores, name) for name in GAPS], axis=0)


def _column(scores: Scores, name: str) -> np.ndarray:
    """(epochs,) one of the scores."""
    return np.array([epoch[name] for epoch in scores])
