"""The theory measured on finished runs, and in the history of training."""

import json
import re
from dataclasses import replace
from itertools import product

import further
import numpy as np
import pandas as pd
import pytest
from dense import small_graph, write_graph

from fairgat import cells, methods, theory
from fairgat.config import NodeTraining
from fairgat.data import splits
from fairgat.data.graph import Graph, load_npz
from fairgat.errors import DataError
from fairgat.plan import Run
from fairgat.theory.account import PARTS
from fairgat.theory.runs import measure_runs
from fairgat.training import job as training
from fairgat.training.loop import fit, ignore
from fairgat.training.record import Record, unpack

TRAINING = {"epochs": 6, "hidden": 8}
METHODS = {
    "gat": ("gat", "default", {}),
    "fair$gat_": ("fairgat", "alpha_chi_max~0.5", {"steps": [1, 2, 3]}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two methods trained on two splits, each with its selection."""
    folder = tmp_path_factory.mktemp("results")
    write_graph(folder, small_graph(nodes=90, edges=400), count=2)
    for method, (_, cell, _) in METHODS.items():
        for k in range(2):
            train(folder, method, k, folder)
        write_selection(folder / f"{method}.json", method, cell)
    return folder


def write_selection(path, method, cell):
    chosen = {"method": method, "dataset": "d", "winner": cell}
    path.write_text(json.dumps(chosen))


def run_of(folder, name, k):
    return folder / "runs" / name / METHODS[name][1] / f"split-{k}"


def train(folder, name, k, into, **options):
    module, cell, settings = METHODS[name]
    given = {
        "job": Run("node_classification", "d", name, cell, k),
        "module": module,
        "settings": settings | cells.from_path(cell),
        "training": TRAINING,
        "threads": 1,
        "seed": 0,
        "graph": folder / "graph.npz",
        "split": folder / f"split-{k}.npz",
        "directory": run_of(into, name, k),
    }
    return training.run(**given | options)


def built(folder, module, settings):
    """A method that is not trained, on split 0."""
    graph, split = Graph.load(folder / "graph.npz"), splits.load(folder / "split-0.npz")
    return training.build(module, settings, graph, split, NodeTraining(**TRAINING), 0)


def reported(run):
    """The epoch that a run reports, and its (N,) logits."""
    epoch = Record.read(run / "run.json").reported
    predictions = unpack(load_npz(run / "predictions.npz"), epoch)
    return epoch, predictions["logits"].astype(float)


def measured(folder, name, what="theory", **options):
    given = {
        "runs": [run_of(folder, name, k) / "run.json" for k in range(2)],
        "graph": folder / "graph.npz",
        "split_files": {k: folder / f"split-{k}.npz" for k in range(2)},
        "selection": folder / f"{name}.json" if what == "theory" else None,
    }
    return measure_runs(what, **given | options)


@pytest.mark.parametrize("name", METHODS)
def test_the_selected_cell_is_measured_as_training_left_it(folder, name):
    rows = measured(folder, name).to_dict("records")
    layers = ["conv1", "conv2", "logit", "probability"]
    found = [(row["split"], row["layer"]) for row in rows]
    assert found == list(product(range(2), layers))
    sensitive = Graph.load(folder / "graph.npz").sensitive
    # A pass in training rounds otherwise than one that predicts.
    near = {"rel": 1e-6, "abs": 1e-7}
    for k in range(2):
        _, logits = reported(run_of(folder, name, k))
        logit, probability = rows[4 * k + 2 : 4 * k + 4]
        disparity = theory.disparity(logits, sensitive)
        assert logit["delta_out"] == pytest.approx(disparity, **near)
        disparity = theory.disparity(1 / (1 + np.exp(-logits)), sensitive)
        assert probability["delta_out"] == pytest.approx(disparity, **near)
        decisions = (logits > 0).astype(float)
        parity = theory.disparity(decisions, sensitive)
        assert probability["statistical_parity"] == parity


def test_every_run_is_accounted_for_as_training_left_it(folder, tmp_path):
    name, (_, cell, _) = "fair$gat_", METHODS["fair$gat_"]
    settings = {"shares": "balanced"}  # for groups, of which this graph has one
    one_group = replace(Graph.load(folder / "graph.npz"), sensitive=np.zeros(90, int))
    one_group.save(tmp_path / "one.npz")
    failed = train(
        folder, name, 0, tmp_path, settings=settings, graph=tmp_path / "one.npz"
    )
    assert failed.failure
    runs = [run_of(tmp_path, name, 0), *[run_of(folder, name, k) for k in range(2)]]
    read = measured(folder, name, "account", runs=[run / "run.json" for run in runs])
    assert set(read["cell"]) == {cell}
    assert len(read) == 2 * 3 * 3
    graph = Graph.load(folder / "graph.npz")
    positive, first = graph.labels == 1, graph.sensitive == 1
    of_logits, of_label_1 = read["layer"] == "logit", read["over"] == "label 1"
    # A pass in training rounds otherwise than one that predicts.
    near = {"rel": 1e-6, "abs": 1e-6}
    for k, lines in read[of_logits & of_label_1].groupby("split"):
        _, logits = reported(run_of(folder, name, k))
        gap = logits[positive & first].mean() - logits[positive & ~first].mean()
        assert lines["gap"].item() == pytest.approx(gap, **near)
        assert lines[[*PARTS]].sum(axis=None) == pytest.approx(gap, **near)


@pytest.mark.parametrize("what", ["theory", "account"])
def test_a_network_without_attention_has_no_rows(folder, tmp_path, capsys, what):
    train(folder, "gat", 0, tmp_path, module="mlp")
    runs = [run_of(tmp_path, "gat", 0) / "run.json"]
    frame = measured(folder, "gat", what, runs=runs)
    assert frame.empty
    assert "layer" in frame
    assert "gat (default) on d: the theory is about" in capsys.readouterr().out


def test_a_cell_without_an_account_leaves_the_others_theirs(folder, tmp_path, capsys):
    """Another scale than step 3's has none."""
    runs = []
    for deviation, k in (("robust", 0), ("robust", 1), ("function", 0)):
        cell = f"deviation~{deviation}"
        directory = tmp_path / cell / f"split-{k}"
        options = {
            "job": Run("node_classification", "d", "gat", cell, k),
            "module": further.method("fairgat_variants"),
            "settings": {"deviation": deviation},
        }
        train(folder, "gat", k, tmp_path, directory=directory, **options)
        runs.append(directory / "run.json")

    read = measured(folder, "gat", "account", runs=runs)

    assert set(read["cell"]) == {"deviation~function"}
    (said,) = capsys.readouterr().out.splitlines()
    assert "deviation~robust" in said
    assert "scales features otherwise than by step 3" in said


def test_without_a_selected_cell_there_are_no_rows(folder, tmp_path, capsys):
    write_selection(tmp_path / "none.json", "gat", None)
    assert measured(folder, "gat", selection=tmp_path / "none.json").empty
    assert "the selected cell of gat on d: None" in capsys.readouterr().out


def test_of_three_groups_the_theorem_as_printed_has_no_value(folder, tmp_path):
    graph = Graph.load(folder / "graph.npz")
    replace(graph, sensitive=np.arange(90) % 3).save(tmp_path / "three.npz")
    frame = measured(folder, "gat", graph=tmp_path / "three.npz")
    for name in ("r_0", "r_1", "factor_printed", "bound_printed", "composed_printed"):
        assert frame[name].isna().all()
    assert (frame["delta_out"] <= frame["composed_sharp"]).all()
    assert frame["tau"].between(0, 1).sum() == 4


def test_a_missing_or_foreign_model_is_named(folder, tmp_path):
    train(folder, "gat", 0, tmp_path)
    run = run_of(tmp_path, "gat", 0)
    foreign = run / "model.npz"
    foreign.unlink()
    with pytest.raises(DataError, match=re.escape(str(foreign))):
        measured(folder, "gat", runs=[run / "run.json"])
    np.savez(foreign, wrong=np.zeros(3))
    with pytest.raises(DataError, match=r"model\.npz does not fit the method gat"):
        measured(folder, "gat", runs=[run / "run.json"])


def test_measures_in_the_history_change_nothing_else(folder, tmp_path):
    """Every third epoch has all terms, and the run is the same to the bit."""
    for name in METHODS:
        train(folder, name, 0, tmp_path, observe=theory.measure_every(3))
        runs = run_of(tmp_path, name, 0), run_of(folder, name, 0)
        history, without = (pd.read_csv(run / "history.csv") for run in runs)
        disparity = history.set_index("epoch")["conv1_delta_out"].dropna()
        assert disparity.index.tolist() == [3, 6]
        assert {"conv2_tau", "logit_sigma_max", "probability_composed"} <= set(history)
        assert not any(column.startswith("conv") for column in without)
        pd.testing.assert_frame_equal(history[list(without)], without)
        arrays, others = (np.load(run / "model.npz") for run in runs)
        for key in others:
            assert np.array_equal(arrays[key], others[key])
        epoch, _ = reported(runs[0])
        if epoch in disparity:
            row = measured(folder, name).iloc[0]
            assert disparity[epoch] == pytest.approx(row["delta_out"], rel=1e-5)


def test_measures_change_no_method_that_notes_something_on_itself(folder):
    settings = methods.settings("fairgnn", {"estimator_epochs": 5})
    losses = []
    for observe in (ignore, theory.measure_every(1)):
        result = fit(built(folder, "fairgnn", settings), observe=observe)
        losses.append([row["loss"] for row in result.history])
    assert losses[0] == losses[1]
