"""`fairgat train` and `fairgat evaluate`: wrong arguments, and where files lie."""

import json
import re
import shutil

import pytest

from fairgat.cli import main as cli
from fairgat.data.graph import Graph, load_npz
from fairgat.files import read_json
from fairgat.measures import registry
from fairgat.training.record import Record, unpack


def configure(project, old, new):
    text = (project / "config.yaml").read_text()
    assert old in text
    (project / "config.yaml").write_text(text.replace(old, new))


def train(*arguments, dataset="demo-social", method="gat"):
    command = ["train", "--dataset", dataset, "--method", method, "--quiet"]
    return cli.main([*command, *arguments])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--split", "-1"], "--split counts from 0, got -1"),
        (["--eta", "["], "--eta takes a single value, got '['"),
        (["--eta", "2024-02-31"], "--eta takes a single value"),
        (["--eta", "yes"], "--eta: YAML reads yes as true"),
        (["--eta", "010"], "--eta: YAML reads 010 as 8"),
        (["--eta", "1", "--eta", "2"], "--eta is given twice"),
        (["--config", "."], ".: it is a folder"),
        (["--eta", "1", "--out", "config.yaml"], "cannot be written: Not a directory"),
    ],
)
def test_wrong_arguments_are_explained(project, capsys, arguments, message):
    assert train(*arguments, method="fairgat") == 1

    assert message in capsys.readouterr().err
    assert not (project / "by-hand").exists()


def test_an_option_is_not_short_for_another(project, capsys):
    """--s would be --split; a hyperparameter of that name would set it."""
    with pytest.raises(SystemExit):
        train("--s", "1")
    assert "--s 1" in capsys.readouterr().err
    assert not (project / "by-hand").exists()


def test_a_run_with_several_other_settings_is_evaluated_where_it_lies(project, capsys):
    """By the scores that `collect` would find."""
    (project / "more.yaml").write_text(
        "seed: 3\ntraining: {threads: 2, node_classification: {epochs: 3}}"
    )
    configs = ("--config", "config.yaml", "more.yaml")
    assert train(*configs, "--eta", "1", method="fairgat") == 0
    trained = capsys.readouterr().out

    (path,) = project.rglob("fairgat/eta~1.0/split-0/run.json")  # as the grid spells it
    assert cli.main(["evaluate", str(path.parent)]) == 0
    evaluated = capsys.readouterr().out

    epoch = Record.read(path).reported
    assert evaluated in trained
    assert f"epoch {epoch} of 3" in evaluated
    validation, test = accuracies(project, path.parent, epoch)
    line = rf"^accuracy +{validation:.4f} +{test:.4f}$"
    assert re.search(line, evaluated, re.MULTILINE)


def accuracies(project, folder, epoch):
    """On validation and on test, at this epoch of a run."""
    (graph_npz,) = project.rglob("demo-social.npz")
    (split_npz,) = project.rglob("split-0.npz")
    labels, split = load_npz(graph_npz)["labels"], load_npz(split_npz)
    logits = unpack(load_npz(folder / "predictions.npz"), epoch)["logits"]
    is_right = (logits > 0) == labels
    return is_right[split["validation"]].mean(), is_right[split["test"]].mean()


def test_a_training_that_fails_says_why_and_where(project, refused):
    configure(project, "epochs: 20", "learning_rate: 1.0e+30, epochs: 20")

    error = refused("train", "--dataset", "demo-social", "--method", "gat", "--quiet")

    path = "by-hand/runs/node_classification/demo-social/gat/default/split-0/run.json"
    assert f"(recorded in {path})" in error
    assert "failed: " in refused("evaluate", (project / path).parent)


def test_another_form_of_a_data_set_has_its_splits(project, write_tables):
    write_tables([f"p{i},{20 + i},{i % 2},{'fm'[i // 2 % 2]}" for i in range(12)])
    configure(project, "  mine:", "  recidivism: &form")
    unscaled = "  recidivism-unscaled: {<<: *form, splits_of: recidivism}\n"
    configure(project, "splits:", f"{unscaled}splits:")

    assert train(dataset="recidivism") == 0
    assert train(dataset="recidivism-unscaled") == 0

    folder = project / "by-hand/data/splits/node_classification"
    one = (folder / "recidivism/split-0.npz").read_bytes()
    assert (folder / "recidivism-unscaled/split-0.npz").read_bytes() == one


# ------------------------------------------------------------ what cannot be evaluated


@pytest.fixture
def trained(project):
    """The folder of a run."""
    assert train() == 0
    (path,) = project.rglob("run.json")
    return path.parent


