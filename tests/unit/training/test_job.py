"""The epoch loop and the training job."""

import json

import numpy as np
import pytest
import torch

from fairgat import methods
from fairgat.config import LinkTraining, NodeTraining, Splits
from fairgat.data import splits
from fairgat.data.graph import Graph, symmetrise
from fairgat.plan import Run
from fairgat.tasks.base import Score
from fairgat.tasks.link import LinkTask
from fairgat.training import job as training
from fairgat.training.loop import Diverged, Fit, fit

NODE = NodeTraining(epochs=12, hidden=8)
LINK = LinkTraining(epochs=8, hidden=8)


@pytest.fixture
def graph():
    rng = np.random.default_rng(0)
    sensitive = rng.integers(2, size=90)
    labels = (rng.random(90) < 0.3 + 0.4 * sensitive).astype(np.int64)
    features = rng.normal(size=(90, 5)).astype(np.float32) + labels[:, None].astype(np.float32)
    return Graph(features, labels, sensitive, symmetrise(rng.integers(90, size=(2, 400)), 90))


def make(graph, protocol=NODE, module="gat", **settings):
    task = "node_classification" if protocol is NODE else "link_prediction"
    split = splits.make(graph, task, Splits(), 0, "test", 0)
    return training.build(module, methods.settings(module, settings), graph, split, protocol, 0)


def test_the_best_validation_epoch_is_kept(graph):
    method = make(graph)
    result = fit(method)
    assert [row["epoch"] for row in result.history] == list(range(1, 13))
    keys = [
        (row["validation_accuracy"], -row["validation_statistical_parity"] - row["validation_equal_opportunity"])
        for row in result.history
    ]
    assert result.epoch == 1 + keys.index(max(keys))
    method.model.load_state_dict({name: torch.from_numpy(value) for name, value in result.weights.items()})
    torch.testing.assert_close(method.forward().detach(), result.output)


def test_ties_go_to_the_fairer_epoch_then_to_the_earlier(graph, monkeypatch):
    method = make(graph)
    scores = iter([(0.5, -0.3), (0.6, -0.4), (0.6, -0.1), (0.6, -0.1), *[(0.1, 0.0)] * 8])
    monkeypatch.setattr(method.task, "validate", lambda _: training_score(next(scores)))
    assert fit(method).epoch == 3


def training_score(key):
    return Score(key, {"accuracy": key[0]})


@pytest.mark.parametrize("module", ["gat", "fairgat"])
def test_the_loss_falls(graph, module):
    losses = [row["loss"] for row in fit(make(graph, module=module)).history]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_what_is_judged_is_the_model_after_its_updates(graph, dropout):
    """The output judged at epoch e is the model's after e updates, whether or not dropout forces a second pass."""
    protocol = NODE.model_copy(update={"dropout": dropout})
    split = splits.make(graph, "node_classification", Splits(), 0, "test", 0)
    judged = []
    method = training.build("gat", methods.settings("gat", {}), graph, split, protocol, 0)
    validate = method.task.validate
    method.task.validate = lambda output: judged.append(output.clone()) or validate(output)
    fit(method)
    other = training.build("gat", methods.settings("gat", {}), graph, split, protocol, 0)
    for expected in judged[:4]:
        other.update(other.forward())
        other.model.eval()
        with torch.no_grad():
            torch.testing.assert_close(other.embed(), expected)


def test_all_methods_see_the_same_split(graph):
    tasks = [make(graph, module=module).task for module in ("gat", "fairgat", "fairgnn", "nifty")]
    for task in tasks[1:]:
        for part, nodes in task.split.items():
            assert np.array_equal(task.order[nodes], tasks[0].order[tasks[0].split[part]])


def test_predictions_are_in_the_data_sets_own_order(graph):
    method = make(graph)
    result = fit(method)
    logits = method.task.predictions(result.output)["logits"]
    split = splits.make(graph, "node_classification", Splits(), 0, "test", 0)
    accuracy = ((logits[split["test"]] > 0) == graph.labels[split["test"]]).mean()
    assert accuracy == method.task.evaluate(result.output)["test"]["accuracy"]


def test_sampled_non_edges(graph):
    task = make(graph, LINK).task
    known = set(map(tuple, task.graph.edge_index.T.tolist()))
    for _ in range(3):
        pairs = task.sample_non_edges()
        assert pairs.shape[1] == task.graph.num_edges // 2
        assert not known & set(map(tuple, pairs.T.tolist()))
        assert (pairs[0] != pairs[1]).all()
    assert not torch.equal(task.sample_non_edges(), pairs)


def test_fairdrops_protocol_takes_the_last_epoch_and_the_test_sets_cutoff(graph):
    split = splits.make(graph, "link_prediction", Splits(), 0, "test", 0)
    protocol = LinkTraining(epochs=8, hidden=8, protocol="fairdrop")
    method = training.build("gat", methods.settings("gat", {}), graph, split, protocol, 0)
    result = fit(method)
    assert result.epoch == 8
    metrics = method.task.evaluate(result.output)["test"]
    best = max(method.task._metrics(result.output, "test", cutoff)["accuracy"] for cutoff in protocol.cutoffs)
    assert metrics["accuracy"] == best


