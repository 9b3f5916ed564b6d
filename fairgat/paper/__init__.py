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
    """paper.yaml as nested mappings.

    Keys beside the tables of `results`: `runtime` as dataset → method → seconds per epoch; `statistics` as dataset →
    quantity → count; `hyperparameters` as method → `grid` and `chosen` (dataset → cell); `samples` as table → `splits`
    and `ddof`; `oddities`.
    """
    return yaml.safe_load(
        resources.files(__package__).joinpath("paper.yaml").read_text(encoding="utf-8")
    )


@cache
def results() -> pd.DataFrame:
    """Every published mean ± standard deviation over splits, in percent.

    Returns:
        `table`, `dataset`, `method`, `metric`, `mean`, `std`, `bold` (as the paper prints it), the number of `splits`,
        `ddof`, and `sample`, the sample standard deviation.
    """
    rows = [
        {
            "table": table,
            "dataset": dataset,
            "method": method,
            "metric": metric,
            "bold": False,
            **entry,
            **sample,
            "sample": sample_deviation(entry["std"], **sample),
        }
        for table, sample in load()["samples"].items()
        for dataset, methods in load()[table].items()
        for method, metrics in methods.items()
        for metric, entry in metrics.items()
    ]
    return pd.DataFrame(rows)


def printed(table: str) -> dict[tuple[str, str, str], tuple[float, float]]:
    """The mean and standard deviation of each data set, method and metric of one of the tables of `results`."""
    rows = results()[results()["table"] == table]
    return {
        (row.dataset, row.method, row.metric): (row.mean, row.std)
        for row in rows.itertuples()
    }


def sample_deviation(std: float, splits: int, ddof: int) -> float:
    """The sample standard deviation of `splits` values whose `std` has splits - ddof in its denominator."""
    return std * math.sqrt((splits - ddof) / (splits - 1))


def means(task: str) -> pd.DataFrame:
    """`dataset`, `method`, `metric`, `paper_mean` and `paper_std`, as fractions, of every published result of a task.

    Where two tables disagree (FairGAT on Pokec-n) the comparison table counts; the audit shows both.
    """
    task_of = results()["table"].map(TASK_OF_RESULTS)
    return _as_fractions(results()[task_of == task])


def of_table(table: str) -> pd.DataFrame:
    """The columns of `means`, of one of the tables of `results`; no rows of another."""
    return _as_fractions(results()[results()["table"] == table])


def _as_fractions(rows: pd.DataFrame) -> pd.DataFrame:
    keys = ["dataset", "method", "metric"]
    printed = ["paper_mean", "paper_std"]
    frame = rows.drop_duplicates(keys)
    # Rounded: 66.26 % is 0.6626 and not 0.6626000000000001
    frame[printed] = (frame[["mean", "std"]] / 100).round(6)
    return frame[[*keys, *printed]]
