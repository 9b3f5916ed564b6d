"""The epoch loop: step, judge on validation, remember the best epoch."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

from fairgat.errors import FairGATError
from fairgat.methods.base import Method
from fairgat.tasks.base import Task

Progress = Callable[[int, dict[str, float]], object]
"""Called with the epoch and its row of the history."""
Observer = Callable[[int, Method], dict[str, float]]
"""Called with the epoch; what it returns joins that row."""


class Diverged(FairGATError):
    """Training reached NaN or infinity."""


@dataclass(frozen=True)
class ReportedEpoch:
    """An epoch that a protocol reports, and the model's output after it."""

    epoch: int
    output: torch.Tensor


@dataclass
class Fit:
    """A trained model: its state at the selected epoch, and the history."""

    reported: dict[str, ReportedEpoch] = field(default_factory=dict)
    """By protocol, see `Task.rules`."""
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    """Those of the epoch that stands for the run."""
    history: list[dict[str, float]] = field(default_factory=list)
    """A row for each epoch."""
    seconds: list[float] = field(default_factory=list)
    """Of each epoch."""


def ignore(epoch: int, given: object) -> dict[str, float]:
    """Neither show nor observe anything."""
    return {}


def fit(
    method: Method,
    progress: Progress = ignore,
    observe: Observer = ignore,
    result: Fit | None = None,
) -> Fit:
    """Train for the protocol's epochs.

    Every rule of the task then chooses an epoch from the validation scores. The output
    that enters epoch e + 1 is that of the model after e epochs, so judging needs no
    pass of its own.

    Args:
        method: freshly initialised.
        progress: called after every epoch.
        observe: called after every epoch; adds columns to the history.
        result: filled and returned; a training that ends early leaves its history
            there.

    Raises:
        Diverged: the model's output, or its validation score, is no longer finite.
    """
    task, result = method.task, result or Fit()
    epochs = task.training.epochs
    rule_of_run = task.rules[task.training.reported]
    losses: dict[str, float] = {}
    scores: list[dict[str, float]] = []
    outputs: dict[int, torch.Tensor] = {}  # by position among the scores
    for epoch in range(epochs + 1):
        started = time.perf_counter()
        output = method.forward()
        if epoch:
            position = epoch - 1
            scores.append(_validated(task, output.detach(), epoch))
            outputs[position] = output.detach().clone()
            outputs = _reportable(outputs, task, scores)

            row = {"epoch": epoch, **losses}
            for name, score in scores[position].items():
                row[f"validation_{name}"] = score
            row |= observe(epoch, method)
            result.history.append(row)
            if rule_of_run(scores) == position:  # the best epoch so far
                result.weights = _weights(method)
            progress(epoch, row)
        if epoch < epochs:
            losses = method.update(output)
            result.seconds.append(time.perf_counter() - started)

    for protocol, rule in task.rules.items():
        position = rule(scores)
        output = method.postprocess(outputs[position])
        result.reported[protocol] = ReportedEpoch(position + 1, output)
    return result


def _weights(method: Method) -> dict[str, np.ndarray]:
    """Copy the model's parameters."""
    state = method.model.state_dict()
    return {name: state[name].numpy(force=True).copy() for name in state}


def _reportable(
    outputs: dict[int, torch.Tensor], task: Task, scores: list[dict[str, float]]
) -> dict[int, torch.Tensor]:
    """Select the outputs, by position among the scores, that a rule may yet report."""
    if task.returns:  # to any earlier epoch
        return outputs
    positions = {rule(scores) for rule in task.rules.values()}
    return {position: outputs[position] for position in positions}


def _validated(task: Task, output: torch.Tensor, epoch: int) -> dict[str, float]:
    """Score the output of an epoch on validation, unless training has diverged."""
    when = f"after epoch {epoch} of {task.training.epochs}"
    if not torch.isfinite(output).all():
        raise Diverged(f"the model's output was no longer finite {when}")
    scores = task.validate(output)
    # Products of finite embeddings may overflow.
    if not math.isfinite(scores[task.decisive]):
        raise Diverged(f"the validation score was no longer finite {when}")
    return scores
