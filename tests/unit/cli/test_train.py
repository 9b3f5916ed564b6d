"""`fairgat train` and `fairgat evaluate`: wrong arguments, files that are elsewhere, data made with other settings."""

import json
import shutil

import pytest

from fairgat import files
from fairgat.cli import main as cli
from fairgat.config import Dataset, load_files
from fairgat.data import datasets
from fairgat.errors import DataError

CONFIG = """
datasets:
  demo-social: {task: node_classification}
  mine:
    task: node_classification
    source: tables
    options: {nodes: nodes.csv, edges: edges.csv, id: person, label: employed, sensitive: gender}
splits: {count: 1}
training:
  node_classification: {epochs: 2, hidden: 8}
methods:
  gat: {tasks: [node_classification]}
  fairgat: {tasks: [node_classification], grid: {eta: [0.75, 1.0]}}
  edits: {tasks: [node_classification], settings: {threshold: 0.2, debias: {epochs: 2}}}
"""
GRAPH = "results/data/graphs/demo-social.npz"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(CONFIG)
    return tmp_path


def configure(project, old, new):
    text = (project / "config.yaml").read_text()
    assert old in text
    (project / "config.yaml").write_text(text.replace(old, new))


def train(*arguments, dataset="demo-social", method="gat"):
    return cli.main(["train", "--dataset", dataset, "--method", method, "--quiet", *arguments])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--split", "-1"], "--split counts from 0, got -1"),
        (["--epochs", "0"], "--epochs counts from 1, got 0"),
        (["--seed", "-1"], "--seed counts from 0, got -1"),
        (["--threads", "-1"], "--threads counts from 1, got -1"),
        (["--threads", "0"], "--threads counts from 1, got 0"),
        (["--eta", "["], "--eta takes a single value, got '['"),
        (["--eta", "2024-02-31"], "--eta takes a single value"),
        (["--config", "."], ". cannot be read: Is a directory"),
        (["--eta", "1", "--results-dir", "config.yaml"], "cannot be written: Not a directory"),
    ],
)
def test_wrong_arguments_are_explained(project, capsys, arguments, message):
    assert train(*arguments, method="fairgat") == 1
    assert message in capsys.readouterr().err
    assert not (project / "results").exists()


@pytest.mark.parametrize("options", [["--epochs", "1", "--threads", "2"], ["--epochs", "1", "--seed", "3"]])
def test_a_run_with_several_other_settings_is_evaluated_where_it_lies(project, capsys, options):
    assert train(*options) == 0
    (metrics,) = project.rglob("metrics.json")
    assert cli.main(["evaluate", str(metrics.parent)]) == 0
    assert "metrics.json says the same" in capsys.readouterr().out


def write_tables(project):
    rows = [f"p{i},{i},{i % 2},{'fm'[i // 2 % 2]}" for i in range(12)]
    (project / "nodes.csv").write_text("\n".join(["person,age,employed,gender", *rows]))
    (project / "edges.csv").write_text("from,to\n" + "".join(f"p{i},p{i + 1}\n" for i in range(11)))


def test_another_form_of_a_data_set_has_its_splits(project):
    write_tables(project)
    configure(project, "  mine:", "  recidivism: &form")
    configure(project, "splits:", "  recidivism-unscaled: *form\nsplits:")
    names = ("recidivism", "recidivism-unscaled")
    assert [train(dataset=name) for name in names] == [0, 0]
    one, other = (project / "results/data/splits/node_classification" / name / "split-0.npz" for name in names)
    assert one.read_bytes() == other.read_bytes()


