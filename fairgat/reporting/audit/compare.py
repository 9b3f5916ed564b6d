"""Every published mean ± standard deviation against ours: a Welch test, Holm's correction and a verdict.

Rule of the verdicts. Paper and reproduction are compared by Welch's t-test from the two summaries (mean, standard
deviation, number of splits). Holm's step-down method adjusts the p-values of all tests made under one selection rule,
so that the chance of even one false alarm stays below ALPHA. Then

- `reproduced`: the adjusted p is at least ALPHA: no difference can be shown. With five splits on each side small
  differences cannot be; the confidence interval says how large one may be.
- `better`, `worse`: the adjusted p is below ALPHA and ours is on that side of the paper's.
- `not run`: ours is missing, or stands on fewer than two splits.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from scipy import stats

from fairgat.reporting.paper import TASK_OF_RESULTS, Published
from fairgat.scores.runs import HIGHER_IS_BETTER

ALPHA = 0.05
PUBLISHED_SPLITS = 5
VERDICTS = ("reproduced", "better", "worse", "not run")
COLUMNS = (
    "rule", "table", "dataset", "method", "metric", "paper_mean", "paper_std", "mean", "std", "n_splits", "difference",
    "ci_low", "ci_high", "p", "p_holm", "verdict",
)  # fmt: skip


def published_entries(paper: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every published result once: `tables` (one name, or several where they agree), `dataset`, `method`, `metric`
    and `published`. A result that two tables print differently gives two entries."""
    entries: dict[tuple[str, str, str, float, float], dict[str, Any]] = {}
    for table in TASK_OF_RESULTS:
        for dataset, methods in paper[table].items():
            for method, metrics in methods.items():
                for metric, value in metrics.items():
                    entry = entries.setdefault(
                        (dataset, method, metric, value.mean, value.std),
                        {"tables": [], "dataset": dataset, "method": method, "metric": metric, "published": value},
                    )
                    entry["tables"].append(table)
    return list(entries.values())


def compare(paper: Mapping[str, Any], by_rule: pd.DataFrame, rules: Iterable[str], ddof: int = 1) -> pd.DataFrame:
    """The verdict on every published result under each selection rule, with the columns COLUMNS.

    Args:
        paper: as `fairgat.reporting.paper.load` gives it.
        by_rule: rows of the `_by_rule` summaries of all tasks (fractions).
        rules: which selection rules to look at.
        ddof: how our deviations were computed. The test needs the sample deviation; the paper's is taken for one, as
            the paper doesn't say.

    Returns:
        Means, deviations and differences (ours minus the paper's) in percentage points; `p_holm` is adjusted within
        one rule.
    """
    ours = {
        (row.rule, row.dataset, row.method, row.metric): (100 * row.mean, 100 * row.std, int(row.n_splits))
        for row in by_rule.itertuples()
        if pd.notna(row.mean)
    }
    rows = []
    for rule in rules:
        tested = []
        for entry in published_entries(paper):
            key = (rule, entry["dataset"], entry["method"], entry["metric"])
            row = _row(rule, entry, ours.get(key), ddof)
            rows.append(row)
            if row["p"] is not None:
                tested.append(row)
        for row, adjusted in zip(tested, holm([row["p"] for row in tested]), strict=True):
            row["p_holm"] = adjusted
            row["verdict"] = verdict(row["metric"], row["difference"], adjusted)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def compare_protocols(
    paper: Mapping[str, Any],
    by_rule: pd.DataFrame,
    by_protocol: pd.DataFrame,
    rules: Iterable[str],
    ddof: int = 1,
) -> pd.DataFrame:
    """`compare` on link prediction under each protocol, with `protocol` before the columns COLUMNS.

    A protocol's p-values are adjusted together with those of node classification, as they are in the audit of a run
    that is configured for it.

    Args:
        by_protocol: rows of `link_prediction_by_protocol.csv` (fractions).
        paper, by_rule, rules, ddof: as for `compare`.
    """
    others = by_rule[~by_rule["dataset"].isin(paper["link_prediction"])]
    rules, frames = list(rules), []
    for protocol, rows in by_protocol.groupby("protocol", sort=True):
        frame = compare(paper, pd.concat([others, rows.drop(columns="protocol")]), rules, ddof)
        frame = frame[frame["table"] == "link_prediction"]
        frames.append(frame.assign(protocol=protocol)[["protocol", *COLUMNS]])
    return pd.concat(frames) if frames else pd.DataFrame(columns=["protocol", *COLUMNS])


def _row(rule: str, entry: Mapping[str, Any], ours: tuple[float, float, int] | None, ddof: int) -> dict[str, Any]:
    published: Published = entry["published"]
    row = dict.fromkeys(COLUMNS) | {
        "rule": rule,
        "table": "+".join(entry["tables"]),
        **{key: entry[key] for key in ("dataset", "method", "metric")},
        "paper_mean": published.mean,
        "paper_std": published.std,
        "verdict": "not run",
    }
    if ours is None:
        return row
    mean, std, count = ours
    row |= {"mean": mean, "std": std if math.isfinite(std) else None, "n_splits": count}
    row["difference"] = mean - published.mean
    if count >= 2 and math.isfinite(std):
        sample = std * math.sqrt((count - ddof) / (count - 1))
        row["p"], half = welch(mean, sample, count, published.mean, published.std, PUBLISHED_SPLITS)
        row["ci_low"], row["ci_high"] = row["difference"] - half, row["difference"] + half
    return row


def welch(mean1: float, std1: float, n1: int, mean2: float, std2: float, n2: int) -> tuple[float, float]:
    """Two-sided p of Welch's t-test from two summaries, and half the width of the difference's 95 % interval.

    Without any spread the test is not defined: then equal means (at the two printed decimals) give p = 1, others 0.
    """
    if std1 == std2 == 0:
        return (1.0 if round(mean1, 2) == round(mean2, 2) else 0.0), 0.0
    test = stats.ttest_ind_from_stats(mean1, std1, n1, mean2, std2, n2, equal_var=False)
    first, second = std1**2 / n1, std2**2 / n2
    freedom = (first + second) ** 2 / (first**2 / (n1 - 1) + second**2 / (n2 - 1))  # Welch-Satterthwaite
    return float(test.pvalue), float(stats.t.ppf(0.975, freedom) * math.sqrt(first + second))


def holm(p_values: list[float]) -> list[float]:
    """Holm's step-down adjustment of p-values, in the order given (Holm 1979)."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, running = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def doubtful(frame: pd.DataFrame) -> int:
    """How many reproduced results have p below ALPHA before Holm's adjustment.

    Args:
        frame: as `compare` gives it.
    """
    return int(((frame["verdict"] == "reproduced") & (frame["p"] < ALPHA)).sum())


def verdict(metric: str, difference: float, p_holm: float) -> str:
    """The verdict on a tested difference (ours minus the paper's)."""
    if p_holm >= ALPHA:
        return "reproduced"
    return "better" if (difference > 0) == (metric in HIGHER_IS_BETTER) else "worse"
