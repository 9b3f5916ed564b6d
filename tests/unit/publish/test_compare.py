"""`fairgat compare`: two results folders, what it says of them and its exit status."""

from pathlib import Path

import pytest

from fairgat.cli import main as cli

CELLS = [("gat", "default"), ("fairgat", "eta~0.5"), ("fairgat", "eta~1.0")]
RUNS = {
    (dataset, *cell, split): 0.9
    for dataset in ("bail", "nba")
    for cell in CELLS
    for split in range(3)
}
HEADER = "dataset,method,cell,split,part,protocol,metric,value,reason"
NODES = "summary/node_classification/runs.csv"


def write(folder, runs, failed=(), metrics=("accuracy",)):
    """A results folder: (data set, method, cell, split) → its test score, by each metric."""
    rows = []
    for run, value in runs.items():
        if run in failed:
            rows.append((*run, "training", "", "failure", "", "it diverged"))
            continue
        rows += [(*run, "test", "", metric, value, "") for metric in metrics]
        rows.append((*run, "training", "", "seconds", id(rows), ""))  # not compared
    lines = [HEADER, *(",".join(map(str, row)) for row in rows), ""]
    for name, text in {
        NODES: "\n".join(lines),
        "summary/link_prediction/runs.csv": f"{HEADER}\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def compare(tmp_path, capsys, monkeypatch):
    """Compare a run with another one; returns the exit status and what was printed, without padding."""
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
    assert status == 0 and "Not compared" not in said
    assert "18 runs (a cell on a split) are in both, 0 in A only, 0 in B only" in said
    assert "Of the 18 scores of those in both, 0 differ" in said


def test_scores_beyond_the_tolerance_are_listed(compare):
    changed = ("bail", "fairgat", "eta~1.0", 1)
    runs = {run: value + 1e-12 for run, value in RUNS.items()} | {changed: 0.86}
    status, said = compare(runs=runs)
    assert status == 1 and "Of the 18 scores of those in both, 1 differ" in said
    assert "| bail, fairgat, η 1.0, split 1, test, accuracy | 0.9 | 0.86 |" in said
    assert compare("--tolerance", "0.05", runs=runs)[0] == 0
    assert compare("--tolerance", "-1")[0] == 2


def test_what_only_one_ran_is_counted_and_is_no_difference(compare):
    runs = {run: value for run, value in RUNS.items() if run[:2] != ("nba", "gat")}
    runs[("pokec", "gat", "default", 0)] = 0.5
    status, said = compare(runs=runs)
    assert status == 0 and "15 runs" in said
    assert "3 in A only, 1 in B only" in said


def test_a_metric_that_only_one_knows_is_no_difference(compare):
    status, said = compare(metrics=["accuracy", "auc", "f1"])
    assert status == 0 and "only one of them knows it: auc, f1." in said
    assert "Of the 0 scores" in compare(metrics=["auc"])[1]


def test_a_metric_of_what_only_one_ran_is_not_unknown_to_the_other(compare, capsys):
    other = {("cora", "gat", "default", 0): 0.5}
    write(Path("b"), other, metrics=["accuracy", "dp_mixed"])
    links = Path("b", NODES).read_text()
    write(Path("b"), RUNS)
    Path("b/summary/link_prediction/runs.csv").write_text(links)
    assert cli.main(["compare", "a", "b"]) == 0
    assert "Not compared" not in capsys.readouterr().out


def test_a_score_that_one_of_two_finished_runs_lacks_is_a_difference(compare):
    lacking = RUNS | {("bail", "gat", "default", 1): ""}
    status, said = compare(runs=lacking)
    assert status == 1
    assert "| bail, gat, default, split 1, test, accuracy | 0.9 | – |" in said
    write(Path("a"), lacking)
    assert compare("--tolerance", "0", runs=lacking)[0] == 0  # missing in both


def test_a_run_that_failed_in_one_is_a_difference(compare):
    failed = [("nba", "gat", "default", 1)]
    status, said = compare(failed=failed)
    assert status == 1
    assert "| nba, gat, default, split 1, training, failure | – | 1 |" in said
    write(Path("a"), RUNS, failed=failed)
    assert compare(failed=failed)[0] == 0


def test_the_terminal_shows_the_largest_and_the_file_all(compare):
    runs = {(f"d{k}", "gat", "default", 0): 0.9 for k in range(30)}
    write(Path("a"), runs)
    other = {run: 0.9 + 0.01 * k for k, run in enumerate(runs)}
    _, said = compare("--markdown", "full.md", runs=other)
    assert "and 17 more" in said and "| d29," in said and "| d1," not in said
    full = Path("full.md").read_text()
    assert all(f"| d{k}," in full for k in range(1, 30))
    twelve = {run: 0.9 + 0.1 * (k < 12) for k, run in enumerate(runs)}
    assert "more" not in compare(runs=twelve)[1]


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
    path.unlink() if text is None else path.write_text(text)
    assert cli.main(["compare", "a", "b"]) == 2
    assert words in capsys.readouterr().err


def test_runs_with_nothing_in_common_cannot_be_compared(compare):
    status, said = compare(runs={("pokec", "gat", "default", 0): 0.5})
    assert status == 2
    assert "no run (a cell of a method on a split of a data set) is both in" in said
