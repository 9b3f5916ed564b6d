"""Recidivism: people released from custody, joined by the similarity of their records.

Files and processing: NIFTY (Agarwal et al., 2021), `dataset/bail/`. Sensitive: WHITE. Label: RECID. docs/data.md has
the details, and warns that the feature TIME nearly states the label.
"""

from pathlib import Path

from fairgat.config import Model
from fairgat.data.graph import Graph
from fairgat.data.source import File, Scaling, edges_from_pairs, github, scaled

NAMES = ("recidivism",)
_REPOSITORY = ("chirag126/nifty", "6c270c5ec736c5138d455609112cf6dfcc63dcca")
_SHA256 = {
    "bail.csv": "11a7c62be2b7aed7cb069624789755d5f57acc8b69580564e2401b084e2d5faf",
    "bail_edges.txt": "c43049fb5d9a0a994fcf4931fb34838716e4bf40e4ae30b9e504d9f4362ca0fe",
}


class Options(Model):
    scaling: Scaling = "min_max"
    """How features are scaled."""
    exclude: tuple[str, ...] = ()
    """Columns to leave out of the features. The paper leaves out none; TIME nearly states the label."""


def files(name: str, options: Options) -> list[File]:
    return [
        File(f"recidivism/{file}", urls=(github(*_REPOSITORY, f"dataset/bail/{file}"),), sha256=checksum)
        for file, checksum in _SHA256.items()
    ]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """Make the graph: 18,876 nodes with 17 features, every column but the sensitive one and the label.

    Raises:
        DataError: `exclude` names a column that does not exist.
    """
    from fairgat.data import reading

    frame = reading.table(folder / "bail.csv", "bail.csv")
    sensitive = reading.binary(frame, "WHITE", "bail.csv")
    labels = reading.binary(frame, "RECID", "bail.csv")
    for column in options.exclude:
        reading.column(frame, column, "bail.csv")
    columns = [column for column in frame.columns if column not in ("WHITE", "RECID", *options.exclude)]
    pairs = reading.pairs(folder / "bail_edges.txt")
    return Graph(
        features=scaled(reading.numbers(frame, columns, "bail.csv"), options.scaling),
        labels=labels,
        sensitive=sensitive,
        edge_index=edges_from_pairs(pairs, len(frame), "bail_edges.txt", drop=("self_loops", "duplicates")),
    )
