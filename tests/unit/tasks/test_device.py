"""The device of a job, by PyTorch's `meta`, which has no memory, in place of a GPU."""

import pytest
import torch
from dense import make, small_graph

from fairgat.errors import ConfigError
from fairgat.tasks import device


def test_a_gpu_that_is_not_there_is_refused_and_auto_takes_the_cpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match=r"training\.device: cuda is asked for"):
        device.use("cuda")
    assert device.use("auto") == device.use("cpu") == "cpu"
    assert torch.get_default_device().type == "cpu"


def test_the_default_device_is_changed_where_there_is_a_gpu(monkeypatch):
    chosen = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a card")
    monkeypatch.setattr(torch, "set_default_device", chosen.append)
    assert [device.use(name) for name in ("cpu", "auto", "cuda")] == [
        "cpu",
        "a card",
        "a card",
    ]
    assert chosen == ["cuda", "cuda"]


def test_a_clock_waits_for_a_gpu_alone(monkeypatch):
    waited = []
    for name in ("cpu", "cuda"):
        monkeypatch.setattr(
            torch, "get_default_device", lambda name=name: torch.device(name)
        )
        monkeypatch.setattr(
            torch.cuda, "synchronize", lambda name=name: waited.append(name)
        )
        device.wait()
    assert waited == ["cuda"]


def test_a_tasks_tensors_and_the_network_are_on_the_device():
    task = make("gat", small_graph()).task
    split = {"train": range(10), "validation": range(10, 20)}
    with torch.device("meta"):
        there = type(task)(small_graph(), split, task.training)
        tensors = [there.features, there.sensitive, there.edge_index]
        network = there.network(torch.nn.Linear)
    for each in (*tensors, *network.parameters()):
        assert each.device.type == "meta"
    assert task.features.device.type == "cpu"
    assert task.features.data_ptr() == task.graph.features.ctypes.data
