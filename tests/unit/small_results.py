"""Small hand-made results for the tests of scores and reporting."""

import json
import math
from dataclasses import fields
from pathlib import Path

import pandas as pd

from fairgat import frames, measures, paper
from fairgat.files import write_json
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
    """Scores with one accuracy; `fairness` is one number for every measure or one per measure, None where missing."""
    names = measures.names(task, "chosen")
    values = fairness if isinstance(fairness, list | tuple) else [fairness] * len(names)
    values = [math.nan if value is None else value for value in values]
    gaps = dict(zip(names, values, strict=True))
    return {"accuracy": accuracy, "auc": accuracy} | gaps


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
    """One judged run; `protocols` is what others than the reported one give, by name."""
    judged = {"validation": validation, "test": test or validation}
    protocols = dict.fromkeys(
        ["validation", "fairdrop"] if task == LINK else [""], judged
    ) | (protocols or {})
    record = Record(
        task=task,
        dataset=dataset,
        method=method,
        cell=cell,
        split=split,
        protocol=next(iter(protocols)),
        epochs={} if failure else dict.fromkeys(protocols, 3),
        failure=failure,
        training={"epochs": 5},
        runtime={"seconds": 9.0, "seconds_per_epoch": 0.5},
        code={"commit": "c0ffee", "modified": False},
    )
    return Judged(record, {} if failure else protocols)


def perfect_scores(dataset, task):
    """A perfect prediction's scores on two splits, with gaps of 4 and 6 %."""
    rows = [
        (dataset, split, *each)
        for split, gap in enumerate([0.04, 0.06])
        for each in scores(task, 1.0, gap).items()
    ]
    return pd.DataFrame(rows, columns=list(perfect.COLUMNS))


def finish(plan, contents):
    """Collect and aggregate judged runs as the rules do."""
    found = {
        Run(*(getattr(each.run, field.name) for field in fields(Run))): each
        for each in contents
    }
    for task in (NODE, LINK):
        for path in plan.files("perfect", task):
            frames.write(path, perfect_scores(Path(path).stem, task))
        for dataset, method in plan.pairs(task):
            judged = [found[run] for run in plan.runs(task, dataset, method)]
            frame, folder = (
                judging.table(judged),
                plan.path(f"runs/{task}/{dataset}/{method}"),
            )
            chosen = selection.select(frame, task, "validation", "fair", 0.01, None)
            frames.write(f"{folder}/runs.csv", frame)
            trained_at = judging.trained_at(each.run for each in judged)
            write_json(f"{folder}/selection.json", chosen | {"trained_at": trained_at})
        shards = runs.read(*plan.shards(task))
        averages = summary.cells(shards, 1)
        chosen = [
            json.loads(Path(path).read_text()) for path in plan.files("selection", task)
        ]
        folder = plan.path(f"summary/{task}")
        frames.write(f"{folder}/runs.csv", summary.without_times(shards))
        frames.write(f"{folder}/cells.csv", averages)
        frames.write(
            f"{folder}/winners.csv",
            summary.winners(chosen, averages, paper.means(task)),
        )
