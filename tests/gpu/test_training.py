"""Training on a GPU: `pytest tests/gpu` where there is one. Every method trains there, to the scores of the CPU."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from dense import LINK, NODE, judged, make, small_graph

from fairgat import methods
from fairgat.data.splits import HELD_OUT
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
    method = make(
        name, graph, TASKS[cls].model_copy(update={"epochs": 40, "hidden": 16})
    )
    assert all(parameter.is_cuda for parameter in method.model.parameters())
    result = fit(method)
    assert np.isfinite([row["loss"] for row in result.history[1:]]).all()
    for protocol, kept in result.reported.items():
        scores = judged(method, graph, kept.output, protocol)
        assert all(0.3 < scores[part]["accuracy"] <= 1 for part in HELD_OUT)


@pytest.mark.parametrize("name", ["gat", "fairgat", "mlp"])
def test_a_step_is_that_of_the_cpu(name):
    """From the same weights, the same output and the same loss, where the network's passes are CUDA graphs, too."""
    graph = small_graph(nodes=300, edges=1500)
    here = make(name, graph)
    device.use("cuda")
    try:
        there = make(name, graph)
        there.load(
            {key: value.cuda() for key, value in here.model.state_dict().items()}
        )
        for _ in range(3):
            outputs = here.forward(), there.forward()
            torch.testing.assert_close(
                outputs[0], outputs[1].cpu(), rtol=1e-3, atol=1e-4
            )
            losses = [
                method.update(output)["loss"]
                for method, output in zip((here, there), outputs, strict=True)
            ]
            assert losses[0] == pytest.approx(losses[1], abs=1e-3)
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
    record = json.loads(next(tmp_path.glob("runs/**/run.json")).read_text())
    assert (
        record["runtime"]["device"] == torch.cuda.get_device_name()
        and record["experiment"]["device"] == "cuda"
    )
    assert (tmp_path / "tables/comparison.md").exists()


def test_a_recorded_pass_is_replayed_on_other_features():
    """Nothing that was kept of the first features, such as their covariance, is in the recording."""
    torch.manual_seed(0)
    edge_index, groups = (
        torch.randint(100, (2, 400)).cuda(),
        torch.randint(2, (100,)).cuda(),
    )
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
