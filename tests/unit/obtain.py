"""Graphs of data sets: as the workflow gets them, and of two tables that a test wrote."""

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
    """Write two tables, which messages call n.csv and e.csv, and read them with the options of the source `tables`.

    `...` leaves an option out.
    """
    given = {"nodes": "n.csv", "edges": "e.csv"} | options
    given = {key: value for key, value in given.items() if value is not ...}
    settings = Dataset(task="node_classification", source="tables", options=given)
    checked = datasets.options_of("x", settings)
    for file, text in zip(tables.files("x", checked), (nodes, edges), strict=True):
        (folder / file.basename).write_bytes(
            text if isinstance(text, bytes) else text.encode()
        )
    graph = tables.load("x", folder, checked, 0)
    graph.check()
    return graph


def pairs(graph: Graph) -> list[list[int]]:
    """Each edge once, as its two nodes."""
    return graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]].T.tolist()
