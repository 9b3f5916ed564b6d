"""The audit in a few lines: how many numbers are reproduced, how many claims hold."""

from collections.abc import Mapping

import pandas as pd

from fairgat.reporting.audit import claims, compare

STATUSES = (claims.SUPPORTED, claims.PARTLY, claims.NOT_SUPPORTED, claims.NOT_RUN)
_SUBJECTS = {"numbers": "results (mean and standard deviation)", "claims": "claims"}


def counts(frame: pd.DataFrame, found: Mapping[str, claims.Results]) -> pd.DataFrame:
    """How often each verdict (about `numbers`, then about `claims`) was given under each selection rule.

    Args:
        frame: as `fairgat.reporting.audit.compare.compare` gives it.
        found: our results by selection rule, as `fairgat.reporting.audit.claims.ours` gives them.

    Returns:
        One row per rule and outcome, with the columns `about`, `rule`, `outcome` and `count`.
    """
    rows = []
    for rule, ours in found.items():
        numbers = frame.loc[frame["rule"] == rule, "verdict"].tolist()
        judged = [claim.judge(ours).verdict for claim in claims.CLAIMS.values()]
        rows += [("numbers", rule, verdict, numbers.count(verdict)) for verdict in compare.VERDICTS]
        rows += [("claims", rule, status, judged.count(status)) for status in STATUSES]
    return pd.DataFrame(rows, columns=["about", "rule", "outcome", "count"])


def meaning(frame: pd.DataFrame, rule: str) -> str:
    """What `reproduced` means under one selection rule, and how large the differences are that it can hide."""
    found = frame[(frame["rule"] == rule) & (frame["verdict"] == "reproduced")]
    text = "Reproduced means that no significant difference was shown, not that there is none"
    if found.empty:
        return f"{text}."
    half = ((found["ci_high"] - found["ci_low"]) / 2).median()
    return (
        f"{text}: the 95 % interval of such a difference reaches {half:.2g} percentage points to either side in the "
        f"median, and {compare.doubtful(found)} of the {len(found)} would count as different if each were tested alone."
    )


def sentences(table: pd.DataFrame, rule: str) -> str:
    """The counts under one selection rule in words, as paragraphs."""
    paragraphs = []
    for about, what in _SUBJECTS.items():
        rows = table[(table["about"] == about) & (table["rule"] == rule) & (table["count"] > 0)]
        words = ", ".join(f"{count} {outcome}" for count, outcome in zip(rows["count"], rows["outcome"], strict=True))
        paragraphs.append(f"Of the paper's {rows['count'].sum()} {what}: {words}.")
    return "\n\n".join(paragraphs)
