"""How far the paper's own numbers carry its claims: the differences that they rest on, tested."""

import pandas as pd

from fairgat.audit.agreement import holm, welch
from fairgat.audit.claims import CLAIMS
from fairgat.audit.results import papers
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
        The columns COLUMNS: FairGAT's published mean less the `method`'s in percentage points, with its 95 % interval,
        p, and p after Holm's correction for the claim's differences.
    """
    printed = results().set_index(["table", "dataset", "method", "metric"])[
        ["mean", "sample", "splits"]
    ]
    rows = []
    for number, claim in CLAIMS.items():
        checks = claim.function(papers(claim.table)) if claim.means else []
        for dataset, method, metric in (
            key for check in checks for key in check.keys if key.method != "fairgat"
        ):
            ours, theirs = (
                printed.loc[claim.table, dataset, name, metric]
                for name in ("fairgat", method)
            )
            p, half = welch(*ours, *theirs)
            gap = ours["mean"] - theirs["mean"]
            rows.append(
                (number, dataset, method, metric, gap, gap - half, gap + half, p)
            )
    frame = pd.DataFrame(rows, columns=list(COLUMNS[:-1]))
    frame["p_holm"] = frame.groupby("claim")["p"].transform(holm)
    return frame
