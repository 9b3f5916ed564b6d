"""Training on a GPU, where there is one: every method, to the scores of the CPU."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from dense import LINK, NODE, judged, make, small_graph

from fairgat import methods
from fairgat.data.splits import HELD_OUT
from fairgat.files import read_json
from fairgat.nn import CSRGraph, FairGATConv
from fairgat.plan import method_modules
from fairgat.tasks import device
from fairgat.training.loop import fit
from tests.workflow.conftest import ROOT

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="PyTorch sees no GPU"
)
NEED_MORE = {"edits": "a debiased graph"}
TASKS = {"NodeClassification": NODE, "LinkPrediction": LINK}
TRAINED = [
    (name, cls)
    for name in method_modules()
    for cls in TASKS
    if hasattr(methods.module(name), cls) and name not in NEED_MORE
]


@pytest.fixture
def on_gpu():
    device.use("cuda")
    yield
    torch.set_default_device(None)


@pytest.mark.parametrize(("name", "cls"), TRAINED)
def test_every_method_trains(on_gpu, name, cls):
    graph = small_graph(nodes=300, edges=1500)
    training = TASKS[cls].model_copy(update={"epochs": 40, "hidden": 16})
    method = make(name, graph, training)
    assert all(parameter.is_cuda for parameter in method.model.parameters())

    result = fit(method)

    losses = [row["loss"] for row in result.history[1:]]
    assert np.isfinite(losses).all()
    for protocol, kept in result.reported.items():
        scores = judged(method, graph, kept.output, protocol)
        for part in HELD_OUT:
            assert 0.3 < scores[part]["accuracy"] <= 1


@pytest.mark.parametrize("name", ["gat", "fairgat", "mlp"])
def test_a_step_is_that_of_the_cpu(name):
    """From the same weights, the same output and loss; also by CUDA graphs."""
    graph = small_graph(nodes=300, edges=1500)
    here = make(name, graph)
    device.use("cuda")
    try:
        there = make(name, graph)
        weights = here.model.state_dict()
        there.load({name: value.cuda() for name, value in weights.items()})
        for _ in range(3):
            expected, found = here.forward(), there.forward()
            torch.testing.assert_close(found.cpu(), expected, rtol=1e-3, atol=1e-4)
            loss = here.update(expected)["loss"]
            assert there.update(found)["loss"] == pytest.approx(loss, abs=1e-3)
        assert ("_replayed" in vars(there)) == (name != "mlp")
    finally:
        torch.set_default_device(None)


def test_the_demo(tmp_path):
    """Everything, with its times and the theory; scores are near the CPU's."""
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        "8",
        "--configfile",
        "configs/demo.yaml",
    ]
    settings = ["--config", f"results_dir={tmp_path}", "training={'device': 'cuda'}"]
    run = subprocess.run(
        [*command, *settings], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-5000:]
    record = read_json(next(tmp_path.glob("runs/**/run.json")))
    assert record["runtime"]["device"] == torch.cuda.get_device_name()
    assert record["experiment"]["device"] == "cuda"
    assert (tmp_path / "tables/comparison.md").exists()


def test_a_recorded_pass_is_replayed_on_other_features():
    """Nothing that was kept of the first features is in the recording."""
    torch.manual_seed(0)
    edge_index = torch.randint(100, (2, 400)).cuda()
    groups = torch.randint(2, (100,)).cuda()
    graph = CSRGraph.from_edge_index(edge_index, 100, groups)
    layer, x = FairGATConv(8, 16).cuda(), torch.randn(100, 8).cuda()
    recorded = torch.cuda.CUDAGraph()
    with torch.no_grad():
        layer(x, graph)
        with torch.cuda.graph(recorded):
            out = layer(x, graph)
        x.copy_(4 * torch.randn(100, 8).cuda())
        recorded.replay()
        torch.testing.assert_close(out, layer(x.clone(), graph))
