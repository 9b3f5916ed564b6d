"""Measure what rounding does to scores: the same method trained twice with the same splits and seeds.

python -m tools.rounding RUNS.csv FOLDER             FairGAT less Steps 1&3, which are one method (docs/theory.md)
python -m tools.rounding RUNS.csv OTHER.csv FOLDER   every method of a run, trained again on another processor, and
                                                     the cells chosen by the winners.csv that are beside each

Since release 0.3 FairGAT and Steps 1&3 are trained once. The run of 0.2.0 trained both: `git show \
d093144:results/reference/summary/node_classification/runs.csv` is its summary.
"""

import sys
from pathlib import Path

import pandas as pd

from fairgat import frames, measures
from fairgat.config import NodeTraining
from fairgat.files import write_text
from fairgat.report import labels, render
from fairgat.report.model import Block, Panel, Table, row
from fairgat.scores.runs import read

OF = ["dataset", "method"]


def noise(runs, others):
    """`sd` of the differences of runs, `largest` of them and their number `n`, of each OF and metric; fractions."""
    keys = [*OF, "metric", "cell", "split"]
    differences = (
        others.set_index(keys)["value"] - runs.set_index(keys)["value"]
    ).dropna()
    of = differences.groupby([*OF, "metric"], sort=False)
    return of.agg(
        sd="std", largest=lambda values: values.abs().max(), n="size"
    ).reset_index()


def chosen(folder, other):
    """The `cell` and the `other` one that each rule chooses in two folders of summaries, where there are several."""
    keys = ["rule", *OF]
    ours, theirs = (
        read(each / "winners.csv").drop_duplicates(keys).set_index(keys)["cell"]
        for each in (folder, other)
    )
    grids = read(folder / "cells.csv").groupby(OF)["cell"].nunique()
    both = (
        pd.concat([ours, theirs.rename("other")], axis=1, join="inner")
        .dropna()
        .reset_index()
    )
    return both[
        [
            grids[dataset, method] > 1
            for dataset, method in zip(both["dataset"], both["method"], strict=True)
        ]
    ]


def table(frame, metrics):
    """The deviations as a table, in points."""
    cells = {
        (*line[:3],): f"{100 * line.sd:.2f} ({100 * line.largest:.1f})"
        for line in frame.itertuples(index=False)
    }
    blocks = []
    for dataset, mine in frame.groupby("dataset", sort=False):
        counts = mine.groupby("method", sort=False)["n"].first()
        rows = [
            row(name, n, *(cells[dataset, name, metric] for metric in metrics))
            for name, n in counts.items()
        ]
        blocks.append(Block(dataset, rows))
    header = ["Data set", "Method", "Pairs", *map(labels.metric, metrics)]
    return Table(
        name="rounding",
        caption="What rounding does to a score.",
        explanation=(
            "Standard deviation, and in brackets the largest, of the difference in test score, in points, between two "
            "trainings of one method with the same cell, split and seed."
        ),
        panels=[Panel("multirow", header, blocks, align="llrccc")],
        notes=[],
    )


def main(path, *rest):
    *other, folder = rest
    metrics = measures.names(NodeTraining.task, "shown")
    runs = _shown(path, metrics)
    if other:
        pair = runs, _shown(other[0], metrics)
        frames.write(
            f"{folder}/chosen.csv", chosen(Path(path).parent, Path(other[0]).parent)
        )
    else:
        pair = (
            runs[runs["method"] == name].assign(method="fairgat")
            for name in ("fairgat-steps-13", "fairgat")
        )
    frame = noise(*pair)
    frames.write(f"{folder}/differences.csv", frame)
    for form in ("md", "json"):
        write_text(f"{folder}/table.{form}", render.render(table(frame, metrics), form))


def _shown(path, metrics):
    runs = read(path)
    return runs[
        (runs["part"] == "test")
        & (runs["protocol"] == "")
        & runs["metric"].isin(metrics)
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
