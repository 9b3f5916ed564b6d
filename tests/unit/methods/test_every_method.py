"""What holds for every method: of ours and of beyond/."""

from dataclasses import replace

import further
import numpy as np
import pytest
import torch
from dense import LINK, NODE, judged, make, small_graph, split_of, three_groups

from fairgat import measures, methods
from fairgat.by_path import name_of
from fairgat.config import NodeTraining
from fairgat.data.graph import UNLABELLED
from fairgat.errors import NotDefined
from fairgat.methods.base import Adam
from fairgat.methods.edits.fit import Debias, debias
from fairgat.plan import method_modules
from fairgat.training import job
from fairgat.training.loop import fit

SHORT = {"edits": {"threshold": 0.5}, "fairgnn": {"estimator_epochs": 5}}
FOR_TWO = {"a_fame": "A-FAME", "bemap": "BeMap", "fairgb": "FairGB", "edits": "EDITS"}
TRAINING = NodeTraining(epochs=6, hidden=8)

ALL = [*method_modules(), *further.methods()]


def with_task(name):
    """The modules that have this class."""
    return [module for module in ALL if hasattr(methods.module(module), name)]


CLASSIFIERS = with_task("NodeClassification")
FOR_MORE = [module for module in CLASSIFIERS if name_of(module) not in FOR_TWO]


def graph_of_90():
    return small_graph(nodes=90, edges=400)


def debiased_file(module, folder, graph, split):
    """The file that EDITS trains on; of other methods there is none."""
    if module != "edits":
        return None
    path = folder / "debiased.npz"
    debias(graph, split["train"], Debias(epochs=3), 0).save(path)
    return path


@pytest.mark.parametrize("module", CLASSIFIERS, ids=name_of)
def test_no_method_reads_the_label_of_an_unlabelled_node(module, tmp_path, threads):
    """Whatever it might be: the same scores and the same predictions."""
    threads(1)
    graph = graph_of_90()
    unlabelled = np.random.default_rng(1).random(90) < 0.3
    known = replace(graph, labels=np.where(unlabelled, UNLABELLED, graph.labels))
    split = split_of(known)
    settings = methods.settings(module, SHORT.get(module, {}))
    file = debiased_file(module, tmp_path, known, split)

    found = []
    for label in (UNLABELLED, 0, 1):
        same = replace(graph, labels=np.where(unlabelled, label, graph.labels))
        method = job.build(module, settings, same, split, TRAINING, 0, file)
        output = fit(method).reported[""].output
        predictions = method.task.predictions(output)
        scores = measures.judge(TRAINING, same, split, predictions, "")
        found.append((scores, predictions["logits"]))

    (scores, logits), *others = found
    for other_scores, other_logits in others:
        assert other_scores == scores
        np.testing.assert_array_equal(other_logits, logits)


def test_a_split_has_every_labelled_node_once_and_a_task_shows_those_of_training():
    graph = graph_of_90()
    unlabelled = np.random.default_rng(1).random(90) < 0.3
    known = replace(graph, labels=np.where(unlabelled, UNLABELLED, graph.labels))

    split = split_of(known)
    task = make("gat", known).task

    nodes = np.concatenate(list(split.values()))
    assert sorted(nodes) == np.flatnonzero(~unlabelled).tolist()
    labels = task.labels[task.rank]  # in the graph's numbering
    shown = np.flatnonzero(~labels.isnan())
    assert shown.tolist() == sorted(split["train"])


@pytest.mark.parametrize(
    ("module", "settings"),
    [
        *((module, SHORT.get(module, {})) for module in CLASSIFIERS),
        *((further.method("fairsin"), {"variant": kind}) for kind in "FG"),
    ],
    ids=lambda value: name_of(value) if isinstance(value, str) else str(value),
)
def test_a_run_is_rebuilt_from_its_parameters(module, settings, tmp_path):
    """So that what explains a run is of the model whose predictions were kept."""
    graph = graph_of_90()
    split = split_of(graph)
    file = debiased_file(module, tmp_path, graph, split)
    validated = methods.settings(module, settings)
    made = module, validated, graph, split, TRAINING, 0
    result = fit(job.build(*made, file))

    again = job.build(*made, file)
    weights = result.weights
    again.load({name: torch.from_numpy(weights[name]) for name in weights})

    again.model.eval()
    with torch.no_grad():
        output = again.postprocess(again.embed())
    np.testing.assert_allclose(output, result.reported[""].output, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("module", FOR_MORE, ids=name_of)
def test_it_trains_on_three_groups(module):
    method = make(module, three_groups())

    result = fit(method)

    losses = [row["loss"] for row in result.history[1:]]
    scores = judged(method, three_groups(), result.reported[""].output)["test"]
    assert len(result.history) == NODE.epochs
    assert np.isfinite(losses).all()
    assert {"accuracy_0", "accuracy_1", "accuracy_2"} <= set(scores)


ONE_GROUP = [(module, {}) for module in FOR_MORE]
ONE_GROUP.append(("fairgat", {"shares": "balanced"}))


@pytest.mark.parametrize(("module", "settings"), ONE_GROUP, ids=str)
def test_one_group_is_trained_on_or_refused(module, settings):
    graph = three_groups()
    graph = replace(graph, sensitive=np.zeros_like(graph.sensitive), groups=())
    try:
        method = make(module, graph, **settings)
    except NotDefined:
        return
    losses = [row["loss"] for row in fit(method).history[1:]]
    assert np.isfinite(losses).all()


@pytest.mark.parametrize("name", FOR_TWO)
def test_a_method_for_two_groups_refuses_three(name):
    module = "edits" if name == "edits" else further.method(name)

    with pytest.raises(NotDefined, match=f"{FOR_TWO[name]}.* for two sensitive groups"):
        make(module, three_groups())


@pytest.mark.parametrize("module", with_task("LinkPrediction"), ids=name_of)
def test_links_among_three_groups_are_learned(module):
    method = make(module, three_groups(), LINK)

    output = fit(method).reported[LINK.protocol].output

    scores = judged(method, three_groups(), output, LINK.protocol)["test"]
    assert scores["accuracy"] > 0


def test_adam_takes_pytorchs_steps():
    x = torch.randn(7, 5)

    ends = []
    for optimiser in (Adam, torch.optim.Adam):
        weight = torch.ones(5, 3, requires_grad=True)
        steps = optimiser([weight], lr=0.01, weight_decay=0.001)
        for _ in range(20):
            steps.zero_grad()
            (x @ weight).sin().sum().backward()
            steps.step()
        ends.append(weight)

    ours, pytorchs = ends
    assert torch.equal(ours, pytorchs)
    assert not torch.equal(ours, torch.ones(5, 3))
