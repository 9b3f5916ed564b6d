"""Accuracy against fairness in link prediction."""

from fairgat.reporting.figures._tradeoff import draw

__all__ = ["draw"]

READS = ("cells", "selection")
TASK = "link_prediction"
