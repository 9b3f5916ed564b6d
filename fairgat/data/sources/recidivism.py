"""Recidivism: people released from custody, joined by the similarity of their records.

Files and processing: NIFTY (Agarwal et al., 2021), `dataset/bail/`. Sensitive: WHITE. Label: RECID. Its files are in
public.yaml; docs/data.md has the details, and warns that the feature TIME nearly states the label.
"""

from pathlib import Path

from fairgat.data.graph import Graph
from fairgat.data.source import File
from fairgat.data.sources import public
from fairgat.data.sources.public import Options

NAMES = ("recidivism",)


def files(name: str, options: Options) -> list[File]:
    return public.files(NAMES[0], options)


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph: 18,876 nodes with 17 features, every column but the sensitive one and the label."""
    return public.load(NAMES[0], folder, options, seed)
