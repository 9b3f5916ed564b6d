"""The scores of training runs as one tidy table, and which way each metric points.

Each row is one number of one run (a cell on one split), with the columns COLUMNS: `part` is `validation`, `test` or
`training`, `protocol` one of link prediction's (`fairgat.config.LinkTraining`), or a rule that chooses the epoch of
node classification (`fairgat.tasks.epochs`): empty for ours, and the others have only what the tables show. Scores are
fractions. `training` has `epoch` (the one reported), `epochs` (all), `seconds` and `seconds_per_epoch`. A failed run is
a single row with the metric `failure`, no value, and why in `reason`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fairgat.errors import DataError
from fairgat.files import read_json, write_text

UTILITY = "accuracy"
# The fairness measures of each task. Selection, tables, audit and figures show these, in this order.
FAIRNESS = {
    "node_classification": ("statistical_parity", "equal_opportunity"),
    "link_prediction": ("dp_mixed", "eo_mixed", "dp_group", "eo_group", "dp_subgroup", "eo_subgroup"),
}
# The direction of every metric, declared here alone. One that is missing has no best value anywhere.
HIGHER_IS_BETTER = {
    UTILITY: True,
    "auc": True,
    "f1": True,
    **{name: False for names in FAIRNESS.values() for name in names},
}

COLUMNS = ("dataset", "method", "cell", "split", "part", "protocol", "metric", "value", "reason")
FAILURE = "failure"
CLOCK = ("seconds", "seconds_per_epoch")  # metrics that differ from run to run of the same code

_TEXT = ("rule", "dataset", "method", "cell", "part", "protocol", "metric", "reason")
_NUMBERS = ("value", "mean", "std", "paper_mean", "paper_std")


def collect(paths: Iterable[str | Path]) -> pd.DataFrame:
    """The rows of metrics.json files, in the order given.

    Raises:
        DataError: a file is missing, damaged or not a metrics.json.
    """
    return pd.DataFrame([row for path in paths for row in _rows(path)], columns=list(COLUMNS))


def _rows(path: str | Path) -> Iterator[dict[str, Any]]:
    content = read_json(path)
    try:
        run = {key: content[key] for key in ("dataset", "method", "cell", "split")}
        needed = (UTILITY, *FAIRNESS[content["task"]])
    except (KeyError, TypeError) as error:
        raise DataError(f"{path} is not a metrics.json: {error} is missing or unknown") from None
    judged = content.get("protocols") or {"": content}
    failure = content.get("failure") or _unusable(judged, needed)
    if failure:
        yield run | {"part": "training", "protocol": "", "metric": FAILURE, "reason": failure}
        return
    for protocol, scores in judged.items():
        shown = needed if content["task"] == "node_classification" and protocol else None
        for part in ("validation", "test"):
            for metric, value in scores[part].items():
                if shown and metric not in shown:
                    continue
                yield run | {"part": part, "protocol": protocol, "metric": metric, "value": value, "reason": ""}
    training = {(protocol, "epoch"): scores.get("epoch") for protocol, scores in judged.items()}
    training["", "epochs"] = content.get("training", {}).get("epochs")
    training |= {("", name): content.get("runtime", {}).get(name) for name in CLOCK}
    for (protocol, metric), value in training.items():
        if value is not None:
            yield run | {"part": "training", "protocol": protocol, "metric": metric, "value": value, "reason": ""}


def _unusable(judged: Mapping[str, Mapping[str, Any]], needed: Iterable[str]) -> str | None:
    """Say why a run's scores cannot be used: one that selection or the tables need is missing or not finite."""
    for scores in judged.values():
        for part in ("validation", "test"):
            for name in needed:
                value = (scores.get(part) or {}).get(name, "missing")
                if not isinstance(value, int | float) or not math.isfinite(value):
                    return f"{part} {name} is {value}"
    return None


def trained_at(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """The `commit` of the code that trained, whether it was `modified`, and its number of `runs`; most runs first."""
    codes = [read_json(path).get("code") or {} for path in paths]
    counts = pd.Series([(code.get("commit"), code.get("modified")) for code in codes], dtype=object).value_counts()
    return [{"commit": code[0], "modified": code[1], "runs": int(runs)} for code, runs in counts.items()]


def write(path: str | Path, frame: pd.DataFrame) -> None:
    """Write CSV whose floats are read back exactly."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def read(*paths: str | Path) -> pd.DataFrame:
    """The rows of runs.csv, cells.csv or winners.csv files, one file after the other.

    Raises:
        DataError: a file is missing or malformed.
    """
    if not paths:  # no data set of a task is run
        return pd.DataFrame(columns=list(COLUMNS))
    try:
        frames = [
            pd.read_csv(
                path,
                dtype=dict.fromkeys(_TEXT, str),
                keep_default_na=False,  # a data set may be called NA
                na_values={name: [""] for name in _NUMBERS},
            )
            for path in paths
        ]
        # A header without rows would make every column one of objects.
        return pd.concat([frame for frame in frames if len(frame)] or frames, ignore_index=True)
    except (OSError, ValueError) as error:
        raise DataError(f"scores cannot be read: {error}") from None


def under(frame: pd.DataFrame, protocol: str) -> pd.DataFrame:
    """The rows of node classification, and those of link prediction under `protocol`."""
    return frame[frame["protocol"].isin(["", protocol])]
