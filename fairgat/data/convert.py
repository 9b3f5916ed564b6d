"""Convert graphs to PyTorch Geometric's and NetworkX's, which are imported only when needed.

The other way, graphs in their files are data sets: see `source: pyg` and `source: networkx`.
"""

from typing import TYPE_CHECKING

from fairgat.data.graph import Graph

if TYPE_CHECKING:
    import networkx
    from torch_geometric.data import Data


def to_pyg(graph: Graph) -> "Data":
    """Make a `Data` with `x` (N, F) float, `y` (N,), `sensitive` (N,) and `edge_index` (2, E), all copies."""
    import torch
    from torch_geometric.data import Data

    return Data(
        x=torch.tensor(graph.features),
        y=torch.tensor(graph.labels),
        sensitive=torch.tensor(graph.sensitive),
        edge_index=torch.tensor(graph.edge_index),
    )


def to_networkx(graph: Graph) -> "networkx.Graph":
    """Make an undirected graph of nodes 0 .. N-1 with node attributes `features` (a list), `label` and `sensitive`."""
    import networkx

    result = networkx.Graph()
    columns = zip(graph.features.tolist(), graph.labels.tolist(), graph.sensitive.tolist(), strict=True)
    for node, (features, label, sensitive) in enumerate(columns):
        result.add_node(node, features=features, label=label, sensitive=sensitive)
    result.add_edges_from(graph.edge_index.T.tolist())
    return result
