"""`fairgat compare`: two results folders, what it says of them and its exit status."""

from pathlib import Path

import pytest

from fairgat.cli import main as cli
from fairgat.files import write_text

CELLS = [("gat", "default"), ("fairgat", "eta~0.5"), ("fairgat", "eta~1.0")]
RUNS = {
    (dataset, *cell, split): 0.9
    for dataset in ("bail", "nba")
    for cell in CELLS
    for split in range(3)
}
LACKING = RUNS | {("bail", "gat", "default", 1): ""}
FAILED = [("nba", "gat", "default", 1)]
HEADER = "dataset,method,cell,split,part,protocol,metric,value,reason"
NODES = "summary/node_classification/runs.csv"


def write(folder, runs, failed=(), metrics=("accuracy",)):
    """A results folder of runs, (data set, method, cell, split), with their scores."""
    rows = []
    for run, value in runs.items():
        if run in failed:
            rows.append((*run, "training", "", "failure", "", "it diverged"))
            continue
        rows += [(*run, "test", "", metric, value, "") for metric in metrics]
        rows.append((*run, "training", "", "seconds", id(rows), ""))  # not compared
    lines = [HEADER, *(",".join(map(str, row)) for row in rows)]
    write_text(folder / NODES, "\n".join(lines) + "\n")
    write_text(folder / "summary/link_prediction/runs.csv", f"{HEADER}\n")


@pytest.fixture
def compare(tmp_path, capsys, monkeypatch):
    """Compare runs with RUNS; gives the exit status and what was said, unpadded."""
    monkeypatch.chdir(tmp_path)
    write(Path("a"), RUNS)

    def compared(*options, runs=RUNS, **other):
        write(Path("b"), runs, **other)
        status = cli.main(["compare", "a", "b", *options])
        printed = capsys.readouterr()
        return status, " ".join((printed.out + printed.err).split())

    return compared


def test_equal_scores_are_the_same(compare):
    status, said = compare()

    assert status == 0
    assert "Not compared" not in said
    assert "18 runs (a cell on a split) are in both, 0 in A only, 0 in B only" in said
    assert "Of the 18 scores of those in both, 0 differ" in said


def test_scores_beyond_the_tolerance_are_listed(compare):
    changed = ("bail", "fairgat", "eta~1.0", 1)
    runs = {run: value + 1e-12 for run, value in RUNS.items()} | {changed: 0.86}

    status, said = compare(runs=runs)
    tolerated, _ = compare("--tolerance", "0.05", runs=runs)

    assert status == 1
    assert "Of the 18 scores of those in both, 1 differ" in said
    assert "| bail, fairgat, η 1.0, split 1, test, accuracy | 0.9 | 0.86 |" in said
    assert tolerated == 0


def test_a_tolerance_below_0_is_refused(compare):
    status, _ = compare("--tolerance", "-1")
    assert status == 2


def test_what_only_one_ran_is_counted_and_is_no_difference(compare):
    runs = {run: value for run, value in RUNS.items() if run[:2] != ("nba", "gat")}
    runs[("pokec", "gat", "default", 0)] = 0.5

    status, said = compare(runs=runs)

    assert status == 0
    assert "15 runs" in said
    assert "3 in A only, 1 in B only" in said


def test_a_metric_that_only_one_knows_is_no_difference(compare):
    status, said = compare(metrics=["accuracy", "auc", "f1"])

    assert status == 0
    assert "only one of them knows it: auc, f1." in said


def test_runs_without_a_metric_in_common_have_no_scores_to_compare(compare):
    _, said = compare(metrics=["auc"])
    assert "Of the 0 scores" in said


def test_a_metric_of_what_only_one_ran_is_not_unknown_to_the_other(compare, capsys):
    other = {("cora", "gat", "default", 0): 0.5}
    write(Path("b"), other, metrics=["accuracy", "dp_mixed"])
    links = Path("b", NODES).read_text()
    write(Path("b"), RUNS)
    Path("b/summary/link_prediction/runs.csv").write_text(links)
    assert cli.main(["compare", "a", "b"]) == 0
    assert "Not compared" not in capsys.readouterr().out


def test_a_score_that_one_of_two_finished_runs_lacks_is_a_difference(compare):
    status, said = compare(runs=LACKING)

    assert status == 1
    assert "| bail, gat, default, split 1, test, accuracy | 0.9 | – |" in said


def test_a_score_that_both_lack_is_no_difference(compare):
    write(Path("a"), LACKING)
    status, _ = compare("--tolerance", "0", runs=LACKING)
    assert status == 0


def test_a_run_that_failed_in_one_is_a_difference(compare):
    status, said = compare(failed=FAILED)

    assert status == 1
    assert "| nba, gat, default, split 1, training, failure | – | 1 |" in said


def test_a_run_that_failed_in_both_is_no_difference(compare):
    write(Path("a"), RUNS, failed=FAILED)
    status, _ = compare(failed=FAILED)
    assert status == 0


def test_the_terminal_shows_the_largest_and_the_file_all(compare):
    runs = {(f"d{k}", "gat", "default", 0): 0.9 for k in range(30)}
    write(Path("a"), runs)
    other = {run: 0.9 + 0.01 * k for k, run in enumerate(runs)}

    _, said = compare("--markdown", "full.md", runs=other)

    assert "and 17 more" in said
    assert "| d29," in said
    assert "| d1," not in said
    full = Path("full.md").read_text()
    for k in range(1, 30):
        assert f"| d{k}," in full


def test_the_terminal_shows_twelve_differences_without_more(compare):
    twelve = [run for run in RUNS if run[1] == "fairgat"]
    _, said = compare(runs=RUNS | dict.fromkeys(twelve, 0.8))
    assert len(twelve) == 12
    assert "more" not in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "b holds no scores (summary/*/runs.csv)"),
        ("dataset,method\nbail,gat\n", "runs.csv lacks the column cell"),
        (f"{HEADER}\nbail,gat,default,0,test,,accuracy,x,\n", "is not a number"),
    ],
)
def test_bad_input_is_explained(compare, capsys, text, words):
    write(Path("b"), RUNS)
    path = Path("b", NODES)
    path.unlink()
    if text is not None:
        path.write_text(text)

    assert cli.main(["compare", "a", "b"]) == 2
    assert words in capsys.readouterr().err


def test_runs_with_nothing_in_common_cannot_be_compared(compare):
    status, said = compare(runs={("pokec", "gat", "default", 0): 0.5})
    assert status == 2
    assert "no run (a cell of a method on a split of a data set) is both in" in said
