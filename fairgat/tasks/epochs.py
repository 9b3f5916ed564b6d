"""Rules that choose the epoch of a node classification run, from its validation scores.

Ours is the best accuracy (`fairgat.tasks.base.best`, the protocol ""). The others are those of released code. All
choose from the same training, which goes to its last epoch.
"""

from collections.abc import Sequence

import numpy as np

from fairgat.tasks.base import EpochRule, Score, last


def least_loss(scores: Sequence[Score]) -> int:
    """Choose the least cross-entropy, as NIFTY's and EDITS's scripts do for their plain baseline."""
    return int(_column(scores, "loss").argmin())


def accuracy_less_gaps(scores: Sequence[Score]) -> int:
    """Choose the largest accuracy - (SP + EO), the kind of rule that most released fair methods have."""
    return int((_column(scores, "accuracy") - _gaps(scores)).argmax())


def qian(scores: Sequence[Score]) -> int:
    """Choose the least SP + EO among epochs whose accuracy, AUC and F1 all reach a share r of the run's largest.

    r is 0.95, or where no epoch qualifies 0.94 and so on down to 0.90; below that it is the last epoch. After
    `report.py` of XweiQ/Benchmark-GraphFairness.
    """
    gaps, utilities = _gaps(scores), [_column(scores, name) for name in ("accuracy", "auc", "f1")]
    for percent in range(95, 89, -1):
        qualified = np.all([values >= percent / 100 * values.max() for values in utilities], axis=0)
        if qualified.any():
            return int(np.where(qualified, gaps, np.inf).argmin())
    return last(scores)


RULES: dict[str, EpochRule] = {
    "least_loss": least_loss,
    "accuracy_less_gaps": accuracy_less_gaps,
    "qian": qian,
    "last": last,
}


def _column(scores: Sequence[Score], name: str) -> np.ndarray:
    return np.array([score.metrics[name] for score in scores])


def _gaps(scores: Sequence[Score]) -> np.ndarray:
    return _column(scores, "statistical_parity") + _column(scores, "equal_opportunity")
