"""Your own data set, from a torch_geometric `Data` saved with `torch.save(data, "my.pt")`.

my-network:
  task: link_prediction
  source: pyg
  options: {path: my/graph.pt, sensitive: group}
"""

import pickle
from pathlib import Path
from typing import Literal

from fairgat.config import Model
from fairgat.data.graph import Graph
from fairgat.data.source import File, Scaling, edges_from_pairs, scaled
from fairgat.errors import DataError


class Options(Model):
    path: str
    """The saved `Data`, relative to where Snakemake runs. `x` are the features, `edge_index` the edges."""
    sensitive: str = "sensitive"
    """Its attribute with the sensitive group of each node, numbered from 0."""
    label: str = "y"
    """Its attribute with the label of each node."""
    drop: tuple[Literal["self_loops", "duplicates"], ...] = ()
    """Kinds of bad edges to leave out instead of raising an error: self_loops, duplicates."""
    scaling: Scaling = "none"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    return [File(f"{name}/data.pt", local=Path(options.path))]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph, nodes in their order; an edge is undirected whether one direction is stored or both."""
    from fairgat.data import convert

    data = _data(folder / "data.pt", options.path)
    graph = convert.from_pyg(data, options.sensitive, options.label)
    edges = edges_from_pairs(data.edge_index.numpy().T, graph.num_nodes, options.path, options.drop)
    return Graph(scaled(graph.features, options.scaling), graph.labels, graph.sensitive, edges)


def _data(path: Path, where: str):
    """Read the saved `Data` with PyTorch's unpickler for tensors, which runs no code from the file."""
    try:
        from torch_geometric.data import Data
        from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
        from torch_geometric.data.storage import GlobalStorage
    except ImportError:
        raise DataError(f"{where}: reading it needs PyTorch Geometric: pip install torch_geometric") from None
    import torch

    try:
        with torch.serialization.safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]):
            data = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise DataError(f"{where} was not read: {_first_line(error)}") from None
    except (RuntimeError, EOFError, OSError, ValueError, KeyError) as error:
        raise DataError(f"{where} is damaged, or was not written by torch.save: {_first_line(error)}") from None
    if not isinstance(data, Data):
        raise DataError(f"{where} must hold a torch_geometric.data.Data, got {type(data).__name__}")
    return data


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
