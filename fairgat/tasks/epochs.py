"""Rules that choose the epoch of a node classification run, from its validation scores.

Ours is the best accuracy (`fairgat.tasks.base.best`, the protocol ""). The others are those of released code. All
choose from the same training, which goes to its last epoch. A measure that is missing on the validation nodes is so in
every epoch (whom it counts doesn't depend on the decisions), and rules leave it out.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from fairgat.tasks.base import EpochRule, Score, last


def least_loss(scores: Sequence[Score]) -> int:
    """Choose the least cross-entropy, as NIFTY's and EDITS's scripts do for their plain baseline."""
    return int(_column(scores, "loss").argmin())


def accuracy_less_gaps(scores: Sequence[Score]) -> int:
    """Choose the largest accuracy - (SP + EO), the kind of rule that most released fair methods have."""
    return int((_column(scores, "accuracy") - gaps([score.metrics for score in scores])).argmax())


def qian(scores: Sequence[Score]) -> int:
    """Choose the least SP + EO among epochs whose accuracy, AUC and F1 all reach a share r of the run's largest.

    r is 0.95, or where no epoch qualifies 0.94 and so on down to 0.90; below that it is the last epoch. After
    `report.py` of XweiQ/Benchmark-GraphFairness.
    """
    sums = gaps([score.metrics for score in scores])
    utilities = [_column(scores, name) for name in ("accuracy", "auc", "f1")]
    known = [values for values in utilities if not np.isnan(values).any()]
    for percent in range(95, 89, -1):
        qualified = np.all([values >= percent / 100 * values.max() for values in known], axis=0)
        if qualified.any():
            return int(np.where(qualified, sums, np.inf).argmin())
    return last(scores)


RULES: dict[str, EpochRule] = {
    "least_loss": least_loss,
    "accuracy_less_gaps": accuracy_less_gaps,
    "qian": qian,
    "last": last,
}


GAPS = ("statistical_parity", "equal_opportunity")


def gaps(scores: Sequence[Mapping[str, float]]) -> np.ndarray:
    """Add up the gaps of each epoch that are not missing."""
    return np.nansum([[epoch[name] for epoch in scores] for name in GAPS], axis=0)


def _column(scores: Sequence[Score], name: str) -> np.ndarray:
    return np.array([score.metrics[name] for score in scores])
