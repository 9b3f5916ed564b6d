"""Small hand-made results for the tests of selection, aggregation and reporting."""

import json
from pathlib import Path

from fairgat.scores.runs import FAIRNESS

NODE = "node_classification"
LINK = "link_prediction"


def scores(task, accuracy, fairness):
    """Scores with one accuracy; `fairness` is one number for every measure or one per measure."""
    names = FAIRNESS[task]
    values = fairness if isinstance(fairness, list | tuple) else [fairness] * len(names)
    return {"accuracy": accuracy, **dict(zip(names, values, strict=True))}


def metrics(dataset, method, cell, split, validation, test=None, task=NODE, failure=None):
    """The content of one metrics.json."""
    content = {"task": task, "dataset": dataset, "method": method, "cell": cell, "split": split, "seed": 0}
    if failure:
        return content | {"failure": failure, "runtime": {}, "versions": {}}
    return content | {
        "epoch": 3,
        "validation": validation,
        "test": test or validation,
        "runtime": {"epoch_seconds": 0.1},
        "versions": {},
    }


def write(folder: Path, contents):
    """Write metrics.json files as a run lays them out; their paths in the order given."""
    paths = []
    for content in contents:
        path = folder.joinpath(
            "runs", content["task"], content["dataset"], content["method"], *content["cell"].split("/")
        )
        path = path / f"split-{content['split']}" / "metrics.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        paths.append(path)
    return paths