def test_what_cannot_be_evaluated_is_explained(project, capsys):
    assert train() == 0
    (metrics,) = project.rglob("metrics.json")

    def said(path):
        assert cli.main(["evaluate", str(path)]) == 1
        return capsys.readouterr().err

    assert "metrics.json is not a folder; give the run's folder" in said(metrics)
    copy = shutil.copytree(metrics.parent, project / "copy")
    assert "data/graphs/demo-social.npz, is in no folder above" in said(copy)
    shutil.copytree(project / "results/data", project / "data")
    assert cli.main(["evaluate", str(copy)]) == 0
    content = json.loads(metrics.read_text())
    del content["test"]["accuracy"]
    (copy / "metrics.json").write_text(json.dumps(content))
    assert "says otherwise: test accuracy" in said(copy)
    (copy / "metrics.json").write_text("[]")
    assert "is not a metrics.json" in said(copy)
    (copy / "metrics.json").unlink()
    (copy / "metrics.json").mkdir()
    assert "metrics.json cannot be read: Is a directory" in said(copy)


def test_a_graph_made_with_other_options_is_not_trained_on(project, capsys):
    assert train() == 0
    before = (project / GRAPH).read_bytes()
    configure(project, "demo-social: {", "demo-social: {title: Demo, options: {bias: 0.25}, ")  # the default
    assert train() == 0
    configure(project, "bias: 0.25", "nodes: 200")
    assert train() == 1
    message = capsys.readouterr().err
    assert f"since {GRAPH} was made, datasets.demo-social.options changed. Delete it" in message
    assert (project / GRAPH).read_bytes() == before
    for path in (project / "results/data").rglob("*.npz"):
        path.unlink()
    assert train() == 0
    configure(project, "splits:", "seed: 1\nsplits:")
    assert train() == 1
    assert f"since {GRAPH} was made, seed changed" in capsys.readouterr().err


def test_a_graph_of_an_edited_table_is_not_trained_on(project, capsys):
    write_tables(project)
    assert train(dataset="mine") == 0
    with open(project / "edges.csv", "a") as file:
        file.write("p0,p11\n")
    assert train(dataset="mine") == 1
    assert "mine.npz was made, edges.csv changed" in capsys.readouterr().err
    (project / "edges.csv").unlink()
    assert train(dataset="mine") == 0  # nothing to compare with


def test_a_graph_of_which_nothing_is_remembered_is_taken_as_it_is(project):
    settings, path = load_files("config.yaml"), project / GRAPH
    datasets.prepare("demo-social", settings.datasets["demo-social"], project / "raw", 0).save(path)
    assert datasets.graph_file(settings, "demo-social", "results") == path.relative_to(project)
    other = Dataset(task="node_classification", options={"nodes": 200})
    datasets.make("demo-social", other, project / "raw", 0, path)
    with pytest.raises(DataError, match="options changed"):
        datasets.graph_file(settings, "demo-social", "results")
    datasets.prepare("demo-social", settings.datasets["demo-social"], project / "raw", 0).save(path)  # made anew since
    datasets.graph_file(settings, "demo-social", "results")
    datasets.make("demo-social", other, project / "raw", 0, path)
    files.write_json(path.with_suffix(".made-from.json"), [])
    with pytest.raises(DataError, match="does not say what"):
        datasets.graph_file(settings, "demo-social", "results")


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("debias: {epochs: 2}", "debias: {epochs: 3}", "the settings under `debias`"),
        ("count: 1", "count: 1, train: 0.2", "the split"),
        ("demo-social: {", "demo-social: {options: {bias: 0.1}, ", "the graph"),
    ],
)
def test_a_debiased_graph_made_otherwise_is_not_trained_on(project, capsys, old, new, changed):
    assert train(method="edits") == 0
    assert train(method="edits") == 0
    configure(project, old, new)
    if changed != "the settings under `debias`":
        (project / GRAPH).unlink()
        (project / "results/data/splits/node_classification/demo-social/split-0.npz").unlink()
    capsys.readouterr()
    assert train(method="edits") == 1
    assert f"debiased/demo-social/edits/split-0.npz was made, {changed} changed" in capsys.readouterr().err


def test_a_graph_debiased_on_other_threads_stays_out_of_the_workflows_way(project):
    assert train("--threads", "2", method="edits") == 0
    assert not (project / "results/data/debiased").exists()
    assert list(project.rglob("by-hand/**/debiased/**/split-0.npz"))
