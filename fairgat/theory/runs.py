"""Measure trained models: rebuild each finished run from its files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from fairgat import cells, files, frames, methods
from fairgat.config import Model, NodeTraining
from fairgat.data import splits
from fairgat.data.graph import Graph, load_npz
from fairgat.errors import DataError, NotDefined
from fairgat.methods.base import Method
from fairgat.theory.account import Account
from fairgat.theory.layers import LayerTerms
from fairgat.theory.network import account, measure
from fairgat.training.job import build

COLUMNS = ("dataset", "method", "cell", "split", *(field.name for field in fields(LayerTerms)))
ACCOUNT_COLUMNS = ("dataset", "method", "cell", "split", *(field.name for field in fields(Account)))


def rebuild(
    module: str,
    settings: Model,
    graph: Graph,
    split: Mapping[str, Any],
    training: NodeTraining,
    seed: int,
    model: str | Path,
    debiased: str | Path | None = None,
) -> Method:
    """Make a trained method from its model.npz; the other arguments are those of `fairgat.training.job.build`.

    Raises:
        DataError: the file is missing or damaged, or its arrays are not those of the method.
    """
    method = build(module, settings, graph, dict(split), training, seed, debiased)
    try:
        method.model.load_state_dict({name: torch.from_numpy(array) for name, array in load_npz(model).items()})
    except RuntimeError as error:
        raise DataError(f"{model} does not fit the method {module}: {error}") from None
    return method


def account_all(
    dataset: str,
    method: str,
    *,
    module: str,
    settings: Mapping[str, Any],
    training: Mapping[str, Any],
    seed: int,
    graph: str | Path,
    split_files: Sequence[str | Path],
    models: Sequence[str | Path],
    debiased: Sequence[str | Path] = (),
) -> list[dict[str, Any]]:
    """Account for the gaps of every cell on every split, one row per cell, split, layer, rows and group
    (ACCOUNT_COLUMNS), in that order.

    The arguments are those of `measure_selected`, `models` being of all cells. Runs that failed have no rows.

    Returns:
        No rows, and a line on stdout that says why, if the method's network is not one of two attention layers.

    Raises:
        DataError: a file is missing or malformed, or a model's arrays are not those of the method.
    """
    whole, protocol, rows = Graph.load(graph), NodeTraining(**training), []
    for path in map(str, models):
        cell, number = re.search(rf"/{re.escape(method)}/(.+)/split-(\d+)/model\.npz$", path).groups()
        if not load_npz(path):
            continue
        chosen, split = methods.settings(module, {**settings, **cells.from_path(cell)}), int(number)
        parts, job_seed = splits.load(split_files[split]), splits.seed_of(seed, dataset, split)
        edited = debiased[split] if debiased else None
        try:
            accounts = account(rebuild(module, chosen, whole, parts, protocol, job_seed, path, edited))
        except NotDefined as error:
            print(f"{method} on {dataset}: {error}")
            return []
        identity = {"dataset": dataset, "method": method, "cell": cell, "split": split}
        rows += [identity | asdict(each) for each in accounts]
    return rows


def measure_selected(
    dataset: str,
    method: str,
    *,
    module: str,
    settings: Mapping[str, Any],
    training: Mapping[str, Any],
    seed: int,
    graph: str | Path,
    split_files: Sequence[str | Path],
    selection: str | Path,
    models: Sequence[str | Path],
    debiased: Sequence[str | Path] = (),
) -> list[dict[str, Any]]:
    """Measure every term of the selected cell, one row per split and layer (COLUMNS), in that order.

    Args:
        dataset, method: their names.
        module, settings, training, seed: of the training jobs; the settings without the cell's hyperparameters.
        graph: the graph's file.
        split_files: the file of each split.
        selection: the method's selection JSON.
        models: model.npz of (at least) the selected cell on every split, at the paths that training gave them.
        debiased: the debiased graph of each split, for a method that needs one.

    Returns:
        No rows, and a line on stdout that says so, if no cell was selected.

    Raises:
        DataError: a file is missing or malformed, or a model's arrays are not those of the method.
    """
    cell = files.read_json(selection)["winner"]
    if cell is None:
        print(f"no cell of {method} was selected on {dataset}")
        return []
    whole = Graph.load(graph)
    chosen, protocol = methods.settings(module, {**settings, **cells.from_path(cell)}), NodeTraining(**training)
    rows = []
    for split, indices in enumerate(split_files):
        end = f"/{method}/{cell}/split-{split}/model.npz"
        model = next((path for path in map(str, models) if path.endswith(end)), None)
        if model is None:
            raise DataError(f"no model.npz of {method} on {dataset}, cell {cell}, split {split}")
        edited = debiased[split] if debiased else None
        job_seed = splits.seed_of(seed, dataset, split)
        trained = rebuild(module, chosen, whole, splits.load(indices), protocol, job_seed, model, edited)
        identity = {"dataset": dataset, "method": method, "cell": cell, "split": split}
        rows += [{**identity, **asdict(terms)} for terms in measure(trained)]
    return rows


def write(path: str | Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> None:
    """Write rows as CSV; absent terms are empty."""
    frames.write(path, pd.DataFrame(rows, columns=columns))
