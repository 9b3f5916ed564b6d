"""Your own data set, from a file that NetworkX reads: GraphML, GML, GEXF, Pajek, or a list of edges or neighbours.

my-network:
  task: node_classification
  source: networkx
  options: {path: my/graph.graphml, label: employed, sensitive: gender}
"""

import re
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fairgat.config import PathText
from fairgat.data.assemble import assemble
from fairgat.data.edges import EdgeList
from fairgat.data.graph import Graph
from fairgat.data.ids import check_ids, row_finder
from fairgat.data.options import AtPath, Columns, Form, Text, composed, paste
from fairgat.data.reading import read_nodes, table_of, text_of, without_comments
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
        texts = np.array([composed(str(node)) for node in names], dtype=object)
        rows = row_finder(table, options.id)(texts)
        check_ids(table, texts, rows, where, options)
        row = dict(zip(names, rows.tolist(), strict=True))
    else:
        columns, skipped = _attributes(graph, form)
        if not columns:
            raise DataError(
                f"{where}: its nodes have no attributes. Give a table of them, {paste('nodes', 'nodes.csv')}, and in "
                "`id` the column by which the graph names them"
            )
        read_as = f"{form}; {len(names)} nodes" + (f"; no features: {', '.join(skipped)}" if skipped else "")
        table = table_of(columns, where, lambda node: f"{where}: node {names[node]!r}", read_as)
        row = {node: number for number, node in enumerate(names)}
    ends = list(graph.edges())
    unused = ", ".join(sorted({str(key) for *_, said in graph.edges(data=True) for key in said} - {"id", "key"}))
    edges = EdgeList(
        where,
        np.array([(row[u], row[v]) for u, v in ends], dtype=np.int64).reshape(-1, 2),
        f"{form}; {len(ends)} edges" + (f"; not used: {unused}" if unused else ""),
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
        if form in ("graphml", "gexf"):  # their encoding is said in them
            if len(re.findall(r"<(?:\w+:)?graph[\s>]", text_of(path, options.path, "latin-1"))) > 1:
                raise DataError(f"{options.path} holds several graphs, or one within another: keep one")
            return form, getattr(networkx, f"read_{form}")(path)
        text = text_of(path, options.path, options.encoding)
        if form == "gml":  # or NetworkX refuses an edge that is listed twice
            text = re.sub(r"(?m)^(\s*graph\s*\[)", r"\1 multigraph 1", text, count=1)
        lines = text.splitlines()  # NetworkX knows their comments
        if form == "pajek":
            _check_parts(lines, options.path)
            graph = networkx.parse_pajek(lines)
            count = sum(int(line.split()[1]) for line in lines if line.lower().startswith("*vertices"))
            if len(graph) != count:
                raise DataError(
                    f"{options.path}: *Vertices announces {count} nodes, and {len(graph)} names were read. Have two "
                    "one name, or does an edge or a heading name another?"
                )
            return form, graph
        try:
            return form, networkx.parse_gml(lines)
        except networkx.NetworkXError:
            return form, networkx.parse_gml(lines, label="id")  # nodes without a name, or two of one name
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{options.path} does not exist") from None
    except Exception as error:  # each reader has its own
        text = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(f"{options.path} was not read as {form}: {text}. Is its `format` another?") from None


def _check_parts(lines: list[str], where: str) -> None:
    """Refuse parts of a Pajek file that NetworkX reads as something else."""
    for number, line in enumerate(lines, 1):
        part = line.split()[0] if line.startswith("*") else "*edges"
        if part.lower() not in ("*network", "*vertices", "*edges", "*arcs", "*matrix"):
            raise DataError(f"{where}, line {number}: {part} is not read. Write edges below *Edges, one a line")


def _listed(path: Path, form: str, options: Options) -> Any:
    """Read a list of edges or of neighbours, whose lines `Form` describes; NetworkX passes over what is no edge."""
    import networkx

    where, is_edges, separator = options.path, form == "edgelist", options.separator or " "
    text, *_ = without_comments(text_of(path, where, options.encoding), where, options.comment, separator)
    cells: dict[int, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        plain = re.sub(r"\{.*\}\s*$", "", line) if is_edges else line  # what NetworkX writes of an edge
        ends = [each.strip() for each in plain.split(None if separator == " " else separator)]
        if not any(ends):
            continue
        if is_edges and not all([*ends, ""][:2]):
            raise DataError(f"{where}, line {number}: {line.strip()!r} lacks a node. Is the `separator` another?")
        cells[number] = ends[:2] if is_edges and options.format else [each for each in ends if each]
    first = next(iter(cells.values()), [""])[0][:1]
    for number, (node, *_) in cells.items():
        if options.comment is None and node[0] in "#%" and node[0] != first:
            ways = f"is it a comment, {paste('comment', node[0])}, or the name of a node, {paste('comment', '')}?"
            raise DataError(f"{where}, line {number}: it begins with {node[0]!r}: {ways}")
    if is_edges and len(widths := {len(ends) for ends in cells.values()}) > 1:
        raise DataError(
            f"{where}: its lines have {' or '.join(map(str, sorted(widths)))} cells. If the first two are an edge, "
            f"write {paste('format', 'edgelist')}; if the first is joined to all others, {paste('format', 'adjlist')}"
        )
    more: dict[str, Any] = {"data": False} if is_edges else {}
    rows, delimiter = [separator.join(ends) for ends in cells.values()], None if separator == " " else separator
    return getattr(networkx, f"parse_{form}")(rows, comments="\0", delimiter=delimiter, **more)  # no comments are left


def _attributes(graph: Any, form: str) -> tuple[dict[str, list[str]], list[str]]:
    """Take each attribute as a column of texts, "" where a node lacks it; and those that say nothing of a node."""
    columns, skipped, defaults = {}, [], graph.graph.get("node_default", {})
    names = dict.fromkeys([*defaults, *(name for _, values in graph.nodes(data=True) for name in values)])
    drawing = _PAJEK if form == "pajek" else _GEPHI if {"x", "y", "r", "g", "b"} <= set(names) else ()
    for name in names:
        values = [values.get(name, defaults.get(name, "")) for _, values in graph.nodes(data=True)]
        texts = ["" if value is None else str(value) for value in values]
        structured = any(isinstance(value, dict | list | tuple | set) for value in values)
        if structured or name in drawing or texts == [str(node) for node in graph]:
            skipped.append(name)
        else:
            columns[name] = texts
    return columns, skipped
