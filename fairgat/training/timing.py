"""Time an epoch of every method on one data set, in one process, taking turns."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from fairgat import environment, methods
from fairgat.config import Device, NodeTraining, Runtime
from fairgat.data import splits
from fairgat.data.graph import Graph
from fairgat.errors import CellCalledOff, NotDefined
from fairgat.methods.base import Method
from fairgat.nn import keep_freed_memory
from fairgat.tasks.device import use, wait
from fairgat.training.job import build, seed_of


def measure(
    dataset: str,
    graph: str | Path,
    split: str | Path,
    entries: Mapping[str, Mapping[str, Any]],
    training: Mapping[str, Any],
    settings: Runtime,
    seed: int,
    debiased: Mapping[str, str | Path] | None = None,
    device: Device = "cpu",
) -> dict[str, Any]:
    """Time the training epochs of every method: forward, backward, optimiser.

    The methods' epochs are interleaved, so that a machine that slows down slows all of
    them alike.

    Args:
        entries: per method its `module` and its `cells`, path to settings; the first
            that trains is timed.
        training: the protocol of node classification.
        debiased: the file of the debiased graph of each method that needs one.

    Returns:
        What results/runtime/{dataset}.json holds; `epoch_seconds` lists every timed
        epoch of each method, `cells` says which cell that was, and `failures` why it
        was not the first one, or none.
    """
    keep_freed_memory()  # as a training job does
    # PyTorch, too: some methods compute more with it than others.
    torch.set_num_threads(settings.threads)
    device_name = use(device)

    debiased = debiased or {}
    inputs = {
        "graph": Graph.load(graph),
        "split": splits.load(split),
        "training": NodeTraining(**training),
        "seed": seed_of(seed, dataset, 0),
    }
    running: dict[str, Method] = {}
    timed_cells: dict[str, str] = {}
    failures: dict[str, str] = {}
    for name, entry in entries.items():
        module, edited = entry["module"], debiased.get(name)
        for cell, values in entry["cells"].items():
            chosen = methods.settings(module, dict(values))
            try:
                running[name] = build(module, chosen, **inputs, debiased=edited)
            except (CellCalledOff, NotDefined) as error:
                failures.setdefault(name, str(error))
                continue
            timed_cells[name] = cell
            break  # the first cell that can be trained
    return {
        "dataset": dataset,
        "threads": settings.threads,
        "warmup": settings.warmup,
        "epochs": settings.epochs,
        "machine": environment.machine(),
        "device": device_name,
        "epoch_seconds": _seconds(running, settings),
        "cells": timed_cells,
        "failures": failures,
    }


def _seconds(
    running: Mapping[str, Method], settings: Runtime
) -> dict[str, list[float]]:
    """Train the methods in turns; give the seconds of each epoch after the warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in running}
    for epoch in range(settings.warmup + settings.epochs):
        for name, method in running.items():
            started = time.perf_counter()
            output = method.forward() if method.continues_from_forward else None
            method.update(output)
            wait()
            if epoch >= settings.warmup:
                seconds[name].append(time.perf_counter() - started)
    return seconds
