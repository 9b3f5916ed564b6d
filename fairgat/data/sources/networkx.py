"""Your own data set, from a file that NetworkX reads: GraphML, GML, GEXF, Pajek, or a list of edges or neighbours.

my-network:
  task: node_classification
  source: networkx
  options: {path: my/graph.graphml, label: employed, sensitive: gender}
"""

from pathlib import Path
from typing import Any, Literal

import numpy as np

from fairgat.config import PathText
from fairgat.data.assemble import assemble
from fairgat.data.edges import EdgeList
from fairgat.data.graph import Graph
from fairgat.data.ids import check_ids, row_finder
from fairgat.data.options import AtPath, Columns, Form, Text, paste
from fairgat.data.reading import read_nodes, table_of, text_of
from fairgat.data.source import File
from fairgat.errors import DataError

_ENDINGS = {f".{form}": form for form in ("graphml", "gml", "gexf", "pajek", "edgelist", "adjlist")}
_ENDINGS |= {".net": "pajek", ".paj": "pajek", ".edges": "edgelist"}
_LISTS = ("edgelist", "adjlist")
_PAJEK = ("id", "x", "y", "shape")  # how a node is numbered and drawn
_GEPHI = ("x", "y", "z", "size", "r", "g", "b")  # how Gephi draws it


class Options(Columns, Form):
    """The nodes' attributes are the columns."""

    path: PathText
    """The file, relative to where Snakemake runs; also packed by gzip or bzip2, where its name says so."""
    format: Literal["graphml", "gml", "gexf", "pajek", "edgelist", "adjlist"] | None = None
    """What it is; by default found by the ending of its name."""
    nodes: AtPath | None = None
    """A table of the nodes, whose columns then take the place of attributes; see `source: tables`."""
    id: Text | None = None
    """The column of `nodes` by which the graph names them."""


def files(name: str, options: Options) -> list[File]:
    path = Path(options.path)
    found = [File(f"{name}/graph{''.join(path.suffixes[-2:])}", local=path)]
    return found + ([File(f"{name}/nodes.csv", local=Path(options.nodes.file))] if options.nodes else [])


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph, nodes in the file's order; directions and parallel edges are left out.

    Raises:
        DataError: naming the file, the node, and what to write instead.
    """
    where = options.path
    form, graph = _read(folder / files(name, options)[0].basename, options)
    names = list(graph)
    if options.nodes:
        table = read_nodes(folder / "nodes.csv", options)
        texts = np.array([str(node) for node in names], dtype=object)
        rows = row_finder(table, options.id)(texts)
        check_ids(table, texts, rows, where, options)
        row = dict(zip(names, rows.tolist(), strict=True))
    else:
        columns, skipped = _attributes(graph, form)
        if not columns and not skipped:
            raise DataError(
                f"{where}: its nodes have no attributes. Give a table of them, {paste('nodes', 'nodes.csv')}, and in "
                "`id` the column by which the graph names them"
            )
        read_as = f"{form}; {len(names)} nodes" + (f"; no features: {', '.join(skipped)}" if skipped else "")
        table = table_of(columns, where, lambda node: f"{where}: node {names[node]!r}", read_as)
        row = {node: number for number, node in enumerate(names)}
    ends = list(graph.edges())
    edges = EdgeList(
        where,
        np.array([(row[u], row[v]) for u, v in ends], dtype=np.int64).reshape(-1, 2),
        f"{form}; {len(ends)} edges",
        lambda edge: f"{where}: edge {ends[edge]}",
        lambda edge: (str(ends[edge][0]), str(ends[edge][1])),
    )
    return assemble(options, table, edges)


def _read(path: Path, options: Options):
    """Read the file with NetworkX, and say what it is."""
    import networkx

    ending = next((each for each in reversed(path.suffixes) if each not in (".gz", ".bz2")), "")
    form = options.format or _ENDINGS.get(ending.lower())
    if form is None:
        choices = ", ".join(sorted(_ENDINGS))
        raise DataError(
            f"{options.path}: what is it? Its name ends in none of {choices}; write {paste('format', 'graphml')}, say"
        )
    try:
        if form in _LISTS:
            return form, _listed(path, form, options)
        keys = {"encoding": options.encoding or "utf-8"} if form == "pajek" else {}  # the others say it themselves
        try:
            return form, getattr(networkx, f"read_{form}")(path, **keys)
        except networkx.NetworkXError:
            if form != "gml":
                raise
            return form, networkx.read_gml(path, label="id")  # nodes without a name, or two of one name
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{options.path} does not exist") from None
    except Exception as error:  # each reader has its own
        text = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(f"{options.path} was not read as {form}: {text}. Is its `format` another?") from None


def _listed(path: Path, form: str, options: Options) -> Any:
    """Read a list of edges or of neighbours, whose lines `Form` describes; NetworkX passes over what is no edge."""
    import networkx

    lines = text_of(path, options.path, options, options.separator or " ").splitlines()
    separator = None if options.separator in (None, " ") else options.separator
    cells = {number: [each.strip() for each in line.split(separator)] for number, line in enumerate(lines, 1)}
    for number, ends in cells.items():
        if "" in ends[1:] or (form == "edgelist" and len(ends) == 1 and ends[0]):
            line = lines[number - 1].strip()
            raise DataError(f"{options.path}, line {number}: {line!r} lacks a node. Is the `separator` another?")
    rows = [(separator or " ").join(ends) for ends in cells.values() if any(ends)]
    more: dict[str, Any] = {"data": False} if form == "edgelist" else {}
    return getattr(networkx, f"parse_{form}")(rows, comments="\0", delimiter=separator, **more)  # no comments are left


def _attributes(graph: Any, form: str) -> tuple[dict[str, list[str]], list[str]]:
    """Take each attribute as a column of texts, "" where a node lacks it; and those that say nothing of a node."""
    columns, skipped = {}, []
    names = dict.fromkeys(name for _, values in graph.nodes(data=True) for name in values)
    drawing = _PAJEK if form == "pajek" else _GEPHI if {"x", "y", "r", "g", "b"} <= set(names) else ()
    for name in names:
        values = [values.get(name, "") for _, values in graph.nodes(data=True)]
        texts = ["" if value is None else str(value) for value in values]
        structured = any(isinstance(value, dict | list | tuple | set) for value in values)
        if structured or name in drawing or texts == [str(node) for node in graph]:
            skipped.append(name)
        else:
            columns[name] = texts
    return columns, skipped
