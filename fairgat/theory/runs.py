"""Measure the terms of trained models: rebuild each finished run from its files."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from fairgat import cells, files, methods
from fairgat.config import NodeTraining
from fairgat.data import splits
from fairgat.data.graph import Graph, load_npz
from fairgat.errors import DataError, NotDefined
from fairgat.methods.base import Method
from fairgat.theory.layers import LayerTerms
from fairgat.theory.network import measure
from fairgat.training import job as training

COLUMNS = ("dataset", "method", "cell", "split", *(field.name for field in fields(LayerTerms)))


@dataclass(frozen=True)
class Job:
    """One method on one data set.

    `module`, `settings` (without the cell's hyperparameters), `training` and `seed` are those of its training jobs.
    """

    dataset: str
    method: str
    module: str
    settings: Mapping[str, Any]
    training: Mapping[str, Any]
    seed: int

    def trained(
        self, graph: Graph, split: int, indices: str | Path, cell: str, model: str | Path, debiased: str | Path | None
    ) -> Method:
        """Rebuild the method as training left it at its selected epoch.

        Args:
            graph: the data set.
            split: number of the split.
            indices: the split's file.
            cell: path of the hyperparameter cell.
            model: model.npz of that run.
            debiased: the file of the debiased graph, for a method that needs one.

        Raises:
            DataError: the model's arrays are not those of this method.
        """
        method = training.build(
            self.module,
            methods.settings(self.module, {**self.settings, **cells.from_path(cell)}),
            graph,
            splits.load(indices),
            NodeTraining(**self.training),
            training.seed_of(self.seed, self.dataset, split),
            debiased,
        )
        arrays = load_npz(model)
        try:
            method.model.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
        except RuntimeError as error:
            raise DataError(f"{model} does not fit {self.method} on {self.dataset}: {error}") from None
        return method


def measure_selected(
    job: Job,
    graph: str | Path,
    split_files: Sequence[str | Path],
    selection: str | Path,
    models: Sequence[str | Path],
    debiased: Sequence[str | Path] = (),
) -> list[dict[str, Any]]:
    """Measure every term of the selected cell, one row per split and layer (COLUMNS), in that order.

    Args:
        job: the method on its data set.
        graph: the graph's file.
        split_files: the file of each split.
        selection: the method's selection JSON.
        models: model.npz of (at least) the selected cell on every split, at the paths that training gave them.
        debiased: the debiased graph of each split, for a method that needs one.

    Returns:
        No rows, and a line on stdout that says why, if no cell was selected or there are not exactly two groups.

    Raises:
        DataError: a file is missing or malformed.
    """
    cell, whole = files.read_json(selection)["winner"], Graph.load(graph)
    if cell is None:
        print(f"no cell of {job.method} was selected on {job.dataset}")
        return []
    try:
        whole.require_two_groups("the theory")
    except NotDefined as error:
        print(f"{job.dataset}: {error}")
        return []
    paths, rows = [str(path) for path in models], []
    for split, indices in enumerate(split_files):
        end = f"/{job.method}/{cell}/split-{split}/model.npz"
        model = next((path for path in paths if path.endswith(end)), None)
        if model is None:
            raise DataError(f"no model.npz of {job.method} on {job.dataset}, cell {cell}, split {split}")
        method = job.trained(whole, split, indices, cell, model, debiased[split] if debiased else None)
        identity = {"dataset": job.dataset, "method": job.method, "cell": cell, "split": split}
        rows += [{**identity, **asdict(terms)} for terms in measure(method)]
    return rows


def write(path: str | Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV with COLUMNS; absent terms are empty."""
    files.write_text(path, pd.DataFrame(rows, columns=COLUMNS).to_csv(index=False, lineterminator="\n"))
