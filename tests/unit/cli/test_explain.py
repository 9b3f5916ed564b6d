"""`fairgat explain`: numbers that add up for every kind of run, and errors in words."""

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
def train(project, capsys):
    """Train a method; gives the run's folder."""

    def run(dataset, method):
        command = ["train", "--dataset", dataset, "--method", method, "--quiet"]
        assert cli.main(command) == 0
        capsys.readouterr()
        (path,) = project.glob(f"by-hand/runs/*/{dataset}/{method}/default/split-0")
        return path

    return run


@pytest.fixture
def explain(capsys):
    """The lines that explain a run."""

    def run(folder):
        assert cli.main(["explain", str(folder)]) == 0
        return capsys.readouterr().out.splitlines()

    return run


def scores_on_test(folder):
    """The scores of a run, in percent."""
    path = folder / "run.json"
    record = Record.read(path)
    _, graph, split = data_of(folder, record)
    judged = judging.judged(path, graph, split, record.inputs)
    found = judged.scores[""]["test"]
    return {name: 100 * value for name, value in found.items()}


def numbers(text):
    return [float(number) for number in re.findall(r"[+-]?\d+\.\d+", text)]


def explained_numbers(lines):
    """The numbers of each of the five lines, without the lines' own."""
    _, *explained = lines
    assert [line[:2] for line in explained] == ["1.", "2.", "3.", "4.", "5."]
    return [numbers(line[2:]) for line in explained]


# ------------------------------------------------------------------ numbers that add up


@pytest.fixture(params=["gat", "other", "edits"])
def trained(request, train):
    return train("demo-social", request.param)


def test_the_first_line_has_the_rates_and_gaps_of_the_scores(trained, explain):
    ours, theirs, gap, true_gap = explained_numbers(explain(trained))[0]

    scores = scores_on_test(trained)
    assert ours == pytest.approx(scores["positive_rate_1"], abs=0.06)
    assert theirs == pytest.approx(scores["positive_rate_0"], abs=0.06)
    assert abs(gap) == pytest.approx(scores["statistical_parity"], abs=0.06)
    assert abs(true_gap) == pytest.approx(scores["equal_opportunity"], abs=0.06)


def test_what_the_labels_give_and_the_errors_are_the_gap(trained, explain):
    first, second, *_ = explained_numbers(explain(trained))

    gap, (from_labels, *_, from_errors) = first[2], second
    assert from_labels + from_errors == pytest.approx(gap, abs=0.16)


def test_the_parts_of_a_gap_of_logits_are_the_gap(trained, explain):
    _, _, third, *_ = explained_numbers(explain(trained))

    for whole, *parts in (third[:5], third[5:10]):
        assert sum(parts) == pytest.approx(whole, abs=0.03)
    decided, *three_parts = third[10:]
    assert len(three_parts) == 3
    assert sum(three_parts) == pytest.approx(decided, abs=0.16)


def test_a_share_makes_mixing_0_and_the_rest_of_the_gap_stays(trained, explain):
    lines = explain(trained)
    gap, mixing, *_ = explained_numbers(lines)[2]

    words = r"A share of (\S+) on .* makes it 0; .* (\S+) of the gap would stay"
    share, stays = map(float, re.search(words, lines[4]).groups())
    assert 0.5 <= share <= 1
    assert stays == pytest.approx(gap - mixing, abs=0.011)


def test_of_three_groups_the_largest_gaps_are_named(write_tables, train, explain):
    rows = []
    for i in range(90):
        rows.append(f"p{i},{20 + i},{i * 7 % 3 % 2},{'abc'[i // 2 % 3]}")
    write_tables(rows)
    folder = train("mine", "gat")

    lines = explain(folder)

    _, first, _, third, fourth = lines
    assert re.search("those with gender=[abc] and .* of all others", first)
    largest = scores_on_test(folder)["statistical_parity"]
    assert f"The largest gap between two groups is {largest:+.1f} (ΔSP)." in first
    text = "".join(lines)
    assert text.count("ΔSP") == 1
    assert "ΔEO" not in text
    gap, mixing, *_ = numbers(third[2:])
    assert numbers(fourth[2:]) == [pytest.approx(gap - mixing, abs=0.011)]


# ------------------------------------------------------------------ what has no account


def test_a_network_without_attention_has_no_account(train, explain):
    lines = explain(train("demo-social", "mlp"))

    assert len(lines) == 4
    assert "no account" in lines[-1]


def test_a_method_that_changes_logits_is_explained_before_it_does(train, explain):
    lines = explain(train("demo-social", "thresholds"))

    assert len(lines) == 7
    assert "before its method changes them" in lines[3]


def test_link_prediction_has_no_account(train, refused):
    said = refused("explain", train("demo-citation", "gat"))
    assert "this is a run of link_prediction, which has no account" in said


def test_a_run_without_its_model_is_refused(train, refused):
    folder = train("demo-social", "other")
    (folder / "model.npz").unlink()
    assert "model.npz does not exist" in refused("explain", folder)


def test_files_of_two_runs_are_not_explained(train, refused):
    folder = train("demo-social", "other")
    content = read_json(folder / "run.json")
    content["settings"]["alpha_chi_max"] = 0.01
    (folder / "run.json").write_text(json.dumps(content))

    assert "was changed after it was written" in refused("explain", folder)

    (folder / "run.json.sha256").unlink()  # as of an earlier version
    assert "are not of one run" in refused("explain", folder)


# ------------------------------------------------------- one number followed to its end

EXAMPLE = Path(__file__).resolve().parents[3] / "docs/example-run"
SUMMARY = EXAMPLE / "summary/node_classification"
SHARD = EXAMPLE / "runs/node_classification/demo-social/fairgat"


@pytest.fixture(scope="module")
def cell():
    """The cell of FairGAT that the example shows."""
    return read_json(SHARD / "selection.json")["winner"]


def accuracies(path, cell):
    """The test accuracy of FairGAT's cell on each split."""
    frame = runs.read(path)
    of_cell = (frame["method"] == "fairgat") & (frame["cell"] == cell)
    reported = (frame["part"] == "test") & (frame["protocol"] == "")
    accuracy = frame[of_cell & reported & (frame["metric"] == "accuracy")]
    return dict(zip(accuracy["split"], accuracy["value"], strict=True))


def test_a_tables_number_is_the_mean_of_its_runs(cell):
    winners = runs.read(SUMMARY / "winners.csv")
    shown = winners.query("method == 'fairgat' and rule == 'fair'")
    (winner,) = shown[shown["metric"] == "accuracy"].itertuples()

    table = (EXAMPLE / "tables/comparison.md").read_text()
    (line,) = re.findall(r".*\| FairGAT .*", table)
    assert f"{100 * winner.mean:.2f}" in line
    assert f"{100 * winner.std:.2f}" in line

    values = accuracies(SUMMARY / "runs.csv", cell)
    assert fmean(values.values()) == pytest.approx(winner.mean)
    assert stdev(values.values()) == pytest.approx(winner.std)
    assert accuracies(SHARD / "runs.csv", cell) == values


def test_each_run_of_the_example_is_evaluated_and_explained(cell, explain, capsys):
    """Its weights are those of this version's networks."""
    for split, accuracy in accuracies(SHARD / "runs.csv", cell).items():
        folder = SHARD / cell / f"split-{split}"
        assert cli.main(["evaluate", str(folder)]) == 0
        assert f"{accuracy:.4f}" in capsys.readouterr().out
        explain(folder)
