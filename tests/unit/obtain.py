"""Graphs of data sets: as the workflow gets them, and of two tables of a test."""

from pathlib import Path

from fairgat.config import Dataset
from fairgat.data import datasets, download
from fairgat.data.graph import Graph
from fairgat.data.sources import tables


def obtain(
    name: str, settings: Dataset, raw: Path, mirror: Path | None = None
) -> Graph:
    """Fetch the raw files of a data set, verify them, and prepare its graph."""
    download.acquire(name, datasets.files_of(name, settings), raw, mirror)
    return datasets.prepare(name, settings, raw)


def graph_of(
    folder: Path, nodes: str | bytes, edges: str | bytes, /, **options
) -> Graph:
    """Write two tables, which messages call n.csv and e.csv, and read them.

    Args:
        options: of the source `tables`; `...` leaves one out.
    """
    given = {"nodes": "n.csv", "edges": "e.csv"} | options
    given = {key: value for key, value in given.items() if value is not ...}
    settings = Dataset(task="node_classification", source="tables", options=given)
    checked = datasets.options_of("x", settings)

    nodes_file, edges_file = tables.files("x", checked)
    write(folder / nodes_file.basename, nodes)
    write(folder / edges_file.basename, edges)

    graph = tables.load("x", folder, checked, 0)
    graph.check()
    return graph


def write(path: Path, content: str | bytes) -> None:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def pairs(graph: Graph) -> list[list[int]]:
    """Each edge once, as its two nodes."""
    source, target = graph.edge_index
    once = graph.edge_index[:, source < target]
    return once.T.tolist()