@pytest.fixture
def copy(project, trained):
    """A run elsewhere, with its data beside it, and without checksums."""
    shutil.copytree(project / "by-hand/data", project / "data")
    folder = shutil.copytree(trained, project / "copy")
    (folder / "run.json.sha256").unlink()
    return folder


def test_a_file_of_a_run_is_not_its_folder(trained, refused):
    said = refused("evaluate", trained / "run.json")
    assert "is not the folder of one run: give such a folder, the one with run" in said


def test_a_folder_of_runs_names_one_of_them(project, trained, refused):
    said = refused("evaluate", project)
    assert f"give such a folder, such as {trained}" in said


def test_a_run_without_its_data_says_which(project, trained, refused):
    copied = shutil.copytree(trained, project / "copy")
    graph = project / "data/graphs/demo-social.npz"  # without the split
    graph.parent.mkdir(parents=True)
    graph.touch()

    said = refused("evaluate", copied)

    assert "has both the graph and the split of this run" in said
    assert "snakemake --cores 1 results/data/graphs/demo-social.npz" in said


def test_a_run_that_was_copied_with_its_data_is_evaluated(copy):
    assert cli.main(["evaluate", str(copy)]) == 0


def test_a_run_json_that_was_changed_is_refused(trained, refused):
    (trained / "run.json").write_text("[]")
    assert "run.json was changed after it was written" in refused("evaluate", trained)


def test_a_run_json_that_is_none_is_refused(copy, refused):
    (copy / "run.json").write_text("[]")
    assert "is not a run.json" in refused("evaluate", copy)


def test_a_run_json_that_is_a_folder_is_refused(copy, refused):
    (copy / "run.json").unlink()
    (copy / "run.json").mkdir()
    said = refused("evaluate", copy)
    assert "run.json cannot be read: it is a folder" in said


def test_a_run_that_lacks_the_reported_epoch_is_refused(copy, refused):
    content = read_json(copy / "run.json")
    (copy / "run.json").write_text(json.dumps(content | {"epochs": {"": 999}}))
    said = refused("evaluate", copy)
    assert "predictions.npz lacks the reported epoch 999" in said


def test_a_run_whose_split_was_made_anew_is_refused(project, copy, refused):
    (split,) = project.glob("data/splits/*/*/split-0.npz")
    split.write_bytes(split.read_bytes() + b" ")
    split.with_name("split-0.npz.sha256").unlink()
    said = refused("evaluate", copy)
    assert "copy does not fit its split, which was made anew since" in said


# --------------------------------------------------------------------- where files lie


def test_training_again_makes_its_data_anew(project):
    assert train(method="edits") == 0
    configure(project, "nodes: 300", "nodes: 250")
    assert train(method="edits") == 0

    (path,) = project.rglob("graphs/demo-social.npz")
    assert Graph.load(path).num_nodes == 250


def test_training_writes_into_a_folder_of_its_own(project):
    assert train() == 0
    assert {path.name for path in project.iterdir()} == {"config.yaml", "by-hand"}


def test_training_does_not_write_where_the_workflow_does(project, capsys):
    assert train("--out", "results/mine") == 1
    assert "is where the workflow writes" in capsys.readouterr().err


def test_configurations_may_each_have_an_option_of_their_own(project):
    (project / "more.yaml").write_text(
        "training: {node_classification: {epochs: 3}}\nseed: 3"
    )

    assert train("--config", "config.yaml", "--config", "more.yaml") == 0

    (path,) = project.rglob("run.json")
    record = Record.read(path)
    assert (record.training["epochs"], record.training["hidden"]) == (3, 8)


OWN_MEASURE = """
from fairgat.measures import Measure

MEASURES = {"node_classification": [Measure("my_half", "½", "½", lambda d: 0.5)]}
"""


def test_measures_of_ones_own_are_shown(project, monkeypatch, capsys):
    monkeypatch.setattr(registry, "MEASURES", dict(registry.MEASURES))
    (project / "mine.py").write_text(OWN_MEASURE)
    (project / "more.yaml").write_text("measures: [mine.py]")

    assert train("--config", "config.yaml", "more.yaml") == 0

    assert re.search("^my_half +0.5000 +0.5000$", capsys.readouterr().out, re.M)


def test_a_method_with_a_seed_of_its_own_starts_elsewhere_on_the_same_split(project):
    assert train() == 0
    assert train(method="again") == 0

    runs = project / "by-hand/runs/node_classification/demo-social"
    (one,) = (runs / "gat").rglob("history.csv")
    (other,) = (runs / "again").rglob("history.csv")
    _, first_epoch, *_ = one.read_text().splitlines()
    assert first_epoch not in other.read_text()
    assert len([*project.rglob("split-0.npz")]) == 1
