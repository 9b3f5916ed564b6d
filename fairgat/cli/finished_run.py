"""A finished run, read back from its folder: what several commands begin with."""

from pathlib import Path

import numpy as np

from fairgat.data import splits
from fairgat.data.graph import Graph
from fairgat.errors import DataError, FairGATError
from fairgat.training.record import NAME, Record, digests


def finished(directory: Path) -> Record:
    """Read the run.json of a run that did not fail.

    Raises:
        DataError: this is not the folder of a run of this version.
        FairGATError: the run failed.
    """
    if not (directory / NAME).exists():
        example = next(directory.rglob(NAME), None)
        run = f"such as {example.parent}" if example else f"the one with {NAME}"
        raise DataError(
            f"{directory} is not the folder of one run: give such a folder, {run}"
        )
    record = Record.read(directory / NAME)
    if record.failure:
        raise FairGATError(f"{directory} failed: {record.failure}")
    return record


def data_of(
    directory: Path, record: Record
) -> tuple[Path, Graph, dict[str, np.ndarray]]:
    """Find the nearest `data` above a run's folder.

    It is in the workflow's results, or in those of `fairgat train --out`.

    Returns:
        It, and the graph and the split of the run in it.

    Raises:
        DataError: there is none, or its graph or split was made anew since the run.
    """
    name = f"{record.dataset}.npz"
    split = f"splits/{record.task}/{record.dataset}/split-{record.split}.npz"
    for parent in directory.resolve().parents:
        folder = parent / "data"
        files = {"graph": folder / "graphs" / name, "split": folder / split}
        if files["graph"].exists():
            graph = Graph.load(files["graph"])
            parts = splits.load(files["split"])
            record.check_inputs(directory, digests(**files))
            return folder, graph, parts
    raise DataError(
        f"the graph of {record.dataset}, data/graphs/{name}, is in no folder above "
        f"{directory.resolve()}. Read the run where it was made, or copy the data "
        "folder of its results along; of a published run make them anew, by "
        f"`snakemake --cores 1 results/data/graphs/{name} results/data/{split}`"
    )
