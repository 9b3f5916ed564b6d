"""The audit in a few lines: how many numbers are reproduced, how many claims hold."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from fairgat.reporting import audit, claims

STATUSES = (claims.SUPPORTED, claims.PARTLY, claims.NOT_SUPPORTED, claims.NOT_RUN)
COLUMNS = ("about", "rule", "outcome", "count")


def counts(
    frame: pd.DataFrame, by_rule: pd.DataFrame, seconds: Mapping[str, Mapping[str, float]], rules: Iterable[str]
) -> pd.DataFrame:
    """How often each verdict (about `numbers`) and each status (about `claims`) was given under each selection rule.

    Args:
        frame: as `fairgat.reporting.audit.compare` gives it.
        by_rule: rows of the `_by_rule` summaries of all tasks (fractions).
        seconds: data set → method → our median seconds per epoch.
        rules: which selection rules to count.

    Returns:
        One row per rule and outcome, with the columns COLUMNS.
    """
    rows: list[tuple[Any, ...]] = []
    for rule in rules:
        ours = claims.our_results(by_rule, rule, seconds)
        verdicts = frame.loc[frame["rule"] == rule, "verdict"].tolist()
        statuses = [claims.status(claims.judge(claim, ours)) for claim in claims.load()]
        rows += [("numbers", rule, verdict, verdicts.count(verdict)) for verdict in audit.VERDICTS]
        rows += [("claims", rule, status, statuses.count(status)) for status in STATUSES]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def meaning(frame: pd.DataFrame, rule: str) -> str:
    """What `reproduced` means under one selection rule, and how large the differences are that it can hide.

    Args:
        frame: as `fairgat.reporting.audit.compare` gives it.
        rule: the selection rule.
    """
    found = frame[(frame["rule"] == rule) & (frame["verdict"] == "reproduced")]
    text = "Reproduced means that no significant difference was shown, not that there is none"
    if found.empty:
        return f"{text}."
    half = ((found["ci_high"] - found["ci_low"]) / 2).median()
    return (
        f"{text}: the 95 % interval of such a difference reaches {half:.2g} percentage points to either side in the "
        f"median, and {audit.doubtful(found)} of the {len(found)} would count as different if each were tested alone."
    )


def sentences(table: pd.DataFrame, rule: str) -> str:
    """The counts under one selection rule in words, as paragraphs."""
    return "\n\n".join(
        f"Of the paper's {rows['count'].sum()} {what}: "
        + ", ".join(f"{row.count_} {row.outcome}" for row in rows.rename(columns={"count": "count_"}).itertuples())
        + "."
        for about, what in (("numbers", "results (mean and standard deviation)"), ("claims", "claims"))
        for rows in [table[(table["about"] == about) & (table["rule"] == rule) & (table["count"] > 0)]]
    )
