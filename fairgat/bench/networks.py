"""The networks that are timed: two attention layers of equal width and a linear layer, ours and PyTorch Geometric's."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from fairgat.data.graph import Graph, alpha_chi
from fairgat.nn import CSRGraph, FairGATConv, GATConv, NodeClassifier

OURS = ("GAT", "FairGAT")
PEERS = ("PyG GAT, eager", "PyG GAT, torch.compile")


def use_threads(name: str, threads: int) -> None:
    """Let the process use so many threads."""
    torch.set_num_threads(threads)


def epoch(name: str, graph: Graph, hidden: int, seed: int = 0) -> Callable[[], float]:
    """A function that trains the named network for one epoch (forward, backward, Adam) and returns the loss.

    Args:
        name: one of `OURS` or `PEERS`.
        graph: what to train on; 40 % of the nodes carry the loss.
        hidden: width of both layers.

    Raises:
        ImportError: torch_geometric is needed and not installed.
    """
    torch.manual_seed(seed)
    features = torch.from_numpy(graph.features)
    labels = torch.from_numpy(graph.labels).float()
    train = torch.randperm(graph.num_nodes)[: int(0.4 * graph.num_nodes)]
    model, edges = _network(name, graph, hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=0.0005)

    def run() -> float:
        logits = model(features, edges)
        known, right = logits.index_select(0, train), labels.index_select(0, train)
        loss = nn.functional.binary_cross_entropy_with_logits(known, right)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return run


def _network(name: str, graph: Graph, hidden: int) -> tuple[nn.Module, Tensor | CSRGraph]:
    edge_index = torch.from_numpy(graph.edge_index)
    if name == "GAT":
        return NodeClassifier(GATConv, graph.num_features, hidden), CSRGraph.from_edge_index(
            edge_index, graph.num_nodes
        )
    if name == "FairGAT":  # all three steps
        layer = partial(FairGATConv, alpha_chi=alpha_chi(graph.r_chi(), 0.75), eta=1.0)
        sensitive = torch.from_numpy(graph.sensitive)
        csr = CSRGraph.from_edge_index(edge_index, graph.num_nodes, sensitive)
        return NodeClassifier(layer, graph.num_features, hidden, spectral_norm=True, eta=1.0), csr
    from torch_geometric.nn import GATConv as PyGConv

    model: nn.Module = NodeClassifier(PyGConv, graph.num_features, hidden)
    if name == "PyG GAT, torch.compile":
        model = torch.compile(model)
    return model, edge_index
