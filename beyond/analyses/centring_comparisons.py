"""The 36 primary comparisons of docs/plans/centring.md, and what each of them shows."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy.special import stdtr

from beyond.analyses import common
from fairgat.audit.agreement import holm
from fairgat.config import LinkTraining, Splits
from fairgat.errors import DataError
from fairgat.scores.paired import half_width

SPLITS = range(22, 62)
LEVEL = 0.05
GRAPHS = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed"}
GAP, AREA = "eo_mixed", "auc"
LIMITS = {GAP: 0.05, AREA: 0.01}
"""What differs by less, with its whole interval, is alike."""
LOSS = -0.01
"""AUC is not lost where its interval lies above."""
KEYS = ["dataset", "method", "of", "metric"]
"""Of a comparison."""
LOWER, HIGHER, ALIKE, UNDECIDED = "lower", "higher", "alike", "undecided"
"""What a comparison shows."""


@dataclass(frozen=True)
class Subject:
    """What the sentences are about: a method, and its matched placebo."""

    method: str
    matched: str
    title: str
    words: str


SUBJECTS = (
    Subject(
        "fairgat", "fairgat-matched", "FairGAT", "FairGAT whose step 3 scales only"
    ),
    Subject(
        "fairgat-centred",
        "fairgat-centred-matched",
        "FairGAT, centred",
        "FairGAT whose step 3 subtracts the mean as well",
    ),
    Subject("fairgat-steps-1", "step-1-matched", "Step 1", "fair attention by itself"),
)


def compare(scores: pd.DataFrame) -> pd.DataFrame:
    """Make the 36 primary comparisons.

    Args:
        scores: test scores by split, as `analyses.common.scores` gives them.

    Returns:
        A row for each graph, subject, reference and outcome: `n_splits`, `difference`,
        `spread`, `paired`, half the interval by the paired t, `low` and `high`, the
        interval of Nadeau and Bengio, `p` by their t-test, `p_holm`, and `verdict`.
        Fractions. Where a score is missing on some split there is no difference, and
        `p` is 1.

    Raises:
        DataError: there are other splits than the plan's, or several cells of a method.
    """
    _check(scores)
    frame = _planned()
    frame = frame.merge(_differences(scores, frame), how="left", on=KEYS)
    numbers = ["difference", "spread"]
    whole = frame["n_splits"] == len(SPLITS)
    frame[numbers] = frame[numbers].where(whole)

    frame["paired"] = half_width(frame)
    ratio = Splits().test_ratio(LinkTraining.divides)
    half = half_width(frame, ratio)
    frame["low"] = frame["difference"] - half
    frame["high"] = frame["difference"] + half
    frame["p"] = _p_values(frame, ratio)
    frame["p_holm"] = holm(frame["p"])
    frame["verdict"] = [_verdict(line) for line in frame.itertuples()]
    return frame


def _planned() -> pd.DataFrame:
    """List the comparisons of the plan, a row for each."""
    rows = []
    for graph, subject in product(GRAPHS, SUBJECTS):
        for of, metric in product(("gat", subject.matched), LIMITS):
            rows.append((graph, subject.method, of, metric))
    return pd.DataFrame(rows, columns=KEYS)


def _check(scores: pd.DataFrame) -> None:
    """Refuse scores that are not those of the plan."""
    others = sorted(set(scores["split"]) - set(SPLITS))
    if others:
        raise DataError(
            f"the plan's splits are {SPLITS[0]} to {SPLITS[-1]}; there is {others[0]}"
        )
    by_method = scores.groupby(["dataset", "method"])["cell"]
    cells = by_method.agg(["nunique", "first"])
    several = cells[cells["nunique"] > 1]
    if len(several):
        graph, method = several.index[0]
        raise DataError(
            f"{method} on {graph} has several cells: lay the cells of stage 1 over the "
            "configuration"
        )
    for graph in GRAPHS:
        for subject in SUBJECTS:
            pair = [(graph, subject.method), (graph, subject.matched)]
            own = cells["first"].reindex(pair).dropna()
            if own.nunique() > 1:
                raise DataError(
                    f"on {graph} {subject.matched} has another cell than "
                    f"{subject.method}: lay the cells of stage 1 over the configuration"
                )


def _differences(scores: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """Compute the paired differences of each method to what it is compared with."""
    asked = frame[["method", "of"]].drop_duplicates()
    found = []
    for method, of in asked.itertuples(index=False):
        own = scores[scores["method"] == method]
        base = scores[scores["method"] == of]
        less = common.less(own, base)
        found.append(less.assign(of=of))
    return pd.concat(found)[[*KEYS, "n_splits", "difference", "spread"]]


def _p_values(frame: pd.DataFrame, ratio: float) -> pd.Series:
    """Compute two-sided p-values of the corrected t-test; 1 where there is none."""
    count = frame["n_splits"]
    standard_error = frame["spread"] * np.sqrt(1 / count + ratio)
    known = half_width(frame, ratio) > 0
    t = frame["difference"].abs() / standard_error.where(known)
    p_values = 2 * stdtr(count - 1, -t)
    return p_values.fillna(1)


def _verdict(line) -> str:
    """Say what a comparison shows."""
    if line.p_holm < LEVEL:
        return LOWER if line.difference < 0 else HIGHER
    limit = LIMITS[line.metric]
    if line.low > -limit and line.high < limit:
        return ALIKE
    return UNDECIDED
