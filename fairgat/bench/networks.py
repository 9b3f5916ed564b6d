"""Train two attention layers with ReLU and a linear layer, as users would write them.

The layers are bare, the optimiser is `torch.optim.Adam`, the nodes keep the file's order, and the environment sets
nothing.
"""

import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numba
import torch
from torch import Tensor, nn

from fairgat.data.graph import Graph

GAT, FAIRGAT, PYG, DGL = "GAT", "FairGAT", "PyG GATConv, eager", "DGL GATConv"
OURS, PEERS = (GAT, FAIRGAT), (PYG, DGL)
PEERS_FOLDER = ".bench-peers"  # where `make bench` installs DGL, a peer that nothing else needs


class Network(nn.Module):
    """Logits of a stack of two attention layers; `layer` makes one from its input and output width."""

    def __init__(self, layer: Callable[[int, int], nn.Module], features: int, hidden: int) -> None:
        super().__init__()
        self.conv1 = layer(features, hidden)
        self.conv2 = layer(hidden, hidden)
        self.linear = nn.Linear(hidden, 1)

    def forward(self, x: Tensor, *graph: Any) -> Tensor:
        """(N,) logits of features x (N, F); `graph` holds a layer's other arguments."""
        h = self.conv1(x, *graph).relu()
        h = self.conv2(h, *graph).relu()
        return self.linear(h).squeeze(1)


class Training:
    """A network in training on one graph; 40 % of the nodes carry the loss.

    Args:
        name: one of `OURS` or `PEERS`.
        make_graph: loads or generates the graph.
        hidden: width of both layers.
        threads: CPU threads.

    Raises:
        ImportError: the peer is not installed.
    """

    def __init__(self, name: str, make_graph: Callable[[], Graph], hidden: int, threads: int) -> None:
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        graph = make_graph()
        self.edges = graph.num_edges
        self.features = torch.from_numpy(graph.features)
        self.labels = torch.from_numpy(graph.labels).float()
        self.train = torch.randperm(graph.num_nodes)[: int(0.4 * graph.num_nodes)]
        layer, self.graph, self.version = _layer(name, graph, threads)
        self.model = Network(layer, graph.num_features, hidden)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.005, weight_decay=0.0005)
        self.before_gib = _peak_gib()

    def epoch(self, seconds: float) -> float:
        """Time a training epoch (forward, backward, Adam); see `_median` for the argument."""
        return _median(self._epoch, tuple, seconds)

    def forward(self, seconds: float, new: bool) -> float:
        """Time a forward pass; with mini-batches every call has a `new` edge_index."""
        edge_index, *rest = self.graph

        def graph() -> tuple[Any, ...]:
            return (edge_index.clone() if new else edge_index, *rest)

        with torch.no_grad():
            return _median(partial(self.model, self.features), graph, seconds)

    def facts(self) -> dict[str, Any]:
        """Say what was timed, the process's peak memory, and how much of it came with the epochs."""
        peak = _peak_gib()
        return {
            "edges": self.edges,
            "threads_used": torch.get_num_threads(),
            "version": self.version,
            "peak_gib": peak,
            "memory_gib": peak - self.before_gib,
        }

    def _epoch(self) -> None:
        logits = self.model(self.features, *self.graph)
        loss = nn.functional.binary_cross_entropy_with_logits(logits[self.train], self.labels[self.train])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def _layer(name: str, graph: Graph, threads: int) -> tuple[Callable[[int, int], nn.Module], tuple[Any, ...], str]:
    edge_index, ours = torch.from_numpy(graph.edge_index), f"Numba {numba.__version__}"
    if name in OURS:  # imported for them alone: it changes how its process keeps memory
        from fairgat.nn import FairGATConv, GATConv

        if name == GAT:
            return GATConv, (edge_index,), ours
        return partial(FairGATConv, alpha_chi=0.5, eta=1.0), (edge_index, torch.from_numpy(graph.sensitive)), ours
    if name == PYG:
        import torch_geometric
        from torch_geometric.nn import GATConv as PyGConv

        return PyGConv, (edge_index,), f"PyTorch Geometric {torch_geometric.__version__}"
    return _dgl_layer(edge_index, graph.num_nodes, threads)


def _dgl_layer(edge_index: Tensor, nodes: int, threads: int) -> tuple[Callable[[int, int], nn.Module], tuple, str]:
    os.environ["DGLBACKEND"] = "pytorch"  # it would ask for it, and write into the user's home
    sys.path.append(PEERS_FOLDER)
    import dgl
    from dgl.nn import GATConv as DGLConv

    dgl.utils.set_num_threads(threads)

    class Layer(DGLConv):
        def forward(self, x: Tensor, graph: Any) -> Tensor:
            return super().forward(graph, x).flatten(1)  # (N, heads, out) otherwise

    graph = dgl.add_self_loop(dgl.graph((edge_index[0], edge_index[1]), num_nodes=nodes))
    return partial(Layer, num_heads=1), (graph,), f"DGL {dgl.__version__}"


def _median(run: Callable[..., Any], arguments: Callable[[], tuple], seconds: float) -> float:
    """Median time of `run(*arguments())`, which runs as often as fits into `seconds`, and at least once.

    A first time does not count: in training, too, a pass follows one of its own, whose arrays the caches hold.
    """
    taken: list[float] = []
    run(*arguments())
    while not taken or sum(taken) < seconds:
        given = arguments()
        started = time.perf_counter()
        run(*given)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def _peak_gib() -> float:
    try:
        kib = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
    except (OSError, IndexError):  # no Linux, where getrusage begins with the peak of the parent process
        kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return kib / 2**20
