"""Learning curves in link prediction."""

from fairgat.reporting.figures._curves import draw  # noqa: F401

READS = ("histories", "selection")
TASK = "link_prediction"
