"""Measure what rounding does to scores: FairGAT less Steps 1&3, two trainings of one method (docs/theory.md).

python -m tools.rounding RUNS.csv FOLDER

Since release 0.3 it is trained once. The run of 0.2.0 trained both: `git show d093144:results/reference/summary/\
node_classification/runs.csv` is its summary.
"""

import sys

from fairgat import frames, measures
from fairgat.config import NodeTraining
from fairgat.files import write_text
from fairgat.report import labels, render
from fairgat.report.model import Block, Cell, Panel, Row, Table
from fairgat.scores.runs import read


def noise(path, metrics):
    """`sd` of the differences, `largest` of them and their number `n`, of each data set and metric; fractions."""
    runs = read(path)
    runs = runs[(runs["part"] == "test") & (runs["protocol"] == "") & runs["metric"].isin(metrics)]
    keys = ["dataset", "metric", "cell", "split"]
    mine, theirs = (runs[runs["method"] == name].set_index(keys)["value"] for name in ("fairgat", "fairgat-steps-13"))
    differences = (mine - theirs).dropna()
    of = differences.groupby(["dataset", "metric"], sort=False)
    return of.agg(sd="std", largest=lambda values: values.abs().max(), n="size").reset_index()


def table(frame, metrics):
    """The deviations as a table, in points."""
    cells = {(row.dataset, row.metric): f"{100 * row.sd:.2f} ({100 * row.largest:.1f})" for row in frame.itertuples()}
    counts = frame.groupby("dataset", sort=False)["n"].first()
    blocks = [
        Block(name, [Row([Cell(str(count)), *(Cell(cells[name, metric]) for metric in metrics)])])
        for name, count in counts.items()
    ]
    header = ["Data set", "Pairs", *map(labels.metric, metrics)]
    return Table(
        name="rounding",
        caption="What rounding does to a score.",
        explanation=(
            "Standard deviation, and in brackets the largest, of the test score of FairGAT less that of Steps 1&3, the "
            "same method, in points: of pairs of runs with the same cell, split and seed."
        ),
        panels=[Panel("multirow", header, blocks, align="lrccc")],
        notes=[],
    )


def main(path, folder):
    metrics = measures.names(NodeTraining.task, "shown")
    frame = noise(path, metrics)
    frames.write(f"{folder}/differences.csv", frame)
    for form in ("md", "json"):
        write_text(f"{folder}/table.{form}", render.render(table(frame, metrics), form))


if __name__ == "__main__":
    main(*sys.argv[1:])
