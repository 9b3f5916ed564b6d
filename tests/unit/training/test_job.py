"""The epoch loop, the training job, and the time of an epoch."""

import time
from functools import partial

import numpy as np
import pytest
import torch
from dense import LINK, NODE, make, run_job, small_graph, write_graph

from fairgat import config
from fairgat.config import LinkTraining, NodeTraining, Runtime
from fairgat.errors import CellCalledOff, ConfigError, NotDefined
from fairgat.methods import gat
from fairgat.tasks.link_prediction import LinkTask
from fairgat.training import timing
from fairgat.training.loop import Diverged, Fit, fit
from fairgat.training.record import Record

NODE_METHODS = ["gat", "fairgat", "fairgnn", "nifty"]


@pytest.fixture
def graph():
    return small_graph(nodes=90, edges=400)


def test_the_best_validation_epoch_is_kept(graph):
    method = make("gat", graph)
    started = time.perf_counter()
    result = fit(method)
    of_all = time.perf_counter() - started
    assert [row["epoch"] for row in result.history] == list(range(1, NODE.epochs + 1))
    assert len(result.seconds) == method.epoch == NODE.epochs
    assert 0 < sum(result.seconds) <= of_all
    assert not method.to_compare  # in later epochs one pass is enough
    keys = [
        (
            row["validation_accuracy"],
            -row["validation_statistical_parity"] - row["validation_equal_opportunity"],
        )
        for row in result.history
    ]
    kept = result.reported[""]
    assert kept.epoch == 1 + keys.index(max(keys))
    method.model.load_state_dict(
        {name: torch.from_numpy(value) for name, value in result.weights.items()}
    )
    torch.testing.assert_close(method.forward().detach(), kept.output)


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_an_epoch_is_judged_after_its_update(graph, dropout):
    """Whether or not dropout makes evaluation a pass of its own."""
    protocol = NODE.model_copy(update={"dropout": dropout})
    method = make("gat", graph, protocol)
    judged, validate = [], method.task.validate
    method.task.validate = lambda output: (
        judged.append(output.clone()) or validate(output)
    )
    fit(method)
    other = make("gat", graph, protocol)  # only now: it draws from the same seed
    for expected in judged[:4]:
        other.update(other.forward())
        other.model.eval()
        with torch.no_grad():
            torch.testing.assert_close(other.embed(), expected)


def test_a_network_that_is_another_one_in_evaluation_is_refused_unless_declared(graph):
    """Else its predictions would be those of training, with dropout."""
    method = make("gat", graph)
    embed, dropout = method.embed, torch.nn.Dropout(0.5)
    method.model.append = dropout  # one of its modules, with the mode of the others
    method.embed = lambda: dropout(embed())
    with pytest.raises(ConfigError, match="`starts_from_forward = False`"):
        fit(method)
    method.starts_from_forward, method.to_compare = False, 3
    assert fit(method).reported
    method.embed, method.to_compare = lambda: torch.dropout(embed(), 0.5, train=True), 3
    with pytest.raises(ConfigError, match="two passes of the network differ"):
        fit(method)


def test_a_module_that_nothing_trains_is_named(graph):
    method = make("gat", graph)
    method.adversary, embed = torch.nn.Linear(1, 1), method.embed
    method.embed = lambda: method.adversary(embed()[:, None])[:, 0]
    with pytest.raises(
        ConfigError, match=r"nothing trains self\.adversary: put it into self.model"
    ):
        fit(method)


@pytest.mark.parametrize(
    ("protocol", "shape"), [(NODE, r"\(N,\)"), (LINK, r"\(N, hidden\)")]
)
def test_an_output_of_another_shape_is_refused(graph, protocol, shape):
    method = make("gat", graph, protocol)
    embed = method.embed
    method.embed = lambda: embed()[..., None]
    with pytest.raises(
        ConfigError, match=rf"must have shape {shape} with N = \d+, got \(\d+, .*1\)"
    ):
        fit(method)


@pytest.fixture
def job(graph, tmp_path):
    """Run a job on `graph`, into a folder of the given name."""
    return partial(run_job, tmp_path, graph=graph)


def test_same_seed_same_bytes(job, tmp_path):
    first, second = (job(name, "fairgat", settings={"eta": 1.0}) for name in "ab")
    assert first.model_copy(update={"runtime": {}}) == second.model_copy(
        update={"runtime": {}}
    )
    for name in ("history.csv", "predictions.npz", "model.npz"):
        assert (tmp_path / "a" / name).read_bytes() == (
            tmp_path / "b" / name
        ).read_bytes()
    assert job("c", seed=1).seed != first.seed and 0 < first.runtime["seconds"] < 100


