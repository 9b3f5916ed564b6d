"""What each feature of a graph was made of, kept beside the graph for new people.

`own.py` decides on it by the training's table. Whoever is scored later gets the same
categories, and is scaled by the same extremes.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ValidationError

from fairgat.config import Model
from fairgat.data.source import Scaling, rescaled
from fairgat.data.table import Table
from fairgat.errors import DataError
from fairgat.files import damaged, read_json, write_json


class Feature(Model):
    """A column of the graph's features."""

    name: str
    kind: Literal["number", "category", "degree", "constant"]
    column: str | None = None
    """Of the nodes' table."""
    value: str | None = None
    """The category whose nodes have 1, and others 0."""
    filling: float | None = None
    """What takes the place of an empty cell of numbers."""
    low: float = 0.0
    high: float = 0.0
    """The least and the largest of the training's, by which it is scaled."""


class Columns(Model):
    """The content of {dataset}.columns.json."""

    format_version: Literal[1] = 1
    source: str | None = None
    options: dict[str, Any] = {}
    """As they were given: roles of columns, groups, labels, how files are read."""
    groups: tuple[dict[str, str], ...] = ()
    """Each group's value of every sensitive attribute, by its number."""
    scaling: Scaling = "none"
    features: tuple[Feature, ...] = ()
    """In the graph's order; none where features are not made of a table's columns."""
    left_out: tuple[int, ...] = ()
    """The rows of the nodes' table, from 0, that are not in the graph."""

    def write(self, path: str | Path) -> None:
        write_json(path, self.model_dump(mode="json"))

    @classmethod
    def read(cls, path: str | Path) -> "Columns":
        """Read what `write` wrote.

        Raises:
            DataError: it is missing, damaged, or of another version.
        """
        if not Path(path).exists():
            raise DataError(
                f"{path} is missing, which this version writes beside a graph: make "
                "the graph again, by the command that made it; it will be the same"
            )
        try:
            return cls.model_validate(read_json(path))
        except ValidationError as error:
            first = error.errors()[0]
            raise damaged(path, f"is not one: {first['msg']}") from None

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """Scale (N, F) float64 values as those of the training; returns float32."""
        lows = np.array([feature.low for feature in self.features])
        highs = np.array([feature.high for feature in self.features])
        features = rescaled(values, self.scaling, lows, highs)
        for place, feature in enumerate(self.features):
            if feature.kind == "constant":  # which scaling would make 0
                features[:, place] = 1
        return features


def values(features: Sequence[Feature], nodes: Table, degree: np.ndarray) -> np.ndarray:
    """Make the features of a table's nodes, not yet scaled.

    Args:
        features: what they are.
        nodes: (N) rows.
        degree: (N,) neighbours of each node.

    Returns:
        (N, F) float64; NaN where a cell is not a number and nothing takes its place.
    """
    texts = cache(nodes.texts)
    made = np.empty((len(degree), len(features)))
    for place, feature in enumerate(features):
        if feature.kind == "degree":
            made[:, place] = degree
        elif feature.kind == "constant":
            made[:, place] = 1
        elif feature.kind == "category":
            made[:, place] = texts(str(feature.column)) == feature.value
        else:
            numbers = nodes.numbers(str(feature.column))
            if feature.filling is not None:
                numbers[np.isnan(numbers)] = feature.filling
            made[:, place] = numbers
    return made
