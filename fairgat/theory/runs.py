"""Measure trained models: rebuild each finished run from its files."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from fairgat import files, methods
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


def trained(
    directory: Path,
    record: Record,
    data: Path,
    graph: Graph,
    split: dict[str, np.ndarray],
) -> Method:
    """Make the method of a finished run, trained, from the run's folder.

    Args:
        directory: the run's folder.
        data: the folder of its graph, split and debiased graphs.
        graph, split: the run's.

    Raises:
        DataError: model.npz is missing or damaged, or is not of the run's method.
        NotDefined: the method is not defined for this graph.
    """
    settings = methods.settings(record.module, record.settings)
    folder = data / "debiased" / record.dataset / record.method
    debiased = folder / f"split-{record.split}.npz"
    if not debiased.exists():
        debiased = None
    method = build(
        record.module,
        settings,
        graph,
        split,
        record.trained_by,
        record.seed,
        debiased,
    )

    model = directory / "model.npz"
    weights = {name: tensor(array) for name, array in load_npz(model).items()}
    try:
        method.load(weights)
    except RuntimeError as error:
        what = f"{model} does not fit the method {record.module}"
        raise DataError(f"{what}: {error}") from None
    return method


def measure_runs(
    what: Literal["theory", "account"],
    runs: Sequence[str | Path],
    graph: str | Path,
    split_files: Mapping[int, str | Path],
    selection: str | Path | None = None,
) -> pd.DataFrame:
    """Measure the terms of each layer, or account for the gaps, of a method's runs.

    All of them are on one data set.

    Args:
        what: a key of MEASURED.
        runs: run.json of each run; those that failed have no rows.
        graph: the graph's file, in the folder `graphs` of the runs' data.
        split_files: that of each split, by its number.
        selection: the method's selection JSON, to measure the runs of the selected cell
            only.

    Returns:
        IDENTITY and the fields of what is measured, a row for each of them, run by run.
        None of them where no cell was selected, or for a cell for which what is
        measured is not defined; a line on stdout says so.

    Raises:
        DataError: a file is missing or malformed, or a model's arrays are not those of
            the method.
    """
    measure_one, result_class = MEASURED[what]
    columns = [*IDENTITY, *(field.name for field in fields(result_class))]
    whole, data = Graph.load(graph), Path(graph).parents[1]
    winner = None
    if selection:
        chosen = files.read_json(selection)
        winner = chosen["winner"]
        place = f"{chosen['method']} on {chosen['dataset']}"
        print(f"the selected cell of {place}: {winner}")

    rows = []
    undefined_cells = set()
    for path in runs:
        record = Record.read(path)
        left_out = record.failure or record.cell in undefined_cells
        if left_out or (selection and record.cell != winner):
            continue
        split = splits.load(split_files[record.split])
        try:
            method = trained(Path(path).parent, record, data, whole, split)
            results = measure_one(method)
        except NotDefined as error:  # as it is then for each of the cell's runs
            print(f"{record.method} ({record.cell}) on {record.dataset}: {error}")
            undefined_cells.add(record.cell)
            continue
        run = [getattr(record, name) for name in IDENTITY]
        for result in results:
            rows.append((*run, *astuple(result)))
    return pd.DataFrame(rows, columns=columns)
