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
from fairgat.config import LinkTraining, Model, NodeTraining, Training
from fairgat.data import splits
from fairgat.data.graph import Graph, save_npz
from fairgat.data.splits import seed_of
from fairgat.environment import revision, versions
from fairgat.errors import CalledOff, NotDefined
from fairgat.methods.base import Method
from fairgat.plan import Run
from fairgat.tasks.base import PARTS
from fairgat.tasks.link import LinkTask
from fairgat.tasks.node import NodeTask
from fairgat.training.loop import Diverged, Fit, Observer, Progress, fit


def build(
    module: str,
    settings: Model,
    graph: Graph,
    split: dict[str, np.ndarray],
    training: Training,
    seed: int,
    debiased: str | Path | None = None,
) -> Method:
    """Make a freshly initialised method on one split; `seed` decides every random number that follows.

    Raises:
        CalledOff: the method does not train this cell.
        NotDefined: the method is not defined for this graph.
    """
    torch.manual_seed(seed)
    nodes = isinstance(training, NodeTraining)
    method = methods.implementation(module, NodeTask.name if nodes else LinkTask.name)
    graph = method.prepare(graph, settings, debiased)
    task = NodeTask(graph, split, training) if nodes else LinkTask(graph, split, training, seed)
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
    progress: Progress | None = None,
    debiased: str | Path | None = None,
    observe: Observer | None = None,
) -> dict[str, Any]:
    """Train one cell on one split and write metrics.json, history.csv, predictions.npz and model.npz.

    metrics.json also holds what each protocol gives, under `protocols` (`fairgat.tasks`). If the run diverges, or its
    method calls it off or is not defined for the data, metrics.json holds the reason under `failure`, and the selection
    goes on with the other cells.

    Args:
        job: which run this is.
        module: the method's module in fairgat/methods.
        settings: the method's settings with the cell's hyperparameters.
        training: the task's protocol.
        threads: CPU threads; the last digits of results may depend on them.
        seed: the experiment's seed.
        graph, split: the files of the graph and the split.
        directory: where to write.
        progress: called after every epoch.
        debiased: the file of the debiased graph, for a method that needs one.
        observe: called after every epoch; what it returns joins that epoch's row of history.csv.

    Returns:
        The content of metrics.json.
    """
    torch.set_num_threads(threads)
    started = time.perf_counter()
    protocol = {"node_classification": NodeTraining, "link_prediction": LinkTraining}[job.task](**training)
    job_seed = seed_of(seed, job.dataset, job.split)
    code = revision()  # now: an hour later the checkout may have changed
    directory, result, predictions = Path(directory), Fit(), {}
    try:
        chosen, parts = methods.settings(module, settings), splits.load(split)
        method = build(module, chosen, Graph.load(graph), parts, protocol, job_seed, debiased)
        fit(method, progress, observe, result)
        scores = _scores(method.task, result)
        predictions = method.task.predictions(result.kept[method.task.protocol].output)
    except (CalledOff, Diverged, NotDefined) as error:
        scores = {"failure": str(error)}
    except torch.linalg.LinAlgError as error:  # the spectral norm of a weight that is no longer finite
        scores = {"failure": f"a weight matrix was no longer finite: {error}"}
    metrics = {
        **vars(job),
        "seed": job_seed,
        **scores,
        "module": module,
        "settings": settings,
        "training": training,
        "experiment": {"seed": seed, "threads": threads},
        "runtime": {
            "seconds_per_epoch": statistics.median(result.seconds) if result.seconds else None,
            "seconds": time.perf_counter() - started,
            "threads": threads,
            "machine": platform.platform(),
        },
        "versions": versions(),
        "code": code,
    }
    # After a failure the history tells how far it came; no epoch is selected.
    save_npz(directory / "predictions.npz", **predictions)
    save_npz(directory / "model.npz", **(result.weights if predictions else {}))
    files.write_text(directory / "history.csv", _csv(result.history))
    files.write_json(directory / "metrics.json", metrics)
    return metrics


def _scores(task: NodeTask | LinkTask, result: Fit) -> dict[str, Any]:
    """Score the epochs that the protocols report on validation and test."""
    protocols = {
        name: {"epoch": kept.epoch, **task.evaluate(kept.output, name)} for name, kept in sorted(result.kept.items())
    }
    for scored in protocols.values():
        for part in PARTS:
            for name, value in scored[part].items():
                if not math.isfinite(value):
                    raise Diverged(f"{part} {name} of epoch {scored['epoch']} is no longer finite")
    return {**protocols[task.protocol], "protocols": protocols}


def _csv(rows: list[dict[str, float]]) -> str:
    if not rows:
        return "epoch\n"
    text = io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row)  # an observer may skip epochs
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
