"""`fairgat train` and `fairgat evaluate`: wrong arguments, and where files lie."""

import json
import re
import shutil
from functools import partial

import pytest

from fairgat.cli import main as cli
from fairgat.data.graph import Graph, load_npz
from fairgat.training.record import Record


def configure(project, old, new):
    text = (project / "config.yaml").read_text()
    assert old in text
    (project / "config.yaml").write_text(text.replace(old, new))


def train(*arguments, dataset="demo-social", method="gat"):
    return cli.main(
        ["train", "--dataset", dataset, "--method", method, "--quiet", *arguments]
    )


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
    assert (
        train("--config", "config.yaml", "more.yaml", "--eta", "1", method="fairgat")
        == 0
    )
    said = capsys.readouterr().out
    (path,) = project.rglob("fairgat/eta~1.0/split-0/run.json")  # as the grid spells it
    graph, split = (
        load_npz(next(project.rglob(f"{name}.npz")))
        for name in ("demo-social", "split-0")
    )
    assert cli.main(["evaluate", str(path.parent)]) == 0
    shown = capsys.readouterr().out
    assert shown in said and f"epoch {Record.read(path).reported} of 3" in shown
    kept = load_npz(path.parent / "predictions.npz")
    logits = kept["logits"][list(kept["epochs"]).index(Record.read(path).reported)]
    right = (logits > 0) == graph["labels"]
    wanted = [right[split[part]].mean() for part in ("validation", "test")]
    assert re.search(rf"^accuracy +{wanted[0]:.4f} +{wanted[1]:.4f}$", shown, re.M)


def test_a_training_that_fails_says_why_and_where(project, refused):
    configure(project, "epochs: 20", "learning_rate: 1.0e+30, epochs: 20")
    error = refused("train", "--dataset", "demo-social", "--method", "gat", "--quiet")
    assert (
        "(recorded in by-hand/runs/node_classification/demo-social/gat/default/split-0/run.json)"
        in error
    )
    assert "failed: " in refused("evaluate", next(project.rglob("run.json")).parent)


def test_another_form_of_a_data_set_has_its_splits(project, write_tables):
    write_tables([f"p{i},{20 + i},{i % 2},{'fm'[i // 2 % 2]}" for i in range(12)])
    configure(project, "  mine:", "  recidivism: &form")
    configure(
        project,
        "splits:",
        "  recidivism-unscaled: {<<: *form, splits_of: recidivism}\nsplits:",
    )
    names = ("recidivism", "recidivism-unscaled")
    assert [train(dataset=name) for name in names] == [0, 0]
    one, other = (
        project / "by-hand/data/splits/node_classification" / name / "split-0.npz"
        for name in names
    )
    assert one.read_bytes() == other.read_bytes()


def test_what_cannot_be_evaluated_is_explained(project, refused):
    assert train() == 0
    (path,) = project.rglob("run.json")

    said = partial(refused, "evaluate")
    assert (
        "is not the folder of one run: give such a folder, the one with run.json"
        in said(path)
    )
    assert f"give such a folder, such as {path.parent}" in said(project)
    copy = shutil.copytree(path.parent, project / "copy")
    assert "data/graphs/demo-social.npz, is in no folder above" in said(copy)
    data = shutil.copytree(project / "by-hand/data", project / "data")
    assert cli.main(["evaluate", str(copy)]) == 0
    content = json.loads(path.read_text())
    (copy / "run.json").write_text("[]")
    assert "run.json was changed after it was written" in said(copy)
    (copy / "run.json.sha256").unlink()
    assert "is not a run.json" in said(copy)
    (copy / "run.json").write_text(json.dumps(content | {"epochs": {"": 999}}))
    assert "predictions.npz lacks the reported epoch 999" in said(copy)
    (copy / "run.json").unlink()
    (copy / "run.json").mkdir()
    assert "run.json cannot be read: it is a folder" in said(copy)
    (split,) = data.glob("splits/*/*/split-0.npz")
    split.write_bytes(split.read_bytes() + b" ")
    split.with_name("split-0.npz.sha256").unlink()
    shutil.copytree(path.parent, project / "another")
    assert "another does not fit its split, which was made anew since" in said(
        project / "another"
    )


def test_it_writes_into_a_folder_of_its_own_and_makes_it_anew(project, capsys):
    assert train(method="edits") == 0
    configure(project, "nodes: 300", "nodes: 250")
    assert train(method="edits") == 0
    graphs = [Graph.load(path) for path in project.rglob("graphs/demo-social.npz")]
    assert [graph.num_nodes for graph in graphs] == [250]
    assert {path.name for path in project.iterdir()} == {"config.yaml", "by-hand"}
    assert train("--out", "results/mine") == 1
    assert "is where the workflow writes" in capsys.readouterr().err


def test_a_method_with_a_seed_of_its_own_starts_elsewhere_on_the_same_split(project):
    assert train() == train(method="again") == 0
    files = [
        (project / f"by-hand/runs/node_classification/demo-social/{name}")
        for name in ("gat", "again")
    ]
    one, other = (
        next(folder.rglob("history.csv")).read_text().splitlines()[1]
        for folder in files
    )
    assert one != other
    assert len([*project.rglob("split-0.npz")]) == 1
