"""The paper's published numbers (paper.yaml): what ours are compared with."""

import math
from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml

TASK_OF_RESULTS = {  # the tables whose numbers are means over splits
    "comparison": "node_classification",
    "ablation": "node_classification",
    "link_prediction": "link_prediction",
}


@dataclass(frozen=True)
class Published:
    """A published mean ± standard deviation over splits, in percent; `bold` as the paper prints it."""

    mean: float
    std: float
    bold: bool = False


@cache
def load() -> dict:
    """paper.yaml as nested mappings, with every mean ± std as a `Published`.

    Keys: `comparison`, `ablation` and `link_prediction` as dataset → method → metric → Published;
    `runtime` as dataset → method → seconds per epoch; `statistics` as dataset → quantity → count;
    `hyperparameters` as method → `grid` and `chosen` (dataset → cell); `samples` as table → `splits` and `ddof`.
    """
    text = resources.files(__package__).joinpath("paper.yaml").read_text(encoding="utf-8")
    paper = yaml.safe_load(text)
    for table in TASK_OF_RESULTS:
        for methods in paper[table].values():
            for metrics in methods.values():
                metrics.update({metric: Published(**entry) for metric, entry in metrics.items()})
    return paper


def results(paper: dict, table: str) -> list[tuple[tuple[str, str, str], Published]]:
    """Every result of one of the tables: (data set, method, metric), and what is published."""
    entries = [(d, m, metrics) for d, methods in paper[table].items() for m, metrics in methods.items()]
    return [((d, m, metric), value) for d, m, metrics in entries for metric, value in metrics.items()]


def sample_deviation(std: float, splits: int, ddof: int) -> float:
    """The sample standard deviation of `splits` values whose `std` has splits - ddof in its denominator."""
    return std * math.sqrt((splits - ddof) / (splits - 1))


def means(task: str) -> dict[tuple[str, str, str], tuple[float, float]]:
    """(dataset, method, metric) → (mean, std), as fractions, of every published result of `task`.

    Where two tables disagree (FairGAT on Pokec-n) the comparison table counts; the audit shows both.
    """
    scores: dict[tuple[str, str, str], tuple[float, float]] = {}
    for table in ("ablation", "comparison", "link_prediction"):  # later tables overwrite earlier ones
        for key, entry in results(load(), table) if TASK_OF_RESULTS[table] == task else ():
            # Rounded, so that 66.26 % is 0.6626 and not 0.6626000000000001.
            scores[key] = (round(entry.mean / 100, 6), round(entry.std / 100, 6))
    return scores
