"""The paper's own differences behind its claims, by Welch's test on its printed means and deviations."""

import pandas as pd

from fairgat.audit.agreement import holm, welch
from fairgat.audit.claims import CLAIMS, papers
from fairgat.paper import results

COLUMNS = ("claim", "dataset", "method", "metric", "difference", "low", "high", "p", "p_holm")


def published() -> pd.DataFrame:
    """Test each difference of means that a claim rests on.

    Returns:
        The columns COLUMNS: FairGAT's published mean less the `method`'s in percentage points, with its 95 % interval,
        p, and p after Holm's correction for the claim's differences.
    """
    printed = results().set_index(["table", "dataset", "method", "metric"])[["mean", "sample", "splits"]]
    rows = []
    for number, claim in CLAIMS.items():
        for dataset, method, metric in (key for check in claim.judge(papers(claim.table))[1] for key in check.means):
            ours, theirs = (printed.loc[claim.table, dataset, name, metric] for name in ("fairgat", method))
            p, half = welch(*ours, *theirs)
            gap = ours["mean"] - theirs["mean"]
            rows.append((number, dataset, method, metric, gap, gap - half, gap + half, p))
    frame = pd.DataFrame(rows, columns=list(COLUMNS[:-1]))
    frame["p_holm"] = frame.groupby("claim")["p"].transform(holm)
    return frame
