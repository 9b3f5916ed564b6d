"""Every published mean ± standard deviation against ours, with a verdict.

Rule of the verdicts. Paper and reproduction are compared by Welch's t-test from the two
summaries (mean, standard deviation, number of splits). Holm's step-down method adjusts
the p-values of all tests made under one selection rule, so that the chance of even one
false alarm stays below ALPHA. The first that applies of

- `not run`: ours is missing.
- `agrees`: the 95 % interval of the difference lies within a margin, half the range
  that the paper's own methods span in that measure and table, and at most a cap. (A
  margin as wide as the range would let a method agree with the row of another.) That
  rules out a larger difference; a smaller one counts as none, even where it is
  significant. (Two one-sided tests at 5 % would take the 90 % interval: the 95 % one is
  stricter.) It is not corrected for the number of results.
- `better`, `worse`: the adjusted p is below ALPHA and ours is on that side of the
  paper's.
- `undecided`: neither. The interval says how large a difference may be.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from fairgat import measures
from fairgat.config.protocol import Margins
from fairgat.paper import results, sample_deviation
from fairgat.report.labels import AGREES, BETTER, NOT_RUN, UNDECIDED, WORSE
from fairgat.scores.runs import rows_under
from fairgat.scores.selection import RULES

ALPHA = 0.05
DRAWS = 2000
"""Repetitions of a simulation: they leave ± 0.02 to a probability."""
COLUMNS = (
    "rule",
    "table",
    "dataset",
    "method",
    "metric",
    "paper_mean",
    "paper_std",
    "mean",
    "std",
    "n_splits",
    "difference",
    "ci_low",
    "ci_high",
    "margin",
    "chance",
    "p",
    "p_holm",
    "verdict",
)
_KEYS = ["dataset", "method", "metric"]


def published() -> pd.DataFrame:
    """List every published result that is audited, once, in percent.

    Returns:
        `table` (one, or several joined by + where they agree), `dataset`, `method`,
        `metric`, `paper_mean`, `paper_std`, `paper_sample` (the sample deviation) and
        `paper_splits`, and `half_range`, half of what the means of the methods span in
        that table and measure (in the narrower of several tables). A result that two
        tables print differently has two rows.
    """
    printed = {name: f"paper_{name}" for name in ("mean", "std", "sample", "splits")}
    frame = results()[["table", *_KEYS, *printed]]
    frame = frame.rename(columns=printed)
    is_audited = frame["metric"].map(_is_audited)
    frame = frame[is_audited]

    means = frame.groupby(["table", "dataset", "metric"])["paper_mean"]
    ranges = means.transform("max") - means.transform("min")
    frame = frame.assign(half_range=ranges / 2)

    once = frame.groupby([*_KEYS, *printed.values()], sort=False)
    once = once.agg(table=("table", "+".join), half_range=("half_range", "min"))
    return once.reset_index()


def _is_audited(metric: str) -> bool:
    return "audited" in measures.find(metric).roles


def compare(
    winners: pd.DataFrame, margins: Margins, protocols: Sequence[str], ddof: int = 1
) -> pd.DataFrame:
    """Judge every published result under each selection rule.

    Args:
        winners: of all tasks (fractions), as `fairgat.scores.summary.winners` gives
            them.
        margins: caps on the margins within which results agree, as fractions.
        protocols: those whose scores are compared.
        ddof: how our deviations were computed. The test takes sample deviations, ours
            and the paper's.

    Returns:
        The columns COLUMNS. Means, deviations, differences (ours minus the paper's) and
        margins are in percentage points; `chance` is that of agreement if the paper is
        exactly right; `p_holm` is adjusted within one rule.
    """
    ours = rows_under(winners, *protocols)
    ours = ours[["rule", *_KEYS, "mean", "std", "n_splits"]].dropna(subset="mean")
    ours = ours.assign(mean=100 * ours["mean"], std=100 * ours["std"])

    frame = pd.DataFrame({"rule": RULES}).merge(published(), how="cross")
    frame = frame.merge(ours, how="left", on=["rule", *_KEYS])
    caps = [100 * _cap(metric, margins) for metric in frame["metric"]]
    frame["margin"] = frame["half_range"].clip(upper=pd.Series(caps))

    frame[["p", "half", "chance"]] = [_tested(row, ddof) for row in frame.itertuples()]
    frame["difference"] = frame["mean"] - frame["paper_mean"]
    frame["ci_low"] = frame["difference"] - frame["half"]
    frame["ci_high"] = frame["difference"] + frame["half"]
    frame["p_holm"] = frame.groupby("rule")["p"].transform(holm)
    frame["verdict"] = [verdict(row, row.p_holm) for row in frame.itertuples()]
    return frame[list(COLUMNS)]


def _cap(metric: str, margins: Margins) -> float:
    """Give the widest margin of a measure, as a fraction."""
    is_utility = "utility" in measures.find(metric).roles
    return margins.accuracy if is_utility else margins.fairness


def compare_protocols(
    winners: pd.DataFrame, margins: Margins, ddof: int = 1
) -> pd.DataFrame:
    """Judge the published results of link prediction under each protocol.

    A protocol's p-values are adjusted together with those of node classification, as
    they are in the audit of a run that is configured for it.

    Returns:
        `protocol` and the columns COLUMNS.
    """
    frames = [pd.DataFrame(columns=["protocol", *COLUMNS])]
    for protocol in sorted(set(winners["protocol"]) - {""}):
        frame = compare(winners, margins, [protocol], ddof)
        frame.insert(0, "protocol", protocol)
        frames.append(frame[frame["table"] == "link_prediction"])
    return pd.concat(frames[1:] or frames)


def _tested(row: Any, ddof: int) -> tuple[float, float, float]:
    """Compute p, half the interval and the chance of agreement of a published result.

    NaN without two splits of ours.
    """
    if math.isnan(row.n_splits) or row.n_splits < 2:
        return math.nan, math.nan, math.nan
    std = sample_deviation(row.std, row.n_splits, ddof)
    paper = row.paper_mean, row.paper_sample, row.paper_splits
    p, half = welch(row.mean, std, row.n_splits, *paper)
    chance = chance_to_agree(
        row.paper_sample, row.paper_splits, row.n_splits, row.margin
    )
    return p, half, chance


def welch(
    mean1: float, std1: float, n1: int, mean2: float, std2: float, n2: int
) -> tuple[float, float]:
    """Compare two means by Welch's t-test from two summaries.

    Without any spread the test is not defined: then equal means (at the two printed
    decimals) give p = 1, others 0.

    Returns:
        The two-sided p, and half the width of the difference's 95 % interval.
    """
    if std1 == std2 == 0:
        equal = round(mean1, 2) == round(mean2, 2)
        return float(equal), 0.0
    test = stats.ttest_ind_from_stats(mean1, std1, n1, mean2, std2, n2, equal_var=False)
    half = half_interval(std1**2 / n1, n1, std2**2 / n2, n2)
    return float(test.pvalue), float(half)


@cache
def chance_to_agree(std: float, papers: int, ours: float, margin: float) -> float:
    """Simulate how often our splits would agree with the paper if it were right.

    They are drawn from a normal distribution with its mean and deviation.

    Args:
        std: the paper's sample deviation.
        papers, ours: numbers of splits.
        margin: within which the interval has to lie.
    """
    random = np.random.default_rng(0)
    difference = random.standard_normal(DRAWS) * std / math.sqrt(ours)
    first = std**2 * random.chisquare(ours - 1, DRAWS) / (ours - 1) / ours
    half = half_interval(first, ours, std**2 / papers, papers)
    agrees = np.abs(difference) + half <= margin
    return float(agrees.mean())


def half_interval(first: Any, n1: int, second: Any, n2: int) -> Any:
    """Compute half of Welch's 95 % interval of a difference of means.

    Args:
        first, second: the variances of the two means.
        n1, n2: the numbers of values that they are of.
    """
    with np.errstate(invalid="ignore"):  # 0 / 0 where nothing varies
        # Welch-Satterthwaite
        denominator = first**2 / (n1 - 1) + second**2 / (n2 - 1)
        freedom = (first + second) ** 2 / denominator
    critical = stats.t.ppf(0.975, freedom)
    return np.nan_to_num(critical * np.sqrt(first + second))


def holm(p_values: pd.Series) -> pd.Series:
    """Adjust p-values by Holm's step-down method (Holm 1979).

    NaN stays and counts as no test.
    """
    ordered = p_values.dropna().sort_values(kind="stable")
    factors = list(range(len(ordered), 0, -1))
    adjusted = (ordered * factors).clip(upper=1).cummax()
    return adjusted.reindex(p_values.index)


def expected_in_words(frame: pd.DataFrame) -> str:
    """Say how many of the results that were run would agree if the paper were right."""
    chances = frame["chance"].dropna()
    if chances.empty:
        return (
            "How many would agree if the paper were exactly right needs two splits or "
            "more."
        )
    unlikely = (chances < ALPHA).sum()
    return (
        f"About {chances.sum():.0f} would agree if the paper were exactly right: with "
        f"these splits, {unlikely} of the {len(chances)} that were run have a chance "
        f"below {100 * ALPHA:g} %."
    )


def verdict(line: Any, p: float) -> str:
    """Give the verdict on a row of `compare` by its p-value, adjusted or not."""
    if math.isnan(p):
        return NOT_RUN if math.isnan(line.mean) else UNDECIDED
    if -line.margin <= line.ci_low and line.ci_high <= line.margin:
        return AGREES
    if p >= ALPHA:
        return UNDECIDED
    higher_is_better = measures.find(line.metric).better == "higher"
    is_higher = line.difference > 0
    return BETTER if is_higher == higher_is_better else WORSE