def test_a_link_job_reports_both_protocols(graph, tmp_path):
    graph.save(tmp_path / "graph.npz")
    splits.save(tmp_path / "split.npz", splits.make(graph, "link_prediction", Splits(), 0, "test", 0))
    metrics = {}
    for protocol in ("validation", "fairdrop"):
        metrics[protocol] = training.run(
            Run("link_prediction", "test", "gat", "default", 0),
            module="gat", settings={}, training=LINK.model_dump() | {"protocol": protocol}, threads=1, seed=0,
            graph=tmp_path / "graph.npz", split=tmp_path / "split.npz", directory=tmp_path / protocol,
        )  # fmt: skip
    assert metrics["validation"]["protocols"] == metrics["fairdrop"]["protocols"]
    for protocol, content in metrics.items():
        chosen = content["protocols"][protocol]
        assert chosen == {part: content[part] for part in ("epoch", "validation", "test")}
    both = metrics["validation"]["protocols"]
    assert both["fairdrop"]["epoch"] == LINK.epochs
    assert both["fairdrop"]["epoch"] != both["validation"]["epoch"]


def test_links_that_overflow_on_test_alone_have_diverged(graph, tmp_path, monkeypatch):
    graph.save(tmp_path / "graph.npz")
    splits.save(tmp_path / "split.npz", splits.make(graph, "link_prediction", Splits(), 0, "test", 0))
    probabilities = LinkTask._probabilities
    monkeypatch.setattr(
        LinkTask,
        "_probabilities",
        lambda task, z, part: probabilities(task, z, part) * (1 if part != "test" else np.nan),
    )
    metrics = training.run(
        Run("link_prediction", "test", "gat", "default", 0),
        module="gat", settings={}, training=LINK.model_dump(), threads=1, seed=0, graph=tmp_path / "graph.npz",
        split=tmp_path / "split.npz", directory=tmp_path / "run",
    )  # fmt: skip
    assert "test auc of epoch" in metrics["failure"] and "test" not in metrics
    assert json.loads((tmp_path / "run/metrics.json").read_text())["failure"] == metrics["failure"]


@pytest.fixture
def job(graph, tmp_path):
    graph.save(tmp_path / "graph.npz")
    splits.save(tmp_path / "split.npz", splits.make(graph, "node_classification", Splits(), 0, "test", 0))

    def run(name, **changes):
        arguments = {
            "job": Run("node_classification", "test", "fairgat", "eta~1.0", 0),
            "module": "fairgat",
            "settings": {"eta": 1.0},
            "training": NODE.model_dump(),
            "threads": 1,
            "seed": 0,
            "graph": tmp_path / "graph.npz",
            "split": tmp_path / "split.npz",
            "directory": tmp_path / name,
        }
        return training.run(**arguments | changes)

    return run


def test_same_seed_same_bytes(job, tmp_path):
    first, second = job("a"), job("b")
    for metrics in (first, second):
        del metrics["runtime"]
    assert first == second
    for name in ("history.csv", "predictions.npz", "model.npz"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert job("c", seed=1)["seed"] != first["seed"]


@pytest.mark.parametrize("module", ["gat", "fairgat", "fairgnn", "nifty"])
def test_a_run_that_diverges_says_so_and_leaves_all_files(job, tmp_path, module):
    protocol = NODE.model_dump() | {"learning_rate": 1e20}
    metrics = job("a", module=module, settings={}, training=protocol)
    assert "no longer finite" in metrics["failure"]
    assert "test" not in metrics
    assert json.loads((tmp_path / "a" / "metrics.json").read_text())["failure"] == metrics["failure"]
    assert (tmp_path / "a" / "predictions.npz").exists()


@pytest.mark.parametrize("module", ["gat", "fairgat", "fairgnn", "nifty"])
def test_no_parameter_that_is_nan_goes_unnoticed(graph, module):
    method = make(graph, module=module)
    for name, parameter in method.model.named_parameters():
        before = parameter.detach().clone()
        with torch.no_grad():
            parameter.view(-1)[0] = torch.nan
        assert method.forward().isnan().any(), name
        with torch.no_grad():
            parameter.copy_(before)


def test_a_training_that_diverges_keeps_its_way_there(graph):
    method, result = make(graph), Fit()
    update = method.update

    def poisoned(output):
        if len(result.history) == 4:
            method.model.bias.data.fill_(float("nan"))
        return update(output)

    method.update = poisoned
    with pytest.raises(Diverged, match="after epoch 5 of 12"):
        fit(method, result=result)
    assert [row["epoch"] for row in result.history] == [1, 2, 3, 4]
    assert len(result.seconds) == 5


def test_links_whose_scores_are_no_numbers_have_diverged(graph):
    method = make(graph, LINK)
    method.forward = lambda: 1e25 * torch.randn(90, 8)  # a product is infinity minus infinity
    method.update = lambda output: {}
    with pytest.raises(Diverged, match="validation score"):
        fit(method)
