"""Your own data set, from a file that NetworkX reads: GraphML, GML or GEXF.

my-network:
  task: node_classification
  source: networkx
  options: {path: my/graph.graphml, label: employed, sensitive: gender}
"""

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

_FORMATS = ("graphml", "gml", "gexf")
# How files name a node, date it and draw it. These are no features unless an option names them.
_ABOUT = ("label", "start", "end", "viz")
_DRAWING = (
    "x",
    "y",
    "z",
    "size",
    "r",
    "g",
    "b",
)  # as Gephi draws it, where there are colours
_EDGE = {"id", "key", "label", "start", "end", "viz", "networkx_key"}


class Options(Roles):
    """The nodes' attributes are the columns."""

    path: AtPath
    """The file: its path, or {file: PATH, weight: w, exclude: [kind]}."""
    format: Literal["graphml", "gml", "gexf"] | None = None
    """What it is; by default found by the ending of its name."""


def files(name: str, options: Options) -> list[File]:
    return [asked(name, "graph", options.path)]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph, nodes in the file's order; directions and parallel edges are left out.

    Raises:
        DataError: naming the file, the node or the edge, and what to write instead.
    """
    path, where = folder / files(name, options)[0].basename, options.path.where
    form = options.format or path.suffix.removeprefix(".")
    if form not in _FORMATS:
        raise DataError(
            f"{where}: its name ends in none of .{', .'.join(_FORMATS)}: write `format: graphml`, say"
        )
    try:
        graph = _parsed(path, form, where)
    except DataError:
        raise
    except Exception as error:  # each reader has its own
        text = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{where} was not read as {form}: {text}. Is its `format` another?"
        ) from None
    frame = _attributes(graph, where)
    drawing = _DRAWING if {"r", "g", "b"} <= {*frame} else ()
    unasked = {*_ABOUT, *drawing}.intersection(frame) - options.roles().keys()
    options = options.model_copy(
        update={"exclude": (*options.exclude, *sorted(unasked))}
    )
    return own.assemble(
        options, Table(frame, where, "node {!r}"), _edges(graph, options)
    )


def _parsed(path: Path, form: str, where: str) -> Any:
    """Read the file with NetworkX, but for what it would misread."""
    import networkx

    content = path.read_bytes()
    if form in ("graphml", "gexf"):  # their encoding is said in them
        if len(re.findall(rb"<(?:\w+:)?graph[\s>]", content)) > 1:
            raise DataError(
                f"{where} holds several graphs, or one within another: keep one"
            )
        return getattr(networkx, f"read_{form}")(path)
    text = content.decode("utf-8-sig")
    # An edge may be there twice.
    lines = re.sub(
        r"(?m)^(\s*graph\s*\[)", r"\1 multigraph 1", text, count=1
    ).splitlines()
    try:
        return networkx.parse_gml(lines)
    except networkx.NetworkXError:
        return networkx.parse_gml(
            lines, label="id"
        )  # nodes without a name, or two of one name


def _attributes(graph: Any, where: str) -> "pd.DataFrame":
    """Take each attribute of the nodes as a column; None where a node lacks it."""
    import pandas as pd

    defaults, described = (
        graph.graph.get("node_default", {}),
        [values for _, values in graph.nodes(data=True)],
    )
    index = pd.Index(list(graph), dtype=object, tupleize_cols=False)
    frame = pd.DataFrame(
        [{**defaults, **values} for values in described], index, dtype=object
    )
    if not len(frame.columns):
        raise DataError(
            f"{where}: its nodes have no attributes; `source: tables` takes them from a table"
        )
    if not defaults:
        _check_described(graph, where)
    frame = frame.where(frame.notna(), None)
    return frame.apply(_typed).rename(columns=str)


def _typed(cells: "pd.Series") -> "pd.Series":
    """Give a column the type of its cells; where a node lacks one they stay as they are: 1 would become 1.0."""
    import pandas as pd

    plain = [
        str(cell) if isinstance(cell, dict | list) else cell for cell in cells
    ]  # such as GML's graphics
    made = pd.Series(plain, cells.index, dtype=object)
    return made if made.isna().any() else made.infer_objects()


def _check_described(graph: Any, where: str) -> None:
    """Refuse a node that is there only because an edge names it."""
    for edge in graph.edges():
        for node in edge:
            if not graph.nodes[node]:
                raise DataError(
                    f"{where}: the edge {edge} names node {node!r}, which the file does not describe"
                )


def _edges(graph: Any, options: Options) -> Edges:
    """Make the edges of the list of them; an attribute that a file's format gives every edge needs no role."""
    import pandas as pd

    defaults = graph.graph.get("edge_default", {})
    listed = [
        {**defaults, **values, "source": source, "target": target}
        for source, target, values in graph.edges(data=True)
    ]
    frame = pd.DataFrame(
        listed, columns=None if listed else ["source", "target"]
    ).rename(columns=str)
    weight = options.path.weight
    if weight in frame:
        frame[weight] = frame[weight].where(
            frame[weight].notna(), 1
        )  # as NetworkX and GEXF take an edge without one
    unasked = _EDGE.intersection(frame) - {weight, *options.path.exclude}
    table = Table(frame.drop(columns=[*unasked]), options.path.where, "edge {}")
    row = {node: number for number, node in enumerate(graph)}
    return joined(
        options,
        table,
        ("source", "target"),
        options.path,
        lambda ends: ends.map(row).to_numpy(np.int64),
    )
