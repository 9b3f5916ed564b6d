"""`fairgat compare`: two results folders, what it says of them and its exit status."""

import json
from pathlib import Path

import pytest

from fairgat.cli import main as cli

METHODS = {"gat": ["default"], "fairgat": ["eta~0.5", "eta~1.0"]}
RUNS = {
    (d, m, c, s): 0.9
    for d in ("bail", "nba")
    for m, cells in METHODS.items()
    for c in cells
    for s in range(3)
}
PROVENANCE = {
    "commit": "c0ffee",
    "trained_at": [{"commit": "c0ffee", "modified": False, "runs": 18}],
    "machine": {"processor": "one"},
    "rules": {"train": {"wall_seconds": 1.0}},
}


def write(
    folder,
    runs,
    failed=(),
    metrics=("accuracy",),
    winner="eta~0.5",
    verdict="agrees",
    status="supported",
    provenance=PROVENANCE,
):
    """A results folder: (data set, method, cell, split) → its test score, by each of the metrics."""
    finished = [(run, value) for run, value in runs.items() if run not in failed]
    rows = [
        (*run, "test", "", metric, value, "")
        for metric in metrics
        for run, value in finished
    ]
    rows += [(*run, "training", "", "failure", "", "it diverged") for run in failed]
    columns = "dataset,method,cell,split,part,protocol,metric,value,reason"
    verdicts = [
        ("fair", dataset, "gat", "accuracy", 90.1, 0.2, verdict)
        for dataset in ("bail", "nba")
    ]
    files = {
        "summary/node_classification/runs.csv": [columns, *rows],
        "summary/node_classification/winners.csv": [
            "rule,dataset,method,cell",
            ("fair", "bail", "fairgat", winner),
        ],
        "summary/link_prediction/runs.csv": [columns],
        "summary/link_prediction/winners.csv": ["rule,dataset,method,cell"],
        "audit/paper_vs_reproduced.csv": [
            "rule,dataset,method,metric,paper_mean,paper_std,verdict",
            *verdicts,
        ],
        "audit/claims.csv": ["claim,rule,status", (1, "fair", status)],
    }
    for name, (header, *lines) in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(
            "\n".join([header, *(",".join(map(str, line)) for line in lines), ""])
        )
    (folder / "provenance.json").write_text(json.dumps(provenance))


@pytest.fixture
def compare(tmp_path, capsys, monkeypatch):
    """Compare a run with another one; returns the exit status and what was printed, without padding."""
    monkeypatch.chdir(tmp_path)
    write(Path("a"), RUNS)

    def compared(*options, runs=RUNS, **other):
        write(Path("b"), runs, **other)
        status = cli.main(["compare", "a", "b", *options])
        return status, " ".join(capsys.readouterr().out.split())

    return compared


def test_two_runs_of_the_same_scores_are_the_same_whatever_made_them(compare):
    newer = {
        "commit": "bee",
        "config": {"cap": False},
        "rules": {"train": {"wall_seconds": 2.0}},
    }
    status, said = compare(provenance=PROVENANCE | newer)
    assert status == 0 and "Not compared" not in said
    assert (
        "18 runs (a cell on a split) are in both. Of their 6 scores (a metric of a cell), none differs"
        in said
    )
    assert (
        "| commit | c0ffee | bee |" in said
        and "| config.cap | – | False |" in said
        and "wall" not in said
    )


def test_scores_beyond_the_tolerance_are_listed_and_the_others_counted(compare):
    gaps = {
        ("bail", "fairgat", "eta~1.0", split): gap
        for split, gap in enumerate([0.02, -0.04, 0.02])
    }
    runs = {run: value + gaps.get(run, 1e-12) for run, value in RUNS.items()}
    status, said = compare(runs=runs)
    assert status == 1
    assert (
        "1 differ by more than 1e-09 on some split, by up to 4 percentage points"
        in said
    )
    assert (
        "| bail, fairgat, eta 1.0, test, accuracy | 90.00 | 90.00 | +0.00 ± 8.61 | 4 |"
        in said
    )  # the mean is 0
    assert "| Scores that differ: 1 of 6 |" in said
    assert compare("--tolerance", "0.05", runs=runs)[0] == 0


