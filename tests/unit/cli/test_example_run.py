"""docs/example-run: one number, followed from the table to the predictions, as docs/workflow.md walks."""

from pathlib import Path
from statistics import fmean, stdev

import pytest

from fairgat.cli import main as cli
from fairgat.files import read_json
from fairgat.scores import runs

FOLDER = Path(__file__).resolve().parents[3] / "docs/example-run"
SHARD = FOLDER / "runs/node_classification/demo-social/fairgat"


def accuracies(frame):
    """The test accuracy on each split, of the rows of FairGAT's cell."""
    return (
        frame.query("part == 'test' and metric == 'accuracy' and protocol == ''").set_index("split")["value"].to_dict()
    )


def test_a_number_can_be_followed_to_its_end(capsys):
    cell = read_json(SHARD / "selection.json")["winner"]
    summary = FOLDER / "summary/node_classification"
    (winner,) = (
        runs.read(summary / "winners.csv")
        .query("method == 'fairgat' and rule == 'fair' and metric == 'accuracy'")
        .itertuples()
    )
    (shown,) = (line for line in (FOLDER / "tables/comparison.md").read_text().splitlines() if "| FairGAT " in line)
    assert f"{100 * winner.mean:.2f}" in shown and f"{100 * winner.std:.2f}" in shown
    values = accuracies(runs.read(summary / "runs.csv").query("method == 'fairgat' and cell == @cell"))
    assert (fmean(values.values()), stdev(values.values())) == pytest.approx((winner.mean, winner.std))
    assert accuracies(runs.read(SHARD / "runs.csv").query("cell == @cell")) == values
    for split, value in values.items():
        folder = SHARD / cell / f"split-{split}"
        assert cli.main(["evaluate", str(folder)]) == 0
        assert f"{value:.4f}" in capsys.readouterr().out
        assert cli.main(["explain", str(folder)]) == 0  # its weights are those of this version's networks
