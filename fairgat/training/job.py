"""Train one cell on one split, from files to files."""

import csv
import io
import math
import platform
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fairgat import files, methods
from fairgat.by_path import is_path
from fairgat.config import TASKS, Device, Model, Training
from fairgat.data import splits
from fairgat.data.graph import Graph, save_npz
from fairgat.data.splits import seed_of
from fairgat.environment import revision, versions
from fairgat.errors import CellCalledOff, NotDefined
from fairgat.methods.base import Method
from fairgat.nn import keep_freed_memory
from fairgat.plan import Run
from fairgat.tasks.base import Task, task_class
from fairgat.tasks.device import use
from fairgat.training.loop import Diverged, Fit, Observer, Progress, fit, ignore
from fairgat.training.record import Record, digests, pack


def build(
    module: str,
    settings: Model,
    graph: Graph,
    split: dict[str, np.ndarray],
    training: Training,
    seed: int,
    debiased: str | Path | None = None,
) -> Method:
    """Make a freshly initialised method on one split.

    Every random number that follows is decided by `seed`.

    Raises:
        CellCalledOff: the method does not train this cell.
        NotDefined: the method is not defined for this graph.
    """
    torch.manual_seed(seed)
    method = methods.implementation(module, training.task)
    graph = method.prepare(graph, settings, debiased)
    task = task_class(training.task)(graph, split, training, seed)
    return method(task, settings)


def run(
    job: Run,
    module: str,
    settings: dict[str, Any],
    training: dict[str, Any],
    threads: int,
    seed: int,
    graph: str | Path,
    split: str | Path,
    directory: str | Path,
    progress: Progress = ignore,
    debiased: str | Path | None = None,
    observe: Observer = ignore,
    device: Device = "cpu",
) -> Record:
    """Train one cell on one split, and write its run.json and the files beside it.

    These are history.csv, predictions.npz and model.npz. If the run diverges, or its
    method calls it off or is not defined for the data, run.json holds the reason, and
    the selection goes on with the other cells. predictions.npz has the predictions of
    every epoch that a protocol of the task reports (`fairgat.training.record.pack`),
    model.npz the weights of the one that stands for the run.

    Args:
        job: the task, data set, method, cell and split.
        module: the method's.
        settings: the method's, with the cell's hyperparameters.
        training: the task's protocol.
        seed: the experiment's.
        graph, split: the files to read; `directory` gets those that are written.
        debiased: the file of the debiased graph, for a method that needs one.
        progress, observe: as `fairgat.training.loop.fit` calls them.
    """
    keep_freed_memory()
    torch.set_num_threads(threads)
    device_name = use(device)
    started = time.perf_counter()
    protocol = TASKS[job.task](**training)
    job_seed = seed_of(seed, job.dataset, job.split)
    # Now: an hour later the checkout may have changed.
    code = revision(paths=_files_of(module))

    result, failure = Fit(), None  # filled epoch by epoch
    try:
        method = build(
            module,
            methods.settings(module, settings),
            Graph.load(graph),
            splits.load(split),
            protocol,
            job_seed,
            debiased,
        )
        fit(method, progress, observe, result)
        predictions = pack(_predictions(method.task, result))
    except (CellCalledOff, Diverged, NotDefined) as error:
        failure = str(error)
        # The history tells how far it came; no epoch is reported.
        result = Fit(history=result.history, seconds=result.seconds)
        predictions = {}

    epochs = {name: result.reported[name].epoch for name in sorted(result.reported)}
    median = statistics.median(result.seconds) if result.seconds else None
    record = Record(
        **vars(job),
        seed=job_seed,
        protocol=protocol.reported,
        epochs=epochs,
        failure=failure,
        module=module,
        settings=settings,
        training=training,
        experiment={"seed": seed, "threads": threads, "device": device},
        inputs=digests(graph, split),
        runtime={
            "seconds_per_epoch": median,
            "seconds": time.perf_counter() - started,
            "threads": threads,
            "machine": platform.platform(),
            "device": device_name,
        },
        versions=versions(),
        code=code,
    )
    _write(Path(directory), record, result, predictions)
    return record


def _write(
    directory: Path, record: Record, result: Fit, predictions: dict[str, np.ndarray]
) -> None:
    """Write a run's files; run.json last, which says that the others are there."""
    save_npz(directory / "predictions.npz", **predictions)
    save_npz(directory / "model.npz", **result.weights)
    files.write_text(directory / "history.csv", _csv(result.history))
    record.write(directory)


def _files_of(module: str) -> list[str]:
    """Say where a run's code is, for `revision`.

    It is the package, and the folder of one's own method.
    """
    if not is_path(module):
        return ["."]
    return [".", str(Path(module).resolve().parent)]


def _predictions(task: Task, result: Fit) -> dict[int, dict[str, np.ndarray]]:
    """Collect the predictions of each epoch that a protocol reports.

    Raises:
        Diverged: one is NaN: a product of finite embeddings may be infinity less
            infinity.
    """
    predictions = {}
    for reported in result.reported.values():
        predictions[reported.epoch] = task.predictions(reported.output)
    for epoch, arrays in predictions.items():
        for name, array in arrays.items():
            if np.isnan(array).any():
                what = name.replace("_", " ")
                raise Diverged(f"{what} of epoch {epoch} are no longer finite")
    return predictions


def _csv(rows: list[dict[str, float]]) -> str:
    """Write the history; what is missing is empty.

    Without pandas, whose import would take long in every run.
    """
    columns = {"epoch": None}  # in the order in which rows bring them
    for row in rows:  # an observer may skip epochs
        columns |= dict.fromkeys(row)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        known = {name: value for name, value in row.items() if not math.isnan(value)}
        writer.writerow(known)
    return text.getvalue()
