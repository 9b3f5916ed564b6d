"""Recidivism: people released from custody, joined by the similarity of their records.

Files and processing: NIFTY (Agarwal et al., 2021), `dataset/bail/`. Sensitive: WHITE. Label: RECID. docs/data.md tells
what is known of them, and that the feature TIME all but states the label.
"""

from pathlib import Path

from fairgat.config import Model
from fairgat.data.graph import Graph
from fairgat.data.sources._source import File, Scaling, github, pinned_pairs, scaled

NAMES = ("recidivism",)
_REPOSITORY = ("chirag126/nifty", "6c270c5ec736c5138d455609112cf6dfcc63dcca")


class Options(Model):
    """What may be set for it."""

    scaling: Scaling = "min_max"
    """How features are scaled."""
    exclude: tuple[str, ...] = ()
    """Columns that are left out of the features. The paper leaves out none; TIME all but states the label."""


def files(name: str, options: Options) -> list[File]:
    return [
        File(
            "recidivism/bail.csv",
            urls=(github(*_REPOSITORY, "dataset/bail/bail.csv"),),
            sha256="11a7c62be2b7aed7cb069624789755d5f57acc8b69580564e2401b084e2d5faf",
        ),
        File(
            "recidivism/bail_edges.txt",
            urls=(github(*_REPOSITORY, "dataset/bail/bail_edges.txt"),),
            sha256="c43049fb5d9a0a994fcf4931fb34838716e4bf40e4ae30b9e504d9f4362ca0fe",
        ),
    ]


def load(name: str, folder: Path, options: Options, seed: int) -> Graph:
    """18,876 nodes with 17 features: every column but the sensitive one and the label.

    Raises:
        DataError: `exclude` names a column that is not there.
    """
    from fairgat.data.sources import _read

    frame = _read.table(folder / "bail.csv", "bail.csv")
    sensitive = _read.binary(frame, "WHITE", "bail.csv")
    labels = _read.binary(frame, "RECID", "bail.csv")
    for column in options.exclude:
        _read.column(frame, column, "bail.csv")
    columns = [column for column in frame.columns if column not in ("WHITE", "RECID", *options.exclude)]
    return Graph(
        features=scaled(_read.numbers(frame, columns, "bail.csv"), options.scaling),
        labels=labels,
        sensitive=sensitive,
        edge_index=pinned_pairs(_read.pairs(folder / "bail_edges.txt"), len(frame), "bail_edges.txt"),
    )
