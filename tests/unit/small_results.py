"""Small hand-made results for the tests of scores and reporting."""

import math
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
    """Give scores with one accuracy.

    `fairness` is one number for every measure, or one for each, None where missing.
    """
    names = measures.names(task, "chosen")
    if not isinstance(fairness, list | tuple):
        fairness = [fairness] * len(names)
    values = [math.nan if value is None else value for value in fairness]
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
    """Give one judged run.

    `protocols` is what others than the reported one give, by name.
    """
    judged = {"validation": validation, "test": test or validation}
    names = ["validation", "fairdrop"] if task == LINK else [""]
    given = dict.fromkeys(names, judged) | (protocols or {})
    record = Record(
        task=task,
        dataset=dataset,
        method=method,
        cell=cell,
        split=split,
        protocol=names[0],
        epochs={} if failure else dict.fromkeys(given, 3),
        failure=failure,
        training={"epochs": 5},
        runtime={"seconds": 9.0, "seconds_per_epoch": 0.5},
        code={"commit": "c0ffee", "modified": False},
    )
    return Judged(record, {} if failure else given)


def perfect_scores(dataset, task):
    """Give a perfect prediction's scores on two splits, with gaps of 4 and 6 %."""
    rows = []
    for split, gap in enumerate([0.04, 0.06]):
        for metric, value in scores(task, 1.0, gap).items():
            rows.append((dataset, split, metric, value))
    return pd.DataFrame(rows, columns=list(perfect.COLUMNS))


def finish(plan, contents):
    """Collect and aggregate judged runs as the rules do."""
    judged_of = {_run_of(judged): judged for judged in contents}
    for task in (NODE, LINK):
        for path in plan.files("perfect", task):
            frames.write(path, perfect_scores(Path(path).stem, task))

        selections = []
        for dataset, method in plan.pairs(task):
            judged = [judged_of[run] for run in plan.runs(task, dataset, method)]
            shard = judging.table(judged)
            chosen = selection.select(shard, task, "validation", "fair", 0.01, None)
            chosen["trained_at"] = judging.trained_at(each.run for each in judged)
            selections.append(chosen)

            folder = plan.path(f"runs/{task}/{dataset}/{method}")
            frames.write(f"{folder}/runs.csv", shard)
            write_json(f"{folder}/selection.json", chosen)

        shards = runs.read(*plan.shards(task))
        cells = summary.cells(shards, ddof=1)
        winners = summary.winners(selections, cells, paper.means(task))
        folder = plan.path(f"summary/{task}")
        frames.write(f"{folder}/runs.csv", summary.without_times(shards))
        frames.write(f"{folder}/cells.csv", cells)
        frames.write(f"{folder}/winners.csv", winners)


def _run_of(judged):
    """Name a judged run as the plan does."""
    record = judged.run
    return Run(record.task, record.dataset, record.method, record.cell, record.split)
