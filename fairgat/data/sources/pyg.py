"""Your own data set, from a torch_geometric `Data` saved with `torch.save(data, "my.pt")`.

my-network:
  task: node_classification
  source: pyg
  options: {path: my/graph.pt, sensitive: group, label: y}
"""

from pathlib import Path
from typing import Any

import numpy as np

from fairgat.data import own
from fairgat.data.edges import Edges, joined
from fairgat.data.graph import Graph
from fairgat.data.roles import AtPath, Roles, Texts
from fairgat.data.source import File, Scaling
from fairgat.data.sources.tables import asked
from fairgat.data.table import Table
from fairgat.errors import DataError


class Options(Roles):
    """`x` are the features; attributes with a value for each node that options name are columns beside it."""

    path: AtPath
    """The saved `Data`: its path, or {file: PATH, weight: edge_weight, exclude: [edge_attr]}."""
    sensitive: Texts = ("sensitive",)
    """Its attribute with the sensitive group of each node, or several: the combinations are the groups."""
    scaling: Scaling = "none"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    return [asked(name, "data", options.path)]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph, nodes in their order; an edge is undirected whether one direction is stored or both."""
    import pandas as pd

    where = options.path.where
    data = _data(folder / files(name, options)[0].basename, where)
    if "x" not in data and data.num_nodes is None:
        raise DataError(
            f"{where}: the Data has neither 'x' nor 'num_nodes', which say how many nodes there are"
        )
    x = _array(data, "x", where) if "x" in data else np.zeros((data.num_nodes, 0))
    if x.ndim != 2 or x.dtype.kind not in "fiub":
        raise DataError(
            f"{where}: features must be an (N, F) matrix; the Data's 'x' has shape {x.shape} of {x.dtype}"
        )
    columns = {
        key: _column(data, key, len(x), where)
        for key, role in options.roles().items()
        if role != "exclude"
    }
    nodes = Table(pd.DataFrame(columns), where, "node {}")
    return own.assemble(options, nodes, _edges(data, options, len(x)), x)


def _edges(data: Any, options: Options, count: int) -> Edges:
    import pandas as pd

    where, edges = options.path.where, _array(data, "edge_index", options.path.where)
    if (
        edges.ndim != 2
        or len(edges) != 2
        or (edges.size and edges.dtype.kind not in "iu")
    ):
        raise DataError(
            f"{where}: 'edge_index' must be (2, E) whole numbers, got {edges.dtype} of shape {edges.shape}"
        )
    frame = pd.DataFrame(edges.T, columns=["source", "target"])
    given = {"edge_weight", "edge_attr"}.intersection(data.keys()) | {
        *filter(None, [options.path.weight])
    }
    for name in sorted(given - {*options.path.exclude}):
        frame[name] = (
            _column(data, name, len(frame), where) if name == options.path.weight else 0
        )  # has no role
    listed, path = (
        Table(frame, where, "edge {}"),
        options.path.model_copy(update={"exclude": ()}),
    )
    return joined(
        options,
        listed,
        ("source", "target"),
        path,
        lambda ends: ends.where(ends.between(0, count - 1), -1),
    )


def _column(data: Any, name: str, count: int, where: str) -> np.ndarray:
    """Take an attribute with a number for each node or edge; whole numbers, as they often are in float32, as such."""
    values = _array(data, name, where)
    values = values.reshape(-1) if values.shape == (count, 1) else values
    if values.shape != (count,):
        raise DataError(
            f"{where}: the Data's {name!r} must be {count} numbers, got shape {values.shape}"
        )
    if values.dtype.kind != "f":
        return values
    there = ~np.isnan(values)
    if (
        not there.any()
        or not np.isfinite(values[there]).all()
        or (values[there] % 1).any()
    ):
        return values
    whole = np.full(
        count, None, dtype=object
    )  # a missing one stays missing, and the others whole
    whole[there] = values[there].astype(np.int64)
    return whole.astype(np.int64) if there.all() else whole


def _array(data: Any, name: str, where: str) -> np.ndarray:
    value = data.get(name)
    if value is None:
        raise DataError(
            f"{where}: the Data has no {name!r}; it has {', '.join(sorted(data.keys()))}"
        )
    try:
        return value.detach().cpu().numpy()
    except (AttributeError, TypeError):  # a list; a sparse tensor; bfloat16
        raise DataError(
            f"{where}: the Data's {name!r} must be a dense tensor of a type that NumPy has: try torch.tensor(...), "
            ".to_dense() or .float()"
        ) from None


def _data(path: Path, where: str) -> Any:
    """Read the saved `Data` with PyTorch's unpickler for tensors, which runs no code from the file."""
    try:
        from torch_geometric.data import Data
        from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
        from torch_geometric.data.storage import GlobalStorage
    except ImportError:
        raise DataError(
            f"{where}: reading it needs PyTorch Geometric: pip install torch_geometric"
        ) from None
    import torch

    try:
        with torch.serialization.safe_globals(
            [Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]
        ):
            data = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # what unpicklers, zipfile and the system raise
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{where} was not read as a Data of tensors: {first} Data(**data.to_dict()) makes one of a Data, "
            "torch.from_numpy a tensor of an array"
        ) from None
    if not isinstance(data, Data):
        raise DataError(
            f"{where} must hold a torch_geometric.data.Data, got {type(data).__name__}"
        )
    return data
