"""Your own data set, from a file that NetworkX reads: GraphML, GML, GEXF or Pajek.

my-network:
  task: node_classification
  source: networkx
  options: {path: my/graph.graphml, label: employed, sensitive: gender}
"""

import bz2
import gzip
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairgat.data import own
from fairgat.data.edges import Edges, joined
from fairgat.data.graph import Graph
from fairgat.data.roles import AtPath, Roles
from fairgat.data.source import File
from fairgat.data.sources.tables import asked
from fairgat.data.table import Table
from fairgat.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_FORMATS: dict[str, Any] = {f".{form}": form for form in ("graphml", "gml", "gexf", "pajek")}
_FORMATS |= {".net": "pajek", ".paj": "pajek"}
_OPEN: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
# How files name a node, date it and draw it. These are no features unless an option names them.
_ABOUT = ("label", "start", "end", "viz")
_DRAWING = {"pajek": ("id", "x", "y", "shape"), "gephi": ("x", "y", "z", "size", "r", "g", "b")}
_EDGE = {"id", "key", "label", "start", "end", "viz", "networkx_key"}


class Options(Roles):
    """The nodes' attributes are the columns."""

    path: AtPath
    """The file, also packed by gzip or bzip2: its path, or {file: PATH, weight: w, exclude: [kind]}."""
    format: Literal["graphml", "gml", "gexf", "pajek"] | None = None
    """What it is; by default found by the ending of its name."""


def files(name: str, options: Options) -> list[File]:
    file = asked(name, "graph", options.path)
    return [file if file.local is None else File(f"{name}/graph{''.join(file.local.suffixes[-2:])}", local=file.local)]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph, nodes in the file's order; directions and parallel edges are left out.

    Raises:
        DataError: naming the file, the node or the edge, and what to write instead.
    """
    path, where = folder / files(name, options)[0].basename, options.path.where
    form = options.format or next((_FORMATS[end] for end in path.suffixes if end in _FORMATS), None)
    if form is None:
        raise DataError(f"{where}: its name ends in none of {', '.join(_FORMATS)}: write `format: graphml`, say")
    try:
        graph = _parsed(path, form, where)
    except DataError:
        raise
    except Exception as error:  # each reader has its own
        text = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(f"{where} was not read as {form}: {text}. Is its `format` another?") from None
    frame = _attributes(graph, where)
    drawing = _DRAWING["pajek"] if form == "pajek" else _DRAWING["gephi"] if {"r", "g", "b"} <= {*frame} else ()
    unasked = {*_ABOUT, *drawing}.intersection(frame) - options.roles().keys()
    options = options.model_copy(update={"exclude": (*options.exclude, *sorted(unasked))})
    return own.assemble(options, Table(frame, where, "node {!r}"), _edges(graph, options))


def _parsed(path: Path, form: str, where: str) -> Any:
    """Read the file with NetworkX, but for what it would misread."""
    import networkx

    with _OPEN.get(path.suffix, open)(path, "rb") as file:
        content = file.read()
    if form in ("graphml", "gexf"):  # their encoding is said in them
        if len(re.findall(rb"<(?:\w+:)?graph[\s>]", content)) > 1:
            raise DataError(f"{where} holds several graphs, or one within another: keep one")
        return getattr(networkx, f"read_{form}")(path)
    text = content.decode("utf-8-sig")
    if form == "pajek":
        return _pajek(text.splitlines(), where)
    lines = re.sub(
        r"(?m)^(\s*graph\s*\[)", r"\1 multigraph 1", text, count=1
    ).splitlines()  # an edge may be there twice
    try:
        return networkx.parse_gml(lines)
    except networkx.NetworkXError:
        return networkx.parse_gml(lines, label="id")  # nodes without a name, or two of one name


def _pajek(lines: list[str], where: str) -> Any:
    import networkx

    for number, line in enumerate(lines, 1):
        part = line.split()[0] if line.startswith("*") else "*edges"
        if part.lower() not in ("*network", "*vertices", "*edges", "*arcs", "*matrix"):
            raise DataError(f"{where}, line {number}: {part} is not read. Write edges below *Edges, one a line")
    graph = networkx.parse_pajek(lines)
    count = sum(int(line.split()[1]) for line in lines if line.lower().startswith("*vertices"))
    if len(graph) != count:
        raise DataError(
            f"{where}: *Vertices announces {count} nodes, and {len(graph)} names were read: two have one name"
        )
    return graph


def _attributes(graph: Any, where: str) -> "pd.DataFrame":
    """Take each attribute of the nodes as a column; None where a node lacks it."""
    import pandas as pd

    defaults, attributes = graph.graph.get("node_default", {}), dict(graph.nodes(data=True))
    names = dict.fromkeys([*defaults, *(name for values in attributes.values() for name in values)])
    if not names:
        raise DataError(f"{where}: its nodes have no attributes; `source: tables` takes them from a table")
    if not defaults:
        _check_described(graph, attributes, where)
    columns = {
        str(name): pd.Series([values.get(name, defaults.get(name)) for values in attributes.values()], dtype=object)
        for name in names
    }
    frame = pd.DataFrame(columns).infer_objects()
    frame.index = pd.Index(list(attributes), dtype=object, tupleize_cols=False)
    return frame


def _check_described(graph: Any, attributes: dict[Any, dict[str, Any]], where: str) -> None:
    """Refuse a node that is there only because an edge names it."""
    bare = {node for node, values in attributes.items() if not values}
    naming = next((edge for edge in graph.edges() if bare.intersection(edge)), None)
    if naming:
        node = bare.intersection(naming).pop()
        raise DataError(f"{where}: the edge {naming} names node {node!r}, which the file does not describe")


def _edges(graph: Any, options: Options) -> Edges:
    import pandas as pd

    listed = [{"source": source, "target": target, **values} for source, target, values in graph.edges(data=True)]
    frame, path = pd.DataFrame(listed, columns=None if listed else ["source", "target"]), options.path
    weight = path.weight or ("weight" if "weight" in frame else None)
    if weight:
        frame[weight] = frame[weight].where(frame[weight].notna(), 1)  # as NetworkX takes an edge without one
    without = {*map(str, frame)} - {"source", "target", weight} - _EDGE - {*path.exclude}
    if without:
        first = min(without)
        raise DataError(
            f"{path.where}: the edges' attribute {first!r} has no role: it says which are edges, `path: {{file: PATH, "
            f"weight: {first}}}`, or nothing that is used, `exclude: [{first}]` there"
        )
    row = {node: number for number, node in enumerate(graph)}
    listed_table = Table(frame, path.where, "edge {}")
    return joined(options, listed_table, ("source", "target"), weight, lambda ends: ends.map(row).to_numpy(np.int64))
