"""`fairgat evaluate`: a finished run's scores, computed again from its predictions, beside those it wrote."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fairgat import files, frames
from fairgat.config import TASKS
from fairgat.data import splits
from fairgat.data.graph import Graph, load_npz
from fairgat.errors import DataError, FairGATError
from fairgat.scores import runs as records
from fairgat.tasks.base import PARTS, Task, nulled, task_class, unpack


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="the run's folder, the one with metrics.json")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the scores; raise an error if they are not the ones that the run wrote."""
    directory = arguments.directory
    written = finished(directory)
    try:
        _, graph, split = data_of(directory, written)
        ours = evaluate(directory, written, graph, split)
    except (KeyError, IndexError) as error:
        raise DataError(f"{directory} does not fit the graph or the split in the results it lies in: {error}") from None
    show(ours[written["protocol"]])
    if others := list(differing(ours, written["protocols"])):
        raise DataError(f"{directory / 'metrics.json'} says otherwise: {', '.join(others)}")
    count = sum(len(scores[part]) for scores in ours.values() for part in PARTS)
    print(f"metrics.json says the same: {count} scores under {len(ours)} protocols")


def finished(directory: Path) -> dict:
    """Read a run's metrics.json.

    Raises:
        DataError: this is not the folder of a run of this version.
        FairGATError: the run failed.
    """
    if not (directory / "metrics.json").exists():
        example = next(directory.rglob("metrics.json"), None)
        run = f"such as {example.parent}" if example else "the one with metrics.json"
        raise DataError(f"{directory} is not the folder of one run: give such a folder, {run}")
    records.collect([directory / "metrics.json"])  # says what is wrong with another file
    written = files.read_json(directory / "metrics.json")
    if "failure" in written:
        raise FairGATError(f"{directory} failed: {written['failure']}")
    if missing := {"module", "protocol"} - written.keys():
        raise DataError(
            f"{directory} is of an earlier version, without {' and '.join(sorted(missing))}: train it again"
        )
    return written


def show(scores: Mapping[str, Mapping[str, float | None]]) -> None:
    """Print validation and test scores side by side; a dash for one that is missing."""
    print(f"{'':22}{'validation':>12}{'test':>12}")
    for name in scores["test"]:
        values = (scores[part][name] for part in PARTS)
        print(f"{name:22}" + "".join(f"{'–' if value is None else f'{value:.4f}':>12}" for value in values))


def evaluate(
    directory: Path, written: Mapping[str, Any], graph: Graph, split: dict[str, np.ndarray]
) -> dict[str, dict[str, Any]]:
    """Choose every protocol's epoch again from history.csv, and score it from predictions.npz, the graph and the split.

    Returns:
        What metrics.json holds under `protocols`.
    """
    name = written["task"]
    task = task_class(name)(graph, split, TASKS[name](**written["training"]), written["seed"])
    predictions, ours = load_npz(directory / "predictions.npz"), {}
    for protocol, epoch in _epochs(task, directory / "history.csv").items():
        ours[protocol] = {"epoch": epoch} | nulled(task.judge(unpack(predictions, epoch), protocol))
    return ours


def _epochs(task: Task, path: Path) -> dict[str, int]:
    """Apply the rules of every protocol to the validation scores of a history."""
    history = frames.read(path, columns=("epoch",))
    columns = [name for name in history if name.startswith("validation_")]
    rows = history[columns].rename(columns=lambda name: name.removeprefix("validation_")).to_dict("records")
    scores = [task.score(row) for row in rows]
    return {protocol: int(history["epoch"].iloc[rule(scores)]) for protocol, rule in sorted(task.rules.items())}


def differing(ours: Mapping[str, Any], written: Mapping[str, Any], added: bool = True) -> Iterator[str]:
    """Name each score that is not the same, or that only one of them has; without `added`, none that only `ours` has:
    a measure may have been added since."""
    for protocol in dict.fromkeys([*ours, *written]):
        mine, theirs = (each.get(protocol) or {} for each in (ours, written))
        suffix = f" ({protocol})" if protocol else ""
        if mine.get("epoch") != theirs.get("epoch"):
            yield f"epoch{suffix}"
        for part in PARTS:
            a, b = (each.get(part) or {} for each in (mine, theirs))
            names = {**a, **b} if added else b
            yield from (f"{part} {name}{suffix}" for name in names if a.get(name, "") != b.get(name, ""))


def data_of(directory: Path, written: Mapping[str, Any]) -> tuple[Path, Graph, dict[str, np.ndarray]]:
    """Find the nearest `data` above a run's folder, in the workflow's results or in those of `fairgat train --out`.

    Returns:
        It, and the graph and the split of the run in it.
    """
    dataset, name = written["dataset"], f"split-{written['split']}.npz"
    for folder in directory.resolve().parents:
        if (path := folder / "data" / "graphs" / f"{dataset}.npz").exists():
            split = splits.load(folder / "data" / "splits" / written["task"] / dataset / name)
            return folder / "data", Graph.load(path), split
    raise DataError(
        f"the graph of {dataset}, data/graphs/{dataset}.npz, is in no folder above {directory.resolve()}. "
        "Read the run where it was made, or copy the data folder of its results along"
    )
