"""How far the paper's own numbers carry its claims: its differences, and the chance of support if it were right.

A claim that compares means can fail by luck, even where it is true of the means over all splits, and pass by luck, even
where no method differs from another. Splits are drawn from normal distributions with the printed means and deviations,
and the claim's own rule is applied to their means and deviations. (Gamma distributions, which keep gaps above 0, change
a chance by 0.05 at most.) The paper does not print how its methods vary together on the same splits: they are drawn
with the correlations of ours.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pandas as pd

from fairgat.audit.agreement import DRAWS, holm, welch
from fairgat.audit.claims import CLAIMS, Claim
from fairgat.audit.results import Key, Result, Results, papers
from fairgat.config.shown import AuditSettings
from fairgat.paper import TASK_OF_RESULTS, results, sample_deviation
from fairgat.scores.paired import REFERENCE
from fairgat.scores.runs import under

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


@dataclass(frozen=True)
class Scenario:
    """What is drawn: splits, as many as the paper has where None, of these data sets (None: all), and, where `equal`,
    of methods that all have the table's mean over the methods, and their root mean square deviation."""

    splits: int | None = None
    datasets: Collection[str] | None = None
    equal: bool = False


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


def deviations(
    winners: pd.DataFrame,
    paired: pd.DataFrame,
    studies: list[pd.DataFrame],
    settings: AuditSettings,
) -> pd.DataFrame:
    """What `correlations` reads: of the study with the most splits, or else of the run's selected cells."""
    if studies:
        frame = max(studies, key=lambda study: study["n_splits"].max())
        frame = frame[
            (frame["run_on"] == frame["dataset"]) & (frame["of"] == REFERENCE)
        ]
        frame = frame[
            (frame["epochs"] == "accuracy") & (frame["of_epochs"] == "accuracy")
        ]
    else:
        frame = under(winners[winners["rule"] == settings.rule], *settings.protocols)
        spreads = paired.loc[
            paired["selected"], ["dataset", "method", "metric", "spread"]
        ]
        frame = frame.merge(spreads, how="left", on=["dataset", "method", "metric"])
    frame = frame[frame["n_splits"] > 1]
    return frame.assign(
        std=[
            sample_deviation(row.std, row.n_splits, settings.ddof)
            for row in frame.itertuples()
        ]
    )


def correlations(frame: pd.DataFrame) -> dict[str, float]:
    """Estimate how the scores of methods vary together with GAT's over splits: for each metric a mean, at least 0.

    By Var(a - b) = Var(a) + Var(b) - 2 r sd(a) sd(b), over all data sets and methods. In `frame`, `std` is the sample
    deviation of a method's scores, `spread` that of their differences to GAT's.
    """
    gat = frame[frame["method"] == REFERENCE].rename(columns={"std": "base"})[
        ["dataset", "metric", "base"]
    ]
    pairs = frame[frame["method"] != REFERENCE].merge(gat, on=["dataset", "metric"])
    shared = (pairs["std"] ** 2 + pairs["base"] ** 2 - pairs["spread"] ** 2) / (
        2 * pairs["std"] * pairs["base"]
    )
    means = shared.replace([np.inf, -np.inf], np.nan).groupby(pairs["metric"]).mean()
    return means.dropna().clip(0, 1).to_dict()


def draw(table: str, scenario: Scenario, together: Mapping[str, float]) -> Results:
    """Draw the results of one of the paper's tables DRAWS times; `together` are the methods' correlations by metric."""
    random, drawn = np.random.default_rng(0), {}
    printed = results()[results()["table"] == table]
    if scenario.equal:
        squares = printed.assign(sample=printed["sample"] ** 2)
        pooled = squares.groupby(["dataset", "metric"])[["mean", "sample"]].transform(
            "mean"
        )
        printed = printed.assign(mean=pooled["mean"], sample=pooled["sample"] ** 0.5)
    if scenario.datasets is not None:
        printed = printed[printed["dataset"].isin(scenario.datasets)]
    for (dataset, metric), rows in printed.groupby(["dataset", "metric"], sort=False):
        shape, shared = (
            (DRAWS, scenario.splits or rows["splits"].iloc[0]),
            together.get(metric, 0.0),
        )
        common = random.standard_normal(shape)
        for row in rows.itertuples():
            noise = sqrt(shared) * common + sqrt(1 - shared) * random.standard_normal(
                shape
            )
            values = row.mean + row.sample * noise
            drawn[Key(dataset, row.method, metric)] = Result(
                values.mean(1), values.std(1, ddof=row.ddof)
            )
    return drawn


def chance(claim: Claim, drawn: Results) -> float | None:
    """The share of the draws that support a claim; None where no check can be made: seconds have no deviation."""
    held = [check.holds for check in claim.function(drawn) if check.holds is not None]
    return float(np.all(held, axis=0).mean()) if held else None


def chances(
    scenarios: Mapping[str, Scenario], together: Mapping[str, float]
) -> pd.DataFrame:
    """Simulate how often splits would support each claim, by its number, in each scenario, by its heading.

    `together` are the correlations between methods, by metric.
    """
    columns = {}
    for heading, scenario in scenarios.items():
        drawn = {table: draw(table, scenario, together) for table in TASK_OF_RESULTS}
        columns[heading] = [
            chance(claim, drawn.get(claim.table, {})) for claim in CLAIMS.values()
        ]
    return pd.DataFrame(columns, index=pd.Index(CLAIMS, name="claim"), dtype=float)


def scenarios(datasets: Collection[str], counts: list[int]) -> dict[str, Scenario]:
    """List what chances are shown for: the paper's own splits, then ours, of which there are several numbers.

    Each number of splits, from 2, has a scenario in which the paper is right, and one in which methods are alike.
    """
    shown = {"its data sets and splits": Scenario()}
    for count in dict.fromkeys(count for count in counts if count > 1):
        shown[f"run here, {count} splits"] = Scenario(count, datasets)
        shown[f"run here, {count} splits, methods alike"] = Scenario(
            count, datasets, equal=True
        )
    return shown


def in_words(chances: pd.DataFrame) -> str:
    """Say how far luck may support claims, in the first scenario of ours; nothing where there is a single split."""
    ours = chances.columns[1:3]
    if not len(ours):
        return ""
    right, alike = chances[ours[0]].dropna(), chances[ours[1]]
    each = ", ".join(
        f"{claim} {chance:.2f} ({alike[claim]:.2f})" for claim, chance in right.items()
    )
    return (
        "Claims can fail, or pass, by luck. The chance of support if the paper's tables were exactly right "
        f"({ours[0]}), and, in brackets, if all methods were alike: claim {each}."
    )
