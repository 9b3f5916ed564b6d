"""`fairgat evaluate` on a CSV file of people."""

import json
from pathlib import Path

import numpy as np
import pytest

from fairgat.cli import main as cli
from fairgat.data.graph import Graph, load_npz
from fairgat.data.splits import load
from fairgat.scores.people import read_people

PEOPLE = """id,score,label,group,region
007,1.5,1,a,x
7,-0.5,0,a,x
8,-1,1,b,y
9,2,1,b,y
10,3,,b,y
"""


@pytest.fixture
def evaluated(tmp_path, capsys):
    """Write a file and evaluate it; give the status, and what was said."""

    def evaluate(text, *options):
        path = tmp_path / "people.csv"
        path.write_text(text)
        status = cli.main(["evaluate", str(path), *options])
        said = capsys.readouterr()
        return status, said.out + said.err

    return evaluate


def _values(said):
    lines = [line.split() for line in said.splitlines()]
    return {line[0]: line[1] for line in lines if len(line) == 2}


def test_the_measures_of_people(evaluated):
    status, said = evaluated(PEOPLE)
    values = _values(said)
    assert status == 0
    assert values["accuracy"] == "0.7500"
    assert values["equal_opportunity"] == "0.5000"
    assert values["statistical_parity"] == "0.0000"
    assert values["auc_1"] == "–"  # everyone in b has label 1
    assert "group 1: b, 2 people" in said
    assert "1 people without a label are left out" in said


def test_decisions_may_be_others_than_the_score_says(evaluated):
    """As those of thresholds for each group are."""
    rows = PEOPLE.splitlines()
    decided = [f"{rows[0]},decision", *(f"{row},1" for row in rows[1:])]
    _, said = evaluated("\n".join(decided))
    assert _values(said)["positive_rate_0"] == "1.0000"
    assert _values(said)["auc"] == _values(evaluated(PEOPLE)[1])["auc"]


def test_probabilities_are_said_to_be_some(evaluated):
    text = "id,score,label,group\n1,0.9,1,a\n2,0.4,0,a\n3,0.6,1,b\n4,1,1,b\n"
    status, said = evaluated(text)
    assert status == 1
    assert "probabilities or logits" in said
    status, said = evaluated(text, "--kind", "probabilities")
    assert (status, _values(said)["accuracy"]) == (0, "1.0000")
    status, said = evaluated(text, "--kind", "logits")
    assert _values(said)["positive_rate_0"] == "1.0000"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("label", "labl", "there is no column 'label'; did you mean 'labl'?"),
        ("8,-1,1,b", "8,high,1,b", "column 'score' is 'high', which is not a finite"),
        ("8,-1,1,b", "8,inf,1,b", "column 'score' is 'inf', which is not a finite"),
        ("8,-1,1,b", "8,-1,2,b", "column 'label' is '2', which is neither 1 nor 0"),
        ("8,-1,1,b", "8,-1,1,", "column 'group' is empty, and should name a group"),
        ("8,-1", "7,-1", "column 'id' is '7', which is the id of a row above"),
        (",b", ",a", "the column 'group' has 1 values"),
        (",", ";", "columns are separated by commas"),
    ],
)
def test_a_wrong_file_is_explained(evaluated, old, new, said):
    status, told = evaluated(PEOPLE.replace(old, new))
    assert status == 1
    assert said in told
    assert "read:" not in told  # an option of configurations


def test_all_that_is_wrong_is_said_at_once(evaluated):
    status, told = evaluated(PEOPLE.replace("8,-1,1,b", "8,high,2,"))
    assert status == 1
    for name in ("score", "label", "group"):
        assert f"column {name!r} is" in told


def test_a_run_in_a_csv_file_has_its_scores_to_the_last_digit(
    project, capsys, monkeypatch
):
    command = ["train", "--dataset", "demo-social", "--method", "gat", "--quiet"]
    assert cli.main(command) == 0
    folder = Path(capsys.readouterr().out.splitlines()[-1])
    assert cli.main(["evaluate", str(folder)]) == 0
    run = [line.split() for line in capsys.readouterr().out.splitlines()]
    expected = {line[0]: line[2] for line in run if len(line) == 3}

    data = project / "by-hand" / "data"
    graph = Graph.load(data / "graphs" / "demo-social.npz")
    (split,) = data.glob("splits/*/demo-social/split-0.npz")
    test = load(split)["test"]
    predictions = load_npz(folder / "predictions.npz")
    reported = json.loads((folder / "run.json").read_text())["epochs"][""]
    place = np.flatnonzero(predictions["epochs"] == reported)[0]
    logits = predictions["logits"][place].astype(np.float64)

    lines = ["id,score,label,group"]
    for node in test:
        score = float(logits[node])
        lines.append(f"{node},{score!r},{graph.labels[node]},{graph.sensitive[node]}")
    (project / "people.csv").write_text("\n".join(lines))
    assert cli.main(["evaluate", "people.csv"]) == 0
    values = _values(capsys.readouterr().out)
    assert {name: values[name] for name in expected} == expected
    read = read_people(project / "people.csv")
    assert np.array_equal(read.scores, logits[test])
