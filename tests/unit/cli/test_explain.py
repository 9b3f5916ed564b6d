"""`fairgat explain`: numbers that add up for every kind of run, errors in words, and one number followed to its end."""

import json
import re
from pathlib import Path
from statistics import fmean, stdev

import pytest

from fairgat.cli import main as cli
from fairgat.cli.finished_run import data_of
from fairgat.files import read_json
from fairgat.scores import judging, runs
from fairgat.training.record import Record


@pytest.fixture
def explained(project, capsys):
    """Trains a method and explains it; gives the lines, and the run.json."""

    def train(dataset, method):
        assert (
            cli.main(["train", "--dataset", dataset, "--method", method, "--quiet"])
            == 0
        )
        capsys.readouterr()
        (path,) = project.glob(
            f"by-hand/runs/*/{dataset}/{method}/default/split-0/run.json"
        )
        status = cli.main(["explain", str(path.parent)])
        printed = capsys.readouterr()
        return (printed.err if status else printed.out.splitlines()), path

    return train


def scores(path):
    """The test scores of a run."""
    record = Record.read(path)
    _, graph, split = data_of(path.parent, record)
    return judging.judged(path, graph, split, record.inputs).scores[""]["test"]


def numbers(text):
    return [float(number) for number in re.findall(r"[+-]?\d+\.\d+", text)]


@pytest.mark.parametrize("method", ["gat", "other", "edits"])
def test_the_numbers_of_the_five_lines_add_up(explained, method):
    lines, path = explained("demo-social", method)
    assert [line[:2] for line in lines[1:]] == ["1.", "2.", "3.", "4.", "5."]
    test = scores(path)
    ours, theirs, gap, true = numbers(lines[1][2:])
    assert [ours, theirs] == pytest.approx(
        [100 * test[f"positive_rate_{s}"] for s in (1, 0)], abs=0.06
    )
    assert [abs(gap), abs(true)] == pytest.approx(
        [100 * test["statistical_parity"], 100 * test["equal_opportunity"]], abs=0.06
    )
    labels, *_, errors = numbers(lines[2][2:])
    assert labels + errors == pytest.approx(gap, abs=0.16)
    found = numbers(lines[3][2:])
    for whole, *parts in (found[:5], found[5:10]):
        assert len(parts) == 4 and sum(parts) == pytest.approx(whole, abs=0.03)
    decided, *parts = found[10:]
    assert len(parts) == 3 and sum(parts) == pytest.approx(decided, abs=0.16)
    share, stays = re.search(
        r"A share of (\S+) on .* makes it 0; .* (\S+) of the gap would stay", lines[4]
    ).groups()
    assert 0.5 <= float(share) <= 1 and float(stays) == pytest.approx(
        found[0] - found[1], abs=0.011
    )


@pytest.mark.parametrize(
    ("method", "count", "line", "words"),
    [
        ("mlp", 4, -1, "no account"),
        ("thresholds", 7, 3, "before its method changes them"),
    ],
)
def test_predictions_that_are_not_the_logits_of_an_attention_network(
    explained, method, count, line, words
):
    lines, _ = explained("demo-social", method)
    assert len(lines) == count and words in lines[line]


def test_files_of_two_runs_are_not_explained(explained, refused):
    _, path = explained("demo-social", "other")
    written = json.loads(path.read_text())
    path.write_text(
        json.dumps(
            written | {"settings": written["settings"] | {"alpha_chi_max": 0.01}}
        )
    )
    assert "was changed after it was written" in refused("explain", path.parent)
    path.with_name("run.json.sha256").unlink()  # as of an earlier version
    assert "are not of one run" in refused("explain", path.parent)


def test_three_groups(explained, write_tables):
    write_tables(
        [f"p{i},{20 + i},{i * 7 % 3 % 2},{'abc'[i // 2 % 3]}" for i in range(90)]
    )
    lines, path = explained("mine", "gat")
    assert len(lines) == 5 and re.search(
        r"those with gender=[abc] and .* of all others", lines[1]
    )
    of_two = "The largest gap between two groups is"  # ΔSP and ΔEO of three groups are the largest gaps
    largest = f"{100 * scores(path)['statistical_parity']:+.1f} (ΔSP)."
    assert (
        "".join(lines).count("ΔSP") == 1
        and f"{of_two} {largest}" in lines[1]
        and "ΔEO" not in "".join(lines)
    )
    whole, mixing, *_ = numbers(lines[3][2:])
    assert numbers(lines[4][2:]) == [pytest.approx(whole - mixing, abs=0.011)]


def test_what_cannot_be_explained_is_said(explained, refused):
    error, _ = explained("demo-citation", "gat")
    assert "this is a run of link_prediction, which has no account" in error
    _, path = explained("demo-social", "other")
    (path.parent / "model.npz").unlink()
    assert "model.npz does not exist" in refused("explain", path.parent)


FOLDER = Path(__file__).resolve().parents[3] / "docs/example-run"
SHARD = FOLDER / "runs/node_classification/demo-social/fairgat"


def accuracies(frame):
    """The test accuracy on each split, of the rows of FairGAT's cell."""
    return (
        frame.query("part == 'test' and metric == 'accuracy' and protocol == ''")
        .set_index("split")["value"]
        .to_dict()
    )


def test_a_number_can_be_followed_to_its_end(capsys):
    cell = read_json(SHARD / "selection.json")["winner"]
    summary = FOLDER / "summary/node_classification"
    (winner,) = (
        runs.read(summary / "winners.csv")
        .query("method == 'fairgat' and rule == 'fair' and metric == 'accuracy'")
        .itertuples()
    )
    (shown,) = (
        line
        for line in (FOLDER / "tables/comparison.md").read_text().splitlines()
        if "| FairGAT " in line
    )
    assert f"{100 * winner.mean:.2f}" in shown and f"{100 * winner.std:.2f}" in shown
    values = accuracies(
        runs.read(summary / "runs.csv").query("method == 'fairgat' and cell == @cell")
    )
    assert (fmean(values.values()), stdev(values.values())) == pytest.approx(
        (winner.mean, winner.std)
    )
    assert accuracies(runs.read(SHARD / "runs.csv").query("cell == @cell")) == values
    for split, value in values.items():
        folder = SHARD / cell / f"split-{split}"
        assert cli.main(["evaluate", str(folder)]) == 0
        assert f"{value:.4f}" in capsys.readouterr().out
        assert (
            cli.main(["explain", str(folder)]) == 0
        )  # its weights are those of this version's networks
