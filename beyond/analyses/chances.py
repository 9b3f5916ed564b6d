"""How often splits would support the paper's claims, if its tables were exactly right.

A claim that compares means can fail by luck, even where it is true of the means over
all splits, and pass by luck, even where no method differs from another. Splits are
drawn from normal distributions with the printed means and deviations, and the claim's
own rule is applied to their means and deviations. (Gamma distributions, which keep gaps
above 0, change a chance by 0.05 at most.) The paper does not print how its methods vary
together on the same splits: they are drawn with the correlations of ours, in a
published run.

`python -m beyond.analyses.chances [RESULTS [SPLITS ...]]` prints the chances as CSV; by
default of results/reference, with its number of splits.
"""

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd

from fairgat.audit.agreement import DRAWS
from fairgat.audit.claims import CLAIMS, Claim
from fairgat.audit.results import Key, Result, Results
from fairgat.config import TASKS
from fairgat.errors import FairGATError
from fairgat.paper import TASK_OF_RESULTS, results
from fairgat.scores.paired import REFERENCE
from fairgat.scores.runs import read, rows_under

PUBLISHED = "results/reference"
RULE = "fair"  # of the published run's tables
PROTOCOL = "validation"
CELL = ["dataset", "method", "cell"]


@dataclass(frozen=True)
class Scenario:
    """What is drawn."""

    splits: int | None = None
    """How many; as many as the paper has where None."""
    datasets: Collection[str] | None = None
    """Of which data sets; of all where None."""
    equal: bool = False
    """Whether all methods have their common mean, and root mean square deviation."""


def main(published: str = PUBLISHED, *splits: str) -> str:
    """Give the chances of each claim as CSV.

    Args:
        published: the folder of a run.
        splits: numbers of splits; the run's own where there are none.

    Raises:
        DataError: a file is missing or damaged.
    """
    frame = scores(Path(published))
    counts = [int(count) for count in splits]
    if not counts:
        counts = [frame["split"].nunique()]
    datasets = list(frame["dataset"].unique())
    found = chances(scenarios(datasets, counts), correlations(frame))
    return found.to_csv(float_format="%.6g", lineterminator="\n")


def scores(published: Path) -> pd.DataFrame:
    """Read the test scores of the selected cells on each split."""
    parts = []
    for task in TASKS:
        folder = published / "summary" / task
        winners = read(folder / "winners.csv")
        selected = winners.loc[winners["rule"] == RULE, CELL].drop_duplicates()
        runs = rows_under(read(folder / "runs.csv"), PROTOCOL)
        on_test = runs[runs["part"] == "test"]
        parts.append(on_test.merge(selected, on=CELL))
    return pd.concat(parts)


def correlations(frame: pd.DataFrame) -> dict[str, float]:
    """Measure how the scores of methods vary together with GAT's over the splits.

    Args:
        frame: `dataset`, `method`, `metric`, `split` and `value`.

    Returns:
        For each metric the mean over all data sets and methods, from 0 to 1. A method
        that does not vary has no correlation.
    """
    found = []
    for (_, metric), rows in frame.groupby(["dataset", "metric"]):
        by_method = rows.pivot(index="split", columns="method", values="value")
        if REFERENCE in by_method:
            others = by_method.drop(columns=REFERENCE)
            each = others.corrwith(by_method[REFERENCE])
            found.append(pd.DataFrame({"metric": metric, "correlation": each}))
    if not found:
        return {}
    means = pd.concat(found).groupby("metric")["correlation"].mean()
    return means.dropna().clip(0, 1).to_dict()


def scenarios(datasets: Collection[str], counts: list[int]) -> dict[str, Scenario]:
    """List what chances are shown for: the paper's own splits, and ours.

    Each number, from 2, has a scenario in which the paper is right, and one in which
    methods are alike.
    """
    shown = {"its data sets and splits": Scenario()}
    several = [count for count in counts if count > 1]
    for count in dict.fromkeys(several):
        heading = f"run here, {count} splits"
        shown[heading] = Scenario(count, datasets)
        shown[f"{heading}, methods alike"] = Scenario(count, datasets, equal=True)
    return shown


def chances(
    scenarios: Mapping[str, Scenario], together: Mapping[str, float]
) -> pd.DataFrame:
    """Simulate how often splits would support each claim.

    Args:
        scenarios: by their headings.
        together: the correlations between methods, by metric.

    Returns:
        A row for each claim (its number), a column for each scenario.
    """
    columns = {}
    for heading, scenario in scenarios.items():
        drawn = {table: draw(table, scenario, together) for table in TASK_OF_RESULTS}
        column = []
        for claim in CLAIMS.values():
            column.append(chance(claim, drawn.get(claim.table, {})))
        columns[heading] = column
    return pd.DataFrame(columns, index=pd.Index(CLAIMS, name="claim"), dtype=float)


def draw(table: str, scenario: Scenario, together: Mapping[str, float]) -> Results:
    """Draw the results of one of the paper's tables DRAWS times."""
    random = np.random.default_rng(0)
    every = results()
    printed = every[every["table"] == table]
    if scenario.equal:
        printed = _alike(printed)
    if scenario.datasets is not None:
        printed = printed[printed["dataset"].isin(scenario.datasets)]

    drawn = {}
    for (dataset, metric), rows in printed.groupby(["dataset", "metric"], sort=False):
        splits = scenario.splits or rows["splits"].iloc[0]
        shape = (DRAWS, splits)
        correlation = together.get(metric, 0.0)
        common = random.standard_normal(shape)  # what all methods share on a split
        for row in rows.itertuples():
            own = random.standard_normal(shape)
            noise = sqrt(correlation) * common + sqrt(1 - correlation) * own
            values = row.mean + row.sample * noise
            means, deviations = values.mean(1), values.std(1, ddof=row.ddof)
            drawn[Key(dataset, row.method, metric)] = Result(means, deviations)
    return drawn


def _alike(printed: pd.DataFrame) -> pd.DataFrame:
    """Give all methods the mean over them, and their root mean square deviation."""
    squares = printed.assign(sample=printed["sample"] ** 2)
    groups = squares.groupby(["dataset", "metric"])[["mean", "sample"]]
    pooled = groups.transform("mean")
    return printed.assign(mean=pooled["mean"], sample=pooled["sample"] ** 0.5)


def chance(claim: Claim, drawn: Results) -> float | None:
    """Count the share of the draws that support a claim.

    None where no check can be made: seconds have no deviation.
    """
    checks = claim.function(drawn)
    held = [check.holds for check in checks if check.holds is not None]
    if not held:
        return None
    supported = np.all(held, axis=0)  # by draw
    return float(supported.mean())


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]), end="")
    except FairGATError as error:
        sys.exit(str(error))
