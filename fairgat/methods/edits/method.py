"""EDITS as a row of the tables: a GAT on a graph that was debiased beforehand."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from fairgat.config import Model
from fairgat.data.graph import Graph
from fairgat.errors import CellCalledOff, DataError
from fairgat.methods.base import NodeMethod
from fairgat.methods.edits.fit import Debias
from fairgat.methods.edits.result import Debiased


class Settings(Model):
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.015
    """An edge is added (removed) where its weight grew (fell) by more than this share
    of the largest growth (fall)."""
    dropped_features: Annotated[int, Field(ge=0)] = 4
    """How many features are left out: those with the smallest learned scale."""
    debias: Debias = Debias()
    """The debiasing, which all thresholds share."""


class NodeClassification(NodeMethod):
    needs_debiased = True

    @classmethod
    def prepare(
        cls, graph: Graph, settings: Settings, debiased: str | Path | None
    ) -> Graph:
        """Make the debiased graph at the cell's threshold.

        Raises:
            CellCalledOff: it would be too dense to train on.
            DataError: no file of a debiased graph is given, or it belongs to another
                graph.
            NotDefined: there are not exactly two groups.
        """
        graph.require_two_groups("EDITS")
        if debiased is None:
            raise DataError(
                "EDITS trains on a debiased graph, and none was given; the rule "
                "`debias` makes it"
            )
        loaded = Debiased.load(debiased)
        try:
            return loaded.apply(graph, settings.threshold, settings.dropped_features)
        except CellCalledOff as error:
            raise CellCalledOff(f"threshold~{settings.threshold}: {error}") from None
