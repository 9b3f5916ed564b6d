"""Get the graph of a data set as the workflow does: fetch its raw files, verify them, and prepare it."""

from pathlib import Path

from fairgat.config import Dataset
from fairgat.data import datasets, download
from fairgat.data.graph import Graph


def obtain(name: str, settings: Dataset, raw: Path, mirror: Path | None = None) -> Graph:
    download.acquire(name, datasets.files_of(name, settings), raw, mirror)
    return datasets.prepare(name, settings, raw)
