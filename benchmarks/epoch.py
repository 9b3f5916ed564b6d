"""Time a network's training epochs in this process, and print what they take as JSON.

The network is two attention layers with ReLU and a linear layer, as users would write
them: `torch.optim.Adam`, the loss on 40 % of the nodes, the nodes in the file's order.
`turns.py` starts such a process for each measurement:

    python benchmarks/epoch.py FairGAT by-hand/data/graphs/recidivism.npz --threads 1 2
"""

import argparse
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

OURS = {  # arguments of FairGATConv; None: GATConv
    "GAT": None,
    "step 1": {"alpha_chi": 0.5, "spectral_norm": False, "eta": None},
    "step 3": {"alpha_chi": None},
    "FairGAT": {},
    "FairGAT, balanced shares": {"retention": 0.5},
}
PEERS = ("PyG", "PyG, compiled", "DGL")
DGL_FOLDER = Path(__file__).parent.parent / ".bench-peers"
MakeLayer = Callable[[int, int], nn.Module]
"""Makes a layer from the widths of its input and output."""


class Network(nn.Module):
    """Two attention layers and a linear one, which gives logits (N,)."""

    def __init__(self, layer: MakeLayer, features: int, hidden: int) -> None:
        super().__init__()
        self.conv1 = layer(features, hidden)
        self.conv2 = layer(hidden, hidden)
        self.linear = nn.Linear(hidden, 1)

    def forward(self, x: Tensor, *graph: Any) -> Tensor:
        h = self.conv1(x, *graph).relu()
        h = self.conv2(h, *graph).relu()
        return self.linear(h).squeeze(1)


