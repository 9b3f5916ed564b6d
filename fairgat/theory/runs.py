"""Measure trained models: rebuild each finished run from its files."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from fairgat import cells, files, methods
from fairgat.config import Model, NodeTraining
from fairgat.data import splits
from fairgat.data.graph import Graph, load_npz
from fairgat.errors import DataError, NotDefined
from fairgat.methods.base import Method
from fairgat.tasks.device import tensor
from fairgat.theory.account import Account
from fairgat.theory.layers import LayerTerms
from fairgat.theory.network import account, measure
from fairgat.training.job import build
from fairgat.training.record import Record

IDENTITY = ("dataset", "method", "cell", "split")
"""The columns that say of which run a row is."""
MEASURED = {"theory": (measure, LayerTerms), "account": (account, Account)}
"""What measures a trained method, and the class of its results."""


def rebuild(
    module: str,
    settings: Model,
    graph: Graph,
    split: Mapping[str, Any],
    training: NodeTraining,
    seed: int,
    model: str | Path,
    arrays: Mapping[str, np.ndarray],
    debiased: str | Path | None = None,
) -> Method:
    """Make a trained method from the arrays of its model.npz.

    Args:
        model: the file that they are from, for errors.
        arrays: its content.
        module, settings, graph, split, training, seed, debiased: as
            `fairgat.training.job.build` takes them.

    Raises:
        DataError: the arrays are not those of the method; the message names the file,
            `model`.
    """
    method = build(module, settings, graph, dict(split), training, seed, debiased)
    try:
        method.load({name: tensor(array) for name, array in arrays.items()})
    except RuntimeError as error:
        raise DataError(f"{model} does not fit the method {module}: {error}") from None
    return method


def trained(
    directory: Path,
    record: Record,
    data: Path,
    graph: Graph,
    split: Mapping[str, np.ndarray],
) -> Method:
    """Make the method of a finished run, trained, from the run's folder.

    Args:
        data: the folder of its graph, split and debiased graphs.
        graph, split: the run's.
    """
    model, debiased = directory / "model.npz", data / "debiased"
    edited = debiased / record.dataset / record.method / f"split-{record.split}.npz"
    return rebuild(
        module=record.module,
        settings=methods.settings(record.module, dict(record.settings)),
        graph=graph,
        split=split,
        training=record.trained_by,
        seed=record.seed,
        model=model,
        arrays=load_npz(model),
        debiased=edited if edited.exists() else None,
    )


def measure_runs(
    what: Literal["theory", "account"],
    dataset: str,
    method: str,
    runs: Sequence[tuple[str, int]],
    models: Sequence[str | Path],
    *,
    module: str,
    settings: Mapping[str, Any],
    training: Mapping[str, Any],
    seed: int,
    graph: str | Path,
    split_files: Sequence[str | Path],
    selection: str | Path | None = None,
    debiased: Sequence[str | Path] = (),
) -> pd.DataFrame:
    """Measure the terms of each layer, or account for the gaps, of a method's runs.

    All of them are on one data set.

    Args:
        what: a key of MEASURED.
        runs: cell and split of each run.
        models: model.npz of each run; those without arrays are of runs that failed, and
            have no rows.
        module, settings, training, seed: of the training jobs; the settings without the
            cell's hyperparameters.
        graph, split_files: the graph's file, and that of each split, in the order in
            which `runs` first names it.
        selection: the method's selection JSON, to measure the runs of the selected cell
            only.
        debiased: the debiased graph of each split, for a method that needs one.

    Returns:
        IDENTITY and the fields of what is measured, a row for each of them, run by run.
        No rows, and a line on stdout that says why, where no cell was selected or what
        is measured is not defined for the method.

    Raises:
        DataError: a file is missing or malformed, or a model's arrays are not those of
            the method.
    """
    measure_one, result_class = MEASURED[what]
    columns = [*IDENTITY, *(field.name for field in fields(result_class))]
    data, protocol = Graph.load(graph), NodeTraining(**training)
    split_numbers = list(dict.fromkeys(split for _, split in runs))
    split_file_of = dict(zip(split_numbers, split_files, strict=False))
    # Empty for a method that needs none.
    debiased_of = dict(zip(split_numbers, debiased, strict=False))
    winner = None
    if selection:
        winner = files.read_json(selection)["winner"]
        print(f"the selected cell of {method} on {dataset}: {winner}")

    rows = []
    for (cell, split), model in zip(runs, models, strict=True):
        if selection and cell != winner:
            continue
        arrays = load_npz(model)
        if not arrays:
            continue
        try:
            trained_method = rebuild(
                module=module,
                settings=methods.settings(
                    module, {**settings, **cells.from_path(cell)}
                ),
                graph=data,
                split=splits.load(split_file_of[split]),
                training=protocol,
                seed=splits.seed_of(seed, dataset, split),
                model=model,
                arrays=arrays,
                debiased=debiased_of.get(split),
            )
            results = measure_one(trained_method)
        except NotDefined as error:  # as it is then for each of the method's runs
            print(f"{method} on {dataset}: {error}")
            return pd.DataFrame(columns=columns)
        for result in results:
            rows.append((dataset, method, cell, split, *astuple(result)))
    return pd.DataFrame(rows, columns=columns)
