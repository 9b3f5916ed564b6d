"""Every published mean ± standard deviation against ours: a Welch test, Holm's correction and a verdict.

Rule of the verdicts. Paper and reproduction are compared by Welch's t-test from the two summaries (mean, standard
deviation, number of splits). Holm's step-down method adjusts the p-values of all tests made under one selection rule,
so that the chance of even one false alarm stays below ALPHA. The first that applies of

- `not run`: ours is missing.
- `agrees`: the 95 % interval of the difference lies within a margin, half the range that the paper's own methods span
  in that measure and table, and at most a cap. (A margin as wide as the range would let a method agree with the row of
  another.) That rules out a larger difference; a smaller one counts as none, even where it is significant. (Two
  one-sided tests at 5 % would take the 90 % interval: the 95 % one is stricter.) It is not corrected for the number of
  results.
- `better`, `worse`: the adjusted p is below ALPHA and ours is on that side of the paper's.
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
from fairgat.scores.runs import under
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
    """Every published result that is audited, once, in percent.

    Returns:
        `table` (one, or several joined by + where they agree), `dataset`, `method`, `metric`, `paper_mean`,
        `paper_std`, `paper_sample` (the sample deviation) and `paper_splits`, and `half_range`, half of what the means
        of the methods span in that table and measure (in the narrower of several tables). A result that two tables
        print differently has two rows.
    """
    printed = {name: f"paper_{name}" for name in ("mean", "std", "sample", "splits")}
    frame = results()[["table", *_KEYS, *printed]].rename(columns=printed)
    frame = frame[
        ["audited" in measures.find(metric).roles for metric in frame["metric"]]
    ]
    means = frame.groupby(["table", "dataset", "metric"])["paper_mean"]
    frame = frame.assign(
        half_range=(means.transform("max") - means.transform("min")) / 2
    )
    once = frame.groupby([*_KEYS, *printed.values()], sort=False)
    return once.agg(
        table=("table", "+".join), half_range=("half_range", "min")
    ).reset_index()


def compare(
    winners: pd.DataFrame, margins: Margins, protocols: Sequence[str], ddof: int = 1
) -> pd.DataFrame:
    """Judge every published result under each selection rule.

    Args:
        winners: of all tasks (fractions), as `fairgat.scores.summary.winners` gives them.
        margins: caps on the margins within which results agree, as fractions.
        protocols: those whose scores are compared.
        ddof: how our deviations were computed. The test takes sample deviations, ours and the paper's.

    Returns:
        The columns COLUMNS. Means, deviations, differences (ours minus the paper's) and margins are in percentage
        points; `chance` is that of agreement if the paper is exactly right; `p_holm` is adjusted within one rule.
    """
    ours = under(winners, *protocols)[
        ["rule", *_KEYS, "mean", "std", "n_splits"]
    ].dropna(subset="mean")
    ours = ours.assign(mean=100 * ours["mean"], std=100 * ours["std"])
    frame = pd.DataFrame({"rule": RULES}).merge(published(), how="cross")
    frame = frame.merge(ours, how="left", on=["rule", *_KEYS])
    caps = [
        100
        * (
            margins.accuracy
            if "utility" in measures.find(metric).roles
            else margins.fairness
        )
        for metric in frame["metric"]
    ]
    frame["margin"] = frame["half_range"].clip(upper=pd.Series(caps))
    frame[["p", "half", "chance"]] = [_tested(row, ddof) for row in frame.itertuples()]
    frame["difference"] = frame["mean"] - frame["paper_mean"]
    frame["ci_low"], frame["ci_high"] = (
        frame["difference"] - frame["half"],
        frame["difference"] + frame["half"],
    )
    frame["p_holm"] = frame.groupby("rule")["p"].transform(holm)
    frame["verdict"] = [verdict(row, row.p_holm) for row in frame.itertuples()]
    return frame[list(COLUMNS)]


def compare_protocols(
    winners: pd.DataFrame, margins: Margins, ddof: int = 1
) -> pd.DataFrame:
    """`compare` on link prediction under each protocol, with `protocol` before the columns COLUMNS.

    A protocol's p-values are adjusted together with those of node classification, as they are in the audit of a run
    that is configured for it.
    """
    frames = [pd.DataFrame(columns=["protocol", *COLUMNS])]
    for protocol in sorted(set(winners["protocol"]) - {""}):
        frame = compare(winners, margins, [protocol], ddof)
        frame.insert(0, "protocol", protocol)
        frames.append(frame[frame["table"] == "link_prediction"])
    return pd.concat(frames[1:] or frames)


def _tested(row: Any, ddof: int) -> tuple[float, float, float]:
    """p, half the interval and the chance of agreement of a published result; NaN without two splits of ours."""
    if math.isnan(row.n_splits) or row.n_splits < 2:
        return math.nan, math.nan, math.nan
    ours = row.mean, sample_deviation(row.std, row.n_splits, ddof), row.n_splits
    tested = welch(*ours, row.paper_mean, row.paper_sample, row.paper_splits)
    return *tested, chance_to_agree(
        row.paper_sample, row.paper_splits, row.n_splits, row.margin
    )


def welch(
    mean1: float, std1: float, n1: int, mean2: float, std2: float, n2: int
) -> tuple[float, float]:
    """Two-sided p of Welch's t-test from two summaries, and half the width of the difference's 95 % interval.

    Without any spread the test is not defined: then equal means (at the two printed decimals) give p = 1, others 0.
    """
    if std1 == std2 == 0:
        return (1.0 if round(mean1, 2) == round(mean2, 2) else 0.0), 0.0
    test = stats.ttest_ind_from_stats(mean1, std1, n1, mean2, std2, n2, equal_var=False)
    return float(test.pvalue), float(half_interval(std1**2 / n1, n1, std2**2 / n2, n2))


@cache
def chance_to_agree(std: float, papers: int, ours: float, margin: float) -> float:
    """Simulate how often our splits would agree with the paper if they were normal with its mean and deviation.

    `std` is the paper's sample deviation, `papers` and `ours` are numbers of splits; the interval has to lie within the
    margin.
    """
    random = np.random.default_rng(0)
    difference = random.standard_normal(DRAWS) * std / math.sqrt(ours)
    first = std**2 * random.chisquare(ours - 1, DRAWS) / (ours - 1) / ours
    half = half_interval(first, ours, std**2 / papers, papers)
    return float((np.abs(difference) + half <= margin).mean())


def half_interval(first: Any, n1: int, second: Any, n2: int) -> Any:
    """Half of Welch's 95 % interval of a difference of means with these variances, from so many values each."""
    with np.errstate(invalid="ignore"):  # 0 / 0 where nothing varies
        freedom = (first + second) ** 2 / (
            first**2 / (n1 - 1) + second**2 / (n2 - 1)
        )  # Welch-Satterthwaite
    return np.nan_to_num(stats.t.ppf(0.975, freedom) * np.sqrt(first + second))


def holm(p_values: pd.Series) -> pd.Series:
    """Holm's step-down adjustment of p-values (Holm 1979); NaN stays and counts as no test."""
    ordered = p_values.dropna().sort_values(kind="stable")
    factors = range(len(ordered), 0, -1)
    return (ordered * list(factors)).clip(upper=1).cummax().reindex(p_values.index)


def expected_in_words(frame: pd.DataFrame) -> str:
    """Say how many of the results that were run would agree if the paper were exactly right."""
    chances = frame["chance"].dropna()
    if chances.empty:
        return "How many would agree if the paper were exactly right needs two splits or more."
    return (
        f"About {chances.sum():.0f} would agree if the paper were exactly right: with so few splits, "
        f"{(chances < ALPHA).sum()} of the {len(chances)} that were run have a chance below {100 * ALPHA:g} %."
    )


def verdict(line: Any, p: float) -> str:
    """Judge a row of `compare` by `p`, which is the adjusted one or the unadjusted one."""
    if math.isnan(p):
        return NOT_RUN if math.isnan(line.mean) else UNDECIDED
    if -line.margin <= line.ci_low and line.ci_high <= line.margin:
        return AGREES
    if p >= ALPHA:
        return UNDECIDED
    return (
        BETTER
        if (line.difference > 0) == (measures.find(line.metric).better == "higher")
        else WORSE
    )