def load(graph: str) -> dict[str, np.ndarray]:
    """Read the workflow's .npz file of a graph, or generate one.

    From `NODES,EDGES,FEATURES`, with about that many directed edges, both directions of
    each, between nodes of near numbers.
    """
    if graph.endswith(".npz"):
        return dict(np.load(graph))
    nodes, edges, features = map(int, graph.split(","))
    random = np.random.default_rng(0)
    source = random.integers(nodes, size=edges // 2)
    distance = random.geometric(1 / 1000, size=edges // 2)
    target = (source + distance) % nodes
    no_loop = source != target
    source, target = source[no_loop], target[no_loop]
    # Each edge is a number, so that none is there twice.
    there, back = source * nodes + target, target * nodes + source
    codes = np.unique(np.concatenate([there, back]))
    return {
        "features": random.standard_normal((nodes, features), dtype=np.float32),
        "labels": random.integers(2, size=nodes),
        "sensitive": random.integers(2, size=nodes),
        "edge_index": np.stack([codes // nodes, codes % nodes]),
    }


def layer_of(
    name: str, edge_index: Tensor, sensitive: Tensor
) -> tuple[MakeLayer, tuple, str]:
    """Find a network's layer, its arguments after x, and its library with the version.

    Raises:
        ImportError: the library is missing, or cannot be loaded beside this PyTorch.
    """
    if name in OURS:
        return our_layer(OURS[name], edge_index, sensitive)
    if name.startswith("PyG"):
        import torch_geometric
        from torch_geometric.nn import GATConv

        version = f"PyTorch Geometric {torch_geometric.__version__}"
        return GATConv, (edge_index,), version
    return dgl_layer(edge_index, len(sensitive))


def our_layer(
    options: dict[str, Any] | None, edge_index: Tensor, sensitive: Tensor
) -> tuple[MakeLayer, tuple, str]:
    """Find ours, with the options that OURS has."""
    import numba

    import fairgat
    from fairgat import nn as ours

    version = f"fairgat {fairgat.__version__}, Numba {numba.__version__}"
    if options is None:
        return ours.GATConv, (edge_index,), version
    if "retention" in options:
        shares = ours.balanced_shares(sensitive, edge_index, options["retention"])
        options = {"alpha_chi": shares}
    return partial(ours.FairGATConv, **options), (edge_index, sensitive), version


def dgl_layer(edge_index: Tensor, nodes: int) -> tuple[MakeLayer, tuple, str]:
    """Find DGL's, without its samplers.

    No layer needs them, and they need other versions of PyTorch and torchdata.
    """

    class Samplers(ModuleType):
        def __getattr__(self, name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {})

    # It would ask for it, and write into the user's home.
    os.environ["DGLBACKEND"] = "pytorch"
    sys.modules["dgl.graphbolt"] = Samplers("dgl.graphbolt")
    sys.path.append(str(DGL_FOLDER))
    import dgl
    from dgl.nn import GATConv

    class Layer(GATConv):
        def forward(self, x: Tensor, graph: Any) -> Tensor:
            h = super().forward(graph, x)  # (N, heads, out)
            return h.flatten(1)

    source, target = edge_index
    graph = dgl.graph((source, target), num_nodes=nodes)
    graph = dgl.add_self_loop(graph)
    return partial(Layer, num_heads=1), (graph,), f"DGL {dgl.__version__}"


def measure(
    network: str,
    graph: str,
    hidden: int,
    threads: list[int],
    seconds: float,
    fewest: int,
) -> dict:
    """Measure a training epoch.

    Args:
        network: a name in OURS or PEERS.
        graph: as `load` has it.
        hidden: width of both layers.
        threads: numbers of threads, one after the other.
        seconds: of epochs that count.
        fewest: epochs that count, and before them.

    Returns:
        `seconds` of an epoch by number of threads, the process's peak memory in GiB,
        the library's version and the graph's sizes.
    """
    torch.set_num_threads(threads[0])
    arrays = {}
    for name, value in load(graph).items():
        if value.ndim:
            arrays[name] = torch.from_numpy(value)
    x, labels = arrays["features"], arrays["labels"].float()
    edge_index = arrays["edge_index"]
    layer, arguments, version = layer_of(network, edge_index, arrays["sensitive"])

    taken = {}
    for count in threads:
        torch.set_num_threads(count)
        torch.manual_seed(0)
        if network == "DGL":
            sys.modules["dgl"].utils.set_num_threads(count)
        model = Network(layer, x.size(1), hidden)
        torch.compiler.reset()
        forward = torch.compile(model) if network.endswith("compiled") else model
        options = {"lr": 0.005, "weight_decay": 0.0005}
        optimizer = torch.optim.Adam(model.parameters(), **options)
        nodes = torch.randperm(len(x))[: int(0.4 * len(x))]
        inputs = (x, *arguments)
        epoch = partial(train, forward, optimizer, inputs, nodes, labels[nodes])
        taken[count] = median(epoch, seconds, fewest)

    sizes = {
        "nodes": len(x),
        "edges": edge_index.size(1),
        "features": x.size(1),
        "hidden": hidden,
    }
    return {
        "seconds": taken,
        "peak_gib": peak_gib(),
        "version": version,
        "graph": sizes,
    }


def peak_gib() -> float:
    """Say how much memory this process has had at most."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    units = 2**30 if sys.platform == "darwin" else 2**20  # a GiB in bytes, or in KiB
    return peak / units


def train(
    forward: Callable,
    optimizer: torch.optim.Optimizer,
    inputs: tuple,
    nodes: Tensor,
    labels: Tensor,
) -> None:
    """Take one epoch: forward, backward, and the optimiser's step.

    Args:
        inputs: x, and what the layers take after it.
        nodes: (n,) that the loss is of.
        labels: (n,) of these.
    """
    logits = forward(*inputs)[nodes]
    loss = nn.functional.binary_cross_entropy_with_logits(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def median(run: Callable[[], None], seconds: float, fewest: int) -> float:
    """Give the median seconds of the runs that fit into `seconds`, at least `fewest`.

    They come after `fewest` that do not count.
    """
    taken: list[float] = []
    while len(taken) < 2 * fewest or sum(taken[fewest:]) < seconds:
        started = time.perf_counter()
        run()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken[fewest:])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("network", choices=[*OURS, *PEERS])
    parser.add_argument(
        "graph", help="a .npz file, or NODES,EDGES,FEATURES of one that is generated"
    )
    parser.add_argument(
        "--hidden", type=int, default=128, help="width of both layers (default: 128)"
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="of epochs that count (default: 1)"
    )
    parser.add_argument(
        "--fewest",
        type=int,
        default=3,
        help="epochs that count, and before them (default: 3)",
    )
    given = parser.parse_args()
    print(json.dumps(measure(**vars(given))))
