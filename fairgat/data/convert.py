"""Convert graphs to and from PyTorch Geometric and NetworkX, which are imported only when needed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgat.data.graph import Graph, symmetrise
from fairgat.errors import DataError

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


def from_pyg(data: "Data", sensitive: str = "sensitive", label: str = "y") -> Graph:
    """Make a graph from a `Data`; edges are symmetrised, self-loops and duplicates dropped.

    Args:
        sensitive: attribute with the (N,) sensitive groups.
        label: attribute with the (N,) labels.

    Raises:
        DataError: an attribute is missing, is not a tensor or has the wrong shape.
    """
    x, edges, columns = arrays(data, [label, sensitive])
    graph = Graph(
        features=np.array(x, dtype=np.float32),
        labels=columns[label],
        sensitive=columns[sensitive],
        edge_index=symmetrise(edges, len(x)),
    )
    graph.check()
    return graph


def arrays(data: "Data", names: Sequence[str]) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Take features (N, F), edges (2, E) and (N,) whole numbers out of a `Data`; without `x`, F is 0.

    Args:
        names: of the attributes of whole numbers.

    Raises:
        DataError: an attribute is missing, is not a dense tensor or has the wrong shape; it says what to do.
    """
    taken = {}
    for name, shape in (("x", "(N, F)"), ("edge_index", "(2, E)"), *((name, "(N,)") for name in names)):
        value = data.get(name)
        if value is None and name == "x":
            taken[name] = np.zeros((data.num_nodes, 0))
            continue
        if value is None:
            raise DataError(f"the Data has no {name!r}; it needs one of shape {shape}")
        try:
            taken[name] = value.detach().cpu().numpy()
        except (AttributeError, TypeError):  # a list; a sparse tensor; bfloat16, which NumPy lacks
            kind, advice = type(value).__name__, "torch.tensor(...) makes one"
            if hasattr(value, "layout"):
                dense = str(value.layout) == "torch.strided"
                kind, advice = str(value.dtype if dense else value.layout), ".float()" if dense else ".to_dense()"
                advice += " helps"
            raise DataError(
                f"the Data's {name!r} must be a dense tensor of shape {shape}, got a {kind}: {advice}"
            ) from None
    x, edges = taken.pop("x"), taken.pop("edge_index")
    if x.ndim != 2 or x.dtype.kind not in "fiub" or not np.isfinite(x).all():
        raise DataError(f"features must be a finite (N, F) matrix; the Data's 'x' has shape {x.shape} of {x.dtype}")
    if edges.ndim != 2 or len(edges) != 2:
        raise DataError(f"the Data's 'edge_index' must have shape (2, E), got {edges.shape}")
    edges = _whole(edges, "the Data's 'edge_index' must be whole numbers, the nodes that each edge joins")
    if edges.size and (edges.min() < 0 or edges.max() >= len(x)):
        raise DataError(f"an edge of the Data's 'edge_index' names a node outside 0 .. {len(x) - 1}")
    for name, values in taken.items():
        error = f"the Data's {name!r} must be {len(x)} whole numbers, got {values.dtype} of shape {values.shape}"
        taken[name] = _whole(values, error)
        if values.shape != (len(x),):
            raise DataError(error)
    return x, edges, taken


def to_networkx(graph: Graph) -> "networkx.Graph":
    """Make an undirected graph of nodes 0 .. N-1 with node attributes `features` (a list), `label` and `sensitive`."""
    import networkx

    result = networkx.Graph()
    columns = zip(graph.features.tolist(), graph.labels.tolist(), graph.sensitive.tolist(), strict=True)
    for node, (features, label, sensitive) in enumerate(columns):
        result.add_node(node, features=features, label=label, sensitive=sensitive)
    result.add_edges_from(graph.edge_index.T.tolist())
    return result


def from_networkx(graph: "networkx.Graph", sensitive: str = "sensitive", label: str = "label") -> Graph:
    """Make a graph from a NetworkX graph whose nodes have `features` (equally many numbers), a label and a group.

    Nodes are numbered in NetworkX's order, whatever their names; directions and self-loops are dropped.

    Raises:
        DataError: a node lacks an attribute, features differ in length, or a label or group is not a whole number.
    """
    number = {node: index for index, node in enumerate(graph)}
    columns = {}
    for name in ("features", label, sensitive):
        for node, attributes in graph.nodes(data=True):
            if name not in attributes:
                raise DataError(f"node {node!r} has no {name!r}")
        columns[name] = [attributes[name] for _, attributes in graph.nodes(data=True)]
    try:
        features = np.array(columns["features"], dtype=np.float32)
    except ValueError:
        raise DataError("the nodes' 'features' must be numbers, equally many for each node") from None
    pairs = np.array([(number[u], number[v]) for u, v in graph.edges()], dtype=np.int64).reshape(-1, 2)
    result = Graph(
        features=features.reshape(len(number), -1),
        labels=_whole(columns[label], f"the nodes' {label!r} must be whole numbers"),
        sensitive=_whole(columns[sensitive], f"the nodes' {sensitive!r} must be whole numbers"),
        edge_index=symmetrise(pairs.T, len(number)),
    )
    result.check()
    return result


def _whole(values: Any, error: str) -> np.ndarray:
    """Convert to (N,) int64; a DataError, `error`, where a value is not a whole number."""
    try:
        numbers = np.asarray(values)
        with np.errstate(invalid="ignore"):
            whole = numbers.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(error) from None
    if numbers.dtype.kind == "f" and (whole != numbers).any():
        raise DataError(error)
    return whole
