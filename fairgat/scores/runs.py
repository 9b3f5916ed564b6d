"""metrics.json read back: one trained cell on one split, and which way each metric points."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairgat import cells
from fairgat.errors import DataError
from fairgat.files import read_json

UTILITY = "accuracy"
# The fairness measures of each task; the lower the fairer.
FAIRNESS = {
    "node_classification": ("statistical_parity", "equal_opportunity"),
    "link_prediction": ("dp_mixed", "eo_mixed", "dp_group", "eo_group", "dp_subgroup", "eo_subgroup"),
}
HIGHER_IS_BETTER = ("accuracy", "auc")


@dataclass(frozen=True)
class Record:
    """One metrics.json. Scores are fractions; both are empty where `failure` says why there are none."""

    task: str
    dataset: str
    method: str
    cell: str
    split: int
    validation: Mapping[str, float]
    test: Mapping[str, float]
    failure: str | None = None
    protocols: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Test scores of a link-prediction run under each protocol (`fairgat.config.LinkTraining`)."""


def read(path: str | Path, made_with: Mapping[str, Any] | None = None) -> Record:
    """Read one metrics.json.

    A score that selection needs and that is absent or not finite counts as a failure, with that as its reason.

    Args:
        made_with: what the run must have been made with: `settings` by data set and method, without hyperparameters,
            `training` of each task, and `experiment`. `fairgat train` may have used others, unseen by Snakemake.

    Raises:
        DataError: the file is missing, damaged, not a metrics.json, or of another configuration.
    """
    content = read_json(path)
    try:
        identity = {key: content[key] for key in ("task", "dataset", "method", "cell", "split")}
        needed = (UTILITY, *FAIRNESS[identity["task"]])
    except (KeyError, TypeError) as error:
        raise DataError(f"{path} is not a metrics.json: {error} is missing or unknown") from None
    if made_with is not None:
        _check_made_with(path, content, made_with)
    failure = content.get("failure")
    scores = {part: content.get(part) or {} for part in ("validation", "test")}
    if not failure:
        failure = _unusable(scores, needed)
    if failure:
        return Record(**identity, validation={}, test={}, failure=failure)
    protocols = {name: scored["test"] for name, scored in (content.get("protocols") or {}).items()}
    return Record(**identity, **scores, protocols=protocols)


def read_all(paths: Iterable[str | Path], made_with: Mapping[str, Any] | None = None) -> list[Record]:
    """Every record, in the order given; `made_with` as for `read`."""
    return [read(path, made_with) for path in paths]


def _check_made_with(path: str | Path, found: Mapping[str, Any], made_with: Mapping[str, Any]) -> None:
    wanted = {
        "settings": {**made_with["settings"][found["dataset"]][found["method"]], **cells.from_path(found["cell"])},
        "training": made_with["training"][found["task"]],
        "experiment": made_with["experiment"],
    }
    for part, values in json.loads(json.dumps(wanted)).items():  # a tuple is a list in the file
        theirs = found.get(part) or {}
        for name in sorted({*values, *theirs}):
            if values.get(name) != theirs.get(name):
                raise DataError(
                    f"{path} was made with another configuration: {part}: {name} was {theirs.get(name)}, "
                    f"is {values.get(name)}. Delete it and run again"
                )


def _unusable(scores: Mapping[str, Mapping[str, float]], needed: Iterable[str]) -> str | None:
    for part, values in scores.items():
        for name in needed:
            value = values.get(name)
            if not isinstance(value, int | float) or not math.isfinite(value):
                return f"{part} {name} is {'missing' if name not in values else value}"
    return None
