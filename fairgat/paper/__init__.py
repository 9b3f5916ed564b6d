"""The paper's published numbers (paper.yaml): what ours are compared with."""

import math
from functools import cache
from importlib import resources
from typing import Any

import pandas as pd
import yaml

TASK_OF_RESULTS = {  # the tables whose numbers are means over splits
    "comparison": "node_classification",
    "ablation": "node_classification",
    "link_prediction": "link_prediction",
}


@cache
def load() -> dict[str, Any]:
    """Read paper.yaml as nested mappings.

    Keys beside the tables of `results`: `runtime` as dataset → method → seconds per
    epoch; `statistics` as dataset → quantity → count; `hyperparameters` as method →
    `grid` and `chosen` (dataset → cell); `samples` as table → `splits` and `ddof`;
    `oddities`.
    """
    file = resources.files(__package__) / "paper.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8"))


@cache
def results() -> pd.DataFrame:
    """List every published mean ± standard deviation over splits, in percent.

    Returns:
        `table`, `dataset`, `method`, `metric`, `mean`, `std`, `bold` (as the paper
        prints it), the number of `splits`, `ddof`, and `sample`, the sample standard
        deviation.
    """
    paper = load()
    rows = []
    for table, sample in paper["samples"].items():
        for dataset, methods in paper[table].items():
            for method, metrics in methods.items():
                row = {"table": table, "dataset": dataset, "method": method}
                for metric, entry in metrics.items():
                    what = {"metric": metric, "bold": False}
                    deviation = sample_deviation(entry["std"], **sample)
                    rows.append(row | what | entry | sample | {"sample": deviation})
    return pd.DataFrame(rows)


def printed(table: str) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Give what one of the tables of `results` prints, mean and standard deviation.

    By data set, method and metric.
    """
    numbers = {}
    for row in results().itertuples():
        if row.table == table:
            numbers[row.dataset, row.method, row.metric] = row.mean, row.std
    return numbers


def sample_deviation(std: float, splits: int, ddof: int) -> float:
    """Convert the deviation of `splits` values to the sample standard deviation.

    Args:
        std: has splits - ddof in its denominator.
    """
    return std * math.sqrt((splits - ddof) / (splits - 1))


def means(task: str) -> pd.DataFrame:
    """List the published results of a task, as fractions.

    Where two tables disagree (FairGAT on Pokec-n) the comparison table counts; the
    audit shows both.

    Returns:
        `dataset`, `method`, `metric`, `paper_mean` and `paper_std`.
    """
    task_of = results()["table"].map(TASK_OF_RESULTS)
    return _as_fractions(results()[task_of == task])


def of_table(table: str) -> pd.DataFrame:
    """List the columns of `means` of one of the tables; no rows of another."""
    return _as_fractions(results()[results()["table"] == table])


def _as_fractions(rows: pd.DataFrame) -> pd.DataFrame:
    """Give published percentages as fractions; the first of several of a result."""
    keys = ["dataset", "method", "metric"]
    printed = ["paper_mean", "paper_std"]
    frame = rows.drop_duplicates(keys)
    # Rounded: 66.26 % is 0.6626 and not 0.6626000000000001
    fractions = frame[["mean", "std"]] / 100
    frame[printed] = fractions.round(6)
    return frame[[*keys, *printed]]
