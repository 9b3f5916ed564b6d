"""Your own data set, from a torch_geometric `Data` saved with `torch.save`.

my-network:
  task: node_classification
  source: pyg
  options: {path: my/graph.pt, sensitive: group, label: y}
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fairgat.data import own
from fairgat.data.edges import Edges, Find, joined, none_of
from fairgat.data.graph import Graph
from fairgat.data.roles import AtPath, Roles, Texts
from fairgat.data.source import File, Scaling
from fairgat.data.sources.tables import asked
from fairgat.data.table import Table, noting, told
from fairgat.errors import DataError

_ENDS = ("source", "target")
_OTHER_ENDS = ("edge_index[0]", "edge_index[1]")
"""Where an attribute of the edges is called as an end."""
_LARGEST_WHOLE = 2.0**53  # beyond it float64 leaves whole numbers out


class Options(Roles):
    """`x` are the features, which options call x[0], x[1] and so on.

    Where `features` names some of these, only they are. Attributes of nodes that
    options name are more columns.
    """

    path: AtPath
    """The saved `Data`: its path, or {file: PATH, link_if: edge_weight, exclude:
    [edge_attr]}."""
    sensitive: Texts = ("sensitive",)
    """Its attribute with the group of each node, or several: their combinations."""
    scaling: Scaling = "none"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    return [asked(name, "data", options.path)]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph, nodes in their order, edges without a direction."""
    import pandas as pd

    where = options.path.where
    data = _data(folder / files(name, options)[0].basename, where)
    x = _features(data, where)
    wrong: list[str] = []
    columns = {f"x[{place}]": values for place, values in enumerate(x.T)}
    roles = options.roles()
    of_x = [name for name in columns if roles.get(name, "features") == "features"]
    for key in roles:
        with noting(wrong):
            values = columns.get(key)
            if values is None:
                values = _column(data, key, len(x), where)
            columns[key] = _whole(values)
    edges = _edges(data, options, len(x))
    if wrong:
        raise told([*wrong, *edges.wrong])

    nodes = Table(pd.DataFrame(columns, range(len(x))), where, "node {}")
    asked_for = options.features or ()
    x_is = "features"
    some_of_x = [name for name in of_x if name in asked_for]
    if some_of_x:
        of_x = some_of_x
        x_is = f"features: {', '.join(of_x)}"
    features = tuple(dict.fromkeys([*of_x, *asked_for]))
    graph = own.assemble(
        options.model_copy(update={"features": features}), nodes, edges
    )
    said = graph.facts["columns"]
    others = [name for name in said if name in roles and name not in of_x]
    named = {name: said[name] for name in others}
    return replace(graph, facts={**graph.facts, "columns": {"x": x_is, **named}})


def _features(data: Any, where: str) -> np.ndarray:
    """Take the (N, F) features, of which there may be none."""
    if "x" not in data and data.num_nodes is None:
        raise DataError(
            f"{where}: the Data has neither 'x' nor 'num_nodes', which say how many "
            "nodes there are"
        )
    if "x" not in data:
        return np.zeros((data.num_nodes, 0))
    x = _array(data, "x", where)
    if x.ndim != 2 or x.dtype.kind not in "fiub":
        raise DataError(
            f"{where}: features must be an (N, F) matrix; the Data's 'x' has shape "
            f"{x.shape} of {x.dtype}"
        )
    return x


def _edges(data: Any, options: Options, count: int) -> Edges:
    """Take the edges, and whatever else PyTorch Geometric takes for theirs."""
    import pandas as pd

    where = options.path.where
    wrong: list[str] = []
    with noting(wrong):
        edges = _array(data, "edge_index", where)
        whole = edges.dtype.kind in "iu" or not edges.size
        if edges.ndim != 2 or len(edges) != 2 or not whole:
            raise DataError(
                f"{where}: 'edge_index' must be (2, E) whole numbers, got "
                f"{edges.dtype} of shape {edges.shape}"
            )
        attributes = _of_edges(data)
        link_if = options.path.link_if
        ends = _ENDS
        if not {*attributes, link_if}.isdisjoint(ends):
            ends = _OTHER_ENDS
        frame = pd.DataFrame(edges.T, columns=list(ends))
        for key in attributes:
            frame[key] = 0  # what it is does not matter, but for `link_if`
        if link_if in data:
            values = _column(data, str(link_if), len(frame), where)
            frame[link_if] = _whole(values)
        listed = Table(frame, where, "edge {}")
        return joined(options, listed, ends, options.path, _finder(count))
    return none_of(where, wrong)


def _of_edges(data: Any) -> list[str]:
    """List what PyTorch Geometric takes for attributes of the edges."""
    others = [key for key in sorted(data.keys()) if key != "edge_index"]
    return [key for key in others if data.is_edge_attr(key)]


def _finder(count: int) -> Find:
    return lambda ends: ends.where(ends.between(0, count - 1), -1).to_numpy()


def _column(data: Any, name: str, count: int, where: str) -> np.ndarray:
    """Take an attribute with a number for each node or edge, (count,)."""
    values = _array(data, name, where)
    if values.shape == (count, 1):
        values = values.reshape(-1)
    if values.shape != (count,):
        raise DataError(
            f"{where}: the Data's {name!r} must be {count} numbers, got shape "
            f"{values.shape}"
        )
    return values


def _whole(values: np.ndarray) -> np.ndarray:
    """Take whole numbers, as they often are in float32, as such.

    A missing one stays missing.
    """
    if values.dtype.kind != "f":
        return values
    there = ~np.isnan(values)
    known = values[there]
    if not len(known) or (np.abs(known) >= _LARGEST_WHOLE).any() or (known % 1).any():
        return values
    whole = np.full(len(values), None, dtype=object)
    whole[there] = known.astype(np.int64)
    return whole.astype(np.int64) if there.all() else whole


def _array(data: Any, name: str, where: str) -> np.ndarray:
    value = data.get(name)
    if value is None:
        raise DataError(
            f"{where}: the Data has no {name!r}; it has "
            f"{', '.join(sorted(data.keys()))}"
        )
    try:
        return value.detach().cpu().numpy()
    except (AttributeError, TypeError):  # a list; a sparse tensor; bfloat16
        raise DataError(
            f"{where}: the Data's {name!r} must be a dense tensor of a type that NumPy "
            "has: try torch.tensor(...), .to_dense() or .float()"
        ) from None


def _data(path: Path, where: str) -> Any:
    """Read the saved `Data`.

    PyTorch's unpickler for tensors runs no code from the file.
    """
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
        allowed = [Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]
        with torch.serialization.safe_globals(allowed):
            data = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # what unpicklers, zipfile and the system raise
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{where} was not read as a Data of tensors: {first} "
            "Data(**data.to_dict()) makes one of a Data, torch.from_numpy a tensor of "
            "an array"
        ) from None
    if not isinstance(data, Data):
        raise DataError(
            f"{where} must hold a torch_geometric.data.Data, got {type(data).__name__}"
        )
    return data
