"""Every method: nodes without a label are neither trained nor measured on, and three groups are, or are refused."""

from dataclasses import replace

import further
import numpy as np
import pytest
import torch
from dense import LINK, NODE, judged, make, small_graph, three_groups

from fairgat import measures, methods
from fairgat.by_path import name_of
from fairgat.config import NodeTraining, Splits
from fairgat.data import splits
from fairgat.data.graph import UNLABELLED
from fairgat.errors import NotDefined
from fairgat.methods.base import Adam
from fairgat.methods.edits.fit import Debias, debias
from fairgat.plan import method_modules
from fairgat.theory.runs import rebuild
from fairgat.training import job
from fairgat.training.loop import fit

SHORT = {"edits": {"threshold": 0.5}, "fairgnn": {"estimator_epochs": 5}}
FOR_TWO = {"a_fame": "A-FAME", "bemap": "BeMap", "fairgb": "FairGB", "edits": "EDITS"}


ALL = [*method_modules(), *further.methods()]


def with_task(name):
    """The modules that have this class."""
    return [module for module in ALL if hasattr(methods.module(module), name)]


@pytest.mark.parametrize("module", with_task("NodeClassification"), ids=name_of)
def test_no_method_reads_the_label_of_an_unlabelled_node(module, tmp_path, threads):
    """Whatever label they might have: the same scores and the same predictions."""
    threads(1)
    graph = small_graph(nodes=90, edges=400)
    unlabelled = np.random.default_rng(1).random(90) < 0.3
    known = replace(graph, labels=np.where(unlabelled, UNLABELLED, graph.labels))
    parts = splits.make(known, "node_classification", Splits(), 0, "x", 0)
    assert (
        sorted(np.concatenate(list(parts.values())))
        == np.flatnonzero(~unlabelled).tolist()
    )
    settings = methods.settings(module, SHORT.get(module, {}))
    if module == "edits":
        debias(known, parts["train"], Debias(epochs=3), 0).save(
            tmp_path / "debiased.npz"
        )
    outcomes = []
    for label in (UNLABELLED, 0, 1):
        same = replace(graph, labels=np.where(unlabelled, label, graph.labels))
        training = NodeTraining(epochs=6, hidden=8)
        method = job.build(
            module, settings, same, parts, training, 0, tmp_path / "debiased.npz"
        )
        output = fit(method).reported[""].output
        predictions = method.task.predictions(output)
        outcomes.append(
            (
                measures.judge(training, same, parts, predictions, ""),
                predictions["logits"],
            )
        )
        shown = np.flatnonzero(
            ~method.task.labels[method.task.rank].isnan()
        )  # in the graph's numbering
        assert shown.tolist() == sorted(parts["train"])
    for scores, logits in outcomes[1:]:
        assert scores == outcomes[0][0]
        np.testing.assert_array_equal(logits, outcomes[0][1])


@pytest.mark.parametrize(
    ("module", "settings"),
    [
        *((module, {}) for module in with_task("NodeClassification")),
        *((further.method("fairsin"), {"variant": kind}) for kind in "FG"),
    ],
    ids=lambda value: name_of(value) if isinstance(value, str) else str(value),
)
def test_a_run_is_rebuilt_from_its_parameters(module, settings, tmp_path):
    """So that `fairgat explain` and the theory's tables are of the model whose predictions were kept."""
    graph, training = small_graph(nodes=90, edges=400), NodeTraining(epochs=6, hidden=8)
    parts = splits.make(graph, "node_classification", Splits(), 0, "x", 0)
    if module == "edits":
        debias(graph, parts["train"], Debias(epochs=3), 0).save(
            tmp_path / "debiased.npz"
        )
    made = (
        module,
        methods.settings(module, SHORT.get(module, {}) | settings),
        graph,
        parts,
        training,
        0,
    )
    result = fit(job.build(*made, tmp_path / "debiased.npz"))
    again = rebuild(*made, "model.npz", result.weights, tmp_path / "debiased.npz")
    again.model.eval()
    with torch.no_grad():
        output = again.postprocess(again.embed())
    np.testing.assert_allclose(output, result.reported[""].output, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("module", with_task("NodeClassification"), ids=name_of)
def test_it_trains_on_three_groups_or_says_why_not(module):
    if name_of(module) in FOR_TWO:
        title = FOR_TWO[name_of(module)]
        with pytest.raises(NotDefined, match=f"{title}.* for two sensitive groups"):
            make(module, three_groups())
        return
    method = make(module, three_groups())
    result = fit(method)
    scores = judged(method, three_groups(), result.reported[""].output)["test"]
    assert {f"accuracy_{group}" for group in range(3)} <= set(scores)
    assert (
        len(result.history) == NODE.epochs
        and np.isfinite([row["loss"] for row in result.history[1:]]).all()
    )


@pytest.mark.parametrize("module", with_task("LinkPrediction"), ids=name_of)
def test_links_among_three_groups_are_learned(module):
    method = make(module, three_groups(), LINK)
    output = fit(method).reported[LINK.protocol].output
    assert judged(method, three_groups(), output, LINK.protocol)["test"]["accuracy"] > 0


def test_adam_takes_pytorch_s_steps():
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
    assert torch.equal(*ends) and not torch.equal(ends[0], torch.ones(5, 3))
