"""A finished run, read back from its folder: what several commands begin with."""

from pathlib import Path

import numpy as np

from fairgat.data import splits
from fairgat.data.graph import Graph
from fairgat.errors import DataError, FairGATError
from fairgat.training.record import RUN_JSON, Record, digests


def finished(directory: Path) -> Record:
    """Read the run.json of a run that did not fail.

    Raises:
        DataError: this is not the folder of a run of this version.
        FairGATError: the run failed.
    """
    if not (directory / RUN_JSON).exists():
        example = next(directory.rglob(RUN_JSON), None)
        run = f"such as {example.parent}" if example else f"the one with {RUN_JSON}"
        raise DataError(
            f"{directory} is not the folder of one run: give such a folder, {run}"
        )
    record = Record.read(directory / RUN_JSON)
    if record.failure:
        raise FairGATError(f"{directory} failed: {record.failure}")
    return record


def data_of(
    directory: Path, record: Record
) -> tuple[Path, Graph, dict[str, np.ndarray]]:
    """Load the graph and the split of a run from the nearest `data` above its folder.

    It is in the workflow's results, or in those of `fairgat train --out`.

    Returns:
        The folder `data`, the graph and the split.

    Raises:
        DataError: none has both, or one of them was made anew since the run.
    """
    name = f"{record.dataset}.npz"
    split = f"splits/{record.task}/{record.dataset}/split-{record.split}.npz"
    for parent in directory.resolve().parents:
        folder = parent / "data"
        files = {"graph": folder / "graphs" / name, "split": folder / split}
        if all(file.exists() for file in files.values()):
            graph = Graph.load(files["graph"])
            parts = splits.load(files["split"])
            record.check_inputs(directory, digests(**files))
            return folder, graph, parts
    raise DataError(
        f"no folder above {directory.resolve()} has both the graph and the split of "
        f"this run, data/graphs/{name} and data/{split}. Read the run where it was "
        "made, or copy the data folder of its results along; of a published run make "
        "them anew, by "
        f"`snakemake --cores 1 results/data/graphs/{name} results/data/{split}`"
    )
