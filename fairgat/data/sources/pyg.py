"""Your own data set, from a torch_geometric `Data` saved with `torch.save(data, "my.pt")`.

my-network:
  task: link_prediction
  source: pyg
  options: {path: my/graph.pt, sensitive: group}
"""

import pickle
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairgat.config import PathText
from fairgat.data.assemble import assemble, tells
from fairgat.data.columns import MOST_CATEGORIES, MOST_GROUPS
from fairgat.data.edges import EdgeList, numbering_hint
from fairgat.data.graph import UNLABELLED, Graph
from fairgat.data.options import Columns, Text, Texts
from fairgat.data.reading import table_of
from fairgat.data.source import File, Scaling
from fairgat.errors import DataError

_OF_COLUMNS = ("missing", "fill", "decimal", "thousands", "categories", "exclude")


class Options(Columns):
    """The attributes with a value for each node are the columns; `x` are the features."""

    path: PathText
    """The saved `Data`, relative to where Snakemake runs. `x` are the features, `edge_index` the edges."""
    sensitive: Texts = ("sensitive",)
    """Its attribute with the sensitive group of each node; or several, of which the combinations are the groups."""
    label: Text | None = "y"
    """Its attribute with the label of each node; -1 beside 0 and 1 is unlabelled. Link prediction needs none."""
    scaling: Scaling = "none"
    """How features are scaled."""


def files(name: str, options: Options) -> list[File]:
    return [File(f"{name}/data.pt", local=Path(options.path))]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph, nodes in their order; an edge is undirected whether one direction is stored or both."""
    where, data = options.path, _data(folder / "data.pt", options.path)
    declared = options.positive or options.negative or options.unlabelled
    if "label" not in options.model_fields_set and "y" not in data and not declared:
        options = options.model_copy(update={"label": None})  # the groups, as where a table has no label
    named = {*options.sensitive, *(options.features or ())} | ({options.label} if options.label else set())
    x, edges, columns = _arrays(data, sorted(named))
    for key in _OF_COLUMNS if x.shape[1] and options.features is None else ():
        if getattr(options, key) and not (key == "missing" and options.bins):  # of an attribute that is cut
            raise DataError(f"{where}: `{key}` changes nothing of 'x'. Change 'x' itself, and save the Data again")
    made = {*options.of_attributes("groups"), *options.of_attributes("bins")}
    for role in (*filter(None, [options.label]), *(name for name in options.sensitive if name not in made)):
        _check_telling(x, columns[role], role == options.label, role, where)
    texts = {key: list(map(str, values.tolist())) for key, values in columns.items()}
    unused = ", ".join(sorted({*data.keys()} - named - {"x", "edge_index", "num_nodes"}))
    form = f"a saved Data; {len(x)} nodes" + (f"; not used: {unused}" if unused else "")
    table = table_of(texts, where, lambda node: f"{where}: node {node}", form)
    labels = columns[options.label] if options.label else None
    if declared or (labels is not None and set(np.unique(labels).tolist()) == {UNLABELLED, 1}):
        labels = None  # made of the column, or refused with what to write
    listed = EdgeList(where, edges.T, f"{edges.shape[1]} columns of edge_index{numbering_hint(edges)}")
    graph = assemble(options, table, listed, features=x, labels=labels)
    given = graph.features[:, : x.shape[1]]  # beside the groups and the labels as they were made
    _check_telling(given, graph.sensitive, False, options.sensitive[0], where)
    if options.label:
        _check_telling(given, graph.labels, True, options.label, where)
    return graph


def _arrays(data: Any, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
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
            if data.num_nodes is None:
                raise DataError("the Data has neither 'x' nor 'num_nodes', which say how many nodes there are")
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


def _whole(numbers: np.ndarray, error: str) -> np.ndarray:
    """Convert to (N,) int64; a DataError, `error`, where a value is not a whole number."""
    with np.errstate(invalid="ignore"):
        whole = numbers.astype(np.int64)
    if numbers.dtype.kind == "f" and (whole != numbers).any():
        raise DataError(error)
    return whole


def _check_telling(x: np.ndarray, values: np.ndarray, labels: bool, role: str, where: str) -> None:
    """Refuse a column of x (N, F) that tells the values (N,), as a column of a table is refused.

    Args:
        labels: whether they are labels, of which -1 is none.
        role: the attribute with the values.
    """
    known = values != UNLABELLED if labels else np.ones(len(values), bool)
    found, told = np.unique(values[known], return_inverse=True)
    for place, column in enumerate(x[known].T) if len(found) <= MOST_GROUPS else ():
        if len(np.unique(column[:1000])) >= MOST_CATEGORIES:  # spares the sorting of a long column
            continue
        numbers, codes = np.unique(column, return_inverse=True)
        if len(numbers) < MOST_CATEGORIES and tells(codes, told, len(found)):
            raise DataError(
                f"{where}: column {place} of 'x' says of each node what its {role!r} says, or a part of it. Leave it "
                f"out, as data.x = data.x[:, torch.arange({x.shape[1]}) != {place}] does, and save the Data again"
            )


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
        plain = "Save a Data of tensors only; Data(**data.to_dict()) makes one of a Data"
        if "numpy" in str(error):
            raise DataError(
                f"{where} was not read: an attribute is a NumPy array. Make it a tensor, as in "
                "data.y = torch.from_numpy(data.y), and save the Data again"
            ) from None
        if named := re.search(r"GLOBAL (\S+)", str(error)):
            raise DataError(f"{where} was not read: it holds a {named[1]}. {plain}") from None
        raise DataError(f"{where} was not read: it holds more than tensors. {plain}") from None
    except (RuntimeError, EOFError, OSError, ValueError, KeyError) as error:
        raise DataError(f"{where} is damaged, or was not written by torch.save: {_first_line(error)}") from None
    if not isinstance(data, Data):
        raise DataError(f"{where} must hold a torch_geometric.data.Data, got {type(data).__name__}")
    return data


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
