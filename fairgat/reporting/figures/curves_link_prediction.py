"""Learning curves in link prediction."""

from fairgat.reporting.figures._curves import draw

__all__ = ["draw"]

READS = ("histories", "selection")
TASK = "link_prediction"
