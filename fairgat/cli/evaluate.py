"""`fairgat evaluate`: the scores of a finished run, from its predictions, as the rule `collect` computes them."""

import argparse
import math
from pathlib import Path

import numpy as np

from fairgat.data import splits
from fairgat.data.graph import Graph
from fairgat.data.splits import HELD_OUT
from fairgat.errors import DataError, FairGATError
from fairgat.scores.judging import judged
from fairgat.training.record import NAME, Record, digests


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", type=Path, help=f"the run's folder, the one with {NAME}"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    show(arguments.directory)


def show(directory: Path) -> None:
    """Print a run's validation and test scores side by side; a dash for one that is missing."""
    record = finished(directory)
    _, graph, split = data_of(directory, record)
    scores = judged(directory / NAME, graph, split, record.inputs).scores[
        record.protocol
    ]
    print(f"epoch {record.reported} of {record.training['epochs']}")
    print(f"{'':22}{'validation':>12}{'test':>12}")
    for name in scores["test"]:
        values = (scores[part][name] for part in HELD_OUT)
        print(
            f"{name:22}"
            + "".join(
                f"{'–' if math.isnan(value) else f'{value:.4f}':>12}"
                for value in values
            )
        )


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
    """Find the nearest `data` above a run's folder, in the workflow's results or in those of `fairgat train --out`.

    Returns:
        It, and the graph and the split of the run in it.

    Raises:
        DataError: there is none, or its graph or split was made anew since the run.
    """
    name, split = (
        f"{record.dataset}.npz",
        f"splits/{record.task}/{record.dataset}/split-{record.split}.npz",
    )
    for folder in (parent / "data" for parent in directory.resolve().parents):
        if (folder / "graphs" / name).exists():
            files = {"graph": folder / "graphs" / name, "split": folder / split}
            loaded = Graph.load(files["graph"]), splits.load(files["split"])
            record.check_inputs(directory, digests(**files))
            return folder, *loaded
    raise DataError(
        f"the graph of {record.dataset}, data/graphs/{name}, is in no folder above {directory.resolve()}. "
        "Read the run where it was made, or copy the data folder of its results along"
    )
