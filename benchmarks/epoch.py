"""Time a network's training epochs in this process, and print what they take as JSON.

The network is two attention layers with ReLU and a linear layer, as users would write them: `torch.optim.Adam`, the
loss on 40 % of the nodes, the nodes in the file's order. `turns.py` starts such a process for each measurement:

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


class Network(nn.Module):
    """Logits (N,) of two attention layers and a linear one; `layer` makes one from its input and output width."""

    def __init__(
        self, layer: Callable[[int, int], nn.Module], features: int, hidden: int
    ) -> None:
        super().__init__()
        self.conv1 = layer(features, hidden)
        self.conv2 = layer(hidden, hidden)
        self.linear = nn.Linear(hidden, 1)

    def forward(self, x: Tensor, *graph: Any) -> Tensor:
        h = self.conv1(x, *graph).relu()
        h = self.conv2(h, *graph).relu()
        return self.linear(h).squeeze(1)


def load(graph: str) -> dict[str, np.ndarray]:
    """Read the workflow's .npz file of a graph, or generate one from `NODES,EDGES,FEATURES`.

    The generated graph has about that many directed edges, both directions of each, between nodes of near numbers.
    """
    if graph.endswith(".npz"):
        return dict(np.load(graph))
    nodes, edges, features = map(int, graph.split(","))
    rng = np.random.default_rng(0)
    source = rng.integers(nodes, size=edges // 2)
    target = (source + rng.geometric(1 / 1000, size=edges // 2)) % nodes
    source, target = source[source != target], target[source != target]
    codes = np.unique(
        np.concatenate([source * nodes + target, target * nodes + source])
    )
    return {
        "features": rng.standard_normal((nodes, features), dtype=np.float32),
        "labels": rng.integers(2, size=nodes),
        "sensitive": rng.integers(2, size=nodes),
        "edge_index": np.stack([codes // nodes, codes % nodes]),
    }


def layer_of(
    name: str, edge_index: Tensor, sensitive: Tensor
) -> tuple[Callable[[int, int], nn.Module], tuple, str]:
    """A network's layer, its arguments after x, and its library with the version.

    Raises:
        ImportError: the library is missing, or cannot be loaded beside this PyTorch.
    """
    if name in OURS:
        import numba

        import fairgat
        from fairgat import nn as ours

        version, options = (
            f"fairgat {fairgat.__version__}, Numba {numba.__version__}",
            OURS[name],
        )
        if options is None:
            return ours.GATConv, (edge_index,), version
        if retention := options.get("retention"):
            options = {
                "alpha_chi": ours.balanced_shares(sensitive, edge_index, retention)
            }
        return partial(ours.FairGATConv, **options), (edge_index, sensitive), version
    if name.startswith("PyG"):
        import torch_geometric
        from torch_geometric.nn import GATConv

        return (
            GATConv,
            (edge_index,),
            f"PyTorch Geometric {torch_geometric.__version__}",
        )
    return dgl_layer(edge_index, len(sensitive))


def dgl_layer(
    edge_index: Tensor, nodes: int
) -> tuple[Callable[[int, int], nn.Module], tuple, str]:
    """DGL's, without its samplers, which no layer needs, but which need other versions of PyTorch and torchdata."""

    class Samplers(ModuleType):
        def __getattr__(self, name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {})

    os.environ["DGLBACKEND"] = (
        "pytorch"  # it would ask for it, and write into the user's home
    )
    sys.modules["dgl.graphbolt"] = Samplers("dgl.graphbolt")
    sys.path.append(str(DGL_FOLDER))
    import dgl
    from dgl.nn import GATConv

    class Layer(GATConv):
        def forward(self, x: Tensor, graph: Any) -> Tensor:
            return super().forward(graph, x).flatten(1)  # (N, heads, out) otherwise

    graph = dgl.add_self_loop(
        dgl.graph((edge_index[0], edge_index[1]), num_nodes=nodes)
    )
    return partial(Layer, num_heads=1), (graph,), f"DGL {dgl.__version__}"


def measure(
    network: str,
    graph: str,
    hidden: int,
    threads: list[int],
    seconds: float,
    fewest: int,
) -> dict:
    """Seconds of a training epoch for each number of threads, and the process's peak memory in GiB."""
    torch.set_num_threads(threads[0])
    arrays = {
        key: torch.from_numpy(value) for key, value in load(graph).items() if value.ndim
    }
    x, labels = arrays["features"], arrays["labels"].float()
    layer, arguments, version = layer_of(
        network, arrays["edge_index"], arrays["sensitive"]
    )
    taken = {}
    for count in threads:
        torch.set_num_threads(count)
        torch.manual_seed(0)
        if network == "DGL":
            sys.modules["dgl"].utils.set_num_threads(count)
        model = Network(layer, x.size(1), hidden)
        torch.compiler.reset()
        forward = torch.compile(model) if network.endswith("compiled") else model
        epoch = partial(
            train,
            forward,
            torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=0.0005),
        )
        loss_on = torch.randperm(len(x))[: int(0.4 * len(x))]
        taken[count] = median(
            partial(epoch, (x, *arguments), loss_on, labels[loss_on]), seconds, fewest
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        2**30 if sys.platform == "darwin" else 2**20
    )
    edges = arrays["edge_index"].size(1)
    sizes = {"nodes": len(x), "edges": edges, "features": x.size(1), "hidden": hidden}
    return {"seconds": taken, "peak_gib": peak, "version": version, "graph": sizes}


def train(
    forward: Callable,
    optimizer: torch.optim.Optimizer,
    inputs: tuple,
    nodes: Tensor,
    labels: Tensor,
) -> None:
    """Take one epoch: forward, backward, and the optimiser's step."""
    loss = nn.functional.binary_cross_entropy_with_logits(
        forward(*inputs)[nodes], labels
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def median(run: Callable[[], None], seconds: float, fewest: int) -> float:
    """Median seconds of the runs that fit into `seconds`, at least `fewest`, after `fewest` that do not count."""
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
