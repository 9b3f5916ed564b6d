"""The files of small made-up studies, as a run publishes them."""

import pandas as pd

from fairgat import frames


def write(folder, scores, part="test", **files):
    """Write differences.csv, scores.csv and further `files` of a study; its folder.

    Args:
        scores: (data set, method, cell, metric, values by split), perhaps with the part
            where it is another one.
    """
    rows, runs = [], []
    for dataset, method, cell, metric, values, *other in scores:
        given = {
            "dataset": dataset,
            "method": method,
            "cell": cell,
            "part": other[0] if other else part,
            "metric": metric,
        }
        for split, value in enumerate(values):
            rows.append(given | {"epochs": "accuracy", "split": split, "value": value})
        # Of another rule for the epoch: read by nothing.
        rows.append(given | {"epochs": "last", "split": 0, "value": 9.0})
        runs.append(
            {
                "dataset": dataset,
                "method": method,
                "cell": cell,
                "of": "gat",
                "dataset_title": dataset.title(),
                "title": method.upper(),
                "run_on": dataset,
                "metric": "accuracy",
            }
        )
    differences = pd.DataFrame(runs).drop_duplicates(["dataset", "method"])
    files = {"differences": differences, "scores": pd.DataFrame(rows)} | files
    for name, frame in files.items():
        frames.write(folder / f"{name}.csv", frame)
    return folder
