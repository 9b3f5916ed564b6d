"""`fairgat evaluate` on a CSV file of people."""

from pathlib import Path

import numpy as np
import pytest

from fairgat.cli import main as cli
from fairgat.data.graph import Graph, load_npz
from fairgat.data.splits import load
from fairgat.scores.people import read_people
from fairgat.training.record import Record, unpack

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


def values_of(said):
    """The measures that were printed, by name."""
    lines = [line.split() for line in said.splitlines()]
    return {line[0]: line[1] for line in lines if len(line) == 2}


def test_the_measures_of_people(evaluated):
    status, said = evaluated(PEOPLE)

    values = values_of(said)
    assert status == 0
    assert values["accuracy"] == "0.7500"
    assert values["equal_opportunity"] == "0.5000"
    assert values["statistical_parity"] == "0.0000"
    assert values["auc_1"] == "–"  # everyone in b has label 1
    assert "group 1: b, 2 people" in said
    assert "1 people without a label are left out" in said


def test_decisions_may_be_others_than_the_score_says(evaluated):
    """As those of thresholds for each group are."""
    header, *rows = PEOPLE.splitlines()
    everyone_accepted = [f"{header},decision", *(f"{row},1" for row in rows)]

    _, said = evaluated("\n".join(everyone_accepted))
    _, by_score = evaluated(PEOPLE)

    assert values_of(said)["positive_rate_0"] == "1.0000"
    assert values_of(said)["auc"] == values_of(by_score)["auc"]


PROBABILITIES = "id,score,label,group\n1,0.9,1,a\n2,0.4,0,a\n3,0.6,1,b\n4,1,1,b\n"


def test_scores_that_may_be_probabilities_have_to_be_said_to_be_some(evaluated):
    status, said = evaluated(PROBABILITIES)

    assert status == 1
    assert "probabilities or logits, as `--kind`" in said


def test_probabilities_are_cut_at_a_half(evaluated):
    status, said = evaluated(PROBABILITIES, "--kind", "probabilities")

    assert status == 0
    assert values_of(said)["accuracy"] == "1.0000"


def test_logits_are_cut_at_0(evaluated):
    _, said = evaluated(PROBABILITIES, "--kind", "logits")
    assert values_of(said)["positive_rate_0"] == "1.0000"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("label", "class", "'label'; its columns are class, group, id, region, score"),
        ("label", "labl", "there is no column 'label'; did you mean 'labl'?"),
        ("8,-1,1,b", "8,high,1,b", "column 'score' is 'high', which is not a finite"),
        ("8,-1,1,b", "8,inf,1,b", "column 'score' is 'inf', which is not a finite"),
        ("8,-1,1,b", "8,-1,2,b", "column 'label' is '2', which is neither 1 nor 0"),
        ("8,-1,1,b", "8,-1,1,", "column 'group' is empty, and should name a group"),
        ("8,-1", "7,-1", "column 'id' is '7', which is the id of a row above"),
        (",b", ",a", "the column 'group' has 1 values"),
        (",", ";", "columns are separated by commas"),
        ("9,2,1,b", "9,2,1,B", "column 'group' is 'b', which is 'B' elsewhere: write"),
        ("id,", ",", "column 1 has no name. It should be a CSV file in UTF-8"),
        (PEOPLE, "", "It should be a CSV file in UTF-8: a header, columns that"),
        (PEOPLE, "id,score,label,group\n", "no rows below the header. It should be"),
        ("1.5,1,a,x", "1.5,1,a\0,x", "is not a delimited text file: byte"),
        ("b,y\n10", 'b,"y\n10', "pandas does not read it: "),
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


def test_a_path_that_does_not_exist_is_said_not_to(project, refused):
    assert "nofile.csv does not exist" in refused("evaluate", "nofile.csv")


@pytest.fixture
def run(project, capsys):
    """The folder of a trained run."""
    command = ["train", "--dataset", "demo-social", "--method", "gat", "--quiet"]
    assert cli.main(command) == 0
    return Path(capsys.readouterr().out.splitlines()[-1])


def logits_of(run):
    """The logits at the reported epoch, of every node."""
    predictions = load_npz(run / "predictions.npz")
    reported = Record.read(run / "run.json").reported
    return unpack(predictions, reported)["logits"].astype(np.float64)


def test_a_run_in_a_csv_file_has_its_scores_to_the_last_digit(
    project, run, evaluated, capsys
):
    assert cli.main(["evaluate", str(run)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    on_test = {line[0]: line[2] for line in lines if len(line) == 3}

    graph = Graph.load(project / "by-hand/data/graphs/demo-social.npz")
    (split,) = project.glob("by-hand/data/splits/*/demo-social/split-0.npz")
    nodes, logits = load(split)["test"], logits_of(run)
    text = "id,score,label,group\n"
    for node in nodes:
        score = float(logits[node])
        text += f"{node},{score!r},{graph.labels[node]},{graph.sensitive[node]}\n"
    _, said = evaluated(text)

    values = values_of(said)
    assert {name: values[name] for name in on_test} == on_test
    people = read_people(project / "people.csv")
    np.testing.assert_array_equal(people.scores, logits[nodes])
