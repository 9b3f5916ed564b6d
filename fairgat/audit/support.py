"""How far the paper's own numbers carry its claims, by the differences they rest on."""

from itertools import chain

import pandas as pd

from fairgat.audit.agreement import holm, welch
from fairgat.audit.claims import CLAIMS, Claim
from fairgat.audit.results import Key, papers
from fairgat.paper import results

COLUMNS = (
    "claim",
    "dataset",
    "method",
    "metric",
    "difference",
    "low",
    "high",
    "p",
    "p_holm",
)


def differences() -> pd.DataFrame:
    """Test each difference of means that a claim rests on.

    Returns:
        The columns COLUMNS: FairGAT's published mean less the `method`'s in percentage
        points, with its 95 % interval, p, and p after Holm's correction for the claim's
        differences.
    """
    printed = results().set_index(["table", "dataset", "method", "metric"])
    printed = printed[["mean", "sample", "splits"]]
    rows = []
    for number, claim in CLAIMS.items():
        for key in _rivals(claim):
            ours = printed.loc[claim.table, key.dataset, "fairgat", key.metric]
            theirs = printed.loc[claim.table, *key]
            p, half = welch(*ours, *theirs)
            gap = ours["mean"] - theirs["mean"]
            rows.append((number, *key, gap, gap - half, gap + half, p))
    frame = pd.DataFrame(rows, columns=list(COLUMNS[:-1]))
    frame["p_holm"] = frame.groupby("claim")["p"].transform(holm)
    return frame


def _rivals(claim: Claim) -> list[Key]:
    """List the results that FairGAT's means are compared with."""
    if not claim.means:
        return []
    checks = claim.function(papers(claim.table))
    keys = chain.from_iterable(check.keys for check in checks)
    return [key for key in keys if key.method != "fairgat"]