def test_what_only_one_ran_is_listed_and_is_no_difference(compare):
    runs = {run: value for run, value in RUNS.items() if run[:2] != ("nba", "gat")}
    runs[("pokec", "gat", "default", 0)] = 0.5
    status, said = compare(
        runs=runs, winner="eta~1.0", verdict="differs", status="not run"
    )
    assert status == 0 and "did not run the same" in said
    assert "| pokec, gat, default, split 0 | – | finished |" in said
    assert "| nba, gat, default, split 2 | finished | – |" in said
    assert (
        "Verdicts that differ: 2 of 2" in said
        and "| fair, bail, fairgat | eta 0.5 | eta 1.0 |" in said
    )


def test_a_metric_that_only_one_knows_is_no_difference(compare):
    status, said = compare(metrics=["accuracy", "auc", "f1"])
    assert (
        status == 0
        and "Not compared: auc, f1, which" in said
        and "did not run the same" not in said
    )
    assert "Of their 0 scores" in compare(metrics=["auc"])[1]


def test_a_metric_of_what_only_one_ran_is_not_said_to_be_unknown_to_the_other(
    compare, capsys
):
    write(
        Path("b"),
        {("cora", "gat", "default", 0): 0.5},
        metrics=["accuracy", "dp_mixed"],
    )
    links = Path("b/summary/node_classification/runs.csv").read_text()
    write(Path("b"), RUNS)
    Path("b/summary/link_prediction/runs.csv").write_text(links)
    assert cli.main(["compare", "a", "b"]) == 0
    assert "Not compared" not in capsys.readouterr().out


def test_a_score_that_one_of_two_finished_runs_lacks_is_a_difference(compare):
    lacking = RUNS | {("bail", "gat", "default", 1): ""}
    status, said = compare(runs=lacking)
    assert (
        status == 1
        and "| bail, gat, default, test, accuracy, split 1 | 0.9 | – |" in said
    )
    write(Path("a"), lacking)
    assert (
        compare("--tolerance", "0", runs=lacking)[0] == 0
    )  # missing in both is the same
    assert compare("--tolerance", "-1", runs=lacking)[0] == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"failed": [("nba", "gat", "default", 1)]},
            "| nba, gat, default, split 1 | finished | it diverged |",
        ),
        ({"winner": "eta~1.0"}, "| fair, bail, fairgat | eta 0.5 | eta 1.0 |"),
        (
            {"verdict": "undecided"},
            "| fair, nba, gat, accuracy, 90.1 | agrees | undecided |",
        ),
        ({"status": "not supported"}, "| fair, 1 | supported | not supported |"),
    ],
)
def test_what_changed_beside_the_scores_is_listed(compare, change, words):
    status, said = compare(**change)
    assert status == 1 and words in said


def test_missing_files_are_named_and_left_out(compare):
    Path("a/audit/claims.csv").unlink()
    Path("a/provenance.json").unlink()
    status, said = compare(status="not run")
    assert status == 0
    assert (
        "Not compared: a/audit/claims.csv" in said
        and "Not compared: a/provenance.json" in said
    )


def test_the_terminal_shows_the_largest_and_the_file_all(compare):
    runs = {(f"d{k}", "gat", "default", 0): 0.9 for k in range(30)}
    write(Path("a"), runs)
    _, said = compare(
        "--markdown",
        "full.md",
        runs={run: 0.9 + 0.01 * k for k, run in enumerate(runs)},
    )
    shown, full = (
        text.split("Scores that differ")[1]
        for text in (said, Path("full.md").read_text())
    )
    assert "and 17 more" in shown and "| d29," in shown and "| d1," not in shown
    assert all(f"| d{k}," in full for k in range(1, 30))
    twelve = {
        run: value + 0.1 * (k < 12) for k, (run, value) in enumerate(runs.items())
    }
    assert "and 0 more" not in compare(runs=twelve)[1]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "summary/node_classification/runs.csv",
            None,
            "b holds no scores (summary/*/runs.csv)",
        ),
        (
            "summary/node_classification/runs.csv",
            "dataset,method\nbail,gat\n",
            "runs.csv lacks the column cell",
        ),
        ("provenance.json", "[]", "b/provenance.json is damaged"),
    ],
)
def test_bad_input_is_explained(compare, capsys, name, text, words):
    write(Path("b"), RUNS)
    path = Path("b", name)
    path.unlink() if text is None else path.write_text(text)
    assert cli.main(["compare", "a", "b"]) == 2
    assert words in capsys.readouterr().err


def test_runs_with_nothing_in_common_cannot_be_compared(compare, capsys):
    write(Path("b"), {("pokec", "gat", "default", 0): 0.5})
    assert cli.main(["compare", "a", "b"]) == 2
    assert (
        "no run (a cell of a method on a split of a data set) is both in a and in b"
        in capsys.readouterr().err
    )
