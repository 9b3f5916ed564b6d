"""Small hand-made results for the tests of scores and reporting."""

import json
from pathlib import Path

from fairgat import frames, measures, paper
from fairgat.files import write_json
from fairgat.scores import runs, selection, summary

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
    """Scores with one accuracy; `fairness` is one number for every measure or one per measure."""
    names = measures.names(task, "chosen")
    values = fairness if isinstance(fairness, list | tuple) else [fairness] * len(names)
    return {"accuracy": accuracy, **dict(zip(names, values, strict=True))}


def metrics(dataset, method, cell, split, validation, test=None, task=NODE, failure=None):
    """The content of one metrics.json."""
    content = {"task": task, "dataset": dataset, "method": method, "cell": cell, "split": split}
    content |= {"code": {"commit": "c0ffee", "modified": False}}
    if failure:
        return content | {"failure": failure}
    judged = {"epoch": 3, "validation": validation, "test": test or validation}
    content |= {"training": {"epochs": 5}, "runtime": {"seconds": 9.0, "seconds_per_epoch": 0.5}}
    protocols = ["validation", "fairdrop"] if task == LINK else [""]
    return content | {"protocol": protocols[0], "protocols": {name: dict(judged) for name in protocols}}


def write(folder: Path, contents):
    """Write metrics.json files as a run lays them out; their paths in the order given."""
    paths = []
    for content in contents:
        run = "/".join(str(content[key]) for key in ("task", "dataset", "method", "cell"))
        path = folder / "runs" / run / f"split-{content['split']}" / "metrics.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        paths.append(path)
    return paths


def finish(plan, contents):
    """Write runs, and collect and aggregate them as the rules do."""
    write(Path(plan.config.results_dir), contents)
    for task in (NODE, LINK):
        for dataset, method in plan.pairs(task):
            paths = plan.outputs("metrics.json", task, dataset, method)
            frame, folder = runs.collect(paths), plan.path(f"runs/{task}/{dataset}/{method}")
            chosen = selection.select(frame, task, "validation", "fair", 0.01, None)
            frames.write(f"{folder}/runs.csv", frame)
            write_json(f"{folder}/selection.json", chosen | {"trained_at": runs.trained_at(paths)})
        shards = runs.read(*plan.shards(task))
        averages = summary.cells(shards, 1)
        chosen = [json.loads(Path(path).read_text()) for path in plan.files("selection", task)]
        folder = plan.path(f"summary/{task}")
        frames.write(f"{folder}/runs.csv", summary.without_times(shards))
        frames.write(f"{folder}/cells.csv", averages)
        frames.write(f"{folder}/winners.csv", summary.winners(chosen, averages, paper.means(task)))
