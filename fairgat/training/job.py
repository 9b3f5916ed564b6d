"""The epoch loop: step, evaluate on validation, remember the best epoch; and one cell on one split as a job."""

import csv
import importlib.metadata
import io
import math
import platform
import statistics
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

import fairgat
from fairgat import files, methods
from fairgat.config import LinkTraining, Model, NodeTraining, Training
from fairgat.data import splits
from fairgat.data.graph import Graph, save_npz
from fairgat.errors import CalledOff, FairGATError
from fairgat.methods.base import Method
from fairgat.revision import revision
from fairgat.tasks import PARTS, LinkTask, NodeTask
from fairgat.training import memory

Progress = Callable[[int, dict[str, float]], None]  # called with the epoch and its row of the history
Observer = Callable[[int, Method], dict[str, float]]  # called with the epoch; what it returns joins that row


class Diverged(FairGATError):
    """Training ran into NaN or infinity."""


@dataclass(frozen=True)
class Kept:
    """An epoch that a protocol may report, and the model's output after it."""

    epoch: int
    output: torch.Tensor


@dataclass
class Fit:
    """What training one model gave: its state at the selected epoch, and the way there."""

    epoch: int = 0
    output: torch.Tensor | None = None
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    kept: dict[str, Kept] = field(default_factory=dict)  # by protocol of `LinkTraining`
    history: list[dict[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def fit(
    method: Method, progress: Progress | None = None, observe: Observer | None = None, result: Fit | None = None
) -> Fit:
    """Train for the protocol's epochs; the one with the best validation score is selected, or as the protocol says.

    The output that enters epoch e + 1 is the model after e epochs, so evaluating costs no pass of its own. `result`,
    if given, is what is filled and returned: it has the history of a training that ended early.

    Raises:
        Diverged: the model's output, or its validation score, is no longer finite.
    """
    task, epochs = method.task, method.task.training.epochs
    protocol = getattr(task.training, "protocol", "validation")
    result, losses, best = result or Fit(), {}, None
    for epoch in range(epochs + 1):
        started = time.perf_counter()
        output = method.forward()
        if epoch:
            judged = output.detach()
            if not torch.isfinite(judged).all():
                raise Diverged(f"the model's output was no longer finite after epoch {epoch} of {epochs}")
            score = task.validate(judged)
            if not all(map(math.isfinite, score.key)):  # products of finite embeddings may overflow
                raise Diverged(f"the validation score was no longer finite after epoch {epoch} of {epochs}")
            row = {"epoch": epoch, **losses, **{f"validation_{name}": v for name, v in score.metrics.items()}}
            if observe is not None:
                row |= observe(epoch, method)
            result.history.append(row)
            improved = best is None or score.key > best
            result.kept["fairdrop"] = Kept(epoch, judged)
            if improved:
                best, result.kept["validation"] = score.key, Kept(epoch, method.complete(judged))
            if improved or protocol == "fairdrop":
                result.weights = {name: w.detach().numpy().copy() for name, w in method.model.state_dict().items()}
            if progress is not None:
                progress(epoch, row)
        if epoch < epochs:
            losses = method.update(output)
            result.seconds.append(time.perf_counter() - started)
    result.epoch, result.output = result.kept[protocol].epoch, result.kept[protocol].output
    return result


@dataclass(frozen=True)
class Cell:
    """One training job: a method's cell on one split of a data set."""

    task: str
    dataset: str
    method: str
    cell: str
    split: int


def seed_of(seed: int, dataset: str, split: int) -> int:
    """The seed of a training job: the same for all methods and cells, so that they start alike."""
    name = zlib.crc32(f"training/{dataset}".encode())
    return int(np.random.SeedSequence([seed, name, split]).generate_state(1)[0])


def build(
    module: str,
    settings: Model,
    graph: Graph,
    split: dict[str, np.ndarray],
    training: Training,
    seed: int,
    debiased: str | Path | None = None,
) -> Method:
    """A freshly initialised method on one split; `seed` decides every random number that follows.

    Raises:
        CalledOff: the method does not train this cell.
    """
    torch.manual_seed(seed)
    nodes = isinstance(training, NodeTraining)
    method = methods.implementation(module, NodeTask.name if nodes else LinkTask.name)
    graph = method.prepare(graph, settings, debiased)
    task = NodeTask(graph, split, training) if nodes else LinkTask(graph, split, training, seed)
    return method(task, settings)


def run(
    cell: Cell,
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
    theory_every: int = 0,
) -> dict[str, Any]:
    """Train one cell on one split and write metrics.json, history.csv, predictions.npz and model.npz.

    A link-prediction run reports what either protocol gives under `protocols`, too. A run that diverges, or that its
    method calls off, leaves a metrics.json with the reason under `failure`, so that the selection goes on with the
    other cells.

    Args:
        cell: which job this is.
        module: the method's module in fairgat/methods.
        settings: the method's settings with the cell's hyperparameters.
        training: the task's protocol.
        threads: CPU threads; results may differ in the last digits between numbers of threads.
        seed: the experiment's seed.
        graph, split: the files made by the workflow.
        directory: where to write.
        progress: called after every epoch.
        debiased: the file of `fairgat.methods.edits`, for a method that needs it.
        theory_every: epochs between two measurements of Theorem 1's terms in history.csv of a node classifier; 0 for
            none.

    Returns:
        The content of metrics.json.
    """
    torch.set_num_threads(threads)
    memory.keep_freed()
    started = time.perf_counter()
    protocol = {"node_classification": NodeTraining, "link_prediction": LinkTraining}[cell.task](**training)
    job_seed = seed_of(seed, cell.dataset, cell.split)
    metrics: dict[str, Any] = {**vars(cell), "seed": job_seed}
    code = revision()  # now: in an hour the checkout may be another
    directory = Path(directory)
    method, result = None, Fit()
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
        fit(method, progress, _observer(cell.task, theory_every), result)
        if isinstance(method.task, LinkTask):
            by_protocol = {
                name: {"epoch": kept.epoch, **method.task.evaluate(kept.output, name)}
                for name, kept in sorted(result.kept.items())
            }
            metrics |= {**by_protocol[protocol.protocol], "protocols": by_protocol}
        else:
            metrics |= {"epoch": result.epoch, **method.task.evaluate(result.output)}
        _check_finite(metrics)
    except (CalledOff, Diverged) as error:
        metrics |= {"failure": str(error)}
    if "failure" in metrics:
        metrics = {name: value for name, value in metrics.items() if name in ("failure", "seed", *vars(cell))}
    metrics |= {"settings": settings, "training": training, "experiment": {"seed": seed, "threads": threads}}
    metrics["runtime"] = {
        "seconds_per_epoch": statistics.median(result.seconds) if result.seconds else None,
        "seconds": time.perf_counter() - started,
        "threads": threads,
        "machine": platform.platform(),
    }
    metrics |= {"versions": versions(), "code": code}
    failed = "failure" in metrics  # then the way there is kept, and nothing is selected
    save_npz(directory / "predictions.npz", **({} if failed else method.task.predictions(result.output)))
    save_npz(directory / "model.npz", **({} if failed else result.weights))
    files.write_text(directory / "history.csv", _csv(result.history))
    files.write_json(directory / "metrics.json", metrics)
    return metrics


def _check_finite(metrics: Mapping[str, Any]) -> None:
    """The best epoch's links may still overflow on test.

    Raises:
        Diverged: a score is not finite.
    """
    for scored in (metrics, *metrics.get("protocols", {}).values()):
        for part in PARTS:
            for name, value in scored[part].items():
                if not math.isfinite(value):
                    raise Diverged(f"{part} {name} of epoch {scored['epoch']} is no longer finite")


def _observer(task: str, theory_every: int) -> Observer | None:
    if not theory_every or task != NodeTask.name:
        return None
    from fairgat import theory  # off the training path unless asked for

    return theory.every(theory_every)


def versions() -> dict[str, str]:
    """The versions that decide a result's digits."""
    packages = {name: importlib.metadata.version(name) for name in ("torch", "numpy", "numba")}
    return {"fairgat": fairgat.__version__, "python": platform.python_version(), **packages}


def _csv(rows: list[dict[str, float]]) -> str:
    if not rows:
        return "epoch\n"
    text = io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row)  # not every epoch is measured in full
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
