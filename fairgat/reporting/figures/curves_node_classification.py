"""Learning curves in node classification."""

from fairgat.reporting.figures._curves import draw

__all__ = ["draw"]

READS = ("histories", "selection")
TASK = "node_classification"
