"""Nodes without a label are in the graph, and neither trained nor measured on, by any method."""

import numpy as np
import pytest

from fairgat import methods
from fairgat.config import NodeTraining, Splits
from fairgat.data import splits
from fairgat.data.graph import UNLABELLED, Graph, symmetrise
from fairgat.methods.edits.fit import Debias, debias
from fairgat.training import job
from fairgat.training.loop import fit

SHORT = {"edits": {"threshold": 0.5}, "fairgnn": {"estimator_epochs": 5}}
METHODS = [name for name in methods.names() if hasattr(methods.module(name), "NodeClassification")]


@pytest.fixture(scope="module")
def graph():
    random = np.random.default_rng(0)
    sensitive = random.integers(2, size=90)
    labels = (random.random(90) < 0.3 + 0.4 * sensitive).astype(np.int64)
    features = random.normal(size=(90, 6)).astype(np.float32) + labels[:, None].astype(np.float32)
    labels[random.random(90) < 0.3] = UNLABELLED
    return Graph(features, labels, sensitive, symmetrise(random.integers(90, size=(2, 400)), 90))


def test_splits_divide_the_labelled_nodes(graph):
    parts = splits.make(graph, "node_classification", Splits(), 0, "x", 0)
    assert sorted(np.concatenate(list(parts.values()))) == graph.labelled.tolist()
    assert 0 < len(graph.labelled) < 90


@pytest.mark.parametrize("module", METHODS)
def test_no_method_reads_the_label_of_an_unlabelled_node(graph, module, tmp_path, threads):
    """Whatever label they might have: the same scores and the same predictions."""
    threads(1)
    parts = splits.make(graph, "node_classification", Splits(), 0, "x", 0)
    settings = methods.settings(module, SHORT.get(module, {}))
    if module == "edits":
        debias(graph, parts["train"], Debias(epochs=3), 0).save(tmp_path / "debiased.npz")
    outcomes = []
    for label in (UNLABELLED, 0, 1):
        labels = np.where(graph.labels == UNLABELLED, label, graph.labels)
        same = Graph(graph.features, labels, graph.sensitive, graph.edge_index)
        method = job.build(
            module, settings, same, parts, NodeTraining(epochs=6, hidden=8), 0, tmp_path / "debiased.npz"
        )
        result = fit(method)
        output = result.kept[""].output
        outcomes.append((method.task.evaluate(output), method.task.predictions(output)["logits"]))
    for scores, logits in outcomes[1:]:
        assert scores == outcomes[0][0]
        np.testing.assert_array_equal(logits, outcomes[0][1])
