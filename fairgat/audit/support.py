"""How far the paper's own numbers carry its claims: its differences, and the chance of support if it were right.

A claim that compares means can fail by luck, even where it is true of the means over all splits, and pass by luck, even
where no method differs from another. Splits are drawn from normal distributions with the printed means and deviations,
of each method by itself, and the claim's own rule is applied to their means and deviations. (Gamma distributions, which
keep gaps above 0, change a chance by 0.05 at most.) The paper does not print how its methods vary together on the same
splits; where they do, differences are steadier than here.
"""

from collections.abc import Container, Iterable

import numpy as np
import pandas as pd

from fairgat.audit.agreement import holm, welch
from fairgat.audit.claims import CLAIMS, NOT_RUN, NOT_SUPPORTED, Claim, papers
from fairgat.paper import results

DRAWS = 2000
"""Repetitions: they leave ± 0.02 to a probability."""
EQUAL = "data sets run here, methods alike"
COLUMNS = ("claim", "dataset", "method", "metric", "difference", "low", "high", "p", "p_holm")


def differences() -> pd.DataFrame:
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


def chance(
    claim: Claim, splits: int | None = None, datasets: Container[str] | None = None, equal: bool = False
) -> float | None:
    """Simulate how often splits would support a claim if the paper were exactly right.

    Args:
        splits: how many are drawn; as many as the paper has where absent.
        datasets: only these; checks on others count as not made.
        equal: instead, every method has the table's mean over the methods, and their root mean square deviation.

    Returns:
        A probability; None for a claim about seconds, which are printed without a deviation, and for one without a
        check on these data sets.
    """
    random, drawn = np.random.default_rng(0), {}
    printed = results()[results()["table"] == claim.table]
    if equal:
        squares = printed.assign(sample=printed["sample"] ** 2)
        pooled = squares.groupby(["dataset", "metric"])[["mean", "sample"]].transform("mean")
        printed = printed.assign(mean=pooled["mean"], sample=pooled["sample"] ** 0.5)
    for row in printed.itertuples():
        values = random.normal(row.mean, row.sample, (DRAWS, splits or row.splits))  # also of data sets left out
        if datasets is None or row.dataset in datasets:
            each = zip(values.mean(1).tolist(), values.std(1, ddof=row.ddof).tolist(), strict=True)
            drawn[row.dataset, row.method, row.metric] = each
    statuses = [claim.judge(dict(zip(drawn, each, strict=True)))[0] for each in zip(*drawn.values(), strict=True)]
    if set(statuses) <= {NOT_RUN}:
        return None
    return sum(status != NOT_SUPPORTED for status in statuses) / DRAWS


def chances(ran: Iterable[tuple[Container[str], int]]) -> pd.DataFrame:
    """Give the chance of each claim, by its number: with the paper's data sets and splits, with ours, and by luck only.

    Args:
        ran: data sets and number of splits, of the run and then of studies with more splits; left out where it is 1.
    """
    kinds: dict[str, tuple[int | None, Container[str] | None, bool]] = {"its data sets and splits": (None, None, False)}
    ran = list(ran)
    for datasets, count in ran:
        if count > 1:
            kinds.setdefault(f"data sets run here, {count} splits", (count, datasets, False))
    kinds[EQUAL] = (None, ran[0][0], True)
    found = {heading: [chance(claim, *kind) for claim in CLAIMS.values()] for heading, kind in kinds.items()}
    return pd.DataFrame(found, index=pd.Index(CLAIMS, name="claim"), dtype=float)