def test_a_link_job_reports_both_protocols(job):
    protocols = [
        LinkTraining(epochs=8, hidden=8, protocol=name)
        for name in ("validation", "fairdrop")
    ]
    records = [job(protocol.reported, protocol=protocol) for protocol in protocols]
    assert [record.protocol for record in records] == ["validation", "fairdrop"]
    assert records[0].epochs == records[1].epochs
    assert (
        records[0].epochs["fairdrop"] == records[1].reported == 8 != records[0].reported
    )


def failed(record, folder):
    """The reason of a failed run, which has all its files and no epoch."""
    assert (
        not record.epochs
        and (folder / "predictions.npz").exists()
        and (folder / "history.csv").exists()
    )
    assert Record.read(folder / "run.json") == record
    return record.failure


@pytest.mark.parametrize("module", NODE_METHODS)
def test_a_run_that_diverges_says_so_and_leaves_all_files(job, tmp_path, module):
    record = job("a", module, NODE.model_copy(update={"learning_rate": 1e20}))
    assert "no longer finite" in failed(record, tmp_path / "a")


def test_links_that_overflow_on_test_alone_have_diverged(job, tmp_path, monkeypatch):
    of, overflown = (
        LinkTask.predictions,
        {"test_logits": np.full(3, np.nan, np.float32)},
    )
    monkeypatch.setattr(
        LinkTask, "predictions", lambda task, z: of(task, z) | overflown
    )
    assert "test logits of epoch" in failed(job("a", protocol=LINK), tmp_path / "a")


def test_a_training_that_diverges_keeps_its_way_there(graph):
    method, result = make("gat", graph), Fit()
    update = method.update

    def poisoned(output):
        if len(result.history) == 4:
            method.model.bias.data.fill_(float("nan"))
        return update(output)

    method.update = poisoned
    with pytest.raises(Diverged, match="after epoch 5 of 10"):
        fit(method, result=result)
    assert [row["epoch"] for row in result.history] == [1, 2, 3, 4]
    assert len(result.seconds) == 5


def test_links_whose_scores_are_nan_have_diverged(graph):
    method = make("gat", graph, LINK)
    method.forward = lambda: (
        1e25 * torch.randn(90, 8)
    )  # a product is infinity minus infinity
    method.update = lambda output: {}
    with pytest.raises(Diverged, match="validation score"):
        fit(method)


TOO_DENSE = "threshold~0.1: too dense"


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Times of GAT under four names: two have a cell that trains, and two have none."""
    graph, (split,) = write_graph(tmp_path, small_graph(nodes=60, edges=200))

    class Settings(gat.Settings):
        threshold: float = 0.0

    def prepare(graph, settings, debiased):
        if settings.threshold == 0.1:
            raise CellCalledOff(TOO_DENSE)
        if settings.threshold == 0.2:
            raise NotDefined("three groups")
        return graph

    monkeypatch.setattr(gat, "Settings", Settings)
    monkeypatch.setattr(gat.NodeClassification, "prepare", prepare)
    cells = {"threshold~0.1": {"threshold": 0.1}, "threshold~0.3": {"threshold": 0.3}}
    entries = {
        "gat": {"module": "gat", "cells": {"default": {}}},
        "edits": {"module": "gat", "cells": cells},
        "nifty": {"module": "gat", "cells": {"threshold~0.1": {"threshold": 0.1}}},
        "fairgnn": {"module": "gat", "cells": {"default": {"threshold": 0.2}}},
    }
    protocol = NodeTraining(epochs=1, hidden=8).model_dump()
    return timing.measure(
        "recidivism",
        graph,
        split,
        entries,
        protocol,
        Runtime(warmup=1, epochs=2, threads=1),
        0,
    )


def test_the_first_cell_that_trains_is_timed(measured):
    assert measured["cells"] == {"gat": "default", "edits": "threshold~0.3"}
    assert measured["failures"] == {
        "edits": TOO_DENSE,
        "nifty": TOO_DENSE,
        "fairgnn": "three groups",
    }
    assert {
        name: len(seconds) for name, seconds in measured["epoch_seconds"].items()
    } == {"gat": 2, "edits": 2}
    assert all(
        0 < each < 100
        for seconds in measured["epoch_seconds"].values()
        for each in seconds
    )


def test_the_published_cell_is_timed_first_and_others_only_where_it_may_be_called_off():
    settings = config.load_files("config.yaml")

    edits = settings.cells_to_time("edits", "pokec-n")["cells"]
    unpublished = settings.cells_to_time("edits", "not-in-the-paper")["cells"]
    nifty = settings.cells_to_time("nifty", "pokec-n")["cells"]

    assert list(edits) == [f"threshold~{value}" for value in (0.05, 0.001, 0.01, 0.3)]
    assert list(unpublished) == [
        f"threshold~{value}" for value in (0.001, 0.01, 0.05, 0.3)
    ]
    assert list(nifty) == ["similarity_weight~0.5"]
