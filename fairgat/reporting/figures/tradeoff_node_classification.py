"""Accuracy against fairness in node classification."""

from fairgat.reporting.figures._tradeoff import draw

__all__ = ["draw"]

READS = ("cells", "selection")
TASK = "node_classification"
