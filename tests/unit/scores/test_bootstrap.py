"""The bootstrap over people: against theory where there is one, and its coverage on people drawn anew."""

import math

import numpy as np
import pandas as pd
import pytest
from dense import write_graph

from fairgat.data import splits
from fairgat.data.graph import Graph, save_npz
from fairgat.files import write_json
from fairgat.scores import bootstrap, decisions, runs
from fairgat.tasks.base import pack
from fairgat.tasks.measures import compute, of_task
from fairgat.tasks.metrics import Decisions


def accuracy(counts):
    return (counts[:, 0, 0] + counts[:, 1, 1]).sum(axis=0) / counts.sum(axis=(0, 1, 2))


def parity(counts):
    rates = counts[:, :, 1].sum(axis=1) / counts.sum(axis=(1, 2))
    return rates.max(axis=0) - rates.min(axis=0)


def people(random, n, splits, share=0.3, difference=0.1):
    """Labels, groups, and two methods' decisions on random test sets: the first says 1 to more of group 1."""
    labels, groups = random.integers(2, size=(2, n))
    tested = random.permuted(np.tile(np.arange(n) < share * n, (splits, 1)), axis=1)
    chances = [0.3 + (0.2 + gap) * groups + 0.2 * labels for gap in (difference, 0)]
    taste = random.uniform(size=n)  # a person's own, so that models of several splits decide alike
    noise = random.uniform(size=(splits, n))
    decided = [
        np.where(tested, (0.7 * taste + 0.3 * noise < chance).astype(int), bootstrap.NOBODY) for chance in chances
    ]
    return (*decided, labels, groups)


def test_the_mean_of_everyone_has_its_textbook_interval():
    random = np.random.default_rng(1)
    mine, theirs, labels, groups = people(random, 1500, 4, share=1)
    gains = ((mine == labels).astype(float) - (theirs == labels)).mean(axis=0)  # each person's, over the splits
    found = bootstrap.half_widths(mine, theirs, labels, groups, {"accuracy": accuracy}, draws=4000)
    assert found["accuracy"] == pytest.approx(1.96 * gains.std(ddof=1) / math.sqrt(1500), rel=0.04)


def test_intervals_cover_the_difference_between_methods_among_all_people():
    random = np.random.default_rng(0)
    many = people(random, 400_000, 3, share=1)
    truth = np.mean([parity(count(many[0], many, j)) - parity(count(many[1], many, j)) for j in range(3)])
    covered = []
    for _ in range(120):
        drawn = people(random, 1000, 5)
        gaps = [parity(count(drawn[0], drawn, j)) - parity(count(drawn[1], drawn, j)) for j in range(5)]
        half = bootstrap.half_widths(*drawn, {"parity": parity}, draws=100)["parity"]
        covered.append(abs(np.mean(gaps) - truth) < half)
    assert 0.90 <= np.mean(covered) <= 0.99


def count(decisions, drawn, split):
    """(2, 2, 2) nodes of a split's test set by group, label and decision."""
    tested = decisions[split] != bootstrap.NOBODY
    codes = (drawn[3][tested] * 2 + drawn[2][tested]) * 2 + decisions[split][tested]
    return np.bincount(codes, minlength=8).reshape(2, 2, 2)


def test_a_method_against_itself_does_not_move():
    mine, _, labels, groups = people(np.random.default_rng(2), 300, 3)
    found = bootstrap.half_widths(mine, mine, labels, groups, {"accuracy": accuracy, "parity": parity}, draws=50)
    assert found == {"accuracy": 0, "parity": 0}


def test_a_score_that_nobody_has_is_missing():
    mine, theirs, labels, groups = people(np.random.default_rng(3), 300, 3)
    nobody = {"rate": lambda counts: np.full(counts.shape[3:], np.nan)}
    assert math.isnan(bootstrap.half_widths(mine, theirs, labels, groups, nobody, draws=50)["rate"])


