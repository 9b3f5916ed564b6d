"""The paper's own differences behind its claims, by Welch's test on its printed means and deviations."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fairgat.audit.agreement import holm, welch
from fairgat.audit.claims import CLAIMS, papers
from fairgat.paper import sample_deviation

COLUMNS = ("claim", "dataset", "method", "metric", "difference", "low", "high", "p", "p_holm")


def published(paper: Mapping[str, Any]) -> pd.DataFrame:
    """Test each difference of means that a claim rests on.

    Args:
        paper: as `fairgat.paper.load` gives it.

    Returns:
        The columns COLUMNS: FairGAT's published mean less the `method`'s in percentage points, with its 95 % interval,
        p, and p after Holm's correction for the claim's differences.
    """
    rows = []
    for number, claim in CLAIMS.items():
        own = papers(paper, claim.table)
        for dataset, method, metric in (key for check in claim.judge(own)[1] for key in check.means):
            sample = paper["samples"][claim.table]
            pair = [own[dataset, name, metric] for name in ("fairgat", method)]
            summary = [(mean, sample_deviation(std, **sample), sample["splits"]) for mean, std in pair]
            p, half = welch(*summary[0], *summary[1])
            gap = pair[0][0] - pair[1][0]
            rows.append((number, dataset, method, metric, gap, gap - half, gap + half, p))
    frame = pd.DataFrame(rows, columns=list(COLUMNS[:-1]))
    frame["p_holm"] = frame.groupby("claim")["p"].transform(holm)
    return frame
