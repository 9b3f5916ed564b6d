"""Small hand-made results for the tests of scores and reporting."""

import math
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pandas as pd

from fairgat import frames, measures, paper
from fairgat.config import shown
from fairgat.files import read_json, write_json
from fairgat.plan import Run
from fairgat.scores import judging, perfect, runs, selection, summary
from fairgat.scores.judging import Judged
from fairgat.training.record import Record

NODE = "node_classification"
LINK = "link_prediction"
NASTY = r"A&B_50% #1 {x} ~|^ $\$ <é> “q” δ 中"
TOO_DENSE = "the graph is too dense: 100 % NaN_s"
TABLES = {
    "comparison": ["gat", "edits", "nifty", "fairgat"],
    "ablation": ["gat", "fairgat-steps-12", "fairgat"],
    "runtime": ["gat", "nifty", "fairgat"],
    "link_prediction": ["gat", "fairgat"],
    "dataset_statistics": [],
    "hyperparameters": [],
    "theory": ["gat", "fairgat"],
    "account": ["gat", "nifty", "fairgat"],
}


def scores(task, accuracy, fairness):
    """Scores with one accuracy.

    Args:
        fairness: one number for every gap, or one for each, None where missing.
    """
    names = measures.names(task, "chosen")
    gaps = fairness if isinstance(fairness, list | tuple) else [fairness] * len(names)
    found = {"accuracy": accuracy, "auc": accuracy}
    for name, gap in zip(names, gaps, strict=True):
        found[name] = math.nan if gap is None else gap
    return found


def metrics(
    dataset,
    method,
    cell,
    split,
    validation,
    test=None,
    task=NODE,
    failure=None,
    protocols=None,
):
    """One judged run.

    Args:
        validation: its scores; those on test are the same where none are given.
        protocols: what protocols beside the reported one give, by name.
    """
    reported = ["validation", "fairdrop"] if task == LINK else [""]
    parts = {"validation": validation, "test": test or validation}
    judged = dict.fromkeys(reported, parts) | (protocols or {})
    record = Record(
        task=task,
        dataset=dataset,
        method=method,
        cell=cell,
        split=split,
        protocol=reported[0],
        epochs={} if failure else dict.fromkeys(judged, 3),
        failure=failure,
        training={"epochs": 5},
        runtime={"seconds": 9.0, "seconds_per_epoch": 0.5},
        code={"commit": "c0ffee", "modified": False},
    )
    return Judged(record, {} if failure else judged)


def perfect_scores(dataset, task):
    """A perfect prediction's scores on two splits, with gaps of 4 and 6 %."""
    rows = []
    for split, gap in enumerate([0.04, 0.06]):
        for metric, value in scores(task, 1.0, gap).items():
            rows.append((dataset, split, metric, value))
    return pd.DataFrame(rows, columns=list(perfect.COLUMNS))


def finish(plan, contents):
    """Collect and aggregate judged runs as the rules do."""
    found = {_run(judged): judged for judged in contents}
    for task in (NODE, LINK):
        for path in plan.files("perfect", task):
            frames.write(path, perfect_scores(Path(path).stem, task))
        for dataset, method in plan.pairs(task):
            judged = [found[run] for run in plan.runs(task, dataset, method)]
            _collect(plan.path(f"runs/{task}/{dataset}/{method}"), task, judged)
        _aggregate(plan, task)


def _run(judged):
    names = [field.name for field in fields(Run)]
    return Run(*(getattr(judged.run, name) for name in names))


def _collect(folder, task, judged):
    """Write what is known of a method on a data set."""
    frame = judging.table(judged)
    chosen = selection.select(frame, task, "validation", "fair", 0.01, None)
    trained_at = judging.trained_at(each.run for each in judged)
    frames.write(f"{folder}/runs.csv", frame)
    write_json(f"{folder}/selection.json", chosen | {"trained_at": trained_at})


def _aggregate(plan, task):
    """Write the summary of a task."""
    shards = runs.read(*plan.shards(task))
    averages = summary.cells(shards, 1)
    chosen = [read_json(path) for path in plan.files("selection", task)]
    winners = summary.winners(chosen, averages, paper.means(task))

    folder = plan.path(f"summary/{task}")
    frames.write(f"{folder}/runs.csv", summary.without_times(shards))
    frames.write(f"{folder}/cells.csv", averages)
    frames.write(f"{folder}/winners.csv", winners)


def build_table(plan, name, files=None):
    """A table, as its rule makes it, of the plan's files unless others are given."""
    page = plan.table(name)
    module = import_module(f"fairgat.report.tables.{page.module}")
    settings = shown.table_settings(plan.config, name, page.task)
    return module.build(settings, files or plan.sources(page))