def test_methods_tested_on_other_nodes_have_no_interval():
    mine, theirs, labels, groups = people(np.random.default_rng(4), 300, 3)
    one, other = ({"decisions": d, "labels": labels, "groups": groups} for d in (mine, np.roll(theirs, 1, axis=1)))
    assert bootstrap.between(one, one | {"decisions": theirs}) and not bootstrap.between(one, other)


def test_measures_of_counts_are_the_measures():
    random = np.random.default_rng(5)
    labels, groups, decided = random.integers(2, size=(3, 60))
    groups = groups + (random.uniform(size=60) < 0.2)  # 0, 1 and 2
    made = Decisions(decided, 0.5, decided == 1, labels == 1, groups, 4)  # of a fourth group, nobody
    stacked = np.stack([made.counts, made.counts], axis=-1)
    expected = compute("node_classification", made)
    found = {m.name: m.of_counts(stacked).tolist() for m in of_task("node_classification", "shown") if m.of_counts}
    assert set(found) == {"accuracy", "statistical_parity", "equal_opportunity"}
    assert found == {name: pytest.approx([expected[name]] * 2) for name in found}


@pytest.fixture
def pooled(tmp_path):
    """Writes decisions.npz of a method, whose reported epochs predict what is given."""
    random, n = np.random.default_rng(6), 50
    labels = np.where(np.arange(n) < 5, -1, random.integers(2, size=n))  # five have no label
    graph = Graph(np.zeros((n, 2), np.float32), labels, random.integers(2, size=n), np.array([[0, 1], [1, 0]]))
    _, files = write_graph(tmp_path, graph, count=2)

    def write(method, logits, cell="alpha_chi_max~0.5/eta~1.0"):
        folder, rows, paths = tmp_path / method, [], []
        for k, values in enumerate(logits):
            path = folder / cell / f"split-{k}" / "predictions.npz"
            path.parent.mkdir(parents=True)
            save_npz(path, **pack({3: {"logits": values}, 7: {"logits": -values}}))
            paths.append(path)
            rows.append(("toy", method, cell, k, "training", "", "epoch", 3.0, ""))
        pd.DataFrame(rows, columns=list(runs.COLUMNS)).to_csv(folder / "runs.csv", index=False)
        write_json(folder / "selection.json", {"dataset": "toy", "method": method, "winner": cell if paths else None})
        output = folder / "decisions.npz"
        given = {(cell, k): path for k, path in enumerate(paths)}
        decisions.pool(tmp_path / "graph.npz", files, folder / "runs.csv", folder / "selection.json", given, output)
        return output

    return graph, files, write


def test_decisions_are_those_of_the_reported_epoch_on_the_test_nodes(pooled):
    graph, files, write = pooled
    logits = np.random.default_rng(7).normal(size=(2, 50)).astype(np.float32)
    (found,) = bootstrap.read([write("gat", logits)]).values()
    for k, path in enumerate(files):
        test = splits.load(path)["test"]
        expected = np.full(50, bootstrap.NOBODY)
        expected[test] = logits[k][test] > 0
        assert found["decisions"][k].tolist() == expected[graph.labelled].tolist()


def test_only_selected_cells_with_decisions_have_an_interval(pooled, tmp_path):
    _, _, write = pooled
    random = np.random.default_rng(8)
    paths = [write(name, random.normal(size=(2, 50))) for name in ("gat", "fairgat")]
    (tmp_path / "nifty").mkdir()
    paths.append(write("nifty", []))  # no cell of it finished
    keys = [("toy", name) for name in ("gat", "fairgat", "nifty")]
    row = (keys[1], keys[0], "accuracy")
    rows = [row, None, (keys[2], keys[0], "accuracy"), (keys[1], keys[0], "auc"), (keys[1], ("toy", "mlp"), "accuracy")]
    found = bootstrap.of_rows(rows, bootstrap.read(paths))
    assert found[0] > 0 and np.isnan(found[1:]).all()
