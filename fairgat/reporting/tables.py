"""The six tables: which file each is built from, and by what."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fairgat.errors import DataError
from fairgat.files import read_json
from fairgat.reporting import hyperparameters, results, runtime, statistics
from fairgat.reporting.model import Table
from fairgat.reporting.paper import load as load_paper

CAPTIONS = {
    "comparison": "Comparative results.",
    "ablation": "Ablation study.",
    "link_prediction": "Comparative results of FairGAT for link prediction.",
}
SOURCES = ("summary", "selections", "runtimes", "stats")  # the kinds of files that tables are built from
Files = Sequence[str | Path]


def build(
    name: str,
    settings: Mapping[str, Any],
    summary: Files = (),
    selections: Files = (),
    runtimes: Files = (),
    stats: Files = (),
) -> Table:
    """Build one table.

    Args:
        name: `comparison`, `ablation`, `link_prediction`, `runtime`, `dataset_statistics` or `hyperparameters`.
        settings: as `fairgat.reporting.settings.table_settings` gives them.
        summary: the one summary CSV of the table's task, for tables of results.
        selections: selection JSON of each method and data set, for tables of results and hyperparameters.
        runtimes: runtime JSON of each data set.
        stats: stats JSON of each data set.

    Raises:
        DataError: an input is missing or malformed.
    """
    if name in CAPTIONS:
        return results.build(name, CAPTIONS[name], settings, read_summary(summary), read_selections(selections))
    if name == "runtime":
        return runtime.build(settings, _by_dataset(runtimes), load_paper()["runtime"])
    if name == "dataset_statistics":
        return statistics.build(settings, _by_dataset(stats))
    if name == "hyperparameters":
        return hyperparameters.build(settings, read_selections(selections), load_paper()["hyperparameters"])
    raise DataError(f"there is no table {name!r}")


def read_summary(paths: Files) -> pd.DataFrame:
    """The rows of summary CSVs (fractions)."""
    try:
        return pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)
    except (OSError, ValueError) as error:
        raise DataError(f"the summary cannot be read: {error}") from None


def read_selections(paths: Files) -> results.Selections:
    """Selection JSON by (data set, method)."""
    return {(entry["dataset"], entry["method"]): entry for entry in map(read_json, paths)}


def _by_dataset(paths: Files) -> dict[str, Any]:
    return {entry["dataset"]: entry for entry in map(read_json, paths)}
